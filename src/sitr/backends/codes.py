"""The cell of a value as an SQL expression, for synthetic rows."""

from __future__ import annotations

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.dataset.schema import Column, Kind, Quantised
from sitr.questions.synthetic.axes import Axis

identifier, literal, granules, key_expression = DUCKDB.identifier, DUCKDB.literal, DUCKDB.granules, DUCKDB.key


def code(axis: Axis) -> str:
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
