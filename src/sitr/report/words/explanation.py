"""What a promise means for one person: the parts of an explanation, and the numbers that every language needs.

Every number in an explanation is a bound and is rounded so that it stays one. A language is one class in its own file.
It explains each flavor as a whole, because sentences do not translate word by word.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import Protocol, TypeAlias

from sitr.dataclass import dataclass
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.curve import PointCurve
from sitr.flavors.gaussian import GaussianDP, normal
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language
from sitr.numbers import Number, ball, exact, upper
from sitr.precision import precision
from sitr.report.figures import at_least, at_most
from sitr.report.power import detected_at
from sitr.report.words.notation import numbers, odds

Concentrated: TypeAlias = ConcentratedDP | ZeroConcentratedDP | RenyiDP | GaussianDP
"""The flavors without a single ε. They are read as (ε, δ) at a chosen δ, unless they bound the largest loss."""


class Whom(Enum):
    """The person in whose data the two data sets differ: anybody, including you, or a random newcomer."""

    YOU = "you"
    NEWCOMER = "newcomer"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A promise in plain words: its name, what it promises, its numbers, how it can fail, what it does not promise."""

    language: Language
    title: str
    promised: str
    meaning: str
    failure: str
    not_promised: str


class Voice(Protocol):
    """One language: every flavor in full sentences.

    It has one method for each flavor, with the name of its file in `sitr.flavors`: `pure(promise, whom=…)`.
    """

    @property
    def headings(self) -> tuple[str, str, str, str]:
        """The headings of the four parts."""

    def random(self, promise: RandomDP, /, *, inner: Explanation) -> Explanation:
        """`inner` explains the inner promise to a newcomer."""

    def computational(self, promise: ComputationalDP, /, *, inner: Explanation) -> Explanation:
        """`inner` explains the inner promise."""


def symbols(promise: Promise) -> str:
    """Any promise in symbols and few digits, rounded up; a random promise always with its γ.

    >>> symbols(GaussianDP(1.0)), symbols(RenyiDP.at({2: 0.1, 8: 0.5}))
    ('μ = 1', 'D₂ ≤ 0.1, D₈ ≤ 0.5')
    """
    match promise:
        case PrivacyProfile():
            return ", ".join(f"({at_most(epsilon)}, {at_most(delta)})" for epsilon, delta in some_points(promise))
        case RenyiDP():
            return ", ".join(f"D{_subscript(order)} ≤ {at_most(bound)}" for order, bound in some_orders(promise))
        case RandomDP(inner, gamma):
            return f"{symbols(inner)}, γ = {at_most(gamma)}"
        case ComputationalDP(inner):
            return symbols(inner)
    return numbers(promise) or repr(promise)


READING_ORDERS = (2.0, 8.0, 32.0)
"""The orders at which a whole curve is shown."""
MOST = 4
"""The most points of a table that are shown."""


def some_points(profile: PrivacyProfile) -> tuple[tuple[float, float], ...]:
    """A few evenly chosen points of a profile, including the first and the last."""
    return _few(profile.points)


def some_orders(promise: RenyiDP) -> tuple[tuple[float, float], ...]:
    """A few orders with their finite bounds."""
    if isinstance(promise.curve, PointCurve):
        return _few(promise.curve.points)
    bounds = ((order, promise.curve(order)) for order in READING_ORDERS)
    return tuple(pair for pair in bounds if math.isfinite(pair[1]))


def all_shown(promise: PrivacyProfile | RenyiDP) -> bool:
    """Whether these few points are the whole promise."""
    if isinstance(promise, PrivacyProfile):
        return len(promise.points) <= MOST
    return isinstance(promise.curve, PointCurve) and len(promise.curve.points) <= MOST


@precision()
def belief(epsilon: float) -> str:
    """The most that a belief of 50% can become, e^ε/(1 + e^ε), in percent and rounded up.

    >>> belief(0.5), belief(1.0), belief(0.0)
    ('62.3%', '73.2%', '50%')
    """
    return _percent(upper(1 / (1 + (-ball(epsilon)).exp())))


FALSE_ALARMS = Fraction(5, 100)
_NORMAL_95 = Fraction("1.644853626951472")
"""Φ⁻¹(0.95), rounded down, which can only raise the power of the test."""


@precision()
def detected(promise: ApproximateDP | PrivacyProfile | GaussianDP) -> str:
    """The largest power of a test with 5% false alarms, in percent and rounded up.

    min(δ + e^ε·5%, 1 − e^{−ε}(95% − δ)) at each (ε, δ); for a Gaussian Φ(μ − Φ⁻¹(95%)).
    [KOV15, Sec. 2; DRS22, Def. 2.6]

    >>> detected(ApproximateDP(1.0, 1e-6)), detected(GaussianDP(1.0)), detected(GaussianDP(0.0))
    ('13.6%', '26%', '5%')
    """
    if promise.largest_loss() == 0.0:
        return _percent(FALSE_ALARMS)  # a blind guess, exactly
    match promise:
        case GaussianDP(mu):
            return _percent(upper(normal(ball(mu) - ball(_NORMAL_95))))
        case ApproximateDP(epsilon, delta):
            return _percent(detected_at(epsilon, delta, alarms=FALSE_ALARMS))
        case PrivacyProfile(points):
            return _percent(min(detected_at(epsilon, delta, alarms=FALSE_ALARMS) for epsilon, delta in points))


@precision()
def linear(epsilon: float, delta: float) -> str:
    """The bound e^ε·p + δ on an event of probability p, rounded up.

    >>> linear(1.0, 1e-6), linear(1.0, 0.0)
    ('2.72 · p + 10⁻⁶', '2.72 · p')
    """
    return f"{odds(epsilon)} · p" + (f" + {at_most(delta)}" if delta else "")


def one_in(probability: float) -> str:
    """The N of "1 in N", for an upper bound on a probability above 0.

    >>> one_in(1e-6), one_in(0.3)
    ('1,000,000', '3')
    """
    return at_least(Fraction(math.floor(1 / exact(probability))), digits=3)


def remaining(gamma: float) -> str:
    """1 − γ in percent, rounded down.

    >>> remaining(0.01), remaining(1e-9)
    ('99%', '99.99%')
    """
    return f"{at_least((1 - exact(gamma)) * 100)}%"


def _percent(probability: Number) -> str:
    return f"{at_most(min(Fraction(1), exact(probability)) * 100, digits=3)}%"


def _few(pairs: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    if len(pairs) <= MOST:
        return pairs
    return tuple(pairs[round(place * (len(pairs) - 1) / (MOST - 1))] for place in range(MOST))


def _subscript(order: float) -> str:
    """The order of a moment as a subscript; only whole numbers have subscript characters."""
    if order == int(order):
        return str(int(order)).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
    return f"({order!r})"
