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
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name, names, spelled
from sitr.questions.aggregate.frame import Expr
from sitr.questions.aggregate.spelling import Value
from sitr.questions.aggregate.view import View

_COMPARED = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def rules(conditions: Iterable[Expr], table: Table, axes: tuple[Drawable, ...]) -> tuple[Expression, ...]:
    """The rules, checked like the conditions of questions; they may only use the imitated columns."""
    checked = []
    for condition in conditions:
        if not isinstance(condition, Expr):
            raise QuestionError(
                wanted="a condition that no row may fulfil",
                given=repr(condition),
                do='Write never=[(sitr.column("age") < 15) & (sitr.column("married") == True)].',
            )
        rule = View.of(table).condition(condition.expression).expression
        _refuse_computed(rule)
        if unknown := sorted({used.name for used in names(rule)} - {axis.column.name for axis in axes}):
            raise QuestionError(
                given=f"A rule uses {unknown[0]!r}, which is not one of the imitated columns.",
                do="Add it to the columns, or drop the rule.",
            )
        checked.append(rule)
    return tuple(checked)


def broken(never: tuple[Expression, ...], table: pa.Table) -> NDArray[np.bool_]:
    """The rows that fulfil one of the conditions and must be left out; a condition that is NULL is not fulfilled.

    >>> from sitr.questions.aggregate.frame import column
    >>> rule = (column("age") < 15) & (column("married") == True)
    >>> broken((rule.expression,), pa.table({"age": [9, 9, 40, None], "married": [True, False, True, True]})).tolist()
    [True, False, False, False]
    """
    found = np.zeros(table.num_rows, dtype=np.bool_)
    for rule in never:
        found |= np.asarray(pc.fill_null(_holds(rule, table), False))
    return found


def _refuse_computed(rule: Expression) -> None:
    """Rules are checked on drawn rows without a database, so that they only compare columns with values."""
    match rule:
        case Call("AND" | "OR" | "NOT", parts):
            for part in parts:
                _refuse_computed(part)
        case Call("IS NULL", (Name(),)) | Call("IN" | "LIKE", (Name(), *_)):
            pass
        case Call(function, (Name(), Literal())) if function in _COMPARED:
            pass
        case _:
            raise QuestionError(
                given=f"A rule cannot contain {spelled(rule)}.",
                do="Compare columns with values, and join the comparisons with &, | and ~.",
            )


def _holds(rule: Expression, table: pa.Table) -> pa.ChunkedArray:
    """The condition in the three-valued logic of SQL."""
    match rule:
        case Call("AND", parts):
            return reduce(pc.and_kleene, (_holds(part, table) for part in parts))
        case Call("OR", parts):
            return reduce(pc.or_kleene, (_holds(part, table) for part in parts))
        case Call("NOT", (part,)):
            return pc.invert(_holds(part, table))
        case Call("IS NULL", (Name(name),)):
            return pc.is_null(table[name])
        case Call("LIKE", (Name(name), Literal(str(pattern)))):
            literally = pattern.replace("\\", "\\\\")  # in questions a backslash has no special meaning
            return pc.match_like(_plain(table[name]).cast(pa.string()), literally)
        case Call("IN", (Name() as name, *values)):
            equal = (_holds(Call("=", (name, value)), table) for value in values)
            return reduce(pc.or_kleene, equal)
        case Call(function, (Name(name), Literal(value))) if value is not None:
            plain = _plain(table[name])
            return _COMPARED[function](plain, _scalar(value, plain.type))
    raise QuestionError(given=f"A rule cannot contain {spelled(rule)}.", do="Compare columns with values.")


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
