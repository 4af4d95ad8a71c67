"""How many bits Arb computes with: what Sitr asked for, whatever other threads do.

python-flint keeps one precision, `flint.ctx.prec`, for the whole process and reads it at every operation. Two threads
that set it with `ctx.workprec` change each other's: one may go on with the bits of the other, and both leave behind
a precision that nobody asked for. A ball stays valid at any precision, but it may be too wide to decide anything, and
its midpoint, on which some bounds rest, may be wrong in its first digits. So Sitr's threads take turns:

- `precision(bits)` holds the turn for a block or a function and sets the precision again whenever an inner block ends.
  Arb holds Python's own lock during an operation anyway, so taking turns costs no parallel work.
- Code outside Sitr does not wait for a turn. `undisturbed` computes again if the precision was changed meanwhile, and
  `nearest` and `sharp` refuse a ball that is wider than it must be.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import ParamSpec, TypeVar

from flint import arb, ctx

from sitr.errors import InvalidUse

_Found = TypeVar("_Found")
_Given = ParamSpec("_Given")

_USUAL = 53
"""Bits outside of all blocks: those of a fresh process."""

_ATTEMPTS = 1000
"""How often a computation is repeated while code outside Sitr changes the precision."""

_turn = threading.RLock()

_blocks: list[int] = []
"""The bits of the blocks that the thread whose turn it is has entered. The first entry is what it found outside."""

_whose: list[int] = [0]
"""The thread whose turn it is, if it has entered a block; else 0, which no thread is."""

# A child process would wait forever for a turn that another thread had when the process was forked.
os.register_at_fork(before=_turn.acquire, after_in_parent=_turn.release, after_in_child=_turn.release)


class Precision(ContextDecorator):
    """A block, or a function, in which Arb computes with a certain number of bits."""

    __slots__ = ("bits",)

    def __init__(self, bits: int | None) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        _turn.acquire()
        found, before = len(_blocks), ctx.prec
        try:
            bits = self.bits or (_blocks[-1] if found > 1 else _USUAL)
            ctx.prec = bits
            _blocks.extend((bits,) if found else (before, bits))
            _whose[0] = threading.get_ident()
        except BaseException:  # without a block there is no end of it, and all other threads would wait forever
            del _blocks[found:]
            ctx.prec = before
            _turn.release()
            raise

    def __exit__(self, *_: object) -> None:
        _blocks.pop()
        ctx.prec = _blocks[-1]
        if len(_blocks) == 1:
            _blocks.clear()
            _whose[0] = 0
        _turn.release()


def precision(bits: int | None = None) -> Precision:
    """Arb computes with this many bits, in a block or in a function; without a number, with those of the caller.

    >>> with precision(200):
    ...     third = arb(1) / 3
    >>> third.rel_accuracy_bits() > 190
    True
    """
    return Precision(bits)


def working_bits() -> int:
    """The bits of the innermost block of this thread; the usual ones outside of all its blocks, whatever others do.

    >>> with precision(200):
    ...     working_bits()
    200
    """
    return _blocks[-1] if _whose[0] == threading.get_ident() else _USUAL


def undisturbed(bits: int, compute: Callable[_Given, _Found], *args: _Given.args, **named: _Given.kwargs) -> _Found:
    """The result of a short computation at this precision, repeated if other code changed the precision meanwhile.

    Whatever is drawn after a charge is computed in this way, in pieces of a few operations: then one of the attempts
    succeeds. A change that was undone in time goes unnoticed; the ball is then wider than necessary, and still valid.

    >>> undisturbed(100, arb.sqrt, arb(2)).rel_accuracy_bits() > 95
    True
    """
    for _ in range(_ATTEMPTS):
        with precision(bits):
            try:
                found = compute(*args, **named)
            except (ArithmeticError, ValueError):
                if ctx.prec == bits:
                    raise
                continue
            if ctx.prec == bits:
                return found
    raise _disturbed()


@precision()
def sharp(number: arb, *, bits: int, zero: int | None = None) -> arb:
    """The same ball, if it is known to this many bits, relative to itself; or to 2^{−zero}, where it may be zero.

    >>> sharp(arb(0.5), bits=1000) == 0.5, sharp(arb(0, 1e-40), bits=60, zero=100) == 0
    (True, False)
    """
    enough = abs(number.mid()) * arb((1, -bits)) + (0 if zero is None else arb((1, -zero)))
    if not number.rad() <= enough:
        raise _disturbed()
    return number


def nearest(number: arb, *, zero: int | None = None) -> float:
    """The float next to a number that is known to more digits than a float has, or is this close to zero.

    >>> nearest(precision(128)(lambda: arb(2).sqrt())())
    1.4142135623730951
    """
    return float(sharp(number, bits=60, zero=zero).mid())


def _disturbed() -> InvalidUse:
    return InvalidUse(
        given="Another thread changed flint.ctx.prec while Sitr was computing.",
        do="Run it again, and do not set this precision in other threads meanwhile.",
    )
