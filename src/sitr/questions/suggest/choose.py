"""Caps and bounds from noisy histograms. Nothing here sees a row: it is arithmetic with released numbers.

For each cap k on groups and m on rows, and each bound B of a column, a cell of the answer has the noise σ(k, m, B) at
the price of the question, and loses L(k, m, B) on average. With g groups of a person and r rows in one of them,
P·E[min(g, k)]·E[min(r, m)] rows of P people are kept, if g and r are independent. A count or a sum of size S has the
expected error √(σ² + L²)/S. Means, variances and quantiles are about the rows that are kept: rows cut are no error, if
values do not depend on how many rows a person has, but noise weighs more beside what is left, σ/(S − L). The choice has
the least sum of these relative errors over the columns. A cell of a histogram counts as empty if noise alone could have
filled it. The noise that is stated in the end is that of the plan at the suggested caps and bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.candidates import least_noise
from sitr.neighbors.unit import Person
from sitr.numbers import Number
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.functions.function import BoundAggregate, Same
from sitr.questions.aggregate.functions.linear import Linear
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.shares import main_terms
from sitr.questions.aggregate.term import Term
from sitr.questions.suggest.question import SuggestionRelease
from sitr.questions.suggest.spreads import LARGEST, SMALLEST, About, Spread, summed_column
from sitr.questions.suggest.stated import stated
from sitr.questions.ways import Way, ways
from sitr.sensitivity.bounded import bounded

MISS = Fraction(5, 100)
"""The probability that noise alone makes some cell of a histogram count, if all of them are near others."""

FAR_MISS = Fraction(1, 1000)
"""The same for cells that are far from others: one at 2³⁸ among values below 1,000 would spoil the suggestion."""

NEAR = 2
"""Cells are near if they are at most this many apart."""

LIKELY = Fraction(10, 100)
"""The probability that noise alone makes a cell next to others count."""

DEVIATION = 2
"""A 95% error is about this many standard deviations, of Gaussian (1.96) and of Laplace noise (2.12)."""

_UNIT = 10**6


@dataclass(frozen=True, slots=True)
class Band:
    """Some people: between which numbers theirs are, what one of them has on average, and how many they are."""

    low: float
    high: float
    middle: float
    people: float


@dataclass(frozen=True, slots=True)
class Covered:
    """A share of people, and its 95% error."""

    share: float
    error: float


@dataclass(frozen=True, slots=True)
class Found:
    """A histogram as it was released."""

    spread: Spread
    counts: tuple[int, ...]
    noise: Noise

    @property
    def every(self) -> list[Band]:
        """All cells."""
        numbers = range(self.spread.first, self.spread.last + 1)
        make = _value_cell if self.spread.about is About.VALUES else _whole_cell
        return [make(number, self.spread.last, count) for number, count in zip(numbers, self.counts, strict=True)]

    @property
    def cells(self) -> list[Band]:
        """The cells that are not empty, as far as the noise lets us know.

        A cell is seen if noise alone could hardly have filled it, and one that is far from the others, if it almost
        certainly did not. What lies between two such cells counts, if it is above 0, and what lies beyond them as long
        as noise alone would fill it in one of ten cases only: most spreads have a tail whose cells are too small to be
        seen one by one.
        """
        every, seen = self.every, self._seen
        if not seen:
            return []
        likely = self.noise.error(confidence=1 - 2 * LIKELY)
        first, last = min(seen), max(seen)
        while first > 0 and every[first - 1].people > likely:
            first -= 1
        while last + 1 < len(every) and every[last + 1].people > likely:
            last += 1
        return [cell for cell in every[first : last + 1] if cell.people > 0]

    @property
    def _seen(self) -> list[int]:
        """The places of the cells that are seen: those of which we are certain, or the fullest one, and others near."""
        certain, likely = self._above(FAR_MISS), self._above(MISS)
        found = certain or sorted(likely, key=lambda place: self.counts[place])[-1:]
        while near := [place for place in likely if place not in found and _near(place, found)]:
            found = [*found, *near]
        return found

    def _above(self, miss: Fraction) -> list[int]:
        """The places of cells with more people than noise alone has in some cell, but for this probability."""
        least = self._more_than(miss)
        return [place for place, count in enumerate(self.counts) if count > least]

    def _more_than(self, miss: Fraction) -> int:
        return int(self.noise.error(confidence=1 - 2 * miss / len(self.counts)))

    @property
    def least(self) -> int:
        """The number of people that a cell needs to be seen, wherever it is; near others, fewer are enough."""
        return self._more_than(FAR_MISS)

    def covered(self, inside: Callable[[Band], bool], *, confidence: Number = 0.95) -> Covered:
        """The share of people in these cells."""
        people, out = _people(self.cells), [cell.people for cell in self.every if not inside(cell)]
        width = float(self.noise.error(confidence=confidence)) * math.sqrt(len(out))
        return Covered(min(1.0, max(0.0, 1 - sum(out) / people)), min(1.0, width / people))


def _near(place: int, others: Sequence[int]) -> bool:
    return any(abs(place - other) <= NEAR for other in others)


def _whole_cell(number: int, last: int, people: int) -> Band:
    low, high = (1, 1) if number == 0 else (2 ** (number - 1) + 1, 2**number)
    if number == last:
        return Band(low, math.inf, 2 * low, people)
    return Band(low, high, (low + high) / 2, people)


def _value_cell(number: int, last: int, people: int) -> Band:
    if number == 0:
        return Band(0.0, 0.0, 0.0, people)
    size = 2.0 ** (abs(number) + SMALLEST - 1)
    far, middle = (math.inf, size) if abs(number) == last else (size, 0.75 * size)
    near = 0.0 if abs(number) == 1 else size / 2
    return Band(near, far, middle, people) if number > 0 else Band(-far, -near, -middle, people)


def _people(cells: Sequence[Band]) -> float:
    return sum(cell.people for cell in cells)


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of one number of a cell: its size, the error of its noise, and what is left out of it.

    Totals of people are not in the histograms: then the size and what is left out are the largest possible ones.
    """

    name: str
    size: float
    noise: float
    bias: float
    largest: bool = False

    clamped: float = 0.0
    """What the bounds take from the rows that are kept: a part of the bias."""

    @property
    def relative(self) -> float:
        """The root mean square error of a count or a sum."""
        return self._to(math.hypot(self.noise / DEVIATION, self.bias), self.size)

    @property
    def relative_to_kept(self) -> float:
        """The error of a mean or a quantile of the rows that are kept."""
        kept = self.size - (self.bias - self.clamped)
        return self._to(math.hypot(self.noise / DEVIATION, self.clamped), kept)

    def _to(self, error: float, size: float) -> float:
        return error / size if size > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Suggested:
    """The caps and bounds with the least expected error, and whom they cover; nothing if noise hides everybody."""

    max_groups: int | None = None
    max_rows_per_group: int | None = None
    bounds: tuple[tuple[str, tuple[float, float]], ...] = ()
    covered: tuple[tuple[str, Covered], ...] = ()
    """By the name of the histogram."""
    expected: tuple[Expected, ...] = ()
    relative: float = math.inf
    """The sum of the relative errors of all columns."""

    @property
    def cuts(self) -> bool:
        """Whether the caps are expected to cut rows."""
        return any(each.bias > each.clamped for each in self.expected)


