"""The only door to entropy: a cipher keyed by the operating system, a hardware device, and coins for tests.

No draw may occur twice. So a keystream belongs to one process and one thread: after a fork it drops everything it has
prepared, it can be neither copied nor pickled, and nobody can choose its key.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import warnings
import weakref
from abc import ABC, abstractmethod
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol, final

from sitr.errors import InvalidUse, NotPrivate, quoted
from sitr.namespace import Later
from sitr.numbers import natural

if TYPE_CHECKING:
    import numpy as np
    from cryptography.hazmat.primitives import ciphers
    from numpy.typing import NDArray
else:  # a preview tosses no coins
    np = Later("numpy")
    ciphers = Later("cryptography.hazmat.primitives.ciphers")

_ZEROS = memoryview(bytes(1 << 20))
"""The plaintext: encrypting zeros gives the keystream itself."""

_PREPARED = 512
"""How many words are prepared at a time."""

_FEW = 64
"""Requests up to this size take prepared words; larger ones make their own."""


class Provenance(Enum):
    """Where coins come from, and so against whom noise from them protects."""

    HARDWARE = "hardware"
    """A device that is truly random, its operator states: then a promise holds against unlimited computing power."""
    KEYED = "keyed generator"
    """A cipher with keys from the operating system, whose own generator is one as well: the promise is computational,
    against everybody who can neither break the cipher nor predict the keys.      [MPRV09]"""
    TEST = "test coins"
    """A seed that others may know: no promise at all."""

    @classmethod
    def of(cls, coins: Coins, /) -> Provenance:
        """Only Sitr's own classes count: other coins may claim what they like.

        >>> Provenance.of(system_coins())
        <Provenance.KEYED: 'keyed generator'>
        """
        known = {Keystream: cls.KEYED, HardwareCoins: cls.HARDWARE}
        return known.get(type(coins), cls.TEST)


class Coins(Protocol):
    """A source of independent uniform bits."""

    @property
    def private(self) -> bool:
        """Whether the bits are secret: noise from other coins protects nothing."""

    def words(self, count: int, /) -> NDArray[np.uint64]:
        """Fresh 64-bit words."""

    def bits(self, count: int, /) -> int:
        """A uniform integer of this many bits: from 0 up to, but not including, 2^count."""

    def below(self, bound: int, /) -> int:
        """A uniform integer from 0 up to, but not including, the bound."""


class _Stream(ABC):
    """Words that are prepared in advance. A drawn word leaves the buffer."""

    __slots__ = ("__weakref__", "_free", "_owner", "_ready")

    def __init__(self) -> None:
        self._forget()
        _streams.add(self)

    @abstractmethod
    def _fresh(self, count: int) -> NDArray[np.uint64]:
        """New words, which nobody has seen."""

    def _forget(self) -> None:
        """Drop everything that is prepared."""
        self._owner = os.getpid()
        self._free = threading.Lock()
        self._ready: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def words(self, count: int, /) -> NDArray[np.uint64]:
        # Check the process at every draw: a fork made by C code runs no Python hook.
        if self._owner != os.getpid():
            self._forget()
        # A signal handler, a finalizer or another thread may ask while words are being taken. It must not get the same
        # words, and it cannot wait, because the holder of the lock may be waiting for it.
        if not self._free.acquire(blocking=False):
            return self._meanwhile(natural(count, name="count", of="a draw", least=0))
        try:
            return self._taken(count)
        finally:
            self._free.release()

    @abstractmethod
    def _meanwhile(self, count: int) -> NDArray[np.uint64]:
        """Words for a caller who asks while another caller takes words."""

    def _taken(self, count: int) -> NDArray[np.uint64]:
        if count > _FEW:
            return self._fresh(count)
        if natural(count, name="count", of="a draw", least=0) > len(self._ready):
            self._ready = self._fresh(_PREPARED)
        drawn = self._ready[:count].copy()
        self._ready[:count] = 0
        self._ready = self._ready[count:]
        return drawn

    def bits(self, count: int, /) -> int:
        words = -(-natural(count, name="count", of="a draw", least=0) // 64)
        return int.from_bytes(self.words(words).astype("<u8", copy=False).tobytes(), "little") >> 64 * words - count

    def below(self, bound: int, /) -> int:
        bound = natural(bound, name="bound", of="a draw")
        # Reject the incomplete last copy of the range, so that every remainder is equally likely.
        width = 64 * (bound.bit_length() // 64 + 1)
        copies = (1 << width) // bound * bound
        while (drawn := self.bits(width)) >= copies:
            pass
        return drawn % bound

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise InvalidUse(
            given="Coins stay in the process and thread that made them: a copy would repeat the same draws, and equal "
            "noise cancels.",
            do="Call system_coins() where they are needed.",
        )


_streams: weakref.WeakSet[_Stream] = weakref.WeakSet()


def _forget_all() -> None:
    for stream in _streams:
        stream._forget()


os.register_at_fork(after_in_child=_forget_all)


class _Ciphered(_Stream):
    """AES-256 in counter mode, with a bounded amount of output under each key.

    No key is used with two counters, so the counter may start at zero.
    """

    __slots__ = ("_cipher", "_left")

    _REKEY_AFTER: ClassVar[int] = 2**30
    """Octets of output under one key."""

    @abstractmethod
    def _key(self) -> bytes:
        """A fresh key."""

    def _forget(self) -> None:
        """Drop the key, too, and everything made with it."""
        super()._forget()
        self._cipher: ciphers.CipherContext | None = None
        self._left = 0

    def _fresh(self, count: int) -> NDArray[np.uint64]:
        # The cipher writes into the array of words; it needs room for one block more than it fills.
        drawn = np.empty(count + 2, dtype="<u8")
        room, start, end = drawn.view(np.uint8).data, 0, 8 * count
        while start < end:
            if self._cipher is None or self._left == 0:
                aes, counter = ciphers.algorithms.AES256(self._key()), ciphers.modes.CTR(bytes(16))
                self._cipher = ciphers.Cipher(aes, counter).encryptor()
                self._left = self._REKEY_AFTER
            size = min(end - start, self._left, len(_ZEROS))
            self._cipher.update_into(_ZEROS[:size], room[start : start + size + 16])
            self._left -= size
            start += size
        return drawn[:count].astype(np.uint64, copy=False)


@final
class Keystream(_Ciphered):
    """Secret coins: each key comes from the operating system, and there is no seed.

    >>> 0 <= Keystream().below(6) < 6
    True
    """

    __slots__ = ()

    private = True

    def _key(self) -> bytes:
        return os.urandom(32)

    def _meanwhile(self, count: int) -> NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * count), dtype="<u8").astype(np.uint64)


@final
class HardwareCoins(_Stream):
    """Secret coins, read from a hardware device that its operator states to be truly random, such as /dev/hwrng.

    Sitr cannot check this, and records it as stated: with such coins, promises hold against unlimited computing power.
    A file is refused, because what is read from it can be read again.
    """

    __slots__ = ("_device",)

    private = True

    def __init__(self, device: str | Path = "/dev/hwrng") -> None:
        try:
            character = stat.S_ISCHR(os.stat(device).st_mode)  # noqa: PTH116 - also for text
        except OSError:
            character = False
        if not character:
            raise InvalidUse(
                wanted="a device to read coins from",
                given=quoted(str(device)),
                do="Give the path of a hardware generator, or leave coins out for keys from the operating system.",
            )
        self._device = Path(device)
        super().__init__()

    def _fresh(self, count: int) -> NDArray[np.uint64]:
        with self._device.open("rb", buffering=0) as device:
            found = bytearray()
            while len(found) < 8 * count:
                found += device.read(8 * count - len(found)) or self._ended()
        return np.frombuffer(bytes(found), dtype="<u8").astype(np.uint64)

    def _ended(self) -> NoReturn:
        raise InvalidUse(given="The device gives no more coins.", do="Check it, or leave coins out.")

    def _meanwhile(self, count: int) -> NDArray[np.uint64]:
        return self._fresh(count)


@final
class TestCoins(_Ciphered):
    """The same stream from a seed, for tests: anyone who knows the seed knows the noise, so it is not private.

    Answers are plain numbers and carry no mark, so making the coins warns with `sitr.errors.NotPrivate`. A test suite
    silences that in one place: `filterwarnings = ["ignore::sitr.errors.NotPrivate"]` for pytest.

    >>> TestCoins(7).bits(128) == TestCoins(7).bits(128), TestCoins(7).private
    (True, False)
    """

    __slots__ = ("_keys", "_seed")
    __test__ = False  # pytest: a class to test with, not a class of tests

    private = False

    def __init__(self, seed: int) -> None:
        super().__init__()  # first, because it may load numpy, after which a warning is shown again
        warnings.warn(
            "Noise from test coins is not private, because their seed reveals it. Use them only in tests; leave out "
            "coins=… for private noise.",
            NotPrivate,
            stacklevel=2,
        )
        self._seed = seed
        self._keys = 0

    def _meanwhile(self, count: int) -> NDArray[np.uint64]:  # noqa: ARG002
        raise InvalidUse(
            given="Test coins belong to one thread, but two threads tossed them at the same time.",
            do="Make one TestCoins for each thread.",
        )

    def _key(self) -> bytes:
        self._keys += 1
        return hashlib.sha256(f"not private: key {self._keys} of seed {self._seed}".encode()).digest()


class _PerThread(threading.local):
    """What is set on it is seen by the same thread only."""

    coins: Keystream | None = None


_per_thread = _PerThread()


def system_coins() -> Coins:
    """The private coins of the calling thread.

    >>> system_coins().private, system_coins() is system_coins()
    (True, True)
    """
    coins = _per_thread.coins
    if coins is None:  # made when first tossed, because it takes a library that a preview does not load
        coins = _per_thread.coins = Keystream()
    return coins
