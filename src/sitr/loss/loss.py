"""The privacy loss of everything that was released: what every flavor is a view of."""

from __future__ import annotations

import math
import struct
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from numbers import Integral

from flint import arb

from sitr.errors import InvalidPromise, WiderThanAsked
from sitr.loss.attack import true_positive_rate
from sitr.loss.forms.finite import FiniteLaw
from sitr.loss.forms.gaussian import GaussianLaw, hockey_stick
from sitr.loss.law import FUNCTIONS, Law, check
from sitr.loss.moments import LARGEST, log_moment, mean
from sitr.loss.search import DeltaAt, EpsilonAt, Hint, answer, narrow
from sitr.loss.single import SMALLEST, single_delta, single_epsilon
from sitr.numbers import Interval, Number, downward, exact, lower, square_root_upward, upper

Laws = tuple[tuple[Law, int], ...]

FEW = 64
"""At most so many masses are multiplied exactly."""

RELATIVE = 1e-3
"""How wide an answer may be, relative to itself, unless a narrower one is asked for."""


@dataclass(frozen=True, slots=True)
class Loss:
    """L = ln P(z)/Q(z) for the answers z to two neighbouring data sets, as the sum of independent parts.

    `laws` are those of one direction, each with the number of times it is added; exchanging the two data sets reverses
    every one of them. What is true of both directions is answered: the worse. Every answer is an interval that is
    proved, numerical errors included, with the accuracy of elementary functions that `sitr.loss.law` names.

    >>> Loss.of(GaussianLaw(1.0)).epsilon(delta=1e-6)
    Interval(lower=4.886..., upper=4.886...)
    """

    laws: Laws

    @classmethod
    def of(cls, law: Law, times: int = 1) -> Loss:
        """So many independent losses with this law."""
        return cls.compose((cls(((law, times),)),))

    @classmethod
    def compose(cls, parts: Iterable[Loss]) -> Loss:
        """Losses add. Equal laws are counted, and Gaussians are one Gaussian, exactly: μ² adds."""
        counted: dict[Law, int] = {}
        variance = Fraction(0)
        for part in parts:
            for law, times in part.laws:
                _check_times(times)
                if isinstance(law, GaussianLaw):
                    variance += Fraction(law.mu) ** 2 * times
                elif times:
                    counted[law] = counted.get(law, 0) + times
        if variance:
            counted[GaussianLaw(float(square_root_upward(variance)))] = 1
        return cls(tuple(counted.items()))

    def __add__(self, other: Loss) -> Loss:
        return Loss.compose((self, other))

    def __mul__(self, times: int) -> Loss:
        _check_times(times)
        return Loss.compose([Loss(tuple((law, many * times) for law, many in self.laws))])

    def epsilon(self, *, delta: Number, relative: float = RELATIVE) -> Interval:
        """The least ε ≥ 0 with δ(ε) ≤ δ; infinite where the loss is infinite with a larger probability.

        >>> from sitr.loss.forms.finite import response
        >>> Loss.of(response(0.1), 100).epsilon(delta=1e-6)
        Interval(lower=4.77..., upper=4.77...)
        """
        check(delta, "delta", above=0.0, below=1.0)
        return self._worst(EpsilonAt(downward(delta)), _width(relative))

    def delta(self, *, epsilon: Number, relative: float = RELATIVE) -> Interval:
        """δ(ε) = E[(1 − e^{ε−L})₊]."""
        check(epsilon, "epsilon", above=0.0, ends="above")
        return self._worst(DeltaAt(float(epsilon)), _width(relative))

    def renyi(self, *, order: float, relative: float = 1e-4) -> Interval:
        """D_α = ln E[e^{(α−1)L}]/(α − 1), for any order above 1: whole or not.      [Mir17, Def. 3]"""
        check(order, "order", above=1.0)
        tilt = float(order) - 1.0
        width = _width(relative)
        return self._sum(lambda law: log_moment(law, tilt, relative=width), divisor=tilt)

    def mean(self, *, relative: float = RELATIVE) -> Interval:
        """E[L], the divergence of Kullback and Leibler."""
        width = _width(relative)
        return self._sum(lambda law: mean(law, relative=width), divisor=1.0)

    def max(self) -> float:
        """The largest loss there can be; infinite if there is none, or if some losses are infinite."""
        if self.infinite_mass() > 0.0:
            return math.inf
        return max(map(_greatest, self._directions())) * (1 + 4 * FUNCTIONS)

    def infinite_mass(self) -> float:
        """P(L = +∞): how often somebody is exposed outright, whatever ε is."""
        return max(map(_infinite, self._directions()))

    def advantage(self, *, relative: float = RELATIVE) -> Interval:
        """The best true-positive rate minus false-positive rate of any attacker: δ(0), the total variation."""
        return self.delta(epsilon=0.0, relative=relative)

    def posterior(self, *, prior: float = 0.5, relative: float = RELATIVE) -> Interval:
        """How often the best guess is right whether somebody took part, if that had the probability `prior` before.

        (1 − π) + π·H_t with t = (1 − π)/π, the Bayes risk of a test between P and Q.      [KOV15, Sec. 2]

        >>> Loss.of(GaussianLaw(1.0)).posterior(prior=0.5)
        Interval(lower=0.691..., upper=0.691...)
        """
        check(prior, "prior", above=0.0, below=1.0)
        likely = max(prior, 1 - prior)  # the guess against the odds is the one that P or Q must speak for
        found = self.delta(epsilon=math.log(likely / (1 - likely)) if likely < 1.0 else 0.0, relative=relative)
        rest = 1 - likely
        least, most = (likely + rest * one for one in (found.lower, found.upper))
        return Interval(least * (1 - 4 * FUNCTIONS), min(1.0, most * (1 + 4 * FUNCTIONS)))

    def trade_off(self, *, fpr: float, relative: float = RELATIVE) -> Interval:
        """The best true-positive rate of any attacker with this false-positive rate.      [DRS22, Prop. 2.12]

        >>> Loss.of(GaussianLaw(1.0)).trade_off(fpr=0.01)
        Interval(lower=0.092..., upper=0.092...)
        """
        check(fpr, "fpr", above=0.0, below=1.0, ends="above and below")
        width = _width(relative)
        if fpr in (0, 1):  # without false alarms, only what cannot be one
            most = self.infinite_mass() if fpr == 0 else 1.0
            return (
                Interval(most * (1 - 16 * FUNCTIONS), min(1.0, most * (1 + 16 * FUNCTIONS)))
                if most < 1.0
                else Interval(1.0, 1.0)
            )
        profiles = [partial(_delta, laws, width) for laws in self._directions()]
        found = [
            true_positive_rate(one, other, float(fpr)) for one, other in zip(profiles, profiles[::-1], strict=True)
        ]
        return Interval(max(one.lower for one in found), max(one.upper for one in found))

    def _directions(self) -> list[Laws]:
        reverse = tuple((law.reversed(), times) for law, times in self.laws)
        return [self.laws] if reverse == self.laws else [self.laws, reverse]

    def _worst(self, question: DeltaAt | EpsilonAt, relative: float) -> Interval:
        found: list[Interval] = []
        hint: Hint | None = None
        for laws in self._directions():
            one, new = _answer(laws, question, relative, hint)
            found.append(one)
            hint = new or hint  # a direction in closed form says nothing about the other
        bounds = Interval(max(one.lower for one in found), max(one.upper for one in found))
        if hint is not None and not narrow(question, bounds, hint, relative):
            warnings.warn(
                f"An interval of relative width {relative:g} was wanted. {bounds.lower:g} to {bounds.upper:g} is "
                "proved, and that is wider. Use it as it is: a narrower one would take more than is tried.",
                WiderThanAsked,
                stacklevel=3,
            )
        return bounds

    def _sum(self, moment: Callable[[Law], Interval], *, divisor: float) -> Interval:
        found = []
        for laws in self._directions():
            parts = [(moment(law), times) for law, times in laws]
            low = sum(times * one.lower for one, times in parts) / divisor
            high = sum(times * one.upper for one, times in parts) / divisor
            found.append(Interval(low * (1 - 8 * FUNCTIONS), high * (1 + 8 * FUNCTIONS)))
        return Interval(max(one.lower for one in found), max(one.upper for one in found))


