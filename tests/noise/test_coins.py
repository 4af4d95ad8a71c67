from __future__ import annotations

import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from sitr.errors import InvalidUse, NotPrivate
from sitr.mechanisms.laplace import Laplace
from sitr.noise import discrete_gaussian, discrete_laplace
from sitr.noise.coins import _PREPARED, Coins, HardwareCoins, Keystream, Provenance, TestCoins, system_coins

ALL_COINS = [Keystream, lambda: TestCoins(3)]


def run(tmp_path: Path, script: str) -> list[str]:
    """The lines a fresh interpreter prints: forking the test runner itself would copy its threads' locks."""
    file = tmp_path / "script.py"
    file.write_text(script)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("make", ALL_COINS)
def test_words_bits_and_below_keep_their_ranges(make):
    coins: Coins = make()
    words = coins.words(1000)
    assert words.dtype == np.uint64
    assert words.shape == (1000,)
    assert words.flags.writeable
    assert coins.words(0).shape == (0,)
    assert coins.bits(0) == 0
    for count in (1, 7, 63, 64, 65, 128, 1000):
        drawn = [coins.bits(count) for _ in range(100)]
        assert min(drawn) >= 0
        # The chance that 100 draws all lack the top bit is 2^-100: this sees a lost or shifted word.
        assert max(drawn).bit_length() == count
    assert {coins.below(1) for _ in range(10)} == {0}


@pytest.mark.parametrize("make", ALL_COINS)
def test_no_word_comes_twice(make):
    coins: Coins = make()
    drawn = [*coins.words(50_000).tolist(), *(coins.bits(64) for _ in range(50_000))]
    assert len(set(drawn)) == len(drawn)  # by chance: 1e10/2 pairs · 2^-64 < 1e-9


@pytest.mark.parametrize("make", ALL_COINS)
def test_words_are_balanced_in_every_bit(make):
    words = make().words(100_000)
    ones = [int(np.sum(words >> np.uint64(bit) & np.uint64(1))) for bit in range(64)]
    assert max(abs(count - 50_000) for count in ones) < 7 * 158.2  # seven deviations, 64 bits: below 1e-9


@pytest.mark.parametrize("bound", [2, 3, 6, 2**4 + 1, 2**8 + 1])
def test_below_is_uniform_on_small_ranges(bound, misfit, alarm):
    coins = TestCoins(bound)
    draws = [coins.below(bound) for _ in range(50_000)]
    assert set(draws) <= set(range(bound))
    assert misfit(draws, lambda y: (y + 1) / bound, range(bound - 1)) > alarm


@pytest.mark.parametrize("bound", [3 * 2**62, 2**63 + 1, 2**64, 2**64 + 1, 3 * 2**126, 2**200 + 1])
def test_below_is_uniform_on_large_ranges(bound, misfit, alarm):
    coins = TestCoins(bound)
    draws = [coins.below(bound) for _ in range(20_000)]
    assert max(draws) < bound
    assert misfit([draw * 12 // bound for draw in draws], lambda y: (y + 1) / 12, range(11)) > alarm
    assert misfit([draw % 7 for draw in draws], lambda y: (y + 1) / 7, range(6)) > alarm


def test_a_biased_twin_is_rejected(misfit, alarm):
    coins, bound = TestCoins(1), 3 * 2**62
    draws = [coins.bits(64) % bound * 12 // bound for _ in range(20_000)]
    assert misfit(draws, lambda y: (y + 1) / 12, range(11)) < alarm


def test_below_redraws_what_lies_past_the_last_whole_copy(monkeypatch):
    script = iter([2**64 - 1, 3 * 2**62, 3 * 2**62 - 1])
    monkeypatch.setattr(TestCoins, "bits", lambda *_: next(script))
    assert TestCoins(0).below(3 * 2**61) == 3 * 2**61 - 1  # 2^64 holds two whole copies


@pytest.mark.parametrize(("method", "argument"), [("below", 0), ("below", -1), ("bits", -1), ("words", -1)])
def test_empty_ranges_and_negative_counts_are_refused(method, argument):
    with pytest.raises(ValueError, match="whole number of at least"):
        getattr(Keystream(), method)(argument)


def test_keys_change_after_their_share_of_output(monkeypatch):
    keys: list[bytes] = []

    def urandom(count: int) -> bytes:
        keys.append(bytes([len(keys)]) * count)
        return keys[-1]

    monkeypatch.setattr(os, "urandom", urandom)
    whole = Keystream().words(240)
    assert keys == [bytes(32)]
    keys.clear()
    monkeypatch.setattr(Keystream, "_REKEY_AFTER", 640)
    parts = Keystream().words(240)
    assert keys == [bytes([i]) * 32 for i in range(3)]
    assert (parts[:80] == whole[:80]).all()
    assert len({*parts.tolist(), *whole.tolist()}) == 240 + 160


def test_every_stream_has_a_key_of_its_own_of_full_length():
    assert len(Keystream()._key()) == 32
    assert len({Keystream()._key() for _ in range(100)}) == 100


def test_a_drawn_word_leaves_the_buffer():
    coins = Keystream()
    drawn = coins.bits(64)
    assert len(coins._ready) == _PREPARED - 1
    assert drawn not in coins._ready


@pytest.mark.parametrize("make", [*ALL_COINS, system_coins])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps, lambda it: pickle.dumps(it, protocol=0)])
def test_coins_are_neither_copied_nor_pickled(make, duplicate):
    with pytest.raises(TypeError, match="repeat the same draws"):
        duplicate(make())


def test_there_is_no_seed():
    with pytest.raises(TypeError):
        Keystream(1)  # type: ignore[call-arg]


def test_seeding_other_generators_changes_nothing():
    draws = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)
        draws.append((Keystream().bits(128), system_coins().bits(128)))
    assert len({*draws[0], *draws[1]}) == 4
    for draw in (lambda: discrete_laplace(scale=2.0**50, size=3), lambda: discrete_gaussian(sigma=2.0**50, size=3)):
        rows = []
        for _ in range(2):
            random.seed(0)
            np.random.seed(0)
            rows.append(draw().tolist())
        assert rows[0] != rows[1]
    random.seed(0)
    np.random.seed(0)
    untouched, array = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
    system_coins().below(10**9)
    discrete_laplace(scale=10, size=1000)
    discrete_gaussian(sigma=1000, size=1000)
    assert random.getstate() == untouched
    assert np.random.get_state()[1].tolist() == array  # type: ignore[index]


