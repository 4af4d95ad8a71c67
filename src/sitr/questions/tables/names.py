"""Names in tables: no column hides another one, and a table is found by its columns in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sitr.dataset.cells import Axis
from sitr.dataset.schema import Table
from sitr.errors import QuestionError, unknown_name
from sitr.questions.tables.calendar import Levels
from sitr.questions.tables.measures import Measure, MeasureKind
from sitr.questions.tables.workload import Workload

BESIDE = ("", "_low", "_high", "_cv", "_mark", "_small")
"""The endings of the columns that tables have for each measure."""

_LONGER = {MeasureKind.COUNT: "number of rows", MeasureKind.PEOPLE: "number of people"}


def levels_of(table: Table, hierarchies: Mapping[str, Levels]) -> dict[str, str]:
    """The column of each coarser level."""
    found: dict[str, str] = {}
    own = {column.name.lower() for column in table.columns}
    for fine, levels in hierarchies.items():
        column = table.column(fine).name
        for level in levels:
            if str(level).lower() in own:
                raise QuestionError(
                    given=f"The level {level!r} has the name of a column.", do="Choose another name for the level."
                )
            if level in found:
                other = f"{level} of {column}"
                raise QuestionError(
                    given=f"Both {found[level]!r} and {column!r} have a level with the name {level!r}.",
                    do=f"Give one of them another name, as in hierarchies={{{column!r}: {{{other!r}: …}}}}.",
                )
            found[level] = column
    return found


def column_of(name: str, table: Table, levels: Mapping[str, str]) -> str:
    """The column that a table is cut by, where it is named or one of its levels."""
    if name in levels:
        return levels[name]
    columns = [column.name for column in table.columns]
    if name.lower() not in map(str.lower, columns) and levels:
        raise unknown_name(name, [*columns, *levels], lacks=f"The table {table.name} has no column or level")
    return table.column(name).name


def check_labels(axis: Axis) -> None:
    """Refuse a column with a value that is shown like the cell of rows without a value, or of other values."""
    labels = [cell.label for cell in axis.cells()]
    special = [label for label in labels[axis.ordinary :] if label in labels[: axis.ordinary]]
    if special:
        raise QuestionError(
            given=f"The column {axis.column.name!r} has the key {special[0]!r}, and a cell that is shown like it.",
            do="Leave this key out, or NULL.",
        )


def apart(found: Sequence[Measure], workload: Workload) -> tuple[Measure, ...]:
    """The measures, with a longer name where a column of the tables is called like one of theirs."""
    columns = {name for node in workload.tables for name in workload.names(node)}
    return tuple(_apart(measure, columns) for measure in found)


def _apart(measure: Measure, columns: set[str]) -> Measure:
    for name in (measure.name, _LONGER.get(measure.kind, measure.name)):
        hidden = [f"{name}{end}" for end in BESIDE if f"{name}{end}" in columns]
        if not hidden:
            return replace(measure, name=name)
    raise QuestionError(
        given=f"The column {hidden[0]!r} is called like the numbers that stand beside it.",
        do="Give it another name in the source, or leave it out.",
    )


def table_weights(given: Mapping[str, float], workload: Workload) -> tuple[float, ...]:
    """The weight of each table, 1 if none is given; its columns may be named in another order than the table has."""
    names = [workload.name(node) for node in workload.tables]
    at = {_key(name): name for name in names}
    if len(at) < len(names):
        at = {}
    known: dict[str, float] = {}
    for name, weight in given.items():
        found = name if name in names else at.get(_key(name))
        if found is None:
            raise unknown_name(name, names, lacks="weights names no table:")
        if found in known:
            raise QuestionError(given=f"weights names the table {found} twice.", do="Write one weight for each table.")
        known[found] = weight
    return tuple(known.get(name, 1.0) for name in names)


def _key(name: str) -> tuple[str, ...]:
    """The columns of a table in one order, by its name."""
    parts: Iterable[str] = str(name).split(" × ")
    return tuple(sorted(parts))
