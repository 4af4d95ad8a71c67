"""The privacy loss of a set of releases. Every flavor of differential privacy is a view of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.errors import InvalidPromise, WiderThanAsked
from sitr.loss.attack import true_positive_rate
from sitr.loss.direction import answer_one_direction, exceeding_at, greatest_loss, mass_at_infinity, profile_at
from sitr.loss.exceeding import dominated_exceeding
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.gaussian_mu import behind, bounded_mu, one_gaussian, with_gaussians
from sitr.loss.law import FUNCTIONS, Law, Laws, check
from sitr.loss.moments import log_moment, mean
from sitr.loss.search import DeltaAt, EpsilonAt, Hint, narrow
from sitr.namespace import Later
from sitr.numbers import Interval, Number, downward, float_above, largest, square_root_upward

if TYPE_CHECKING:
    from sitr.loss import concentration
else:  # a headline needs neither ρ nor τ
    concentration = Later("sitr.loss.concentration")

RELATIVE = 1e-3
"""The default relative width of an answer."""

WIDE = 1e-2
"""The default relative width of τ² and ρ, which are suprema over all moments and take longer to prove."""

UNKNOWN = Interval(0.0, math.inf)


@dataclass(frozen=True, slots=True, repr=False)
class Loss:
    """L = ln P(z)/Q(z) for the answers z to two neighbouring data sets, as the sum of independent parts.

    `laws` are the laws of one direction, each with the number of times it is added; exchanging the two data sets
    reverses all of them. Every answer is for the worse of both directions. It is a proved interval, which includes all
    numerical errors, given the accuracy of elementary functions that `sitr.loss.law` names.

    >>> Loss.of(GaussianLaw(1.0)).epsilon(delta=1e-6)
    Interval(lower=4.886..., upper=4.886...)
    """

    laws: tuple[tuple[Law, int], ...]
    bound: bool = False
    """Whether the laws only dominate the true loss: upper ends then hold for it, lower ends only for these laws.

    Domination is about the hockey-stick at every ε. It bounds ε, δ, moments, the mean, ρ, μ and attacks. It does not
    bound the variance, τ and P(L > ε), which may grow when outputs are merged: for a bound, those intervals are wide.
    """

    def __repr__(self) -> str:
        return f"Loss(laws={self.laws!r}{', bound=True' if self.bound else ''})"

    @classmethod
    def of(cls, law: Law, times: int = 1, *, bound: bool = False) -> Loss:
        """The sum of `times` independent losses with this law.

        >>> Loss.of(GaussianLaw(1.0), bound=True)
        Loss(laws=((GaussianLaw(mu=1.0), 1),), bound=True)
        """
        return cls.compose((cls(((law, times),), bound),))

    @classmethod
    def compose(cls, parts: Iterable[Loss]) -> Loss:
        """The sum of losses. Equal laws are counted; all Gaussians become one Gaussian, exactly: μ² adds.

        The sum is a bound if one of its parts is.
        """
        counted: dict[Law, int] = {}
        variance, bound = Fraction(0), False
        for part in parts:
            bound = bound or part.bound
            for law, times in part.laws:
                _check_times(times)
                if isinstance(law, GaussianLaw):
                    variance += Fraction(law.mu) ** 2 * times
                elif times:
                    counted[law] = counted.get(law, 0) + times
        if variance:
            counted[GaussianLaw(float_above(square_root_upward(variance)))] = 1
        return cls(tuple(counted.items()), bound)

    def __add__(self, other: Loss) -> Loss:
        return Loss.compose((self, other))

    def __mul__(self, times: int) -> Loss:
        _check_times(times)
        return Loss.compose([Loss(tuple((law, many * times) for law, many in self.laws), self.bound)])

    def epsilon(self, *, delta: Number, relative: float = RELATIVE) -> Interval:
        """The least ε ≥ 0 with δ(ε) ≤ δ; infinite if P(L = +∞) > δ.

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
        """D_α = ln E[e^{(α−1)L}]/(α − 1), for any real order above 1.      [Mir17, Def. 3]"""
        check(order, "order", above=1.0)
        tilt = float(order) - 1.0
        width = _width(relative)
        return self._sum(lambda law: log_moment(law, tilt, relative=width), divisor=tilt)

    def mean(self, *, relative: float = RELATIVE) -> Interval:
        """E[L], the Kullback–Leibler divergence."""
        width = _width(relative)
        return self._sum(lambda law: mean(law, relative=width), divisor=1.0)

    def variance(self, *, relative: float = RELATIVE) -> Interval:
        """Var L = E[(L − E[L])²].

        >>> Loss.of(GaussianLaw(2.0)).variance()
        Interval(lower=3.99..., upper=4.00...)
        """
        width = _width(relative)
        return UNKNOWN if self.bound else self._worse(lambda laws: concentration.total_variance(laws, relative=width))

    def subgaussian(self, *, relative: float = WIDE) -> Interval:
        """The least τ with E[e^{λ(L − E[L])}] ≤ e^{λ²τ²/2} for all real λ: the τ of concentrated privacy.

        [DR16, Def. 2.1]

        >>> from sitr.loss.forms.finite import response
        >>> Loss.of(response(1.0)).subgaussian()  # √(2·tanh ½), the square root of twice the mean
        Interval(lower=0.961..., upper=0.96...)
        """
        width = _width(relative)
        square = (
            UNKNOWN if self.bound else self._worse(lambda laws: concentration.subgaussian_square(laws, relative=width))
        )
        return Interval(math.sqrt(square.lower) * (1 - FUNCTIONS), math.sqrt(square.upper) * (1 + FUNCTIONS))

    def rho(self, *, xi: float = 0.0, relative: float = WIDE) -> Interval:
        """The least ρ ≥ 0 with D_α ≤ ξ + ρα for all orders α > 1.      [BS16, Def. 1.1 and 8.1]

        >>> Loss.of(GaussianLaw(1.0)).rho()
        Interval(lower=0.49..., upper=0.5...)
        """
        check(xi, "xi", above=0.0, ends="above")
        width = _width(relative)
        return self._worse(lambda laws: concentration.least_rho(laws, xi=float(xi), relative=width))

    def mu(self, *, relative: float = RELATIVE) -> Interval:
        """The least μ such that distinguishing P from Q is as hard as distinguishing N(0, 1) from N(μ, 1).

        [DRS22, Def. 2.6] The upper end is infinite where no Gaussian is proved to bound the loss.

        >>> from sitr.loss.forms.finite import response
        >>> Loss.of(response(1.0)).mu()  # 2Φ⁻¹(e/(1 + e))
        Interval(lower=1.23..., upper=1.23...)
        """
        width = _width(relative)
        if self.infinite_mass() > 0.0:
            return Interval(math.inf, math.inf)
        rest = Loss(tuple((law, times) for law, times in self.laws if behind(law).mu.upper == 0.0))

        def delta(epsilon: float) -> Interval:
            return rest._worse(lambda laws: profile_at(laws, width / 8, epsilon))

        return with_gaussians(bounded_mu(delta, rest.max(), relative=width), self.laws)

    def simplified(self) -> Loss:
        """One Gaussian that bounds a sum of losses, if its μ is hardly larger than needed; otherwise the loss itself.

        The upper ends of its views hold for this loss. It has closed forms, where a sum takes a search.

        >>> from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
        >>> (Loss.of(GaussianLaw(0.3)) + Loss.of(DiscreteGaussianLaw(25.0, 1))).simplified()
        Loss(laws=((GaussianLaw(mu=0.30265...), 1),), bound=True)
        """
        alone = len(self.laws) == 1 and self.laws[0][1] == 1
        mu = None if alone else one_gaussian(self.laws)
        return self if mu is None else Loss.of(GaussianLaw(mu), bound=True)

    def exceeding(self, *, epsilon: Number, relative: float = RELATIVE) -> Interval:
        """P(L > ε): how often the odds move by more than e^ε. Probabilistic privacy bounds it by δ.

        It is larger than δ(ε), which weighs every loss above ε by 1 − e^{ε−L}.      [MKAGV08]

        >>> Loss.of(GaussianLaw(1.0)).exceeding(epsilon=1.0)
        Interval(lower=0.308..., upper=0.308...)
        """
        check(epsilon, "epsilon", above=0.0, ends="above")
        width = _width(relative)
        if self.bound:
            return self._worse(lambda laws: dominated_exceeding(partial(profile_at, laws, width), float(epsilon)))
        return self._worse(lambda laws: exceeding_at(laws, float(epsilon), width))

    def tail(self, *, deviations: float, relative: float = RELATIVE) -> Interval:
        """P(L > μ + tτ) for t = `deviations` ≥ 0, with μ the mean and τ the sub-Gaussian standard of this loss.

        At most e^{−t²/2} for every loss.      [DR16, Sec. 2]

        >>> Loss.of(GaussianLaw(1.0)).tail(deviations=2.0)
        Interval(lower=0.0227..., upper=0.0227...)
        """
        check(deviations, "deviations", above=0.0, ends="above")
        mean, tau = self.mean(relative=relative), self.subgaussian(relative=relative)
        if math.isinf(mean.upper) or math.isinf(tau.upper):
            return Interval(0.0, 1.0)
        low, high = (getattr(mean, end) + deviations * getattr(tau, end) for end in ("lower", "upper"))
        rarest = self.exceeding(epsilon=high * (1 + 2 * FUNCTIONS), relative=relative)
        return Interval(rarest.lower, self.exceeding(epsilon=low * (1 - 2 * FUNCTIONS), relative=relative).upper)

    def max(self) -> float:
        """The largest possible loss, rounded up; infinite if the loss has no bound or may be infinite."""
        if self.infinite_mass() > 0.0:
            return math.inf
        return max(map(greatest_loss, self._directions())) * (1 + 4 * FUNCTIONS)

    def infinite_mass(self) -> float:
        """P(L = +∞): how often a person is exposed outright, whatever ε is."""
        return max(map(mass_at_infinity, self._directions()))

    def advantage(self, *, relative: float = RELATIVE) -> Interval:
        """The best true-positive rate minus false-positive rate of any attacker: δ(0), the total variation."""
        return self.delta(epsilon=0.0, relative=relative)

    def posterior(self, *, prior: float = 0.5, relative: float = RELATIVE) -> Interval:
        """The probability of the best guess whether a person took part, if taking part has the prior probability π.

        (1 − π) + π·H_t with t = (1 − π)/π, the Bayes risk of a test between P and Q.      [KOV15, Sec. 2]

        >>> Loss.of(GaussianLaw(1.0)).posterior(prior=0.5)
        Interval(lower=0.691..., upper=0.691...)
        """
        check(prior, "prior", above=0.0, below=1.0)
        likely = max(prior, 1 - prior)  # the guess against the odds needs evidence from the answer
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
        if fpr in (0, 1):  # without false positives, only infinite losses are recognised
            most = self.infinite_mass() if fpr == 0 else 1.0
            return Interval(most * (1 - 16 * FUNCTIONS) if most < 1.0 else 1.0, min(1.0, most * (1 + 16 * FUNCTIONS)))
        profiles = [partial(profile_at, laws, width) for laws in self._directions()]
        both = zip(profiles, profiles[::-1], strict=True)
        return largest(true_positive_rate(one, other, float(fpr)) for one, other in both)

    def _directions(self) -> list[Laws]:
        reverse = tuple((law.reversed(), times) for law, times in self.laws)
        return [self.laws] if reverse == self.laws else [self.laws, reverse]

    def _worst(self, question: DeltaAt | EpsilonAt, relative: float) -> Interval:
        found: list[Interval] = []
        hint: Hint | None = None
        for laws in self._directions():
            least = max((each.lower for each in found), default=0.0)
            if least == math.inf:
                break  # nothing is larger
            one, new = answer_one_direction(laws, question, relative, hint, least=least)
            found.append(one)
            hint = new or hint  # a closed form gives no hint for the other direction
        bounds = largest(found)
        if hint is not None and not narrow(question, bounds, hint, relative):
            warnings.warn(
                f"Only the interval {bounds.lower:g} to {bounds.upper:g} could be proved; it is wider than the "
                f"{relative:.3g} requested, relative to its end. It is still valid.",
                WiderThanAsked,
                stacklevel=3,
            )
        return bounds

    def _worse(self, view: Callable[[Laws], Interval]) -> Interval:
        """The larger answer of both directions."""
        return largest(map(view, self._directions()))

    def _sum(self, moment: Callable[[Law], Interval], *, divisor: float) -> Interval:
        def view(laws: Laws) -> Interval:
            parts = [(moment(law), times) for law, times in laws]
            low = sum(times * one.lower for one, times in parts) / divisor
            high = sum(times * one.upper for one, times in parts) / divisor
            return Interval(low * (1 - 8 * FUNCTIONS), high * (1 + 8 * FUNCTIONS))

        return self._worse(view)


def _check_times(times: object) -> None:
    if isinstance(times, bool) or not isinstance(times, Integral) or times < 0:
        raise InvalidPromise(
            wanted="a whole number of releases, at least 0",
            given=repr(times),
            do="Count the releases with an integer.",
        )


def _width(relative: float) -> float:
    check(relative, "relative", above=1e-9, below=0.5, ends="above and below")
    return float(relative)