def test_test_coins_repeat_and_say_so():
    assert TestCoins(5).words(100).tolist() == TestCoins(5).words(100).tolist()
    assert TestCoins(5).bits(999) == TestCoins(5).bits(999)
    assert len({TestCoins(seed).bits(64) for seed in range(-50, 50)}) == 100
    assert TestCoins(5).private is False
    assert Keystream().private is True
    assert system_coins().private is True


def test_making_test_coins_warns_where_they_are_made():
    """An answer is a plain number: the warning is the mark of everything that is drawn with these coins."""
    with pytest.warns(NotPrivate, match="Noise from test coins is not private") as shown:
        Laplace(scale=10).release(5, coins=TestCoins(2))
    assert [warning.filename for warning in shown] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Laplace(scale=10).release(5)
        system_coins()


def test_a_program_shows_the_warning_once_for_each_place():
    script = "from sitr.noise import *\nfor _ in range(3): discrete_laplace(scale=1, coins=TestCoins(2))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stderr.count("NotPrivate: Noise from test coins is not private") == 1


def test_threads_have_coins_of_their_own():
    found: list[tuple[Coins, list[int]]] = []

    def draw() -> None:
        coins = system_coins()
        found.append((coins, [coins.bits(64) for _ in range(1000)]))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    draw()
    assert len({id(coins) for coins, _ in found}) == 5
    assert len({word for _, words in found for word in words}) == 5000


def test_threads_draw_differently_in_bulk():
    """Each thread builds or finds the same tables, and no two share a word."""
    found: list[int] = []

    def draw() -> None:
        found.extend(discrete_laplace(scale=2.0**50, size=1000).tolist())
        found.extend(discrete_gaussian(sigma=2.0**50, size=1000).tolist())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(set(found)) == 8000  # by chance: 3.2e7 pairs, each equal with probability 2^-51


def test_a_taken_word_is_wiped():
    coins = Keystream()
    coins.words(1)
    behind = coins._ready.base
    assert behind is not None
    assert np.asarray(behind).view(np.uint64)[0] == 0


def test_another_process_means_another_stream():
    """The check on every draw by itself: the hook has not run."""
    coins = Keystream()
    coins.bits(64)
    prepared, cipher = set(coins._ready), coins._cipher
    coins._owner = -1
    assert coins.bits(64) not in prepared
    assert coins._cipher is not cipher
    assert prepared.isdisjoint(coins._ready)
    coins._owner, cipher = -1, coins._cipher
    coins.words(1)
    assert coins._cipher is not cipher


FORK_BULK = """
import ctypes, os
from sitr.noise import discrete_gaussian, discrete_laplace
def draw():
    return [*discrete_laplace(scale=10**12, size=500)[:5], *discrete_gaussian(sigma=10**12, size=500)[:5],
            discrete_laplace(scale=10**12), discrete_gaussian(sigma=10**12)]
draw()
reading, writing = os.pipe()
child = {fork}
if child == 0:
    os.write(writing, " ".join(map(str, draw())).encode())
    os._exit(0)
os.waitpid(child, 0)
print(os.read(reading, 10000).decode(), *draw())
"""


@pytest.mark.parametrize("fork", ["os.fork()", "ctypes.PyDLL(None).fork()"])
def test_noise_is_not_repeated_after_a_fork(tmp_path, fork):
    draws = run(tmp_path, FORK_BULK.format(fork=fork))
    assert len(draws) == len(set(draws)) == 24  # by chance below 1e-9


