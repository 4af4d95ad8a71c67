"""Several groupings in one question, as in CUBE and ROLLUP: what can be asked so, and why the rest cannot.

All groupings are tables of one publication that add up (`sitr.questions.tables`). So they need public keys, and numbers
that follow from counts and sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sitr.dataset.schema import Kind, Table
from sitr.errors import QuestionError, SitrError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, GroupKey, bound
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.expressions.expression import Name
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.mean import Mean
from sitr.questions.aggregate.functions.sum import Sum
from sitr.questions.aggregate.nodes import Query, text
from sitr.questions.aggregate.view import TableRows

MOST_WRITTEN = 8
"""The most groupings that are written out."""

_CAN = "COUNT(*), COUNT(DISTINCT unit), SUM(column) and AVG(column)"


def bound_with_sets(query: Query, table: Table, *, catalog: Catalog | None = None) -> BoundedQuery:
    """The question, bounded; one with several groupings only if all of them can be tables that add up."""
    found = bound(query, table, catalog=catalog)
    if query.sets and (obstacles := list(_obstacles(found, table))):
        first, *others = obstacles
        raise first.among(others)
    return found


def counts_people(aggregate: Aggregate, query: BoundedQuery) -> bool:
    """Whether it counts different people."""
    unit = query.unit
    match aggregate:
        case Count(of=Name(name), distinct=True):
            return isinstance(unit, Person) and name.lower() == unit.column.lower()
    return False


def _obstacles(query: BoundedQuery, table: Table) -> Iterator[SitrError]:
    if query.view.rows != TableRows(table.name):
        yield QuestionError(
            given="CUBE, ROLLUP and GROUPING SETS need the rows of one table, without joins and sub-queries.",
            do="Write the groupings into a file, and ask them together with --file (in Python: budget.batch): "
            f"{_separately(query)}",
        )
    yield from (each for key in query.keys if (each := _obstacle_of_key(key, query)) is not None)
    for named in query.query.aggregates:
        aggregate = named.aggregate
        if counts_people(aggregate, query):
            if table.most_rows > 1:
                yield QuestionError(
                    given="People can be counted in tables that add up only where each has one row, but a person has "
                    f"up to {table.most_rows} rows here.",
                    do="Write max_rows=1, so that one row of each person counts, or COUNT(*).",
                )
        elif not isinstance(aggregate, Count | Sum | Mean) or not _plain(aggregate):
            yield QuestionError(
                given=f"CUBE, ROLLUP and GROUPING SETS can have {_CAN}, but not {aggregate.sql()}.",
                do="Write the groupings into a file, and ask them together with --file (in Python: budget.batch): "
                f"{_separately(query)}",
            )
    if query.after.hidden:
        yield QuestionError(
            given="With CUBE, ROLLUP or GROUPING SETS, HAVING and ORDER BY can use selected columns only.",
            do="Select the aggregate, and name its column there.",
        )


def _plain(aggregate: Count | Sum | Mean) -> bool:
    """Whether it is COUNT(*), or a function of a column itself."""
    return aggregate.of is None if isinstance(aggregate, Count) else isinstance(aggregate.of, Name)


def _obstacle_of_key(key: GroupKey, query: BoundedQuery) -> SitrError | None:
    if key.of.column is None:
        return QuestionError(
            given=f"CUBE, ROLLUP and GROUPING SETS need columns as keys, and {key.of.text} is an expression.",
            do="Write the groupings into a file, and ask them together with --file (in Python: budget.batch): "
            f"{_separately(query)}",
        )
    name = key.of.column.name
    if key.keys is None or key.kind is Kind.TIMESTAMP:
        return QuestionError(
            given=f"The values of {name!r} are not public, and tables that add up need public keys.",
            do="List them from public knowledge with keys= (on the command line --keys), or write the groupings into a "
            f"file, and ask them together with --file (in Python: budget.batch): {_separately(query)}",
        )
    return None


def _separately(query: BoundedQuery) -> str:
    """The groupings as questions of their own, to be asked as one batch."""
    spoken = query.query
    selects = []
    for places in spoken.sets[:MOST_WRITTEN]:
        keys = tuple(spoken.group_by[place] for place in places)
        selects.append(text(replace(spoken, group_by=keys, sets=(), marks=(), after=type(spoken.after)())))
    return "; ".join(selects)
