"""Public keys of grouping columns: given as a list, or as all values of a column of a public table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from sitr import arguments
from sitr.dataset.schema import KEYS, Key, Table, public_keys
from sitr.errors import QuestionError, UnknownName, unknown_name
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.expressions.typed import MOST_KEYS

Keys: TypeAlias = Mapping[str, Sequence[Key] | str]
"""For each column a list of its public values, or the column of a public table that has them, such as "wards.ward"."""


def with_keys(table: Table, keys: Keys | None, catalog: Catalog) -> Table:
    """The same data set with other public keys, for one question. Like caps, they are a public choice."""
    if keys is None:
        return table
    arguments.mapping(keys, name="keys", example=KEYS)
    chosen = {
        table.column(name).name: values_of(given, catalog) if isinstance(given, str) else given
        for name, given in keys.items()
    }
    columns = tuple(
        replace(column, keys=public_keys(column.name, column.kind, chosen[column.name]))
        if column.name in chosen
        else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def values_of(named: str, catalog: Catalog) -> tuple[Key, ...]:
    """All different values of a column of a public table, which is named as TABLE.COLUMN; NULL is one of them."""
    place, _, name = named.partition(".")
    table = catalog.find(place) if name else None
    if table is None:
        known = f"declared here: {', '.join(catalog.public)}" if catalog.public else "none is declared here"
        raise UnknownName(
            wanted=f"keys as a list, or as TABLE.COLUMN of a public table ({known})",
            given=repr(named),
            do='Write for example keys={"ward": ["A", "B"]} or keys={"ward": "wards.ward"} (--keys ward=@wards.ward).',
        )
    found = [column for column in table.columns if column.name.lower() == name.lower()]
    if not found:
        raise unknown_name(
            name, [column.name for column in table.columns], lacks=f"The public table {table.name} has no column"
        )
    if found[0].keys is None:
        raise QuestionError(
            given=f"The column {found[0].name!r} of the public table {table.name} cannot give keys: it has no values, "
            f"more than {MOST_KEYS:,} different ones, or a type that cannot be grouped by.",
            do="List fewer keys, or leave them out: then keys above a threshold are shown.",
        )
    return found[0].keys
