"""Rows as numbers of public cells, in one DuckDB statement: nothing else of them is ever read for synthetic rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from sitr.backends.engine import read
from sitr.backends.statement import first, granules, identifier, key_expression, literal
from sitr.dataset.schema import Column, Kind, Quantised
from sitr.neighbors.unit import Person
from sitr.questions.synthetic.axes import Axis, Codes
from sitr.questions.synthetic.sheet import Sheet


def exact_codes(sheet: Sheet, *, source: str, salt: int, views: Mapping[str, pa.Table]) -> Codes:
    """A row of cell numbers for every row that counts; if reading fails, an error whose text is always the same."""
    sql = codes_statement(sheet, source=source, salt=salt)
    columns = read(views, lambda engine: engine.execute(sql).fetchnumpy())
    codes: Codes = np.column_stack([np.asarray(columns[f"c{place}"], np.int64) for place in range(len(sheet.axes))])
    return codes


def codes_statement(sheet: Sheet, *, source: str, salt: int) -> str:
    """SELECT the cells c0, c1, … of at most `most_rows` rows of each unit.

    Rows of a person in the same cells are interchangeable: numbering them makes the choice uniform over rows, and still
    a function of the multiset of the person's own rows.
    """
    names = [f"c{place}" for place in range(len(sheet.axes))]
    coded = ", ".join(f"{_code(axis)} AS {name}" for name, axis in zip(names, sheet.axes, strict=True))
    kept = [f"{name} IS NOT NULL" for name in names]
    cells = ", ".join(names)
    if not isinstance(sheet.unit, Person):
        return f"SELECT {cells} FROM (SELECT {coded} FROM {source}) WHERE {' AND '.join(kept)}"
    rows = f"SELECT {identifier(sheet.unit.column)} AS u, {coded} FROM {source}"
    numbered = (
        f"SELECT u, {cells}, row_number() OVER (PARTITION BY u, {cells}) AS twin FROM ({rows}) "
        f"WHERE u IS NOT NULL AND {' AND '.join(kept)}"
    )
    return f"SELECT {cells} FROM ({numbered}) QUALIFY {first(sheet.most_rows, ['u'], [*names, 'twin'], salt)}"


def _code(axis: Axis) -> str:
    """The number of a value's cell; what has none is NULL, or in the cell for NULL if there is one."""
    number = _key_number(axis) if axis.steps is None else _bin_number(axis)
    return f"CAST(coalesce({number}, {axis.cells - 1}) AS INTEGER)" if axis.nulls else f"CAST({number} AS INTEGER)"


def _key_number(axis: Axis) -> str:
    if not axis.keys:
        return "NULL"
    listed = ", ".join(literal(key) for key in axis.keys if key is not None)
    return f"nullif(list_position([{listed}], {key_expression(Column(axis.name, axis.kind))}), 0) - 1"


def _bin_number(axis: Axis) -> str:
    """Granules above the lowest, times the number of bins: 128 bits hold that."""
    assert axis.steps is not None
    lower, upper, bins = axis.steps.lower, axis.steps.upper, axis.steps.bins
    name = identifier(axis.name)
    match axis.kind:
        case Kind.DATE:
            low, high = (f"(DATE '1970-01-01' + {end}::INTEGER)" for end in (lower, upper))
            above = _between(f"date_diff('day', {low}, least(greatest({name}, {low}), {high}))", name)
        case Kind.TIMESTAMP:
            moment = f"TRY_CAST({name} AS TIMESTAMP)"
            low, high = (f"make_timestamp({end}::BIGINT * 1000000)" for end in (lower, upper))
            above = _between(f"date_diff('second', {low}, least(greatest({moment}, {low}), {high}))", moment)
        case _:
            above = f"({granules(name, Quantised(lower, upper, axis.steps.granularity))} - {lower})"
    return f"({above}::HUGEINT * {bins}) // {upper - lower + 1}"


def _between(expression: str, value: str) -> str:
    """DuckDB's least and greatest pass over NULL: it must stay what it is."""
    return f"(CASE WHEN {value} IS NOT NULL THEN {expression} END)"
