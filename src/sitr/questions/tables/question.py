"""Many tables as one question: a plan for a price, what is read, and noisy tables that add up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sitr import arguments
from sitr.dataset.cells import Axis, Step, size, spelled
from sitr.dataset.domain import DeclaredCells, axis, every_value
from sitr.dataset.schema import Column, Table
from sitr.errors import QuestionError, quoted, unknown_name
from sitr.flavors.promise import Promise
from sitr.neighbors.unit import Person
from sitr.noise.coins import Coins
from sitr.numbers import Number, finite
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.nodes import Query, text
from sitr.questions.tables.calendar import Levels, by_calendar, expanded
from sitr.questions.tables.counting import Listed, cells_in_all, maximal
from sitr.questions.tables.ladder import ColumnLevels, ladder
from sitr.questions.tables.measures import Measure, MeasureKind, Wanted, aggregates, read
from sitr.questions.tables.measures import measures as measures_of
from sitr.questions.tables.names import apart, check_labels, column_of, levels_of, table_weights
from sitr.questions.tables.plan import TablesObjective, TablesPlan, fit, headed
from sitr.questions.tables.publication import PublishedTables, release
from sitr.questions.tables.records import Records
from sitr.questions.tables.rounding import MOST_JOINT, joint
from sitr.questions.tables.workload import Node, Workload, below

MOST_CELLS = 2 * 10**6
"""The most cells of all tables together."""

MOST_BASES = 100_000
"""The most sets of columns whose residuals get noise."""

MOST_COLUMNS = 8
"""The most columns of one table."""

_EXAMPLE = '[("ward", "sex"), "age"]'

_LIKE = 'Write for example [("ward", "sex"), "age"].'


@dataclass(frozen=True, slots=True)
class TablesQuestion:
    """Which tables, what they count, and which of them matter most."""

    records: Records
    workload: Workload
    measures: tuple[Measure, ...]
    objective: TablesObjective
    weights: tuple[float, ...]
    whole: bool = False

    def text(self) -> str:
        cut = ", ".join(spelled(ladder.axis) for ladder in self.workload.ladders)
        tables = "; ".join(map(self.workload.name, self.workload.tables))
        return f"{headed(self.measures, whole=self.whole)} BY {tables} OVER {cut}: {text(self.records.query.query)}"

    def plan(self, price: Promise, /) -> TablesPlan:
        return fit(
            self.records,
            self.workload,
            self.measures,
            price,
            objective=self.objective,
            weights=self.weights,
            text=self.text(),
            whole=self.whole,
        )

    def reading(self) -> Records:
        return self.records

    def answer(self, plan: TablesPlan, exact: Listed, /, *, coins: Coins) -> PublishedTables:
        return release(plan, exact, coins=coins)

    def errors(self, plan: TablesPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The largest error of a cell, by measure and table."""
        return {
            column_name(measure, plan.workload, node): plan.error(measure, node, confidence=confidence)
            for node in plan.workload.tables
            for measure in plan.measures
        }


def column_name(measure: Measure, workload: Workload, node: Node) -> str:
    """A measure in a table, in a few words."""
    return f"{measure.name} by {workload.name(node)}" if node else measure.name


def tables_question(
    table: Table,
    tables: Iterable[str | Sequence[str]],
    *,
    measures: Sequence[Wanted] = ("count",),
    weights: Mapping[str, Number] | None = None,
    objective: TablesObjective | str = TablesObjective.LARGEST,
    hierarchies: Mapping[str, Levels] | None = None,
    where: Expression | None = None,
    rows_per_person: int | None = None,
    whole: bool = False,
    **said: object,
) -> TablesQuestion:
    """The question about these tables; `said` are the fields of `DeclaredCells`, by column."""
    wanted = _listed(tables)
    ladders, at = _ladders(table, wanted, hierarchies or {}, said)
    if not ladders:
        raise QuestionError(
            wanted="at least one table with a column", given="the total only", do="Ask for the total in SQL."
        )
    workload = Workload(ladders, _nodes(wanted, at))
    check(workload)
    if whole is not False:
        _check_whole(whole, workload)
    asked = _measures(measures)
    query = bound(Query(table.name, aggregates(asked), (), where), table)
    if rows_per_person is not None:
        query = replace(query, max_rows_per_group=_rows(rows_per_person, table))
    if any(kind is MeasureKind.PEOPLE for kind, _ in asked):
        _check_people(query)
    records = Records(query, tuple(each.axis for each in ladders))
    records = replace(records, passes=len(maximal(workload.tables)) * len(records.terms))
    found = apart(measures_of(asked, records.terms, table), workload)
    shares = _weights(weights or {}, workload)
    return TablesQuestion(records, workload, found, _objective(objective), shares, whole)


