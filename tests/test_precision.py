"""Sitr's threads take turns with Arb's precision, and a ball that is too wide is noticed."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

import pytest
from flint import arb, ctx

import sitr
from sitr.errors import InvalidUse
from sitr.precision import nearest, precision, sharp, undisturbed, working_bits


def test_blocks_nest_and_leave_the_precision_as_it_was():
    before = ctx.prec
    with precision(100):
        assert (ctx.prec, working_bits()) == (100, 100)
        with precision(300):
            assert (ctx.prec, working_bits()) == (300, 300)
        assert (ctx.prec, working_bits()) == (100, 100)
        with precision():
            assert ctx.prec == 100
    assert (ctx.prec, working_bits()) == (before, 53)


def test_outside_of_blocks_the_precision_is_the_usual_one():
    with ctx.workprec(2):
        with precision():
            assert ctx.prec == 53
        assert ctx.prec == 2


def test_an_error_ends_the_block():
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), precision(100):
        raise ZeroDivisionError
    assert ctx.prec == before
    thread = threading.Thread(target=precision(70)(lambda: None), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()


def test_one_thread_at_a_time():
    inside, wrong = threading.Barrier(4), []

    @precision(150)
    def compute() -> None:
        for _ in range(300):
            with precision(200):
                third = arb(1) / 3
            if ctx.prec != 150 or third.rel_accuracy_bits() < 195:
                wrong.append(ctx.prec)

    def run() -> None:
        inside.wait()
        for _ in range(10):
            compute()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads, which is the point
def test_a_fork_waits_for_the_end_of_a_block():
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with precision(100):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    threading.Timer(0.05, leave.set).start()
    child = os.fork()
    if not child:
        with precision(90):
            os._exit(0 if ctx.prec == 90 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()


def test_a_disturbed_computation_is_repeated():
    attempts: list[int] = []

    def disturbed() -> arb:
        attempts.append(ctx.prec)
        if len(attempts) < 3:
            ctx.prec = 2  # as another thread would
        return 1 / (arb(1) / 3 - arb(1) / 4)

    assert undisturbed(100, disturbed).rel_accuracy_bits() > 80
    assert attempts == [100, 100, 100]


def test_an_error_of_a_disturbed_computation_is_none():
    attempts: list[int] = []

    def disturbed() -> int:
        attempts.append(ctx.prec)
        if len(attempts) < 2:
            ctx.prec = 2
            raise ValueError
        return 7

    assert undisturbed(100, disturbed) == 7

    def wrong() -> int:
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        undisturbed(100, wrong)


def test_a_computation_that_is_always_disturbed_ends():
    def disturbed() -> arb:
        ctx.prec = 2
        return arb(2).sqrt()

    with pytest.raises(InvalidUse, match=r"ctx\.prec"):
        undisturbed(100, disturbed)


@pytest.mark.parametrize("bits", [2, 20, 53])
def test_the_midpoint_of_a_wide_ball_is_no_number(bits):
    with ctx.workprec(bits):
        wide = arb(2).sqrt()
    with pytest.raises(InvalidUse):
        nearest(wide)
    with pytest.raises(InvalidUse):
        nearest(arb(float("nan")))


def test_only_one_file_touches_the_precision():
    root = Path(sitr.__file__).parent
    touching = re.compile(r"^\s*(from flint import [^\n]*\bctx\b|import flint\b)", re.MULTILINE)
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if touching.search(path.read_text())}
    alone = {"audit/checker/sitr_check.py"}  # imports nothing of Sitr, and sets the precision while it checks
    assert found - alone == {"precision.py"}


def test_numbers_near_zero():
    tiny = arb(0, 1e-40)
    with pytest.raises(InvalidUse):
        nearest(tiny)
    assert nearest(tiny, zero=100) == 0.0
    assert nearest(arb(0)) == 0.0
    assert sharp(arb(3), bits=10**6) == 3


def test_a_block_that_cannot_begin_keeps_no_turn() -> None:
    with pytest.raises(ValueError, match="prec"), precision(-5):
        pass
    done = []
    other = threading.Thread(target=lambda: done.append(precision(64)(working_bits)()), daemon=True)
    other.start()
    other.join(10)
    assert done == [64]
    assert working_bits() == 53


def test_the_blocks_of_other_threads_are_not_ours() -> None:
    inside, enough = threading.Event(), threading.Event()

    def compute() -> None:
        with precision(777):
            inside.set()
            enough.wait(10)

    other = threading.Thread(target=compute)
    other.start()
    assert inside.wait(10)
    found = working_bits()
    enough.set()
    other.join()
    assert found == 53
