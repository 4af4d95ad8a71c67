"""The noise that a price pays for in many tables, found before any row is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property

import numpy as np

from sitr.dataset.cells import Rule
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.price import affordable
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.mechanisms.residual_gaussian import Base, ResidualGaussian, normal_width
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.numbers import Number, exact
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.term import Term
from sitr.questions.tables import laplace
from sitr.questions.tables.estimate import blur, lineage, steps, variance
from sitr.questions.tables.measures import Measure
from sitr.questions.tables.optimum import Optimum, least_largest, least_of_all, least_sum
from sitr.questions.tables.quotients import fieller, quotient
from sitr.questions.tables.reach import moves, rows_worth
from sitr.questions.tables.records import Records
from sitr.questions.tables.rounding import most_seconds
from sitr.questions.tables.workload import Node, Reals, Workload, below
from sitr.questions.ways import Way, gaussian_share, ways


class TablesObjective(Enum):
    """What is made small: the largest variance of a table's cells times its weight, or their sum over all tables."""

    LARGEST = "largest"
    SUM = "sum"


def headed(measures: Sequence[Measure], *, whole: bool) -> str:
    """The beginning of the text of a question about tables."""
    return f"TABLES OF {', '.join(measure.name for measure in measures)}{' IN WHOLE NUMBERS' if whole else ''}"


