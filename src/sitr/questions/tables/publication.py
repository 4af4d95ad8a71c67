"""Released tables: what was measured, the tables that follow from it, and their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.errors import unknown_name
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.residual_gaussian import normal_width
from sitr.noise.coins import Coins
from sitr.noise.contrasts import contrasts
from sitr.numbers import Number
from sitr.questions.tables import estimate, rounding
from sitr.questions.tables.counting import Listed, totals
from sitr.questions.tables.laplace import flat
from sitr.questions.tables.measures import Measure, MeasureKind
from sitr.questions.tables.plan import TablesPlan
from sitr.questions.tables.quotients import Ends, fieller, quotient
from sitr.questions.tables.workload import Node, Reals


@dataclass(frozen=True, eq=False)
class PublishedTables:
    """Noisy whole numbers, from which every table of the plan follows; all of it is public.

    `numbers` holds one array for each term: its noisy residuals, or its noisy tables, one after another. Every margin
    of numbers that add up equals the sum of its parts, exactly: see `cells`.
    """

    plan: TablesPlan
    numbers: tuple[NDArray[Any], ...]
    shown: tuple[Reals, ...] = ()
    """For each measure that adds up, the numbers of all cells of all tables, as a certificate shows them."""
    rounded: tuple[NDArray[np.int64], ...] = ()
    """For each measure that adds up, whole numbers from which all tables follow; none if the plan does not round."""

    def possible(self) -> bool:
        """Whether this plan could have released these numbers. A release read from a file is checked with it."""
        sizes = {sum(map(math.prod, self._shapes()))}
        terms = len(self.plan.records.terms)
        whole = all(each.dtype == np.int64 or each.dtype == np.object_ for each in self.numbers)
        shaped = len(self.numbers) == terms and whole and {len(each) for each in self.numbers} == sizes
        if not shaped or len(self.rounded) != (len(self._added) if self.plan.whole else 0):
            return False
        least = (self.plan.least(measure) for measure in self._added)
        known = [rounding.unlisted(self.plan.workload, each) for each in self.rounded]
        sound = all(
            tables is not None and rounding.adds_up(self.plan.workload, tables, least=low)
            for tables, low in zip(known, least, strict=False)
        )
        return sound and same(self.shown, self.figures())

    def under(self, plan: TablesPlan) -> PublishedTables:
        """The same noisy numbers as another plan with the same measurements shows them; no row is read."""
        return _with_figures(PublishedTables(plan, self.numbers))

    @property
    def _added(self) -> list[Measure]:
        return [measure for measure in self.plan.measures if measure.adds_up]

    def figures(self) -> tuple[Reals, ...]:
        """For each measure that adds up, the numbers of all cells of all tables."""
        tables = self.plan.workload.tables
        return tuple(np.concatenate([self.cells(measure, node).ravel() for node in tables]) for measure in self._added)

    def _shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the noisy arrays of each term."""
        if self.plan.pure:
            fine = flat(self.plan.workload)
            return [fine.shape(node) for node in self.plan.laplace[0].tables]
        return [each.shape for each in self.plan.residual(0).bases]

    def _arrays(self, term: int) -> list[NDArray[Any]]:
        shapes = self._shapes()
        ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
        parts = np.split(self.numbers[term], ends)
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    @cached_property
    def _terms(self) -> list[dict[Node, Reals]]:
        """The residuals of each term, in its granules."""
        if self.plan.pure:
            return [dict(each.residuals(self._arrays(term))) for term, each in enumerate(self.plan.laplace)]
        found = []
        for term in range(len(self.numbers)):
            noise = self.plan.residual(term)
            arrays = zip(self.plan.bases, noise.bases, self._arrays(term), strict=True)
            found.append({node: part.astype(np.float64) / 2.0**base.places for node, base, part in arrays})
        return found

    def _estimate(self, node: Node, weights: Any) -> Reals:
        """A weighted sum of terms in the cells of a table."""
        found = np.zeros(self.plan.workload.shape(node))
        for term, weight in weights:
            known = self._terms[term]
            one = (
                self.plan.laplace[term].estimate(node, known)
                if self.plan.pure
                else estimate.table(self.plan.workload, node, known)
            )
            found = found + float(weight) * one
        return found

    @cached_property
    def _whole(self) -> dict[str, dict[Node, estimate.Whole]]:
        """For each measure that adds up, all tables in whole multiples of its step."""
        found = {}
        for measure in self.plan.measures:
            if measure.adds_up:
                cells = {node: self._estimate(node, measure.weights) for node in self.plan.nodes}
                step = 10.0 ** -self.plan.places(measure)
                found[measure.name] = estimate.whole(self.plan.workload, cells, step=step)
        return found

    # As numbers

    def node(self, name: str) -> Node:
        """The table of this name."""
        known = {self.plan.workload.name(node): node for node in self.plan.workload.tables}
        if name not in known:
            raise unknown_name(name, sorted(known), lacks="The publication has no table")
        return known[name]

    def cells(self, measure: Measure, node: Node) -> Reals:
        """The numbers of a table. Those that add up are multiples of a power of ten, so that sums of them are exact."""
        if measure.adds_up and self.plan.whole:
            return np.asarray(self._rounded[measure.name][node] * float(self.plan.unit(measure)))
        if measure.adds_up:
            return self.unbiased(measure, node)
        values = self._values(measure, node)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self._estimate(node, measure.weights) / values + float(measure.middle)
        assert measure.ends is not None
        low, high = map(float, measure.ends)
        return np.where(values >= 1, np.clip(mean, low, high), np.nan)

    def unbiased(self, measure: Measure, node: Node) -> Reals:
        """The numbers of a table before they are rounded to whole ones."""
        whole, places = self._whole[measure.name][node], self.plan.places(measure)
        return np.asarray(whole.astype(np.float64) / 10.0**places if places >= 0 else whole * 10.0**-places)

    def estimated(self, measure: Measure, node: Node) -> Reals:
        """The numbers of a table as doubles, before any rounding; for measures that add up."""
        return self._estimate(node, measure.weights)

    def shifts(self, measure: Measure, node: Node) -> Reals:
        """By how much rounding to whole numbers moved each cell."""
        return np.asarray(self.cells(measure, node) - self.unbiased(measure, node))

    @cached_property
    def _rounded(self) -> dict[str, dict[Node, NDArray[np.int64]]]:
        """All tables in whole numbers."""
        found = {}
        for measure, numbers in zip(self._added, self.rounded, strict=True):
            tables = rounding.unlisted(self.plan.workload, numbers)
            assert tables is not None
            found[measure.name] = tables
        return found

    def whole_numbers(self) -> tuple[NDArray[np.int64], ...]:
        """Whole numbers near the released ones, for each measure that adds up."""
        workload, found = self.plan.workload, []
        for measure in self._added:
            unit = float(self.plan.unit(measure))
            near = {node: _safe(self._estimate(node, measure.weights) / unit) for node in self.plan.nodes}
            full = _safe(self._estimate(rounding.joint(workload), measure.weights) / unit)
            tables = rounding.rounded(workload, near, full, least=self.plan.least(measure))
            found.append(rounding.listed(workload, tables))
        return tuple(found)

    def _values(self, measure: Measure, node: Node) -> Reals:
        return self._estimate(node, ((measure.values, 1),))

    def ends(self, measure: Measure, node: Node, *, confidence: Number = 0.95) -> Ends:
        """The ends of the interval of every cell: each contains the exact number with this probability."""
        if not measure.adds_up:
            return self._ends_of_mean(measure, node, confidence=confidence)
        found, far = self.unbiased(measure, node), self.plan.widths(measure, node, confidence=confidence)
        if not self.plan.whole:
            return found - far, found + far
        return self._possible_ends(measure, node, (found - far, found + far))

    def _possible_ends(self, measure: Measure, node: Node, ends: Ends) -> Ends:
        """The multiples of the unit between these ends, none too small; and the rounded number, wherever it is."""
        unit, least = float(self.plan.unit(measure)), self.plan.least(measure)
        slack = 1e-9 * (1 + np.abs(ends[0]) / unit)
        low, high = np.ceil(ends[0] / unit - slack) * unit, np.floor(ends[1] / unit + slack) * unit
        if least is not None:
            low, high = np.maximum(low, least * unit), np.maximum(high, least * unit)
        shown = self.cells(measure, node)
        return np.minimum(low, shown), np.maximum(high, shown)

    def _ends_of_mean(self, measure: Measure, node: Node, *, confidence: Number) -> Ends:
        """All θ that are not far from C/N, after Fieller: |C − (θ − c)N| is at most z standard deviations for the true
        θ, with this probability, whatever N is. Without a finite interval, the bounds are the ends."""
        plan, (total, weight) = self.plan, measure.weights[0]
        assert measure.values is not None and measure.ends is not None
        low, high = (float(end - measure.middle) for end in measure.ends)
        sums, values = self._estimate(node, measure.weights), self._values(measure, node)
        spread = float(weight) ** 2 * plan.term_variances(total, node), plan.term_variances(measure.values, node)
        if plan.pure:  # each of the two has half of the probability of a miss
            rest = 1 - (1 - float(confidence)) / 2
            far = [plan.term_width(term, node, confidence=rest) for term in (total, measure.values)]
            ends = quotient(sums, values, float(weight) * far[0], far[1], low, high)
        else:
            z = normal_width(confidence) * (1 + 1e-3)  # the rest is more than rounding adds
            ends = fieller(sums, values, *spread, z, low, high)
        middle = float(measure.middle)
        return ends[0] + middle, ends[1] + middle

    def deviations(self, measure: Measure, node: Node) -> Reals:
        """The standard deviation of the noise of every cell, for measures that add up; with what rounding moved it."""
        moved = self.shifts(measure, node) ** 2 if self.plan.whole else 0.0
        found = np.sqrt(self.plan.variances(measure, node) + moved)
        return np.broadcast_to(found, self.plan.workload.shape(node))

    # As tables

    def tables(self, *, confidence: Number | None = None) -> dict[str, pa.Table]:
        """Every table by name: one row for each cell, with its labels and numbers, and with intervals if asked for."""
        workload = self.plan.workload
        return {workload.name(node): self.one(node, confidence=confidence) for node in workload.tables}

    def one(self, node: Node, *, confidence: Number | None = None) -> pa.Table:
        """One table."""
        columns: dict[str, pa.Array] = self.labels(node)
        for measure in self.plan.measures:
            columns |= self._columns(measure, node, confidence)
        return pa.table(columns)

    def labels(self, node: Node) -> dict[str, pa.Array]:
        """The labels of all cells of a table, column by column."""
        workload, shape = self.plan.workload, self.plan.workload.shape(node)
        found = {}
        for place, (column, level) in enumerate(node):
            own = workload.ladders[column].levels[level - 1]
            across = [-1 if other == place else 1 for other in range(len(shape))]
            index = np.broadcast_to(np.arange(shape[place]).reshape(across), shape)
            found[own.name] = pa.array(own.labels, pa.string()).take(pa.array(index.ravel()))
        return found

    def _columns(self, measure: Measure, node: Node, confidence: Number | None) -> dict[str, pa.Array]:
        found = {measure.name: _floats(self.cells(measure, node))}
        if confidence is not None:
            low, high = self.ends(measure, node, confidence=confidence)
            found |= {f"{measure.name}_low": _floats(low), f"{measure.name}_high": _floats(high)}
        return found

    def table(self, *, confidence: Number | None = None) -> pa.Table:
        """All cells of all tables: the name of the table, the labels of the cell joined by " × ", and the numbers."""
        parts = []
        for node in self.plan.workload.tables:
            labels = [part.to_pylist() for part in self.labels(node).values()]
            cells = [" × ".join(each) for each in zip(*labels, strict=True)] if labels else [""]
            columns: dict[str, pa.Array] = {
                "table": pa.array([self.plan.workload.name(node)] * len(cells), pa.string()),
                "cell": pa.array(cells, pa.string()),
            }
            for measure in self.plan.measures:
                columns |= self._columns(measure, node, confidence)
            parts.append(pa.table(columns))
        return pa.concat_tables(parts)

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `<measure>_low` and `<measure>_high` beside every number."""
        return self.table(confidence=confidence)


def release(plan: TablesPlan, listed: Listed, *, coins: Coins) -> PublishedTables:
    """The only place where noise is added to the exact numbers of tables."""
    workload, numbers = plan.workload, []
    if plan.pure:
        wanted = {
            node: tuple((column, len(workload.ladders[column].levels)) for column, _ in node)
            for node in plan.laplace[0].tables
        }
        for tables, exact in zip(plan.laplace, totals(plan.records, workload, listed, wanted.values()), strict=True):
            parts = [
                _noisy(noise, exact[wanted[node]], coins)
                for node, noise in zip(tables.tables, tables.noises, strict=True)
            ]
            numbers.append(np.concatenate(parts))
        return _with_figures(PublishedTables(plan, tuple(numbers)))
    bases = [*plan.bases]
    for term, exact in enumerate(totals(plan.records, workload, listed, bases)):
        residuals = [contrasts(exact[base], workload.axes(base)) for base in bases]
        noisy = plan.residual(term).release(residuals, coins=coins)
        numbers.append(np.concatenate([np.ravel(each) for each in noisy]))
    return _with_figures(PublishedTables(plan, tuple(numbers)))


def _noisy(noise: Laplace, exact: estimate.Whole, coins: Coins) -> NDArray[Any]:
    """A table with noise; beyond 64 bits, Python's integers."""
    if exact.dtype == np.object_:
        return np.array(noise.release(exact.ravel().tolist(), coins=coins), dtype=np.object_)
    return noise.release(exact.ravel().astype(np.int64), coins=coins)


def _with_figures(publication: PublishedTables) -> PublishedTables:
    if publication.plan.whole:
        publication = replace(publication, rounded=publication.whole_numbers())
    return replace(publication, shown=publication.figures())


def _safe(numbers: Reals) -> Reals:
    """Numbers whose sums fit into 64 bits."""
    return np.clip(numbers, -(2.0**58), 2.0**58)


def same(some: tuple[Reals, ...], others: tuple[Reals, ...]) -> bool:
    """Whether two lists of arrays are equal."""
    return len(some) == len(others) and all(map(np.array_equal, some, others))


def _floats(numbers: Reals) -> pa.Array:
    """Numbers without a value are NULL."""
    flat = np.ascontiguousarray(np.broadcast_to(numbers, numbers.shape)).ravel()
    return pa.array(flat, pa.float64(), mask=np.isnan(flat))


def shown_measure(plan: TablesPlan) -> Measure:
    """The measure whose numbers stand for the table in a chart: the first one that adds up, or the first."""
    return next((each for each in plan.measures if each.kind is not MeasureKind.MEAN), plan.measures[0])
