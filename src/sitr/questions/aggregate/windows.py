"""The numbers of columns with windows, from released rows alone.

The window of a row has the rows that HAVING leaves, or those of them with the same values of some keys.

- A total of m rows has the sum of m independent draws of each noise, whose law gives its interval. Where HAVING chose
  the rows by noisy numbers, this law would be wrong; then the intervals of all C cells that were measured hold
  together, each with a share 1/C of the probability of a miss, and the total lies between the sums of their ends.
- A rank counts the rows that are surely ahead, and those that may be: the intervals of all rows hold together.
- Where a column has several parts, each of them misses with an equal share (union bound), however they depend on each
  other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Protocol

from sitr.numbers import Number, exact
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, aggregates
from sitr.questions.aggregate.functions.choices import CHOICES
from sitr.questions.aggregate.functions.combined import Combined
from sitr.questions.aggregate.functions.function import BoundAggregate, Estimate, Same
from sitr.questions.aggregate.functions.linear import Linear
from sitr.questions.aggregate.functions.operators import RANKS, Over, OverRows
from sitr.questions.aggregate.functions.spans import Span, applied
from sitr.questions.aggregate.other import RowKey
from sitr.questions.aggregate.plan import AggregatePlan, Shown


class WindowedRelease(Protocol):
    """What windows see of a release."""

    @property
    def plan(self) -> AggregatePlan: ...
    @property
    def keys(self) -> tuple[RowKey, ...]: ...
    @property
    def kept(self) -> tuple[int, ...]:
        """The places of the rows that HAVING leaves."""

    @property
    def chosen_by_noise(self) -> bool:
        """Whether noisy numbers decided which rows these are."""

    def granules(self, column: Shown, cells: Sequence[int]) -> Iterator[list[int]]:
        """The noisy integers of a column in these cells."""


def estimates(release: WindowedRelease, column: Shown, *, confidence: Number) -> dict[int, Estimate]:
    """The numbers of a column by the place of the cell, each with an interval that holds with this probability."""
    rows = release.kept
    written = column.aggregate.aggregate
    of: Expression = written.of if isinstance(written, Combined) else Aggregated(written)
    leaves = tuple(dict.fromkeys(aggregates(of)))
    sure = 1 - (1 - exact(confidence)) / len(leaves)
    spans = {leaf: _leaf(release, leaf, column, rows, sure) for leaf in leaves}
    return {place: _span(of, {leaf: found[place] for leaf, found in spans.items()}).estimate() for place in rows}


def _span(of: Expression, leaves: dict[Aggregated, Span]) -> Span:
    match of:
        case Aggregated():
            return leaves[of]
        case Literal(None):
            return Span(None, Fraction(0), Fraction(0), null=True)
        case Literal(value):
            return Span.fixed(Fraction(int(value)) if isinstance(value, bool) else exact(value))  # type: ignore[arg-type]
    assert isinstance(of, Call)
    return applied(of.function, [_span(part, leaves) for part in of.arguments], CHOICES)


def _leaf(
    release: WindowedRelease, leaf: Aggregated, column: Shown, rows: Sequence[int], sure: Number
) -> dict[int, Span]:
    """The numbers of one part of the column."""
    formula = column.aggregate.formula
    assert isinstance(formula, OverRows)
    if not isinstance(leaf.of, Over):
        inner = _shown(release, dict(formula.plain)[leaf], column)
        linear = isinstance(inner.aggregate.formula, Same | Linear)
        found = inner.estimates(release.granules(inner, rows), confidence=sure)
        return {place: Span.of(each, null=not linear) for place, each in zip(rows, found, strict=True)}
    inner = _shown(release, dict(formula.windows)[leaf.of], column)
    shown: dict[int, Span] = {}
    for window in _windows(release, leaf.of, rows):
        make = _ranks if leaf.of.called in RANKS else _totals
        shown |= {
            place: Span.of(each, null=False) for place, each in make(release, leaf.of, inner, window, sure).items()
        }
    return shown


def _shown(release: WindowedRelease, inner: BoundAggregate, column: Shown) -> Shown:
    measured = {each.term: each for each in release.plan.noisy}
    return Shown(column.name, inner, tuple(measured[term] for term in inner.terms))


def _windows(release: WindowedRelease, over: Over, rows: Sequence[int]) -> list[list[int]]:
    """The places of the rows of each window."""
    known = [key.of.expression for key in release.plan.query.keys]
    places = [known.index(part) for part in over.within]
    found: dict[tuple[object, ...], list[int]] = {}
    for row in rows:
        found.setdefault(tuple(release.keys[row][place] for place in places), []).append(row)
    return list(found.values())


def _each(release: WindowedRelease, inner: Shown, window: Sequence[int], sure: Number) -> list[Estimate]:
    """Intervals of the rows of a window that hold together, also if noisy numbers chose these rows."""
    many = len(release.keys) if release.chosen_by_noise else len(window)
    level = 1 - (1 - exact(sure)) / max(1, many)
    return inner.estimates(release.granules(inner, window), confidence=level)


def _totals(
    release: WindowedRelease, over: Over, inner: Shown, window: Sequence[int], sure: Number
) -> dict[int, Estimate]:
    if release.chosen_by_noise:
        each = _each(release, inner, window, sure)
        ends = [(one.value, one.low, one.high) for one in each]
        value, low, high = (sum(part, Fraction(0)) for part in zip(*ends, strict=True))
        total = Estimate(value, low, high)
    else:
        sums = [sum(part) for part in zip(*release.granules(inner, window), strict=True)]
        (total,) = inner.estimates([sums], confidence=sure, draws=len(window))
    if over.called == "AVG":
        assert total.value is not None
        total = Estimate(*(end / len(window) for end in (total.value, total.low, total.high)))  # type: ignore[arg-type]
    return dict.fromkeys(window, total)


def _ranks(
    release: WindowedRelease, over: Over, inner: Shown, window: Sequence[int], sure: Number
) -> dict[int, Estimate]:
    each = dict(zip(window, _each(release, inner, window, sure), strict=True))
    sign = -1 if over.descending else 1
    known = sorted({sign * one.value for one in each.values() if one.value is not None})
    ordered = sorted(window, key=lambda row: _position(each[row], sign))
    found = {}
    for place, row in enumerate(ordered, start=1):
        one = each[row]
        if one.value is None:
            found[row] = Estimate(None, Fraction(1), Fraction(len(window)))
            continue
        ahead = sum(_position(other, sign) < _position(one, sign) for other in each.values())
        values = {"RANK": ahead + 1, "DENSE_RANK": known.index(sign * one.value) + 1, "ROW_NUMBER": place}
        others = [other for at, other in each.items() if at != row]
        surely = sum(_ahead(other, one, sign, surely=True) for other in others)
        maybe = sum(_ahead(other, one, sign, surely=False) for other in others)
        least = 1 + (min(1, surely) if over.called == "DENSE_RANK" else surely)
        value = values[over.called]
        found[row] = Estimate(Fraction(value), Fraction(min(least, value)), Fraction(max(1 + maybe, value)))
    return found


def _position(one: Estimate, sign: int) -> tuple[bool, Fraction]:
    """Rows without a number come last."""
    return one.value is None, sign * (one.value or Fraction(0))


def _ahead(other: Estimate, one: Estimate, sign: int, *, surely: bool) -> bool:
    """Whether the exact number of another row is ahead of, or may be equal to or ahead of, that of this one."""
    if surely:
        return other.high < one.low if sign > 0 else other.low > one.high
    return other.value is None or (other.low <= one.high if sign > 0 else other.high >= one.low)