FORK = """
import ctypes, os
from sitr.noise.coins import Keystream, system_coins
held, mine = Keystream(), system_coins()
held.bits(64), mine.bits(64)
reading, writing = os.pipe()
child = {fork}
if child == 0:
    found = [len(held._ready), len(mine._ready), held.bits(64), mine.bits(64), mine.words(1)[0]]
    os.write(writing, " ".join(map(str, found)).encode())
    os._exit(0)
os.waitpid(child, 0)
print(os.read(reading, 1000).decode(), held.bits(64), mine.bits(64), mine.words(1)[0])
"""


def test_a_fork_draws_differently_and_starts_with_nothing(tmp_path):
    held, mine, *draws = run(tmp_path, FORK.format(fork="os.fork()"))
    assert (held, mine) == ("0", "0")
    assert len(set(draws)) == 6


def test_a_fork_behind_pythons_back_draws_differently(tmp_path):
    """C's own fork runs no hook, so the child still holds the buffer; the pid gives it away."""
    held, mine, *draws = run(tmp_path, FORK.format(fork="ctypes.PyDLL(None).fork()"))
    assert (held, mine) == (str(_PREPARED - 1), str(_PREPARED - 1))
    assert len(set(draws)) == 6


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_draw_differently(tmp_path, method):
    draws = run(
        tmp_path,
        f"""
import multiprocessing
from sitr.noise import discrete_gaussian, discrete_laplace, system_coins

def draw(_):
    single = [discrete_laplace(scale=10**30), discrete_gaussian(sigma=10**30)]
    return [*single, *discrete_laplace(scale=10**12, size=300)[:2], discrete_gaussian(sigma=10**12, size=300)[0]]

if __name__ == "__main__":
    first = draw(0)
    with multiprocessing.get_context("{method}").Pool(3) as pool:
        rows = pool.map(draw, range(6), chunksize=1)
    print(*first, *draw(0), *(number for row in rows for number in row))
""",
    )
    assert len(draws) == 40
    assert len(set(draws)) == 40


# Somebody else asks while words are being taken


def repeated_by_signals(coins: Coins) -> int:
    """How many words a signal handler and what it interrupts have in common."""
    handled: list[int] = []
    drawn: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: handled.extend(coins.words(1).tolist()))
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        end = time.monotonic() + 1.0
        while time.monotonic() < end or len(handled) <= 100:  # a busy machine gives us few turns in a second
            drawn.extend(coins.words(1).tolist())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert len(handled) > 100
    return len(handled) + len(drawn) - len(set(handled + drawn))


def test_a_signal_gets_words_of_its_own():
    assert repeated_by_signals(Keystream()) == 0


def test_coins_without_their_lock_are_caught():
    class Open:
        def acquire(self, *, blocking: bool) -> bool:
            return not blocking

        def release(self) -> None:
            """Nothing was taken."""

    coins = Keystream()
    coins._free = Open()  # type: ignore[assignment]
    assert repeated_by_signals(coins) > 0


def test_threads_that_share_coins_get_different_words():
    coins = Keystream()
    drawn: list[list[int]] = [[], []]

    def draw(into):
        for _ in range(20_000):
            into.extend(coins.words(1).tolist())

    threads = [threading.Thread(target=draw, args=(into,)) for into in drawn]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(one) for one in drawn] == [20_000, 20_000]
    assert len(set(drawn[0] + drawn[1])) == 40_000


def test_test_coins_refuse_to_be_shared():
    coins = TestCoins(1)
    coins._free.acquire()
    with pytest.raises(InvalidUse, match="one thread"):
        coins.words(1)


def test_provenance_is_that_of_the_class_and_not_a_claim():
    class Claiming:
        private = True

    class Pretending(TestCoins):  # type: ignore[misc]
        pass

    found = [Provenance.of(coins) for coins in (system_coins(), TestCoins(1), Claiming(), Pretending(1))]  # type: ignore[arg-type]
    assert found == [Provenance.KEYED, Provenance.TEST, Provenance.TEST, Provenance.TEST]


def test_hardware_coins_are_read_from_a_device_and_never_twice():
    """Any character device will do here; what it is, its operator states."""
    coins = HardwareCoins("/dev/urandom")
    assert Provenance.of(coins) is Provenance.HARDWARE
    drawn = [*coins.words(3).tolist(), *coins.words(1000).tolist(), *coins.words(600).tolist()]
    assert len(set(drawn)) == 1603
    assert 0 <= coins.below(6) < 6
    with pytest.raises(InvalidUse):
        copy.copy(coins)


def test_a_file_is_no_hardware(tmp_path):
    (tmp_path / "coins").write_bytes(bytes(1000))
    for path in (tmp_path / "coins", tmp_path / "missing"):
        with pytest.raises(InvalidUse, match="a device"):
            HardwareCoins(path)
    with pytest.raises(InvalidUse, match="no more coins"):
        HardwareCoins("/dev/null").bits(1)
