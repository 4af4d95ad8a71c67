"""Counts of rows in cells, as a question: a plan for a price, what is read, and noisy counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sitr.dataset.cells import Grid, Rule
from sitr.dataset.domain import DeclaredCells, axis
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import QuestionError, quoted, unknown_name
from sitr.flavors.promise import Promise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import HistogramPlan, fit, spell
from sitr.questions.histogram.fit_ranges import fit_ranges
from sitr.questions.histogram.methods import Bins, Flat, Method, Prefixes, Ranges, Sparse, Unlisted
from sitr.questions.histogram.release import release
from sitr.questions.histogram.tally import Tally

_DATES = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class HistogramQuestion:
    """Which cells are counted, and how they are measured."""

    tally: Tally
    method: Method
    rows: int | None = None
    """The number of rows, for `Sparse`; None where it is not public or not needed."""

    @property
    def needs_rows(self) -> bool:
        """Whether the public number of rows decides about the noise."""
        return isinstance(self.method, Sparse) and self.tally.size_is_public

    def text(self) -> str:
        return spell(self.tally, self.method)

    def plan(self, price: Promise, /) -> HistogramPlan:
        if isinstance(self.method, Prefixes | Ranges):
            return fit_ranges(self.tally, price, method=self.method)
        return fit(self.tally, price, method=self.method, rows=self.rows)

    def reading(self) -> Tally:
        """The exact count of each cell; for unlisted categories, by key."""
        return self.tally

    def answer(self, plan: HistogramPlan, exact: Mapping[Any, Any], /, *, coins: Coins) -> Histogram:
        return release(plan, exact, coins=coins)

    def errors(self, plan: HistogramPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of each measured count: of a cell, or of a sum of cells that were joined."""
        return {"count": float(plan.error(confidence=confidence))}


def histogram_question(
    table: Table,
    columns: Sequence[str],
    *,
    where: Expression | None = None,
    method: Method | None = None,
    bins: object = None,
    **said: object,
) -> HistogramQuestion:
    """The question about these columns; `said` are the other fields of `DeclaredCells`, by column or for the one."""
    if not isinstance(method, Method | None):
        raise QuestionError(
            wanted="a method of histograms such as Flat() or Tree()",
            given=quoted(method),
            do="Write for example method=sitr.questions.Tree(), or leave it out.",
        )
    candidates = tuple(bins) if isinstance(bins, list | tuple) else None
    if candidates is not None:
        method = _chosen(candidates, method)
        bins = max(candidates)
    found = [table.column(name) for name in columns]
    axes = [
        axis(
            column,
            DeclaredCells(
                **{name: _said(column, name, given, found) for name, given in {**said, "bins": bins}.items()}
            ),
        )
        for column in found
    ]
    if not any(cells is None for cells in axes):
        grid = Grid(tuple(cells for cells in axes if cells is not None))
        return HistogramQuestion(Tally.of(table, grid, where=where), method or Flat())
    unlisted = found[axes.index(None)]
    if len(found) > 1 or not isinstance(method, Unlisted | None):
        raise QuestionError(
            given=f"The categories of {unlisted.name!r} are not public, so that only Unlisted() can count them, and no "
            "other column with them.",
            do=f"List them with keys={{{unlisted.name!r}: […]}}, or ask for this column alone.",
        )
    rule = method or Unlisted(_said(unlisted, "missing", said.get("missing"), found) or Rule.CELL)
    return HistogramQuestion(Tally.of(table, unlisted, where=where), rule)


def _chosen(candidates: tuple[object, ...], method: Method | None) -> Method:
    if method is not None and not isinstance(method, Bins):
        raise QuestionError(
            wanted="either several numbers of bins, from which Bins() chooses, or another method",
            given=f"both, with method={method!r}",
            do="Leave the method out, or give one number of bins.",
        )
    if len(candidates) < 2 or not all(isinstance(number, int) and number >= 1 for number in candidates):
        raise QuestionError(
            wanted="two or more whole numbers of bins to choose from",
            given=f"{candidates!r}",
            do="Write for example bins=(5, 10, 20, 40).",
        )
    numbers = cast("tuple[int, ...]", candidates)
    return Bins(numbers) if method is None else replace(method, candidates=numbers)


def _said(column: Column, name: str, given: object, columns: Sequence[Column]) -> Any:
    """The value that was given for this column.

    A rule that is not in a mapping is for all columns, and the width of date bins for all dates.
    """
    if given is None:
        return None
    if name in ("outside", "missing") and not isinstance(given, Mapping):
        return given
    if isinstance(given, Mapping):
        known = {other.name for other in columns}
        if strangers := [key for key in given if key not in known]:
            raise unknown_name(strangers[0], sorted(known), lacks=f"{name} names no column of the histogram:")
        return given.get(column.name)
    if len(columns) == 1:
        return given
    if name != "every":
        raise QuestionError(
            wanted=f"{name} by column, because there are several columns",
            given=f"{name}={given!r}",
            do=f"Write {name}={{{column.name!r}: …}}, or on the command line --{name} {column.name}=….",
        )
    if not any(other.kind in _DATES for other in columns):
        raise QuestionError(
            given="The width of date bins is given, and no column of the histogram holds dates.",
            do="Leave it out, and write bins for numbers.",
        )
    return given if column.kind in _DATES else None