def _check_people(query: BoundedQuery) -> None:
    """Refuse to count people where rows are not those of people, or where a person can have several cells."""
    if not isinstance(query.unit, Person):
        raise QuestionError(
            given="People cannot be counted, because the data set protects rows and does not say whose they are.",
            do="Count rows, or protect the data set with the column that identifies people as its unit.",
        )
    if query.max_rows_per_group > 1:
        raise QuestionError(
            given="People can be counted in tables that add up only where each has one cell, but a person has up to "
            f"{query.max_rows_per_group} rows here.",
            do="Write rows_per_person=1, so that one row of each person counts, or count rows.",
        )


def _measures(given: object) -> list[tuple[MeasureKind, str]]:
    arguments.several(given, name="measures", example='["count", "sum(cost)"]')
    return [read(each) for each in given]  # type: ignore[attr-defined]


def _listed(tables: object) -> list[tuple[str, ...]]:
    arguments.several(tables, name="tables", example=_EXAMPLE)
    found: list[tuple[str, ...]] = []
    for each in tables:  # type: ignore[attr-defined]
        names = (each,) if isinstance(each, str) else tuple(each) if isinstance(each, list | tuple) else (each,)
        if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise QuestionError(wanted="tables, each a list of different columns", given=quoted(each), do=_LIKE)
        found.append(names)
    if not found or len({frozenset(names) for names in found}) < len(found):
        raise QuestionError(wanted="one or more different tables", given=quoted([*found]), do=_LIKE)
    return found


def _ladders(
    table: Table,
    wanted: list[tuple[str, ...]],
    hierarchies: Mapping[str, Levels],
    said: Mapping[str, object],
) -> tuple[tuple[ColumnLevels, ...], dict[str, tuple[int, int]]]:
    """The levels of all columns that some table needs, and where each name is among them."""
    arguments.mapping(hierarchies, name="hierarchies", example='{"district": {"region": {"north": ["a", "b"]}}}')
    for fine, levels in hierarchies.items():
        if not isinstance(levels, Mapping):
            arguments.several(levels, name=fine, example='["month", "quarter", "year"]')
    said = _by_months(hierarchies, said)
    coarser = levels_of(table, hierarchies)
    named = [column_of(name, table, coarser) for names in wanted for name in names]
    columns = [table.column(name) for name in dict.fromkeys(named)]
    groups = {table.column(fine).name: levels for fine, levels in hierarchies.items()}
    axes = {column.name: _axis(column, columns, said) for column in columns}
    ladders = tuple(
        ladder(axis, expanded(axis, groups[name]) if name in groups else None) for name, axis in axes.items()
    )
    at = {
        level.name: (place, number)
        for place, each in enumerate(ladders)
        for number, level in enumerate(each.levels, start=1)
    }
    return ladders, at | {name: at[table.column(name).name] for names in wanted for name in names if name not in at}


def _by_months(hierarchies: Mapping[str, Levels], said: Mapping[str, object]) -> Mapping[str, object]:
    """The same, with months as the cells of columns whose levels are units of the calendar, if nothing else is said."""
    every = said.get("every") or {}
    arguments.mapping(every, name="every", example='{"day": Step.MONTH}')
    dated = [name for name, levels in hierarchies.items() if by_calendar(levels) and name not in every]  # type: ignore[operator]
    return {**said, "every": {**every, **dict.fromkeys(dated, Step.MONTH)}} if dated else said  # type: ignore[dict-item]


