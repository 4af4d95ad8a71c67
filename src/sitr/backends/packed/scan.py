"""The statement that packed rows come from: one scan that filters and looks up public keys, and groups nothing.

Numbers leave it as doubles. numpy clamps, rounds and shifts them, which is quicker (`words`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sitr.backends.dialect import Dialect
from sitr.backends.packed.layout import Component, Layout
from sitr.backends.statement import Writer
from sitr.backends.values import CellNumber, Key, Tallied
from sitr.dataset.schema import Kind


@dataclass(frozen=True, slots=True)
class SomePeople:
    """The people whose hash ends in the bits `rest`, `bits` of them; of all people with no bits.

    The hash is of the id alone, so the rows of a person are all in one part, whatever rows there are.
    """

    bits: int = 0
    rest: int = 0

    def halves(self) -> tuple[SomePeople, SomePeople]:
        """
        >>> SomePeople(1, 1).halves()
        (SomePeople(bits=2, rest=1), SomePeople(bits=2, rest=3))
        """
        return SomePeople(self.bits + 1, self.rest), SomePeople(self.bits + 1, self.rest + (1 << self.bits))


EVERYBODY = SomePeople()


def scan(layout: Layout, writer: Writer, part: SomePeople = EVERYBODY) -> str:
    """SELECT the person u, the found keys k, the number c of the public group, and the components t."""
    columns = ["u", *(f"k{place}" for place in layout.found)]
    if layout.listed:
        columns.append(f"{_code(layout)} AS c")
    columns += [f"t{place}" for place in range(len(layout.components))]
    known = " AND ".join(f"p{place} IS NOT NULL" for place in layout.listed)
    where = f" WHERE {known}" if known else ""
    return f"SELECT {', '.join(columns)} FROM ({_coded(layout, writer, part)}){where}"


def _coded(layout: Layout, writer: Writer, part: SomePeople) -> str:
    """The rows with the place p of each listed key, NULL where it is not listed."""
    rows, say = layout.tree.rows, writer.dialect
    columns = ["u", *(f"k{place}" for place in layout.found)]
    columns += [f"t{place}" for place in range(len(layout.components))]
    for place in layout.listed:
        key = rows.keys[place]
        column = f"k{place}"
        found = column if isinstance(key, CellNumber) else position(key, column, say, text=_of_text)
        columns.append(f"{say.whole(found)} AS p{place}")
    return f"SELECT {', '.join(columns)} FROM ({_rows(layout, writer, part)})"


def _rows(layout: Layout, writer: Writer, part: SomePeople) -> str:
    """One row for each selected row of the part: the person u, the keys k and the components t."""
    rows, say = layout.tree.rows, writer.dialect
    assert rows.person is not None
    person = say.identifier(rows.person)
    selected = [f"{say.text(person) if layout.text else person} AS u"]
    selected += [f"{writer.key(key)} AS k{place}" for place, key in enumerate(rows.keys)]
    selected += [f"{_component(each, writer)} AS t{place}" for place, each in enumerate(layout.components)]
    conditions = [f"{person} IS NOT NULL"]
    if part.bits:
        conditions.append(f"{say.order(0, [person])} & {(1 << part.bits) - 1} = {part.rest}")
    if rows.where is not None:
        conditions.append(f"({writer.expressions.written(rows.where)})")
    return f"SELECT {', '.join(selected)} FROM {writer.source} WHERE {' AND '.join(conditions)}"


def _component(component: Component, writer: Writer) -> str:
    """A number as a double, NULL or NaN where it is missing; a flag as 0 or 1."""
    if not isinstance(component.source, Tallied):
        return f"CAST({writer.value(component.source)} AS BIGINT)"
    of, where = component.source.of, component.source.where
    number = writer.dialect.number(writer.counted(of))
    return number if where is None else writer.only(where, number)


def _code(layout: Layout) -> str:
    """The number of the public group: the places of its keys as digits. It is below `cells`, which is below 2^62."""
    found = "0::BIGINT"
    for place, size in zip(layout.listed, layout.sizes, strict=True):
        found = f"p{place}" if found == "0::BIGINT" else f"({found}) * {size} + p{place}"
    return found


def position(key: Key, column: str, say: Dialect, *, text: Callable[[list[str], str], str] | None = None) -> str:
    """The place of a key in its list; NULL if it is not there. Of texts, `text` may find it in a quicker way."""
    keys = key.of.keys or ()
    values = [value for value in keys if value is not None]
    if key.of.kind is Kind.TEXT and values and text is not None:
        found = text([say.literal(str(value)) for value in values], column)
    elif _in_a_row(values):
        first, last = say.literal(values[0]), say.literal(values[-1])
        found = f"CASE WHEN {column} BETWEEN {first} AND {last} THEN {column} - {first} END"
    else:
        found = say.position(column, values) if values else "NULL"
    if None not in keys:
        return found
    missing = keys.index(None)
    if missing != len(values):  # places after it move up by one
        found = f"({found}) + CASE WHEN ({found}) >= {missing} THEN 1 ELSE 0 END"
    return f"CASE WHEN {column} IS NULL THEN {missing} ELSE {found} END"


def _of_text(literals: list[str], column: str) -> str:
    """By an enumeration, whose values DuckDB finds in one table for the whole statement."""
    return f"enum_code(TRY_CAST({column} AS ENUM({', '.join(literals)})))"


def _in_a_row(values: Sequence[object]) -> bool:
    """Whether they are integers without a gap, in order."""
    if not values or not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return False
    first = values[0]
    assert isinstance(first, int)
    return list(values) == list(range(first, first + len(values)))


class Decoded(Sequence[tuple[Any, ...]]):
    """The public keys of each group by its number."""

    def __init__(self, sizes: Sequence[int], keys: Sequence[Key | CellNumber]) -> None:
        self._sizes, self._keys = sizes, keys

    def __len__(self) -> int:
        return math.prod(self._sizes)

    def __getitem__(self, code: Any) -> Any:
        found: list[Any] = []
        for key, size in zip(reversed(self._keys), reversed(self._sizes), strict=True):
            code, place = divmod(code, size)
            found.append((key.of.keys or ())[place] if isinstance(key, Key) else place)
        return tuple(reversed(found))