@dataclass(frozen=True)
class TablesPlan(Plan):
    """All tables of a publication, each with its noise.

    Residuals get Gaussian noise, term by term; for a pure price, tables get Laplace noise, and all others follow from
    them.
    """

    records: Records
    workload: Workload
    measures: tuple[Measure, ...]
    objective: TablesObjective
    weights: tuple[float, ...]
    gap: float
    """By how much the objective may exceed the least one for Gaussian noise and what a unit is charged, as a part of
    it; 0 for Laplace noise, for which no least one is known."""
    whole: bool
    """Whether numbers that add up are rounded to whole ones: see `sitr.questions.tables.rounding`."""

    def alike(self) -> tuple[TablesPlan, ...]:
        """The same tables rounded to whole numbers, or not rounded: both follow from the same noisy numbers."""
        here, there = (headed(self.measures, whole=whole) for whole in (self.whole, not self.whole))
        return (replace(self, whole=not self.whole, text=f"{there}{self.text.removeprefix(here)}"),)

    @property
    def pure(self) -> bool:
        """Whether tables get Laplace noise."""
        return not isinstance(self.measurements[0].mechanism, ResidualGaussian)

    @property
    def by_noise(self) -> bool:
        """Whether noisy numbers select or sort the cells that are shown, so that all intervals must hold together."""
        return False

    @property
    def drops_rows(self) -> bool:
        """Whether a row can have no cell in one of the columns: then it is left out of all tables."""
        return any(Rule.DROP in (each.axis.outside, each.axis.missing) for each in self.workload.ladders)

    @property
    def uneven(self) -> bool:
        """Whether groups of a hierarchy differ in size: then rows in smaller ones are charged more than they cost."""
        return any(len({*families}) > 1 for base in self.workload.bases() for families in self.workload.axes(base))

    @property
    def solving(self) -> float:
        """The seconds in which solvers must find whole numbers, for all measures that add up."""
        return most_seconds(self.workload) * sum(each.adds_up for each in self.measures) if self.whole else 0.0

    def residual(self, term: int) -> ResidualGaussian:
        """The noise on the residuals of a term."""
        found = self.measurements[term].mechanism
        assert isinstance(found, ResidualGaussian)
        return found

    @cached_property
    def laplace(self) -> tuple[laplace.LaplaceTables, ...]:
        """The noise on the tables of each term."""
        tables = laplace.measured(self.workload, joint=self.joint)
        noises = [each.mechanism for each in self.measurements]
        return tuple(
            laplace.LaplaceTables(self.workload, tables, tuple(noises[first : first + len(tables)]))  # type: ignore[arg-type]
            for first in range(0, len(noises), len(tables))
        )

    @cached_property
    def bases(self) -> dict[Node, int]:
        """The residuals that get Gaussian noise, numbered in their order."""
        return {base: place for place, base in enumerate(self.workload.bases())}

    @cached_property
    def _known(self) -> list[dict[Node, float]]:
        """σ² of each base, term by term."""
        terms = range(len(self.measurements))
        return [
            {base: float(exact(self.residual(term).bases[at].sigma)) ** 2 for base, at in self.bases.items()}
            for term in terms
        ]

    @property
    def joint(self) -> bool:
        """Whether the one table of all columns gets Laplace noise."""
        return self.pure and self.measurements[0].name.endswith(laplace.JOINT)

    def variances(self, measure: Measure, node: Node) -> Reals:
        """The variance of every cell of a table; an axis of length one stands for equal numbers."""
        found = np.zeros((1,) * len(node))
        for term, weight in measure.weights:
            found = found + float(weight) ** 2 * self.term_variances(term, node)
        return found

    def term_variances(self, term: int, node: Node) -> Reals:
        """The same for a term, in its granules."""
        if self.pure:
            return self.laplace[term].variance(node)
        return variance(self.workload, node, self._known[term])

    @cached_property
    def nodes(self) -> list[Node]:
        """All tables, and all that are coarser."""
        return lineage(self.workload.tables)

    @cached_property
    def blurs(self) -> dict[Node, float]:
        """How many steps rounding moves a cell of each table, at most."""
        return blur(self.workload, self.nodes)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {measure.name: self._decimals(measure) for measure in self.measures}

    def places(self, measure: Measure) -> int:
        """Numbers are shown as whole multiples of 10 to minus this power: it may be negative."""
        return self._places[measure.name]

    def step(self, measure: Measure) -> Fraction:
        """What all numbers of a measure that adds up are multiples of."""
        return self.unit(measure) if self.whole else Fraction(10) ** -self.places(measure)

    def unit(self, measure: Measure) -> Fraction:
        """What the exact numbers of a measure that adds up are multiples of: 1, or the granularity of the column."""
        return measure.weights[0][1]

    def least(self, measure: Measure) -> int | None:
        """0, if the exact numbers of a measure cannot be negative."""
        quantised = self.records.terms[measure.weights[0][0]].quantised
        return 0 if quantised is None or quantised.lower >= 0 else None

    def _decimals(self, measure: Measure) -> int:
        deviations = {node: math.sqrt(float(self.variances(measure, node).min())) for node in self.nodes}
        return steps(deviations, self.blurs)

    def slack(self, measure: Measure, node: Node) -> float:
        """How far rounding moves a cell of a table, at most: of the residuals, and of the numbers that are shown."""
        found = 10.0 ** -self.places(measure) * self.blurs[node]
        if not self.pure:
            for term, weight in measure.weights:
                noise, size = self.residual(term).bases, abs(float(weight))
                fine = (
                    2.0 ** (len(base) - noise[self.bases[base]].places - 1)
                    for base in below(node)
                    if base in self.bases
                )
                found += size * sum(fine)
        return found * (1 + 1e-9)

    def widths(self, measure: Measure, node: Node, *, confidence: Number = 0.95) -> Reals:
        """Half the width of the interval of each cell, for measures that add up; see `variances` for its shape."""
        far = self.slack(measure, node)
        if self.pure:
            parts = [(self.laplace[term], abs(weight)) for term, weight in measure.weights]
            return np.full((1,) * len(node), laplace.width(parts, node, confidence=confidence) + far)
        return np.sqrt(self.variances(measure, node)) * normal_width(confidence) * (1 + 1e-12) + far

    def term_width(self, term: int, node: Node, *, confidence: Number) -> float:
        """The same for a term with Laplace noise, in its granules."""
        return laplace.width([(self.laplace[term], Fraction(1))], node, confidence=confidence)

    def error(self, measure: Measure, node: Node, *, confidence: Number = 0.95) -> float:
        """The largest half-width of the interval of a cell; of a mean, the distance of its bounds."""
        if measure.ends is not None:
            return float(measure.ends[1] - measure.ends[0])
        return float(self.widths(measure, node, confidence=confidence).max())

    def error_at(self, rows: int, measure: Measure, node: Node, *, confidence: Number = 0.95) -> float:
        """The largest half-width of the interval of a mean of this many values by noisy count; infinite if none is.

        |t| is at most half the distance of the bounds, and intervals are widest at the largest |t|: their half-widths
        grow with C². What the bounds would cut off is not, so this is never too small.
        """
        assert measure.values is not None and measure.ends is not None
        (total, weight), half = measure.weights[0], float(measure.ends[1] - measure.ends[0]) / 2
        sums, values = np.array(half * rows), np.array(float(rows))
        if self.pure:
            rest = 1 - (1 - float(confidence)) / 2
            far = [self.term_width(term, node, confidence=rest) for term in (total, measure.values)]
            low, high = quotient(sums, values, float(weight) * far[0], far[1], -math.inf, math.inf)
        else:
            z = normal_width(confidence) * (1 + 1e-3)
            spread = float(weight) ** 2 * self.term_variances(total, node), self.term_variances(measure.values, node)
            with np.errstate(over="ignore", invalid="ignore"):  # at the smallest prices no interval is finite
                low, high = fieller(sums, values, *spread, z, -math.inf, math.inf)
        return float(np.max(high - low)) / 2


def _reach(term: Term) -> tuple[int, int]:
    """What a row may add to a cell of a term: 0 if it is not there."""
    low, high = term.reach
    return min(low, 0), max(high, 0)


