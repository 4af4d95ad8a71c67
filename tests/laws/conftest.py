"""What each promise means, word for word, for two laws given by their masses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import pytest
from flint import arb, ctx

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.curve import Curve, PointCurve
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss import lattice
from sitr.numbers import ball
from tests.oracles.outside_an_event import divergence, outside_an_event

Pair = list[tuple[arb, arb]]
Keeps = Callable[[Callable[[], Pair], Promise], bool]

BITS = 300
ORDERS = [1.01, 1.5, 2, 3, 10, 40]
EPSILONS = [0, 0.1, 0.3, 1, 3, 8]


@pytest.fixture(scope="module", autouse=True)
def few_cells():
    """Profiles are added on a coarse lattice here: it costs soundness nothing, and saves most of the time.

    The constant is patched where it is read.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "CELLS", 256)
        yield


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


def _excess(pair: Pair, promise: Promise) -> Iterable[arb]:  # noqa: C901
    """By how much the pair breaks the promise in this direction; one number for every order where there are many."""
    match promise:
        case PureDP() | Pufferfish():
            yield max(p - ball(promise.epsilon).exp() * q for p, q in pair)
        case ApproximateDP():
            yield _hockey_stick(pair, ball(promise.epsilon)) - ball(promise.delta)
        case PrivacyProfile():
            for epsilon, delta in promise.points:
                yield _hockey_stick(pair, ball(epsilon)) - ball(delta)
        case GaussianDP():
            for epsilon in EPSILONS:
                yield _hockey_stick(pair, ball(epsilon)) - _gaussian(ball(promise.mu), ball(epsilon))
        case ZeroConcentratedDP():
            for order in ORDERS:
                yield divergence(pair, ball(order)) - ball(promise.xi) - ball(promise.rho) * ball(order)
        case ApproximateZeroConcentratedDP():
            yield from outside_an_event(pair, ball(promise.rho), ball(promise.delta), orders=ORDERS)
        case RenyiDP():
            yield from _moments(pair, promise.curve)
        case ConcentratedDP():
            yield from _spread(pair, ball(promise.mu), ball(promise.tau))
        case ComputationalDP():
            # Of two laws that are written out, an attacker needs no computing power to see everything.
            yield from _excess(pair, promise.inner)
        case RandomDP():
            # Where every two draws are this pair, a probability below 1 of failing is none.
            yield from _excess(pair, promise.inner) if promise.gamma < 1 else ()
        case _:
            raise NotImplementedError(f"say here what {promise!r} means")


def _moments(pair: Pair, curve: Curve) -> Iterable[arb]:
    for order in [order for order, _ in curve.points] if isinstance(curve, PointCurve) else ORDERS:
        if math.isfinite(curve(order)):
            yield divergence(pair, ball(order)) - ball(curve(order))


def _hockey_stick(pair: Pair, epsilon: arb) -> arb:
    return sum(((p - epsilon.exp() * q).nonnegative_part() for p, q in pair), arb(0))


def _gaussian(mu: arb, epsilon: arb) -> arb:
    """P(x > t) − e^ε·Q(x > t) for N(μ, 1) and N(0, 1), with the best t."""
    if mu == 0:
        return arb(0)
    best = mu / 2 + epsilon / mu
    return _tail(best - mu) - epsilon.exp() * _tail(best)


def _tail(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


def _spread(pair: Pair, mu: arb, tau: arb) -> Iterable[arb]:
    """The mean of the loss, and the logarithm of its moments around the mean."""
    if any(q == 0 for _, q in pair):
        yield arb.pos_inf()
        return
    losses = [(p, p.log() - q.log()) for p, q in pair if p != 0]
    mean = sum((p * loss for p, loss in losses), arb(0))
    yield mean - mu
    for size in (-20, -3, -1, -0.1, 0.1, 1, 3, 20):
        moment = sum((p * (ball(size) * (loss - mean)).exp() for p, loss in losses), arb(0))
        yield moment.log() - (ball(size) * tau) ** 2 / 2