def chosen(release: SuggestionRelease, *, keep_bounds: bool = False) -> Suggested:
    """The suggestion that follows from released histograms; the bounds of the question can be kept."""
    plan = release.plan
    triples = [
        Found(spread, counts, plan.noise(place))
        for place, (spread, counts) in enumerate(zip(plan.spreads, release.counts, strict=True))
    ]
    if not all(found.cells for found in triples):
        return Suggested()
    choice = replace(_Choice.of(plan.target, triples, plan.later), keep_bounds=keep_bounds)
    candidates = (choice.at(groups, rows) for groups in choice.group_caps for rows in choice.row_caps)
    best = min(candidates, key=lambda each: each.relative)  # the first of equal ones has the smallest caps
    return replace(_with_plan(best, plan.target, plan.later), covered=tuple(_covered(triples, best)))


def _with_plan(best: Suggested, query: BoundedQuery, price: Promise) -> Suggested:
    """The same suggestion, with the errors that a preview at its caps and bounds shows."""
    errors = stated(query, price, groups=best.max_groups, rows=best.max_rows_per_group, bounds=dict(best.bounds))
    if errors is None:
        return best
    pairs = zip(best.expected, errors, strict=True)
    return replace(best, expected=tuple(replace(each, noise=error) for each, error in pairs))


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is known about people and values, and the noise of one measurement that a person moves by 1."""

    query: BoundedQuery
    groups: list[Band]
    rows: list[Band]
    values: Mapping[str, list[Band]]
    """By column."""
    pure: float
    gaussian: float
    keep_bounds: bool = False

    @classmethod
    def of(cls, query: BoundedQuery, found: Sequence[Found], price: Promise) -> _Choice:
        """Keys that are not public get the same share as a term, and half of δ beside Gaussian noise."""
        share = (1 - (query.share or Fraction(0))) / (len(main_terms(query)) + (not query.known))
        paid = affordable(price)
        if isinstance(paid, ApproximateDP) and not query.known:
            paid = ApproximateDP(paid.epsilon, paid.delta / 2)
        errors = {isinstance(way.bought, PureDP): _unit_error(way, share) for way in ways(paid)}
        cells = {each.spread.about: each.cells for each in found}
        everybody = _people(next(iter(cells.values())))
        alone = [Band(1, 1, 1, everybody)]
        groups, rows = cells.get(About.GROUPS, alone), cells.get(About.ROWS, alone)
        values = {each.spread.column: each.cells for each in found if each.spread.column}
        return cls(query, groups, rows, values, errors.get(True, math.inf), errors.get(False, math.inf))

    @property
    def group_caps(self) -> list[int]:
        return _powers(self.groups)

    @property
    def row_caps(self) -> list[int]:
        return _powers(self.rows)

    @property
    def cells(self) -> float:
        """The number of cells of the answer; where keys are not public, at least as many as somebody has."""
        return float(self.query.cells or max(cell.low for cell in self.groups))

    def at(self, groups: int, rows: int) -> Suggested:
        """What is expected at these caps, with the best bound of each column."""
        bounds: dict[str, tuple[float, float]] = {}
        expected: list[Expected] = []
        members, kept_members = self._members(math.inf), self._members(groups)
        whole, kept = members * _mean(self.rows, math.inf), kept_members * _mean(self.rows, rows)
        for term in self.query.shown_terms:
            column = summed_column(term)
            if column is not None:
                assert isinstance(term, Term)
                each, ends = self._best_bound(term, column.name, groups, rows, whole, kept)
                bounds[column.name] = ends
                expected.append(each)
            elif isinstance(term, Term) and term.total:
                most = float(max(map(abs, term.reach)) * term.granularity)
                noise = self._noise(groups, most)
                expected.append(Expected(term.name, members * most, noise, (members - kept_members) * most, True))
            elif isinstance(term, Term) and term.people:
                expected.append(Expected(term.name, members, self._noise(groups, 1.0), members - kept_members))
            else:
                expected.append(Expected(term.name, whole, self._noise(groups, float(rows)), whole - kept))
        found, shown = tuple(bounds.items()), tuple(expected)
        relative = self._relative(dict(zip(self.query.shown_terms, shown, strict=True)))
        if not isinstance(self.query.unit, Person):
            return Suggested(bounds=found, expected=shown, relative=relative)
        return Suggested(groups, rows, found, expected=shown, relative=relative)

    def _relative(self, expected: Mapping[Quantity, Expected]) -> float:
        """The sum of the relative errors of all columns: each column has those of its terms, which are independent."""
        columns = (*self.query.columns, *(column for _, column in self.query.after.hidden))
        return sum(math.hypot(*(_of_column(column, expected[term]) for term in column.terms)) for column in columns)

    def _members(self, cap: float) -> float:
        """The people of a cell, on average, with this cap on groups."""
        return _people(self.groups) * _mean(self.groups, cap) / self.cells

    def _noise(self, groups: int, size: float) -> float:
        """The 95% error of a number to which a person adds up to `size` in each of these groups."""
        far = bounded(low=0, high=1, groups=groups, cells=self.query.cells, relation=self.query.changes)
        return size * min(self.pure * far.l1, self.gaussian * float(far.l2))

    def _best_bound(
        self, term: Term, column: str, groups: int, rows: int, whole: float, kept: float
    ) -> tuple[Expected, tuple[float, float]]:
        """The bounds with the least error of a sum, as far below zero as above it where there are values on both."""
        assert term.quantised is not None
        low, high = map(float, term.quantised.ends)
        # Where values were not measured, they are believed to be half as large as the larger bound.
        cells = self.values.get(column, [Band(low, high, max(-low, high) / 2, 1.0)])
        everybody = _people(cells)
        lowest, highest = min(0.0, *(cell.low for cell in cells)), max(0.0, *(cell.high for cell in cells))
        mean = sum(abs(cell.middle) * cell.people for cell in cells) / everybody

        def at(low: float, high: float) -> tuple[Expected, tuple[float, float]]:
            clamped = sum(abs(cell.middle - min(max(cell.middle, low), high)) * cell.people for cell in cells)
            lost = kept * clamped / everybody
            reach = (high - low) / 2 if term.centre != 0 else max(-low, high)
            noise, bias = self._noise(groups, rows * reach), (whole - kept) * mean + lost
            return Expected(f"SUM({column})", whole * mean, noise, bias, clamped=lost), (low, high)

        if self.keep_bounds:
            return at(low, high)
        largest, smallest = 2.0**LARGEST, 2.0**SMALLEST
        ends = sorted({min(max(-cell.low, cell.high, smallest), largest) for cell in cells})
        return min((at(max(-end, lowest), min(end, highest)) for end in ends), key=lambda each: each[0].relative)


def about_kept(query: BoundedQuery) -> tuple[str, ...]:
    """The names of the columns that are about the rows that are kept, for which rows cut are no error."""
    return tuple(name for name, column in query.shown if not _adds_up(column))


def _of_column(column: BoundAggregate, term: Expected) -> float:
    """Columns that only add up lose what their terms lose; quantiles, quotients and what follows from them do not."""
    return term.relative if _adds_up(column) else term.relative_to_kept


def _adds_up(column: BoundAggregate) -> bool:
    return not column.ranked and isinstance(column.formula, Same | Linear)


def _covered(every: Sequence[Found], chosen: Suggested) -> Iterator[tuple[str, Covered]]:
    """The share of people with all their groups, with all rows of a group, and with a value within the bounds."""
    bounds = dict(chosen.bounds)
    most = {About.GROUPS: chosen.max_groups, About.ROWS: chosen.max_rows_per_group}
    for each in every:
        low, high = bounds.get(each.spread.column, (0.0, float(most.get(each.spread.about) or 0)))
        yield each.spread.name, each.covered(lambda cell, low=low, high=high: low <= cell.low and cell.high <= high)  # type: ignore[misc]


def _unit_error(way: Way, share: Fraction) -> float:
    return float(least_noise(way.bought.share(share), l1=_UNIT, l2=_UNIT).error()) / _UNIT


def _mean(cells: Sequence[Band], cap: float) -> float:
    """E[min(x, cap)]."""
    return sum(min(cell.middle, cap) * cell.people for cell in cells) / _people(cells)


def _powers(cells: Sequence[Band]) -> list[int]:
    """1, 2, 4, …, to the first that nobody exceeds, as far as is known."""
    most = max(cell.high if cell.high < math.inf else cell.low - 1 for cell in cells)
    return [2**power for power in range(int(most).bit_length())]