def fit(
    records: Records,
    workload: Workload,
    measures: tuple[Measure, ...],
    price: Promise,
    *,
    objective: TablesObjective,
    weights: Sequence[float],
    text: str,
    whole: bool = False,
) -> TablesPlan:
    """The plan with the least error that the price can pay."""
    paid = affordable(price, gaussian=True)
    planner = _Planner(records, workload, measures, objective, tuple(weights), text, whole)
    plans = [planner.plan(way) for way in ways(paid)]
    return min(plans, key=planner.value)


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans for different ways to spend a price."""

    records: Records
    workload: Workload
    measures: tuple[Measure, ...]
    objective: TablesObjective
    weights: tuple[float, ...]
    text: str
    whole: bool

    def value(self, plan: TablesPlan) -> float:
        """The objective, for the first term."""
        found = [
            weight * float(plan.term_variances(0, node).mean())
            for weight, node in zip(self.weights, self.workload.tables, strict=True)
        ]
        return max(found) if self.objective is TablesObjective.LARGEST else math.fsum(found)

    def plan(self, way: Way) -> TablesPlan:
        if isinstance(way.bought, PureDP):
            return min((self._pure(way, joint) for joint in laplace.choices(self.workload)), key=self.value)
        bases, terms = self.workload.bases(), self.records.terms
        part = gaussian_share(way.bought, Fraction(1, len(terms)))
        divided = [self._divided(term, bases) for term in terms]
        measured = [
            Measurement(term.name, self._noise(term, bases, found, part), self._distance(term), term.granularity)
            for term, (found, _) in zip(terms, divided, strict=True)
        ]
        return self._planned(tuple(measured), way, max(gap for _, gap in divided))

    def _divided(self, term: Term, bases: tuple[Node, ...]) -> tuple[Optimum, float]:
        """The noise of a term, and by how much its objective may exceed the least one for what a unit is charged."""
        costs = np.array([self.workload.weight(base) for base in bases])
        largest, weights = self.objective is TablesObjective.LARGEST, np.array(self.weights)
        matrix, (low, high) = self.workload.matrix(bases), _reach(term)
        if self.records.query.changes is Relation.ADD_REMOVE:
            found = (least_largest if largest else least_sum)(matrix, costs, weights)
            return found, found.gap
        signs = (high - low) / max(-low, high)  # 2 if a row may add as much as it may take away, 1 if it only adds
        prices = np.vstack([costs[None, :] * signs**2, moves(self.workload, bases)])
        found = least_of_all(matrix, prices, weights, largest=largest)
        adding = (least_largest if largest else least_sum)(matrix, costs, weights)
        best = min(found, adding, key=lambda each: self._charged(term, bases, each, costs))
        return best, max(0.0, self._charged(term, bases, best, costs) / found.bound - 1)

    def _charged(self, term: Term, bases: tuple[Node, ...], found: Optimum, costs: Reals) -> float:
        """The objective of a division where a unit of one row is charged 1."""
        rows, most = self.records.query.max_rows_per_group, max(map(abs, _reach(term)))
        charged = float(self._worth(term, bases, found) / (rows * most)) ** 2
        return found.value * charged * float((costs / found.variances).sum())

    def _worth(self, term: Term, bases: tuple[Node, ...], found: Optimum) -> Fraction:
        """How many rows that add 1 a unit is worth, at most."""
        query, (low, high) = self.records.query, _reach(term)
        precisions = {base: 1 / float(each) for base, each in zip(bases, found.variances, strict=True)}
        return rows_worth(
            self.workload, precisions, rows=query.max_rows_per_group, low=low, high=high, relation=query.changes
        )

    def _noise(self, term: Term, bases: tuple[Node, ...], found: Optimum, part: GaussianDP) -> ResidualGaussian:
        listed = [
            Base(self.workload.axes(base), Fraction(math.sqrt(float(each))), tuple(column for column, _ in base))
            for base, each in zip(bases, found.variances, strict=True)
        ]
        return ResidualGaussian.fitting(part, bases=listed, sensitivity=self._worth(term, bases, found))

    def _pure(self, way: Way, joint: bool) -> TablesPlan:
        assert isinstance(way.bought, PureDP)
        terms = self.records.terms
        tables = laplace.measured(self.workload, joint=joint)
        shares = laplace.shares(self.workload, tables, self.weights, largest=self.objective is TablesObjective.LARGEST)
        measured = []
        for term in terms:
            far = self._distance(term)
            for node, share in zip(tables, shares, strict=True):
                noise = laplace.noise(way.bought, share / len(terms), far)
                name = laplace.JOINT if joint else self.workload.name(node)
                measured.append(Measurement(f"{term.name} by {name}", noise, far, term.granularity))
        return self._planned(tuple(measured), way, 0.0)

    def _distance(self, term: Term) -> Distance:
        """How far one unit moves one table."""
        query = self.records.query
        return laplace.distance(term, rows=query.max_rows_per_group, relation=query.changes)

    def _planned(self, measured: tuple[Measurement, ...], way: Way, gap: float) -> TablesPlan:
        return TablesPlan(
            measured,
            way.charged,
            self.text,
            self.records,
            self.workload,
            self.measures,
            self.objective,
            self.weights,
            gap,
            self.whole,
        )
