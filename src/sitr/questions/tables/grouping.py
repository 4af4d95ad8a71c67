"""CUBE, ROLLUP and GROUPING SETS as tables that add up, shown as one table with NULL for all values of a key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sitr.dataset.cells import Axis, Categories, Dates, Granular, Rule, Step
from sitr.dataset.schema import Key, Kind
from sitr.errors import QuestionError
from sitr.flavors.promise import Promise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.bind import BoundedQuery, GroupKey, bound
from sitr.questions.aggregate.expressions.expression import Name
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.mean import Mean
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.grouping_sets import counts_people
from sitr.questions.aggregate.nodes import Named, Query, text
from sitr.questions.tables.counting import Listed, maximal
from sitr.questions.tables.ladder import ladder
from sitr.questions.tables.measures import Measure, MeasureKind, aggregates, measures
from sitr.questions.tables.plan import TablesObjective, TablesPlan
from sitr.questions.tables.publication import PublishedTables, release
from sitr.questions.tables.question import TablesQuestion, check
from sitr.questions.tables.records import Records
from sitr.questions.tables.workload import Node, Workload

if TYPE_CHECKING:
    from sitr.dataset.schema import Table

_TYPES = {Kind.TEXT: pa.string(), Kind.INTEGER: pa.int64(), Kind.BOOLEAN: pa.bool_(), Kind.DATE: pa.date32()}


@dataclass(frozen=True)
class GroupingPlan(TablesPlan):
    """The plan of the tables, and the question that they answer."""

    query: BoundedQuery

    def alike(self) -> tuple[TablesPlan, ...]:
        """None: numbers that SQL asks for are never rounded together."""
        return ()

    @property
    def by_noise(self) -> bool:
        return self.query.after.by_noise

    def node(self, places: tuple[int, ...]) -> Node:
        """The table of a grouping."""
        return tuple((place, 1) for place in places)

    @property
    def cells(self) -> int:
        """The number of cells of all groupings."""
        return sum(map(self.workload.cells, self.workload.tables))

    def together(self, confidence: Number) -> float:
        """The confidence of each interval, so that all of them hold together."""
        return float(1 - (1 - Fraction(confidence)) / (self.cells * len(self.measures)))


@dataclass(frozen=True, eq=False)
class GroupedTables(PublishedTables):
    """Released tables, as the one table that a question in SQL asks for."""

    plan: GroupingPlan

    @cached_property
    def rows(self) -> list[tuple[Node, int, dict[str, Any]]]:
        """The rows that are shown: their table, their cell, and their keys, marks and numbers by name."""
        found = list(self._all())
        return [found[place] for place in self.plan.query.after.places([row for _, _, row in found])]

    def _all(self) -> Iterator[tuple[Node, int, dict[str, Any]]]:
        query = self.plan.query
        for places in query.query.sets:
            node = self.plan.node(places)
            marks = {
                mark.name: sum((place not in places) << bit for bit, place in enumerate(reversed(mark.places)))
                for mark in query.query.marks
            }
            numbers = {measure.name: self.cells(measure, node).ravel() for measure in self.plan.measures}
            for cell, keys in enumerate(_combined([_values(query.keys[place]) for place in places])):
                known = dict(zip(places, keys, strict=True))
                row: dict[str, Any] = {key.name: known.get(place) for place, key in enumerate(query.keys)}
                row |= marks
                # A decimal as it is written, so that a condition means what it says.
                row |= {
                    name: None if each[cell] != each[cell] else Fraction(repr(float(each[cell])))
                    for name, each in numbers.items()
                }
                yield node, cell, row

    def table(self, *, confidence: Number | None = None, simultaneous: bool = False) -> pa.Table:
        """One row for each cell of each grouping: the keys, NULL for all their values, the marks and the numbers."""
        plan, rows = self.plan, self.rows
        columns: dict[str, pa.Array] = {
            key.name: pa.array([row[key.name] for _, _, row in rows], _TYPES[key.kind]) for key in plan.query.keys
        }
        for mark in plan.query.query.marks:
            columns[mark.name] = pa.array([row[mark.name] for _, _, row in rows], pa.int64())
        each = None
        if confidence is not None:
            each = plan.together(confidence) if simultaneous or plan.by_noise else confidence
        for measure in plan.measures:
            values = [row[measure.name] for _, _, row in rows]
            columns[measure.name] = pa.array(
                [None if value is None else float(value) for value in values], pa.float64()
            )
            if each is not None:
                ends = {
                    node: [part.ravel() for part in self.ends(measure, node, confidence=each)]
                    for node in plan.workload.tables
                }
                for side, name in enumerate((f"{measure.name}_low", f"{measure.name}_high")):
                    columns[name] = pa.array([float(ends[node][side][cell]) for node, cell, _ in rows], pa.float64())
        return pa.table(columns)

    def intervals(self, *, confidence: Number = 0.95, simultaneous: bool = False) -> pa.Table:
        """The table with the ends of the intervals; all of them hold together where noisy numbers select the rows."""
        return self.table(confidence=confidence, simultaneous=simultaneous)

    def errors(self, *, confidence: Number = 0.95) -> dict[str, float]:
        """The largest error of every column."""
        return errors(self.plan, confidence=confidence)


def errors(plan: GroupingPlan, *, confidence: Number = 0.95) -> dict[str, float]:
    """The largest error of every column; of all groupings together, where noisy numbers select the rows."""
    each = plan.together(confidence) if plan.by_noise else confidence
    return {
        measure.name: max(plan.error(measure, node, confidence=each) for node in plan.workload.tables)
        for measure in plan.measures
    }


@dataclass(frozen=True, slots=True)
class GroupingQuestion:
    """A bounded query with several groupings, answered by tables that add up."""

    query: BoundedQuery
    tables: TablesQuestion

    def text(self) -> str:
        return text(self.query.query)

    def plan(self, price: Promise, /) -> GroupingPlan:
        if self.query.split is not None:
            raise QuestionError(
                given="The columns of CUBE, ROLLUP and GROUPING SETS have no weights or targets.",
                do="Leave them out: all columns have equal shares.",
            )
        found = replace(self.tables.plan(price), text=self.text())
        return GroupingPlan(**{each.name: getattr(found, each.name) for each in fields(found)}, query=self.query)

    def reading(self) -> Records:
        return self.tables.records

    def answer(self, plan: GroupingPlan, exact: Listed, /, *, coins: Coins) -> GroupedTables:
        found = release(plan, exact, coins=coins)
        return GroupedTables(plan, found.numbers, found.shown, found.rounded)

    def errors(self, plan: GroupingPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The largest error of every column."""
        return errors(plan, confidence=confidence)


