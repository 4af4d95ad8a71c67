"""Answers for one direction of a loss: in closed form where one is known, and else by search.

`sitr.loss.loss` takes the larger answer of both directions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from flint import arb

from sitr.loss.closed import gaussian_delta, gaussian_epsilon
from sitr.loss.exceeding import gaussian_exceeding, secant_exceeding, single_exceeding
from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.law import FUNCTIONS, ROUNDING, Law, Laws
from sitr.loss.search import DeltaAt, EpsilonAt, Hint, answer
from sitr.loss.single import single_delta, single_epsilon
from sitr.namespace import Later
from sitr.numbers import Interval, exact, lower, upper
from sitr.precision import precision

if TYPE_CHECKING:
    from sitr.loss import enumerated
else:  # a Gaussian loss has a closed form
    enumerated = Later("sitr.loss.enumerated")

FEW = 64
"""At most this many masses are multiplied exactly."""


def exceeding_at(laws: Laws, epsilon: float, relative: float) -> Interval:
    """P(L > ε)."""
    match laws:
        case ():
            return Interval(0.0, 0.0)
        case ((GaussianLaw(mu), 1),):
            return gaussian_exceeding(mu, epsilon)
        case ((law, 1),):
            return single_exceeding(law, epsilon)
    return secant_exceeding(partial(profile_at, laws, min(relative, 1e-5)), epsilon)


def answer_one_direction(
    laws: Laws, question: DeltaAt | EpsilonAt, relative: float, hint: Hint | None = None, *, least: float = 0.0
) -> tuple[Interval, Hint | None]:
    """The requested ε or δ, and a hint that makes the search in the other direction shorter.

    An ε that is not larger than `least`, which the other direction is known to need, need not be found exactly.
    """
    if (closed := _closed(laws, question, least)) is not None:
        return closed, None
    if isinstance(question, DeltaAt):
        return answer(laws, question, relative=relative, most=1.0, hint=hint)
    most = _most(laws, question.delta)
    if mass_at_infinity(laws) * (1 + 1e-12) > question.delta:
        # Floats cannot distinguish the two: a larger δ bounds ε from below.
        found, hint = answer(laws, EpsilonAt(question.delta * (1 + 1e-9)), relative=relative, hint=hint)
        return Interval(found.lower, most), hint
    return answer(laws, question, relative=relative, most=most, hint=hint)


def _most(laws: Laws, delta: float) -> float:
    """An ε that is large enough: from the largest loss on, δ(ε) = P(L = +∞). Infinite if that may exceed δ."""
    if not _allowed(laws, delta):
        return math.inf
    return max(0.0, greatest_loss(laws)) * (1 + 1e-12)


def greatest_loss(laws: Laws) -> float:
    """The largest finite loss of a sum, rounded once."""
    return math.fsum(times * law.greatest for law, times in laws)


def _allowed(laws: Laws, delta: float) -> bool:
    """Whether P(L = +∞) ≤ δ is proved, for the decimals that these floats stand for.

    A finite law never rounds its mass at +∞ down. For a few such laws 1 − Π(1 − mass) is compared exactly.
    """
    exposed = [(law, times) for law, times in laws if law.infinite > 0.0]
    if all(isinstance(law, FiniteLaw) for law, _ in exposed) and sum(times for _, times in exposed) <= FEW:
        finite = math.prod(((1 - exact(law.infinite)) ** times for law, times in exposed), start=Fraction(1))
        return 1 - finite <= exact(delta)
    return mass_at_infinity(laws) * (1 + 1e-12) <= delta


def _closed(laws: Laws, question: DeltaAt | EpsilonAt, least: float) -> Interval | None:
    infinite = mass_at_infinity(laws)
    greatest = greatest_loss(laws)
    match question, laws:
        case _, ():
            return Interval(0.0, 0.0)
        case DeltaAt(epsilon), ((GaussianLaw(mu), 1),):
            return gaussian_delta(mu, epsilon)
        case EpsilonAt(delta), ((GaussianLaw(mu), 1),):
            return gaussian_epsilon(mu, delta)
        case EpsilonAt(delta), _ if infinite * (1 - 8 * FUNCTIONS) > delta:
            return Interval(math.inf, math.inf)
        case DeltaAt(_), _ if any(law.infinite == 1.0 for law, _ in laws):
            return Interval(1.0, 1.0)
        case DeltaAt(epsilon), _ if epsilon >= greatest * (1 + 1e-12):
            return Interval(infinite * (1 - 8 * FUNCTIONS), min(1.0, infinite * (1 + 8 * FUNCTIONS)))
        case _ if (atoms := enumerated.enumerated(laws)) is not None:
            return _enumerated(atoms, laws, question)
        case DeltaAt(epsilon), ((law, 1),):
            return single_delta(law, epsilon)
        case EpsilonAt(delta), ((law, 1),):
            found = single_epsilon(law, delta, narrow=1e-10, least=least)
            return Interval(found.lower, min(found.upper, _most(laws, delta)))
    return None


@precision()
def _enumerated(atoms: enumerated.Atoms, laws: Laws, question: DeltaAt | EpsilonAt) -> Interval:
    """The answer for a sum of which every value is known. A δ that was no float may be rounded."""
    mass = enumerated.infinite_mass(laws)
    if isinstance(question, DeltaAt):
        found = atoms.delta(question.epsilon)
        return Interval(
            max(0.0, math.nextafter(lower(mass + found.lower), -math.inf)),
            min(1.0, math.nextafter(upper(mass + found.upper), math.inf)),
        )
    smaller, larger = (arb(question.delta * (1 + side * 4 * ROUNDING)) - mass for side in (-1, 1))
    most = _most(laws, question.delta)
    high = min(most, atoms.epsilon(smaller).upper) if smaller > 0 else most
    low = atoms.epsilon(larger).lower if larger > 0 else 0.0
    return Interval(min(low, high), high)


def profile_at(laws: Laws, relative: float, epsilon: float) -> Interval:
    """δ(ε)."""
    return answer_one_direction(laws, DeltaAt(epsilon), relative)[0]


def mass_at_infinity(laws: Laws) -> float:
    """P(L = +∞)."""
    return 0.0 - math.expm1(sum(times * _log_finite(law) for law, times in laws))


def _log_finite(law: Law) -> float:
    return math.log1p(-law.infinite) if law.infinite < 1.0 else -math.inf