def _answer(
    laws: Laws, question: DeltaAt | EpsilonAt, relative: float, hint: Hint | None = None
) -> tuple[Interval, Hint | None]:
    """For one direction: nothing or one release in closed form, all else by search."""
    if (closed := _closed(laws, question)) is not None:
        return closed, None
    if isinstance(question, DeltaAt):
        return answer(laws, question, relative=relative, most=1.0, hint=hint)
    most = _most(laws, question.delta)
    if _infinite(laws) * (1 + 1e-12) > question.delta:
        # Floats cannot tell the two apart: a larger δ bounds ε from below.
        found, hint = answer(laws, EpsilonAt(question.delta * (1 + 1e-9)), relative=relative, hint=hint)
        return Interval(found.lower, most), hint
    return answer(laws, question, relative=relative, most=most, hint=hint)


def _most(laws: Laws, delta: float) -> float:
    """An ε that is large enough: from the largest loss on, δ(ε) is P(L = +∞). Infinite if that may exceed δ."""
    if not _allowed(laws, delta):
        return math.inf
    return max(0.0, _greatest(laws)) * (1 + 1e-12)


def _greatest(laws: Laws) -> float:
    """The largest finite loss of a sum; however many laws there are, the sum is rounded once."""
    return math.fsum(times * law.greatest for law, times in laws)


