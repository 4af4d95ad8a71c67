"""A finite mechanism with its neighbours: the tight parameter of every definition of privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from flint import arb

from sitr.audit.exact import rational
from sitr.audit.exact.claims import Decision, decided
from sitr.audit.exact.events import Found, epsilon_at, exponential, quantile
from sitr.audit.exact.figure import Figure
from sitr.audit.exact.line import BestLine, best_line, rho_curve
from sitr.audit.exact.moments import Moments
from sitr.audit.exact.neighbors import Neighbors, Places, neighboring
from sitr.audit.exact.pairs import Ends, Pairs
from sitr.audit.exact.reading import read_table
from sitr.audit.exact.suprema import Supremum, largest_rho, largest_tau
from sitr.audit.exact.table import ROUNDING, Name, Row, Table
from sitr.audit.exact.trade_off import corner, largest_mu, rates
from sitr.loss.forms.finite import pair as finite_pair
from sitr.loss.law import check
from sitr.loss.loss import Loss
from sitr.namespace import Later
from sitr.numbers import Interval, Number, exact, float_above, float_below, lower, upper
from sitr.precision import precision

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

RELATIVE = 1e-5
"""The default relative width of τ and ρ, which are suprema over all moments."""

EXAMINED = 400_000
"""At most this many probabilities of the worst pairs are compared as fractions."""

Looked = tuple[Interval, Figure]


class Meaning(Enum):
    """What the rows of the table are, and so what a figure is about."""

    DIFFERENTIAL = "differential privacy"
    """The laws of the outcome for neighbouring inputs."""
    PUFFERFISH = "Pufferfish privacy"
    """The laws of the outcome given a secret, for every prior."""


def finite(table: object, /, *, neighbors: object = Neighbors.ALL, rounding: Number = ROUNDING) -> FiniteMechanism:
    """A finite mechanism, from a table of probabilities P(outcome | input) and its neighbouring inputs.

    `table` is a CSV or Parquet file, an Arrow table, an array, nested lists, or a `Table`; see `Table.of` for what its
    numbers mean and for `rounding`. `neighbors` is `all`, `adjacent` (inputs in order), `hamming` (inputs named by
    records that differ in one), a CSV file of pairs, or a list of pairs.

    >>> response = finite([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> response.epsilon().odds, response.delta(epsilon=0).exact
    (Fraction(3, 1), Fraction(1, 2))
    >>> response.verify("pure(1.1)").verdict, response.verify("pure(1)").verdict
    (<Verdict.KEPT: 'kept'>, <Verdict.BROKEN: 'broken'>)
    """
    read = read_table(table, rounding=rounding)
    return FiniteMechanism(read, neighboring(read, neighbors))


@dataclass(frozen=True, eq=False, repr=False)
class FiniteMechanism:
    """A table of probabilities and its pairs of neighbours. Every figure is for the worst pair in its worse direction.

    Each is a proved interval, with the pair and the outcomes that attain it. If the probabilities are exact (fractions
    that add up to 1), then so are ε, δ, ε(δ) and probabilities of events, and every claim about them is decided.
    """

    table: Table
    neighbors: Places
    meaning: Meaning = Meaning.DIFFERENTIAL

    def __repr__(self) -> str:
        inputs, outcomes = len(self.table.inputs), len(self.table.outcomes)
        numbers = "fractions" if self.table.rows is not None else f"floats, wrong by {self.table.rounding:.2g} at most"
        pairs = f"{len(self.neighbors)} pairs of neighbours"
        return f"FiniteMechanism({inputs} inputs, {outcomes} outcomes, {pairs}, {numbers})"

    @property
    def given_secrets(self) -> bool:
        """Whether inputs are secrets under a prior, as Pufferfish promises need it."""
        return self.meaning is Meaning.PUFFERFISH

    def pairs(self) -> Pairs:
        """Both directions of all pairs."""
        return Pairs.of(self.table, self.neighbors)

    @cached_property
    def _moments(self) -> Moments:
        """The losses of all pairs, which several figures need."""
        return Moments.of(self.pairs())

    def infinite_mass(self) -> Figure:
        """P(L = +∞): how often somebody is exposed outright, whatever ε is."""
        pairs = self.pairs()

        def look(p: Row, q: Row) -> Looked:
            found = rational.event(p, q, lambda _, b: not b)
            return _fraction(found.p), self._figure(found.places, exact=found.p)

        return self._largest(pairs, pairs.infinite(), look, lambda p, q: (p > 0) & (q == 0))

    def epsilon(self, *, delta: Number = 0) -> Figure:
        """The least ε ≥ 0 with P(S) ≤ e^ε·Q(S) + δ for all events S; at δ = 0 the largest loss."""
        check(delta, "delta", above=0.0, below=1.0, ends="above")
        if not delta:
            return self._pure()
        allowed = exact(delta)
        pairs = self.pairs()
        found = epsilon_at(pairs, float_below(allowed), float_above(allowed))
        if self.table.rows is None:
            return self._at(pairs, found, self._excess(found.value.lower))
        # Only pairs that need more than a slightly smaller t can be the worst.
        low, _ = exponential(found.value.lower * (1 - 1e-9) - 1e-12)
        near = pairs.hockey_stick(low, low).upper
        ends = Ends(
            np.where(near > float_below(allowed), 0.0, -1.0), np.where(near > float_below(allowed), math.inf, -1.0)
        )

        def look(p: Row, q: Row) -> Looked:
            odds, event = rational.odds_at(p, q, allowed)
            return _logarithm(odds), self._figure(event.places, odds=odds)

        refined = self._largest(pairs, ends, look, self._excess(found.value.lower))
        return (
            refined
            if refined.upper < math.inf or found.value.upper == math.inf
            else self._at(pairs, found, self._excess(found.value.lower))
        )

    def _pure(self) -> Figure:
        pairs = self.pairs()

        def look(p: Row, q: Row) -> Looked:
            odds, places = rational.largest_ratio(p, q)
            return _logarithm(odds), self._figure(places, odds=odds)

        def worst(p: Any, q: Any) -> Any:
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(p > 0, p / q, 0.0)
            return ratio == ratio.max()

        found = pairs.largest()
        return self._largest(pairs, Ends(np.maximum(0.0, found.lower), np.maximum(0.0, found.upper)), look, worst)

    def delta(self, *, epsilon: Number) -> Figure:
        """δ(ε): the largest P(S) − e^ε·Q(S) of all events S."""
        check(epsilon, "epsilon", above=0.0, ends="above")
        pairs, number = self.pairs(), exact(epsilon)
        low, high = exponential(float(number)) if number else (1.0, 1.0)

        def look(p: Row, q: Row) -> Looked:
            event = rational.above(p, q, number)
            if not number or not event.q:
                value = event.p - event.q
                return _fraction(value), self._figure(event.places, exact=value)
            return _ball(rational.hockey_stick(event, number)), self._figure(event.places)

        return self._largest(pairs, pairs.hockey_stick(low, high), look, lambda p, q: p > high * q)

    def excess_sign(self, epsilon: Fraction, delta: Fraction, /) -> int | None:
        """The sign of δ(ε) − δ for exact probabilities, which is always known; None for others."""
        rows = self.table.rows
        if rows is None:
            return None
        pairs = self.pairs()
        low, high = exponential(float(epsilon)) if epsilon else (1.0, 1.0)
        near = pairs.hockey_stick(low, high).upper >= float(delta) * (1 - 1e-9)
        signs = [-1]
        for first, second in zip(pairs.first[near].tolist(), pairs.second[near].tolist(), strict=True):
            event = rational.above(rows[first], rows[second], epsilon)
            signs.append(rational.sign(event.p - delta, event.q, epsilon))
            if signs[-1] > 0:
                break
        return max(signs)

    def exceeding(self, *, epsilon: Number) -> Figure:
        """P(L > ε), which probabilistic privacy bounds by δ. It is larger than δ(ε).      [MKAGV08]"""
        check(epsilon, "epsilon", above=0.0, ends="above")
        pairs, number = self.pairs(), exact(epsilon)
        low, high = exponential(float(number)) if number else (1.0, 1.0)

        def look(p: Row, q: Row) -> Looked:
            event = rational.above(p, q, number)
            return _fraction(event.p), self._figure(event.places, exact=event.p)

        return self._largest(pairs, pairs.exceeding(low, high), look, lambda p, q: p > high * q)

    def quantile(self, *, delta: Number) -> Figure:
        """The least ε ≥ 0 with P(L > ε) ≤ δ: the ε of probabilistic privacy at δ."""
        check(delta, "delta", above=0.0, below=1.0, ends="above")
        allowed, pairs = exact(delta), self.pairs()
        found = quantile(pairs, float_below(allowed), float_above(allowed))

        def look(p: Row, q: Row) -> Looked:
            odds, places = rational.quantile_odds(p, q, allowed)
            return _logarithm(odds), self._figure(places, odds=odds)

        if self.table.rows is None:
            return self._at(pairs, found, self._excess(found.value.lower))
        low, _ = exponential(found.value.lower * (1 - 1e-9) - 1e-12)
        near = pairs.exceeding(low, low).upper > float_below(allowed)
        ends = Ends(np.where(near, 0.0, -1.0), np.where(near, math.inf, -1.0))
        refined = self._largest(pairs, ends, look, self._excess(found.value.lower))
        return (
            refined
            if refined.upper < math.inf or found.value.upper == math.inf
            else self._at(pairs, found, self._excess(found.value.lower))
        )

    def mean(self) -> Figure:
        """μ = E[L], the Kullback–Leibler divergence: the mean of concentrated privacy.      [DR16, Def. 2.2]"""
        return self._moment(Moments.mean, lambda p, q: _ball(rational.mean(p, q)), lambda p, q: p * np.log(p / q))

    def renyi(self, *, order: float) -> Figure:
        """D_α = ln E[e^{(α−1)L}]/(α − 1), for any real order above 1.      [Mir17, Def. 3]"""
        check(order, "order", above=1.0)
        tilt = exact(order) - 1

        def bound(moments: Moments) -> Ends:
            found = moments.log_moment(float(tilt))
            return Ends(found.lower / float(tilt) * (1 - 1e-15), found.upper / float(tilt) * (1 + 1e-15))

        def look(p: Row, q: Row) -> Interval:
            with precision(rational.BITS):
                return _ball(rational.log_moment(p, q, tilt) / (arb(tilt.numerator) / tilt.denominator))

        return self._moment(bound, look, lambda p, q: np.log(p) + float(tilt) * np.log(p / q))

    def rho(self, *, xi: Number = 0, relative: float = RELATIVE, limit: float | None = None) -> Figure:
        """The least ρ ≥ 0 with D_α ≤ ξ + ρα for all orders α > 1. `at` is the order.      [BS16, Def. 1.1 and 8.1]

        With a `limit` it is enough to know on which side of it ρ is.
        """
        check(xi, "xi", above=0.0, ends="above")
        pairs = self.pairs()
        if (exposed := self._exposed(pairs)) is not None:
            return exposed
        found = largest_rho(self._moments, xi=float(xi), relative=relative, limit=limit)
        return self._supremum(pairs, found, at=found.tilt + 1)

    def best_line(self, *, delta: Number, times: int = 1) -> BestLine:
        """The pair (ξ, ρ) that implies the least ε at δ after a number of uses, and that ε from both sides."""
        return best_line(self, delta=delta, times=times)

    def rho_curve(self, xis: Iterable[Number], /) -> tuple[tuple[float, Figure], ...]:
        """The tight curve ρ(ξ) at several ξ."""
        return rho_curve(self, tuple(xis))

    def subgaussian(
        self, *, relative: float = RELATIVE, limit: float | None = None, rho: Figure | None = None
    ) -> Figure:
        """The least τ with E[e^{λ(L − E[L])}] ≤ e^{λ²τ²/2} for all real λ. `at` is |λ|.      [DR16, Def. 2.1]

        `rho` is what `rho()` returned, if it is known: it saves time.
        """
        pairs = self.pairs()
        if (exposed := self._exposed(pairs)) is not None:
            return exposed
        found = largest_tau(self._moments, relative=relative, limit=limit, rho=math.inf if rho is None else rho.upper)
        return self._supremum(pairs, found, at=found.tilt)

    def mu(self) -> Figure:
        """The least μ of Gaussian privacy: P and Q are as hard to tell apart as N(0, 1) and N(μ, 1).  [DRS22]"""
        pairs = self.pairs()
        if (exposed := self._exposed(pairs)) is not None:
            return exposed
        one_way = pairs.forward()
        found = largest_mu(one_way)
        places = corner(one_way, found.row) if found.value.upper > 0 else ()
        return Figure(found.value, self._names(one_way, found.row), self._named(places))

    def trade_off(self, *, fpr: float) -> Interval:
        """The best true-positive rate of any test between neighbours with this false-positive rate."""
        check(fpr, "fpr", above=0.0, below=1.0, ends="above and below")
        low, high = rates(self.pairs(), np.array([float(fpr)]))
        return Interval(float(low[0]), float(high[0]))

    def advantage(self) -> Figure:
        """The best true-positive rate minus false-positive rate: δ(0), the total variation."""
        return self.delta(epsilon=0)

    def loss(self, first: object, second: object, /) -> Loss:
        """The loss between two inputs, which composes with other losses and converts to every flavor.

        >>> finite([[0.75, 0.25], [0.25, 0.75]]).loss("1", "2").epsilon(delta=1e-6).upper
        1.098...
        """
        p, q = (self.table.exact_row(self.table.place(name)) for name in (first, second))
        return Loss.of(finite_pair(p, q))

    def verify(self, claim: object, /) -> Decision:
        """Whether the mechanism keeps a promise: kept and broken are proved; otherwise it is undecided.

        `claim` is a promise, or its notation such as `pure(1)`, `approximate(1, 1e-6)` or `zcdp(0.5)`, or
        `probabilistic(ε, δ)` for P(L > ε) ≤ δ.
        """
        return decided(self, claim)

    # How figures are found

    def _largest(
        self, pairs: Pairs, ends: Ends, look: Callable[[Row, Row], Looked], event: Callable[..., Any]
    ) -> Figure:
        """The largest figure of all pairs; if rows are exact, the worst pairs are looked at exactly."""
        row = int(np.argmax(ends.lower))
        rows = self.table.rows
        if rows is None:
            value = Interval(float(ends.lower[row]), float(ends.upper.max()))
            return self._at(pairs, Found(value, row), event)
        order = np.argsort(-ends.upper, kind="stable")
        best: tuple[Interval, Figure, int] | None = None
        unseen, most = -math.inf, max(16, EXAMINED // len(self.table.outcomes))
        high = -math.inf
        for number, place in enumerate(order):
            if best is not None and ends.upper[place] < best[0].lower:
                break
            if number >= most:
                unseen = float(ends.upper[place])
                break
            found, figure = look(rows[pairs.first[place]], rows[pairs.second[place]])
            high = max(high, found.upper)
            if best is None or _more(found, figure, best):
                best = (found, figure, int(place))
        assert best is not None
        value = Interval(best[0].lower, max(high, unseen))
        whole = value.upper == best[0].upper
        return Figure(
            value,
            self._names(pairs, best[2]),
            best[1].outcomes,
            best[1].exact if whole else None,
            best[1].odds if whole else None,
        )

    def _moment(
        self, bound: Callable[[Moments], Ends], look: Callable[[Row, Row], Interval], share: Callable[..., Any]
    ) -> Figure:
        pairs = self.pairs()
        if (exposed := self._exposed(pairs)) is not None:
            return exposed

        def event(p: Any, q: Any) -> Any:
            with np.errstate(divide="ignore", invalid="ignore"):
                shares = np.where(p > 0, share(p, q), -np.inf)
            return np.arange(len(p)) == int(np.argmax(shares))

        looked = lambda p, q: (look(p, q), self._figure(()))  # noqa: E731
        found = self._largest(pairs, bound(self._moments), looked, event)
        if not found.outcomes:
            p, q = (self.table.values[self.table.place(name)] for name in found.pair)
            found = Figure(found.value, found.pair, self._named(np.flatnonzero(event(p, q))))
        return found

    def _supremum(self, pairs: Pairs, found: Supremum, *, at: float) -> Figure:
        p, q = self.table.values[pairs.first[found.row]], self.table.values[pairs.second[found.row]]
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(p > 0, np.log(p) + found.tilt * np.log(p / q), -np.inf)
        outcomes = self._named([int(np.argmax(shares))])
        return Figure(found.value, self._names(pairs, found.row), outcomes, at=at)

    def _exposed(self, pairs: Pairs) -> Figure | None:
        """An infinite figure, if some loss may be infinite."""
        mass = pairs.infinite().lower
        row = int(np.argmax(mass))
        if not mass[row] > 0.0:
            return None
        return self._at(pairs, Found(Interval(math.inf, math.inf), row), lambda p, q: (p > 0) & (q == 0))

    def _at(self, pairs: Pairs, found: Found, event: Callable[..., Any]) -> Figure:
        p, q = self.table.values[pairs.first[found.row]], self.table.values[pairs.second[found.row]]
        return Figure(found.value, self._names(pairs, found.row), self._named(np.flatnonzero(event(p, q))))

    def _excess(self, epsilon: float) -> Callable[..., Any]:
        """The event P > e^ε·Q; of an infinite ε, the outcomes that Q does not have."""
        if math.isinf(epsilon):
            return lambda p, q: (p > 0) & (q == 0)
        t = math.exp(min(700.0, epsilon)) * (1 - 1e-9)
        return partial(lambda t, p, q: p > t * q, t)

    def _figure(self, places: object, *, exact: Fraction | None = None, odds: Fraction | None = None) -> Figure:
        return Figure(Interval(0.0, 0.0), ("", ""), self._named(places), exact, odds)

    def _names(self, pairs: Pairs, row: int) -> tuple[Name, Name]:
        return self.table.inputs[pairs.first[row]], self.table.inputs[pairs.second[row]]

    def _named(self, places: object) -> tuple[str, ...]:
        return tuple(self.table.outcomes[place] for place in places)  # type: ignore[attr-defined]


def _more(found: Interval, figure: Figure, best: tuple[Interval, Figure, int]) -> bool:
    """Whether a figure is larger than the best one so far; fractions are compared exactly."""
    for name in ("odds", "exact"):
        one, other = getattr(figure, name), getattr(best[1], name)
        if one is not None and other is not None:
            return bool(one > other)
    return (found.lower, found.upper) > (best[0].lower, best[0].upper)


def _fraction(value: Fraction) -> Interval:
    return Interval(max(0.0, float_below(value)), float_above(value)) if value > 0 else Interval(0.0, 0.0)


def _ball(value: arb) -> Interval:
    return Interval(max(0.0, lower(value)), max(0.0, upper(value)))


def _logarithm(odds: Fraction | None) -> Interval:
    if odds is None:
        return Interval(math.inf, math.inf)
    if odds <= 1:
        return Interval(0.0, 0.0)
    with precision(rational.BITS):
        return _ball((arb(odds.numerator) / odds.denominator).log())