def grouping_question(query: BoundedQuery, table: Table) -> GroupingQuestion:
    """The tables of a question with several groupings, which was checked by `bound_with_sets`."""
    ladders = tuple(ladder(_axis(key)) for key in query.keys)
    nodes = tuple(tuple((place, 1) for place in places) for places in query.query.sets)
    workload = Workload(ladders, nodes)
    check(workload)
    asked = [_kind(named, query) for named in query.query.aggregates]
    where = query.query.where
    inner = bound(Query(table.name, aggregates(asked), (), where), table)
    records = Records(inner, tuple(each.axis for each in ladders))
    records = replace(records, passes=len(maximal(nodes)) * len(records.terms))
    found = tuple(
        replace(_measure(kind, records, table), name=named.name)
        for kind, named in zip(asked, query.query.aggregates, strict=True)
    )
    weights = (1.0,) * len(nodes)
    return GroupingQuestion(query, TablesQuestion(records, workload, found, TablesObjective.LARGEST, weights))


def _measure(kind: tuple[MeasureKind, str], records: Records, table: Table) -> Measure:
    (found,) = measures([kind], records.terms, table)
    return found


def _kind(named: Named, query: BoundedQuery) -> tuple[MeasureKind, str]:
    match named.aggregate:
        case aggregate if counts_people(aggregate, query):
            return MeasureKind.PEOPLE, ""
        case Sum(of=Name(name)):
            return MeasureKind.SUM, name
        case Mean(of=Name(name)):
            return MeasureKind.MEAN, name
    assert isinstance(named.aggregate, Count)
    return MeasureKind.COUNT, ""


def _axis(key: GroupKey) -> Axis:
    """The cells of a key, in the order of `_values`."""
    column, keys = key.of.column, _values(key)
    assert column is not None
    missing = Rule.CELL if None in keys else Rule.DROP
    values = tuple(each for each in keys if each is not None)
    if key.clamped and key.kind is Kind.INTEGER:
        lower, upper = int(values[0]), int(values[-1])  # type: ignore[arg-type]
        return Granular(column, lower, upper, Fraction(1), upper - lower + 1, missing)
    if key.clamped:
        return Dates(column, values[0], values[-1], Step.DAY, missing=missing)  # type: ignore[arg-type]
    return Categories(column, values, missing=missing)


def _values(key: GroupKey) -> tuple[Key, ...]:
    """The public values of a key, NULL last."""
    listed = key.keys or ()
    return (*(each for each in listed if each is not None), *((None,) if None in listed else ()))


def _combined(values: list[tuple[Key, ...]]) -> Iterator[tuple[Key, ...]]:
    """All combinations, the last one varying fastest."""
    if not values:
        yield ()
        return
    for first in values[0]:
        for rest in _combined(values[1:]):
            yield (first, *rest)