def _allowed(laws: Laws, delta: float) -> bool:
    """Whether P(L = +∞) ≤ δ is proved, for the decimals that these floats stand for.

    A finite law never rounds its mass at +∞ down: for a few of them 1 − Π(1 − mass) is compared exactly.
    """
    exposed = [(law, times) for law, times in laws if law.infinite > 0.0]
    if all(isinstance(law, FiniteLaw) for law, _ in exposed) and sum(times for _, times in exposed) <= FEW:
        finite = math.prod(((1 - exact(law.infinite)) ** times for law, times in exposed), start=Fraction(1))
        return 1 - finite <= exact(delta)
    return _infinite(laws) * (1 + 1e-12) <= delta


def _closed(laws: Laws, question: DeltaAt | EpsilonAt) -> Interval | None:
    infinite = _infinite(laws)
    greatest = _greatest(laws)
    match question, laws:
        case _, ():
            return Interval(0.0, 0.0)
        case DeltaAt(epsilon), ((GaussianLaw(mu), 1),):
            return _gaussian_delta(mu, epsilon)
        case EpsilonAt(delta), ((GaussianLaw(mu), 1),):
            return _gaussian_epsilon(mu, delta)
        case EpsilonAt(delta), _ if infinite * (1 - 8 * FUNCTIONS) > delta:
            return Interval(math.inf, math.inf)
        case DeltaAt(_), _ if any(law.infinite == 1.0 for law, _ in laws):
            return Interval(1.0, 1.0)
        case DeltaAt(epsilon), _ if epsilon >= greatest * (1 + 1e-12):
            return Interval(infinite * (1 - 8 * FUNCTIONS), min(1.0, infinite * (1 + 8 * FUNCTIONS)))
        case DeltaAt(epsilon), ((law, 1),):
            return single_delta(law, epsilon)
        case EpsilonAt(delta), ((law, 1),):
            found = single_epsilon(law, delta, narrow=1e-10)
            return Interval(found.lower, min(found.upper, _most(laws, delta)))
    return None


def _delta(laws: Laws, relative: float, epsilon: float) -> Interval:
    return _answer(laws, DeltaAt(epsilon), relative)[0]


