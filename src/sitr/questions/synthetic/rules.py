"""Public rules about synthetic rows, such as that nobody under 15 is married."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sitr.dataset.cells import Drawable
from sitr.dataset.schema import Table
from sitr.errors import QuestionError
from sitr.questions.aggregate.bind import condition as checked_condition
from sitr.questions.aggregate.frame import Condition
from sitr.questions.aggregate.nodes import And, Compare, Comparison, IsNull, Like, Not, OneOf, Or, Predicate
from sitr.questions.aggregate.spelling import Value

_COMPARED = {
    Comparison.EQUAL: pc.equal,
    Comparison.UNEQUAL: pc.not_equal,
    Comparison.LESS: pc.less,
    Comparison.AT_MOST: pc.less_equal,
    Comparison.GREATER: pc.greater,
    Comparison.AT_LEAST: pc.greater_equal,
}


def rules(conditions: Iterable[Condition], table: Table, axes: tuple[Drawable, ...]) -> tuple[Predicate, ...]:
    """The rules, checked like the conditions of questions; they may only use the imitated columns."""
    checked = []
    for condition in conditions:
        if not isinstance(condition, Condition):
            raise QuestionError(
                wanted="a condition that no row may fulfil",
                given=repr(condition),
                do='Write never=[(sitr.column("age") < 15) & (sitr.column("married") == True)].',
            )
        predicate = checked_condition(condition.predicate, table)
        if unknown := sorted(_named(predicate) - {axis.column.name for axis in axes}):
            raise QuestionError(
                given=f"A rule uses {unknown[0]!r}, which is not one of the imitated columns.",
                do="Add it to the columns, or drop the rule.",
            )
        checked.append(predicate)
    return tuple(checked)


def broken(never: tuple[Predicate, ...], table: pa.Table) -> NDArray[np.bool_]:
    """The rows that fulfil one of the conditions and must be left out; a condition that is NULL is not fulfilled.

    >>> from sitr.questions.aggregate.frame import column
    >>> rule = (column("age") < 15) & (column("married") == True)
    >>> broken((rule.predicate,), pa.table({"age": [9, 9, 40, None], "married": [True, False, True, True]})).tolist()
    [True, False, False, False]
    """
    found = np.zeros(table.num_rows, dtype=np.bool_)
    for rule in never:
        found |= np.asarray(pc.fill_null(_holds(rule, table), False))
    return found


def _holds(rule: Predicate, table: pa.Table) -> pa.ChunkedArray:
    """The condition in the three-valued logic of SQL."""
    match rule:
        case And(parts):
            return reduce(pc.and_kleene, (_holds(part, table) for part in parts))
        case Or(parts):
            return reduce(pc.or_kleene, (_holds(part, table) for part in parts))
        case Not(part):
            return pc.invert(_holds(part, table))
        case IsNull(column):
            return pc.is_null(table[column])
        case Like(column, pattern):
            literally = pattern.replace("\\", "\\\\")  # in questions a backslash has no special meaning
            return pc.match_like(_plain(table[column]).cast(pa.string()), literally)
        case OneOf(column, values):
            equal = (_holds(Compare(column, Comparison.EQUAL, value), table) for value in values)
            return reduce(pc.or_kleene, equal)
        case Compare(column, comparison, value):
            plain = _plain(table[column])
            return _COMPARED[comparison](plain, _scalar(value, plain.type))


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column in a type that can be compared with literals."""
    if pa.types.is_dictionary(column.type):
        return _plain(column.cast(column.type.value_type))
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us"))  # like literals; nanoseconds do not reach every year
    inexact = pa.types.is_decimal(column.type) or pa.types.is_floating(column.type)
    return column.cast(pa.float64()) if inexact else column


def _scalar(value: Value, compared: pa.DataType) -> pa.Scalar:
    """A literal for Arrow, which cannot compare doubles with integers beyond 2^53; they are rounded as backends do."""
    return pa.scalar(float(value) if isinstance(value, int) and pa.types.is_floating(compared) else value)


def _named(predicate: Predicate) -> set[str]:
    match predicate:
        case And(parts) | Or(parts):
            return set().union(*(_named(part) for part in parts))
        case Not(part):
            return _named(part)
        case _:
            return {predicate.column}
