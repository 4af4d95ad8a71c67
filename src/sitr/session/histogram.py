"""A histogram with its price: previewed without data, released after the charge, worked on for nothing afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.accounting.filter import Filter
from sitr.backends.backend import Backend
from sitr.dataset.cells import Grid, Rule
from sitr.dataset.domain import Wanted, axis
from sitr.dataset.schema import Column, Table
from sitr.errors import QuestionError, unknown_name
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.ledger.ledger import Ledger
from sitr.noise.coins import Coins, system_coins
from sitr.numbers import Number
from sitr.questions.aggregate.nodes import Predicate
from sitr.questions.histogram.counts import Estimate, Histogram, release
from sitr.questions.histogram.fit import Bins, Flat, Method, Plan, Sparse, Unlisted, fit
from sitr.questions.histogram.isotonic import Form
from sitr.questions.histogram.projection import Ties
from sitr.questions.histogram.tally import Tally
from sitr.report import histogram as report
from sitr.report import histogram_chart, plots
from sitr.report import text as terminal
from sitr.session.question import account_name, check_unchanged, checked

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class HistogramQuestion:
    """Checked: which cells are counted, and how they will be measured."""

    tally: Tally
    method: Method
    table: Table
    _backend: Backend = field(repr=False, compare=False)
    ledger: Ledger = field(repr=False, compare=False)

    def preview(self, price: Promise) -> HistogramPreview:
        """What the histogram would cost and how far off it would be. Reads no data and spends nothing.

        A public number of rows is no secret, and read for `Sparse`.
        """
        budget = self.ledger.standing(account_name(self.table))
        plan = self._fitted(price)
        budget.charge(plan.price)
        return HistogramPreview(plan, budget)

    def release(self, price: Promise, *, coins: Coins | None = None) -> HistogramAnswer:
        """Charge the price, durably; then read the data; then add the noise. In this order, always."""
        tossed = coins if coins is not None else system_coins()
        check_unchanged(self.table, self._backend)
        plan = self._fitted(price)
        entry, budget = self.ledger.charge(account_name(self.table), price=plan.price, question=plan.spelled())
        salt = tossed.bits(63)
        counts: Mapping[Any, Any]
        if plan.tally.grid is None:
            counts = self._backend.cells(plan.tally.query, salt=salt)
        else:
            counts = self._backend.counts(plan.tally, salt=salt)
        return HistogramAnswer(
            report.Record(
                histogram=release(plan, counts, coins=tossed),
                charge=entry.price,
                dataset=self.table.name,
                neighbors=self.table.neighbors(),
                entry=entry.number,
                at=entry.at,
                by=entry.by,
                version=entry.version,
                budget=budget,
            )
        )

    def _fitted(self, price: Promise) -> Plan:
        public = isinstance(self.method, Sparse) and self.tally.size_is_public
        rows = self._backend.size() if public else None
        return fit(self.tally, checked(price), method=self.method, rows=rows)


@dataclass(frozen=True, slots=True, repr=False)
class HistogramPreview:
    """A plan, and the budget before it is paid."""

    plan: Plan
    budget: Filter

    @property
    def price(self) -> Promise:
        """What would be charged."""
        return self.plan.price

    def error(self, *, confidence: Number = 0.95) -> int:
        """The half-width of the interval of one measured number."""
        return self.plan.error(confidence=confidence)

    def range_error(self, first: int, last: int, *, confidence: Number = 0.95) -> float:
        """The same of the sum over the cells from this number to that one, for cells in a line."""
        return self.plan.range_error(first, last, confidence=confidence)

    def to_dict(self) -> dict[str, object]:
        """For machines."""
        return report.preview_dict(self.plan, self.budget)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(report.preview(self.plan, self.budget))


@dataclass(frozen=True, slots=True, repr=False)
class HistogramAnswer:
    """A released histogram with its intervals, its promise and its papers. What is done to it from here on is free."""

    record: report.Record

    @property
    def histogram(self) -> Histogram:
        """The counts with all that was measured."""
        return self.record.histogram

    @property
    def counts(self) -> NDArray[np.float64]:
        """The count of each cell, the last column varying fastest."""
        return self.histogram.counts

    @property
    def table(self) -> pa.Table:
        """One row for each cell: labels, ends of ranges, count, and its 95% interval."""
        return report.as_table(self.histogram)

    @property
    def promise(self) -> Kept:
        """What was spent."""
        return self.histogram.plan.price

    @property
    def private(self) -> bool:
        """False only if the noise was drawn with test coins."""
        return self.histogram.private

    def intervals(self, *, confidence: float = 0.95) -> pa.Table:
        """The table with intervals of this confidence, for each cell by itself."""
        return report.as_table(self.histogram, confidence=confidence)

    def over(self, first: int, last: int, *, confidence: Number = 0.95) -> Estimate:
        """The sum over the cells from this number to that one, both included, with its interval."""
        size = len(self.counts)
        if not 0 <= first <= last < size:
            raise QuestionError(
                wanted=f"A range of cells is 0 ≤ first ≤ last ≤ {size - 1}.",
                given=f"{first!r} to {last!r} was given.",
                do="Number the cells from 0, in the order of the table.",
            )
        return self.histogram.over(np.arange(first, last + 1), confidence=confidence)

    def lattice(self, *, total: int | None = None, ties: Ties | None = None) -> HistogramAnswer:
        """Whole counts that are not negative and have a total: the nearest in the sum of sizes."""
        return self._with(self.histogram.lattice(total=total, ties=ties))

    def simplex(self, *, total: int | None = None) -> HistogramAnswer:
        """Counts that are not negative and have a total: the nearest in Euclidean length."""
        return self._with(self.histogram.simplex(total=total))

    def nonnegative(self) -> HistogramAnswer:
        """Negative counts put to zero."""
        return self._with(self.histogram.nonnegative())

    def isotonic(self, form: Form) -> HistogramAnswer:
        """Counts that rise, fall or have one peak: the nearest in Euclidean length."""
        return self._with(self.histogram.isotonic(form))

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas frame (needs pandas)."""
        return cast("pd.DataFrame", self.table.to_pandas())

    def to_dict(self) -> dict[str, object]:
        """Everything, for machines."""
        return report.to_dict(self.record)

    def page(self, path: str | Path) -> Path:
        """Write one HTML file that shows and explains these counts."""
        return _written(path, report.page(self.record))

    def plot(self, path: str | Path) -> Path:
        """Write the picture as SVG."""
        return _written(path, plots.standalone(histogram_chart.chart(self.histogram)))

    def _with(self, histogram: Histogram) -> HistogramAnswer:
        return HistogramAnswer(replace(self.record, histogram=histogram))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(report.answer(self.record))

    def _repr_html_(self) -> str:
        return report.fragment(self.histogram)