def _infinite(laws: Laws) -> float:
    return 0.0 - math.expm1(sum(times * _log_finite(law) for law, times in laws))


def _log_finite(law: Law) -> float:
    return math.log1p(-law.infinite) if law.infinite < 1.0 else -math.inf


NEAR = Fraction(1, 2**44)
"""μ of many Gaussians is rounded; this is far more than that, and far less than anybody asks for."""


HUGE = 1e5
"""Beyond this μ the loss is μ²/2 ± 40μ, but for a probability that is smaller than all floats."""

APART = 512
"""How many floats apart the ends of a bisected interval may be: a relative 1.1e-13."""


def _gaussian_delta(mu: float, epsilon: float) -> Interval:
    if mu > HUGE:
        near = _huge(mu)
        return Interval(float(epsilon < near.lower) * (1 - FUNCTIONS), float(epsilon < near.upper) or FUNCTIONS)
    least, most = (hockey_stick(size, Fraction(epsilon)) for size in _sizes(mu))
    # `lower` and `upper` round the decimal that is printed; the float itself may be half a unit farther in.
    return Interval(max(0.0, math.nextafter(lower(least), -math.inf)), min(1.0, math.nextafter(upper(most), math.inf)))


def _gaussian_epsilon(mu: float, delta: float) -> Interval:
    """By bisection; δ is proved to be larger at the lower end, and not to be larger at the upper one."""
    most = _huge(mu)  # its upper end holds for every μ
    if mu > HUGE:
        return most
    small, large = _sizes(mu)
    # The answer holds for the float and for the decimal that it prints as. A float is a ball of radius 0.
    targets = [arb(math.nextafter(delta, end)) for end in (1.0, 0.0)]
    near = single_epsilon(GaussianLaw(mu), delta, narrow=1e-9)
    places = (near.lower * (1 - 1e-10), min(near.upper * (1 + 1e-10), most.upper), most.upper)
    return Interval(
        _bisected(lambda epsilon: bool(hockey_stick(small, epsilon) > targets[0]), places)[0],
        _bisected(lambda epsilon: not bool(hockey_stick(large, epsilon) <= targets[1]), places)[1],
    )


def _huge(mu: float) -> Interval:
    return Interval(
        max(0.0, min(mu * (mu / 2 - 40), LARGEST) * (1 - FUNCTIONS)), mu * (mu / 2 + 40) * (1 + FUNCTIONS) + SMALLEST
    )


def _sizes(mu: float) -> tuple[Fraction, Fraction]:
    return Fraction(mu) * (1 - NEAR), Fraction(mu) * (1 + NEAR)


def _bisected(beyond: Callable[[Fraction], bool], places: tuple[float, float, float]) -> tuple[float, float]:
    """An ε that is beyond (or 0) and a larger one that is not, at most `APART` floats apart; both 0 if 0 is not beyond.

    The first two places are where the answer probably lies; the last is known not to be beyond. Floats from 0 on have
    the order of their bits, read as whole numbers below 2^63: halving the distance between two of those ends after
    at most 63 steps, wherever they lie.
    """
    if not beyond(Fraction(0)):
        return 0.0, 0.0
    low, high = 0, _bits(places[2])
    for place in sorted(map(_bits, places[:2])):
        if low < place < high:
            low, high = (place, high) if beyond(Fraction(_from_bits(place))) else (low, place)
    while high - low > APART:
        middle = (low + high) // 2
        low, high = (middle, high) if beyond(Fraction(_from_bits(middle))) else (low, middle)
    return _from_bits(low), _from_bits(high)


def _bits(number: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", number))[0])


def _from_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


def _check_times(times: object) -> None:
    if isinstance(times, bool) or not isinstance(times, Integral) or times < 0:
        raise InvalidPromise(
            wanted="A whole number of at least 0 was wanted for how often a loss is added.",
            given=f"{times!r} was given.",
            do="Count the releases.",
        )


def _width(relative: float) -> float:
    check(relative, "relative", above=1e-9, below=0.5, ends="above and below")
    return float(relative)