def _axis(column: Column, columns: Sequence[Column], said: Mapping[str, object]) -> Axis:
    """The public cells of a column."""
    declared: dict[str, Any] = {}
    for name, given in said.items():
        if given is None:
            continue
        arguments.mapping(given, name=name, example=f"{{{column.name!r}: …}}")
        known = [each.name for each in columns]
        for key in given:  # type: ignore[attr-defined]
            if key not in known:
                raise unknown_name(key, known, lacks=f"{name} names no column of the tables:")
        declared[name] = given.get(column.name)  # type: ignore[attr-defined]
    said_nothing = all(part is None for part in declared.values())
    found = (every_value(column) if said_nothing else None) or axis(column, DeclaredCells(**declared))
    if found is None:
        raise QuestionError(
            given=f"The values of {column.name!r} are not public, and tables that add up need public cells.",
            do=f"List them with keys={{{column.name!r}: […]}}, from public knowledge.",
        )
    if (cells := size(found)) > MOST_CELLS:
        raise _too_many(cells)
    check_labels(found)
    return found


def _nodes(wanted: list[tuple[str, ...]], at: Mapping[str, tuple[int, int]]) -> tuple[Node, ...]:
    found = []
    for names in wanted:
        node = tuple(sorted(at[name] for name in names))
        if len({column for column, _ in node}) < len(node):
            raise QuestionError(
                wanted="each column at one level in a table",
                given=f"two levels of one column in {' × '.join(names)}",
                do="Ask for two tables: they add up.",
            )
        found.append(node)
    return tuple(found)


def check(workload: Workload) -> None:
    """Refuse tables that are too large."""
    if (deep := max(map(len, workload.tables))) > MOST_COLUMNS:
        raise QuestionError(
            wanted=f"tables of at most {MOST_COLUMNS} columns",
            given=f"a table of {deep} columns",
            do="Choose fewer columns.",
        )
    cells = cells_in_all(workload)
    bases = len({part for node in workload.tables for part in below(node)}) if cells <= MOST_CELLS else math.inf
    if cells > MOST_CELLS or bases > MOST_BASES:
        raise _too_many(cells)


def _check_whole(given: object, workload: Workload) -> None:
    """Whole numbers that add up are always found if one table of all columns is small enough."""
    if given is not True:
        raise QuestionError(wanted="whole=True or whole=False", given=quoted(given), do="Write whole=True.")
    if (cells := workload.cells(joint(workload))) > MOST_JOINT:
        raise QuestionError(
            wanted=f"at most {MOST_JOINT:,} combinations of all columns, for whole numbers that add up",
            given=f"{cells:,} combinations",
            do="Leave whole out, choose wider cells, or ask for some of the tables in a publication of their own.",
        )


def _too_many(cells: int) -> QuestionError:
    return QuestionError(
        wanted=f"at most {MOST_CELLS:,} cells in all tables",
        given=f"{cells:,} cells, each of which needs noise",
        do="Ask for fewer tables, or choose wider cells.",
    )


def _rows(given: object, table: Table) -> int:
    if not isinstance(table.unit, Person) or isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise QuestionError(
            wanted="rows_per_person as a whole number of at least 1, for a data set that protects people",
            given=quoted(given),
            do="Leave it out, or choose the number of rows that most people have.",
        )
    return given


def _objective(given: TablesObjective | str) -> TablesObjective:
    try:
        return TablesObjective(given)
    except ValueError:
        raise QuestionError(
            wanted='"largest" or "sum" as the objective', given=quoted(given), do='Write objective="largest".'
        ) from None


def _weights(given: Mapping[str, Number], workload: Workload) -> tuple[float, ...]:
    arguments.mapping(given, name="weights", example='{"ward × sex": 4}')
    found: dict[str, float] = {}
    for name, weight in given.items():
        number = finite(weight)
        if number is None or not 1e-6 <= number <= 1e6:
            raise QuestionError(
                wanted="weights from 0.000001 to 1000000", given=quoted(weight), do='Write weights={"ward": 4}.'
            )
        found[name] = float(weight)
    return table_weights(found, workload)
