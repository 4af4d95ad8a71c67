"""Pufferfish privacy: nobody learns which of two secrets is true, whatever they may believe of the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.meaning import RELATIVE
from sitr.flavors.promise import Obstacle, Promise, count, foreign, incompatible, parameter
from sitr.flavors.pure import PureDP
from sitr.numbers import Interval, downward, exact, upward

if TYPE_CHECKING:
    from sitr.loss.loss import Loss

LONGEST = 400
"""The most characters of a description."""


@dataclass(frozen=True, slots=True)
class Framework:
    """Who is protected against what: the secrets, in pairs that nobody may tell apart, and the priors of observers.

    They are described in words. `series` identifies the Markov chains and the length of a series for which noise was
    fitted with Markov quilts; it is empty for other mechanisms. Such releases of one series add up, and no others.

    >>> Framework("whether one person is ill", "illness is contagious within the four households")
    Framework(secrets='whether one person is ill', priors='illness is contagious within the four households', series='')
    """

    secrets: str
    priors: str
    series: str = ""

    def __post_init__(self) -> None:
        for name, least in (("secrets", 1), ("priors", 1), ("series", 0)):
            text = getattr(self, name)
            if not isinstance(text, str) or not least <= len(text.strip()) <= LONGEST or not (text + "x").isprintable():
                raise InvalidPromise(
                    wanted=f"{name} of Pufferfish as one line of text of at most {LONGEST} characters",
                    given=repr(text),
                    do="Describe in words what nobody may learn, and what observers may believe beforehand.",
                )


@dataclass(frozen=True, slots=True)
class Pufferfish(Promise):
    """Whichever of two secrets is true, and whatever an observer believes of the data, answers are nearly as likely.

    For every prior θ, every pair of secrets (s, s′) that are possible under θ, and every set S of answers,

        P(M ∈ S | s, θ) ≤ e^ε·P(M ∈ S | s′, θ).      [KM14]

    Here P counts the coins of the mechanism **and** the data, drawn from θ. This is neither stronger nor weaker than
    differential privacy: that compares two data sets in which only one record differs, and here the records may depend
    on each other, in the ways that the priors allow and in no others.

    Such promises **do not add up** in general, so `+`, `*`, budgets and schedules refuse them. The exception is noise
    that was fitted with Markov quilts to the same chains and the same length: Σε.      [SWC17, Thm 4.4, equal quilts]

    Proof for any quilts: fix a chain, a time i and the answers w. Let the k-th release have used for X_i a quilt with
    N_k nearby times and influence e_k, so N_k/σ_k + e_k ≤ ε_k, and let N_m be the least. Given the series outside of
    the N_m times, a change of X_i makes w_k at most e^{N_m/σ_k} times as likely, and the series outside of them changes
    its law by at most e^{e_m}, once for all. The sum of these is N_m·Σ1/σ_k + e_m ≤ Σ_{k≠m} N_k/σ_k + ε_m ≤ Σε_k.
    Every step holds for each w by itself, so queries and prices may be chosen after earlier answers.

    >>> chain = Framework("the state at each of 100 times", "one Markov chain", series="a5b1")
    >>> Pufferfish(1.0, chain) * 3
    Pufferfish(epsilon=3.0, framework=Framework(secrets='the state at each of 100 times', ...))
    >>> Pufferfish(1.0, Framework("whether one person is ill", "a household is ill together")) * 2
    Traceback (most recent call last):
    sitr.errors.IncompatiblePromises: Expected a single Pufferfish promise, got 2 of them. ...
    """

    notation = "pufferfish(ε, secrets, priors)"
    obstacle = Obstacle(
        "Differential privacy compares data sets in which one record differs, Pufferfish what is likely given two "
        "secrets, and neither implies the other if records depend on each other",
        "use a mechanism for Pufferfish, such as Wasserstein or MarkovQuilt",
    )
    closed = Obstacle(
        "It protects only against the priors that it names, and its bound holds on average over such data",
        "report it as it is, with its secrets and its priors",
    )
    about_people = False

    epsilon: float
    framework: Framework

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parameter(self.epsilon, name="epsilon", flavor="Pufferfish"))
        if not isinstance(self.framework, Framework):
            raise InvalidPromise(
                wanted="a framework of Pufferfish",
                given=repr(self.framework),
                do="Write Framework(secrets, priors): what nobody may learn, and what observers may believe.",
            )

    @classmethod
    def of(cls, loss: Loss, /, *, framework: Framework) -> Pufferfish:
        """The largest loss, rounded up. The loss must be between the laws of the answer **given two secrets**.

        >>> from sitr.loss import laplace
        >>> Pufferfish.of(laplace(scale=2), framework=Framework("a or b", "any")).epsilon
        0.5000000...
        """
        return cls(PureDP.of(loss).epsilon, framework)

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        """The largest loss, between the laws given two secrets, against ε."""
        return PureDP(self.epsilon).excess(loss, relative=relative)

    @classmethod
    def compose(cls, parts: Iterable[Pufferfish], /) -> Pufferfish:
        """Σε for Markov quilts of the same series; refused for all others.      [SWC17, Thm 4.4]"""
        parts = tuple(parts)
        if not parts:
            raise InvalidPromise(
                wanted="at least one Pufferfish promise, because a sum of none has no secrets",
                given="none",
                do="Compose at least one.",
            )
        for other in parts[1:]:
            if not isinstance(other, Pufferfish):
                raise incompatible(parts[0], other)
            if not other.adds_to(parts[0]):
                raise not_composable(len(parts), series=bool(other.framework.series and parts[0].framework.series))
        return cls(upward(sum((exact(part.epsilon) for part in parts), Fraction(0))), parts[0].framework)

    def __mul__(self, times: int, /) -> Pufferfish:
        times = count(times, what="The number of releases")
        if times > 1 and not self.framework.series:
            raise not_composable(times)
        return Pufferfish(upward(exact(self.epsilon) * times), self.framework)

    def for_group(self, size: int, /) -> Pufferfish:
        """Only for one: secrets of several people together are other secrets, about which nothing is promised."""
        if count(size, what="The size of a group") > 1:
            raise IncompatiblePromises(
                wanted="a group of one, because Pufferfish protects the secrets that it names",
                given=f"a group of {size}",
                do="Name the secrets of the whole group, and fit the noise to them.",
            )
        return self

    def covers(self, other: Promise, /) -> bool:
        """Only the same secrets, against the same priors."""
        if isinstance(other, ComputationalDP):
            return other.follows_from(self)
        if not isinstance(other, Pufferfish):
            return False
        return other.framework == self.framework and self.epsilon <= other.epsilon

    def largest_loss(self) -> float:
        """ε, between the laws given two secrets."""
        return self.epsilon

    def infinite_mass(self) -> float:
        """Given two secrets the loss is at most ε."""
        return 0.0

    def coordinates(self) -> tuple[Fraction, ...]:
        """ε, for Markov quilts; all other sums are refused."""
        if not self.framework.series:
            raise not_composable(None)
        return (exact(self.epsilon),)

    def with_coordinates(self, values: Sequence[Fraction], /, *, up: bool) -> Pufferfish:
        return Pufferfish((upward if up else downward)(values[0]), self.framework)

    def adds_to(self, like: Promise, /) -> bool:
        """Only Markov quilts of the same series."""
        return isinstance(like, Pufferfish) and bool(self.framework.series) and like.framework == self.framework

    def written(self) -> str:
        named = {"secrets": self.framework.secrets, "priors": self.framework.priors}
        series = {"series": self.framework.series} if self.framework.series else {}
        texts = (f"{name}={text!r}" for name, text in (named | series).items())
        return ", ".join([f"epsilon={self.epsilon!r}", *texts])

    @classmethod
    def read(cls, epsilon: Any, secrets: Any, priors: Any, *, series: Any = "") -> Pufferfish:
        if not all(isinstance(text, str) for text in (secrets, priors, series)):
            raise foreign()
        return cls(epsilon, Framework(secrets, priors, series))

    def to_approximate(self, *, delta: float) -> NoReturn:
        """There is no such conversion."""
        raise IncompatiblePromises(
            wanted="a promise that implies ApproximateDP", given=f"{self!r} at δ = {delta}", do=str(self.closed)
        )


def not_composable(times: int | None, *, series: bool = False) -> IncompatiblePromises:
    """The error for a sum of Pufferfish promises, or for a budget that would need one."""
    return IncompatiblePromises(
        wanted="a single Pufferfish promise",
        given="a budget or a sum" if times is None else f"{times} of them",
        do="Fit all noise to the same chains and the same length: only Markov quilts of one series add up."
        if series
        else "Release everything in one answer: two such answers together may reveal a secret that each of them hides. "
        "Only Markov quilts of one series add up.",
    )
