"""What each promise means, word for word, for two laws given by their masses."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from flint import arb, ctx

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import ball

Pair = list[tuple[arb, arb]]
Keeps = Callable[[Callable[[], Pair], Promise], bool]

BITS = 300
ORDERS = [1.01, 1.5, 2, 3, 10, 40]


@pytest.fixture(scope="session")
def keeps() -> Keeps:
    """Does this pair of laws keep this promise, in both directions?

    Decided in 300 bits, in which the pair is made too: no is a proof, yes means that no excess above 2⁻²⁰⁰ was found.
    """

    def decide(law: Callable[[], Pair], promise: Promise) -> bool:
        with ctx.workprec(BITS):
            pair = [(p, q) for p, q in law() if not p == q == 0]
            excesses = (over for way in (pair, [(q, p) for p, q in pair]) for over in _excess(way, promise))
            return not any(over > ball(2) ** -200 for over in excesses)

    return decide


def _excess(pair: Pair, promise: Promise) -> Iterable[arb]:
    """By how much the pair breaks the promise in this direction; one number for every order where there are many."""
    match promise:
        case PureDP():
            yield max(p - ball(promise.epsilon).exp() * q for p, q in pair)
        case ApproximateDP():
            odds = ball(promise.epsilon).exp()
            yield sum(((p - odds * q).nonnegative_part() for p, q in pair), arb(0)) - ball(promise.delta)
        case ZeroConcentratedDP():
            for order in ORDERS:
                alpha = ball(order)
                yield _divergence(pair, alpha) - ball(promise.xi) - ball(promise.rho) * alpha
        case _:
            raise NotImplementedError(f"say here what {promise!r} means")


def _divergence(pair: Pair, alpha: arb) -> arb:
    if any(q == 0 for _, q in pair):
        return arb.pos_inf()
    moment = sum(((alpha * p.log() + (1 - alpha) * q.log()).exp() for p, q in pair if p != 0), arb(0))
    return moment.log() / (alpha - 1)