def question(
    table: Table,
    backend: Backend,
    ledger: Ledger,
    columns: Sequence[str],
    *,
    where: Predicate | None = None,
    method: Method | None = None,
    bins: object = None,
    **said: object,
) -> HistogramQuestion:
    """From what is said about the columns to the cells that are counted; `said` are the other fields of `Wanted`.

    A mapping says something by column; anything else is meant for the only one.
    """
    candidates = tuple(bins) if isinstance(bins, list | tuple) else None
    if candidates is not None:
        method = _chosen(candidates, method)
        bins = max(candidates)
    found = [table.column(name) for name in columns]
    axes = [
        axis(
            column,
            Wanted(**{name: _said(column, name, given, found) for name, given in {**said, "bins": bins}.items()}),
        )
        for column in found
    ]
    if not any(cells is None for cells in axes):
        grid = Grid(tuple(cells for cells in axes if cells is not None))
        return HistogramQuestion(Tally.of(table, grid, where=where), method or Flat(), table, backend, ledger)
    unlisted = found[axes.index(None)]
    if len(found) > 1 or not isinstance(method, Unlisted | None):
        raise QuestionError(
            wanted=f"{unlisted.name!r} has categories that are not public: they can be counted by themselves only.",
            given="Other columns or another method were given too.",
            do=f"List them with keys={{{unlisted.name!r}: […]}}, or ask for this column alone.",
        )
    rule = method or Unlisted(cast("Rule", _said(unlisted, "missing", said.get("missing", Rule.CELL), found)))
    return HistogramQuestion(Tally.of(table, unlisted, where=where), rule, table, backend, ledger)


def _chosen(candidates: tuple[object, ...], method: Method | None) -> Method:
    if method is not None and not isinstance(method, Bins):
        raise QuestionError(
            wanted="Several numbers of bins are a choice among them, which is a method of its own.",
            given=f"method={method!r} was given too.",
            do="Leave the method out, or give one number of bins.",
        )
    if len(candidates) < 2 or not all(isinstance(number, int) and number >= 1 for number in candidates):
        raise QuestionError(
            wanted="Numbers of bins to choose from are two or more whole numbers.",
            given=f"{candidates!r} was given.",
            do="Write for example bins=(5, 10, 20, 40).",
        )
    numbers = cast("tuple[int, ...]", candidates)
    return Bins(numbers) if method is None else replace(method, candidates=numbers)


def _said(column: Column, name: str, given: object, columns: Sequence[Column]) -> Any:
    """What was said about this column. A rule is for all of them."""
    default = Wanted().missing if name == "missing" else None
    if given is None:
        return default
    if name in ("outside", "missing") and not isinstance(given, Mapping):
        return given
    if isinstance(given, Mapping):
        known = {other.name for other in columns}
        if strangers := [key for key in given if key not in known]:
            raise unknown_name(strangers[0], sorted(known), lacks=f"{name} names a column outside the histogram:")
        return given.get(column.name, default)
    if len(columns) > 1:
        raise QuestionError(
            wanted=f"With several columns, {name} is said by column.",
            given=f"{name}={given!r} was given.",
            do=f"Write {name}={{{column.name!r}: …}}.",
        )
    return given


def _written(path: str | Path, content: str) -> Path:
    target = Path(path)
    target.write_text(content, encoding="utf-8")
    return target
