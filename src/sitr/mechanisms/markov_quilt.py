"""The Markov quilt mechanism: one person's time series, whose states depend on each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from numbers import Integral
from typing import Any

from sitr.errors import InvalidParameter
from sitr.flavors.pufferfish import Framework, Pufferfish
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import Coins
from sitr.numbers import Number, exact, natural, positive, upward
from sitr.sensitivity.chain import Chain
from sitr.sensitivity.quilt import Active, fitted, lost
from sitr.sensitivity.series import SeriesQuery

LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class MarkovQuilt:
    """F + noise of scale L·σ, for a query F that moves by at most L if one state changes.      [SWC17, Alg. 2 and 3]

    Nobody who believes one of the chains learns from the answer whether the state at a time was x or x′. A quilt of a
    time i, the states a steps before and b steps after, hides the rest of the series from X_i but for its influence e;
    noise covers the N = a + b − 1 times in between: N/σ + e ≤ ε. So σ is the largest over chains and **all** times,
    ends included, of the least N/(ε − e) over all quilts. Influences are rounded up, and σ is.

    The chains must include what observers may believe: of a chain that is not among them nothing is promised. The
    length of the series is public.

    >>> from sitr.sensitivity import Visits
    >>> walking = Chain([0.9, 0.1], [[0.8, 0.2], [0.3, 0.7]])
    >>> mechanism = MarkovQuilt((walking,), length=100, epsilon=1, query=Visits(1))
    >>> float(mechanism.sigma), mechanism.error()
    (10.640192..., 32)
    >>> type(mechanism.release([0, 0, 1, 1, 1] * 20))
    <class 'int'>
    """

    chains: Sequence[Chain]
    length: int
    epsilon: Number
    query: SeriesQuery

    def __post_init__(self) -> None:
        chains = (self.chains,) if isinstance(self.chains, Chain) else tuple(self.chains)
        if not chains or not all(isinstance(chain, Chain) for chain in chains) or len({c.states for c in chains}) != 1:
            raise InvalidParameter(
                wanted="one or more chains with the same states for MarkovQuilt",
                given=f"{len(chains)} of them",
                do="Write for example chains=[Chain(start, transition)].",
            )
        if not all(hasattr(self.query, name) for name in ("lipschitz", "granularity", "__call__")):
            raise InvalidParameter(
                wanted="a query of MarkovQuilt that says how far one state moves it",
                given=type(self.query).__name__,
                do="Use Visits, StateCounts, StateShares or Changes, or OwnQuery(function, lipschitz=…).",
            )
        object.__setattr__(self, "chains", chains)
        length = natural(self.length, name="length", of="MarkovQuilt", most=LONGEST)
        object.__setattr__(self, "length", length)
        object.__setattr__(self, "epsilon", positive(self.epsilon, name="epsilon", of="MarkovQuilt"))

    @property
    def sigma(self) -> Fraction:
        """The scale of the noise for L = 1, rounded up; at least 1/ε."""
        found, _ = fitted(tuple(self.chains), self.length, Fraction(self.epsilon))
        return exact(upward(max(found, 1 / Fraction(self.epsilon))))

    @property
    def quilts(self) -> tuple[tuple[tuple[int, Active], ...], ...]:
        """For each chain and each time a quilt with N/(ε − e) ≤ σ; none where only one state is possible."""
        return fitted(tuple(self.chains), self.length, Fraction(self.epsilon))[1]

    @property
    def noise(self) -> Laplace:
        """The noise, of scale L·σ."""
        moved = exact(self.query.lipschitz)
        return Laplace(moved * self.sigma, moved, self.query.granularity)

    def promise(self) -> Pufferfish:
        """ε for the state at every time. Releases for the same chains and length add up: see `Pufferfish`."""
        return Pufferfish(upward(self.epsilon), self._framework(adds=True))

    def _framework(self, *, adds: bool) -> Framework:
        states, chains = self.chains[0].states, len(self.chains)
        believed = "one Markov chain" if chains == 1 else f"any of {chains} Markov chains"
        return Framework(
            f"which of {states} states a series of {self.length} is in, at each time by itself",
            f"{believed} [{_digest(self.chains)}]",
            _digest((self.chains, self.length)) if adds else "",
        )

    @staticmethod
    def together(mechanisms: Iterable[MarkovQuilt], /) -> Pufferfish:
        """The promise of several releases of one series: max over chains and times of min over quilts of N·Σ1/σ + e.

        At most Σε, and often less: the influence counts once, however many releases there are. Queries may be chosen
        after earlier answers, but the ε of all releases must be fixed in advance; otherwise add up the promises.

        >>> from sitr.sensitivity import Changes, Visits
        >>> walking = Chain([0.9, 0.1], [[0.8, 0.2], [0.3, 0.7]])
        >>> both = [MarkovQuilt((walking,), 100, epsilon, Visits(1)) for epsilon in (1, 0.5)]
        >>> MarkovQuilt.together(both).epsilon
        1.267...
        """
        several = list(mechanisms)
        if not several or {(one.chains, one.length) for one in several} != {(several[0].chains, several[0].length)}:
            raise InvalidParameter(
                wanted="one or more MarkovQuilt mechanisms for the same chains and the same length",
                given=f"{len(several)} of them" if not several else "different ones",
                do="Fit all of them to one list of chains.",
            )
        first = several[0]
        total = lost(tuple(first.chains), first.length, sum((1 / one.sigma for one in several), Fraction(0)))
        return Pufferfish(upward(total), first._framework(adds=False))

    def loss(self) -> None:
        """None: losses of Pufferfish promises do not add up, so no loss may stand for them."""

    def error(self, *, confidence: Number = 0.95) -> int | Fraction:
        """The noise of each number is at most this, with at least this confidence. It is public."""
        return self.noise.error(confidence=confidence)

    def release(self, series: Sequence[int], *, coins: Coins | None = None) -> Any:
        """The answer to the query about a series of states 0, 1, 2, …, with noise."""
        states = self.chains[0].states
        given: list[Any] = list(series)
        known = [not isinstance(one, bool) and isinstance(one, Integral) and 0 <= int(one) < states for one in given]
        if len(given) != self.length or not all(known):
            raise InvalidParameter(
                wanted=f"a series of {self.length} states, each a whole number from 0 to {states - 1}",
                given="something else",
                do="Number the states, and decide beforehand what replaces missing ones.",
            )
        return self.noise.release(self.query([int(one) for one in given]), coins=coins)


def _digest(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()[:16]
