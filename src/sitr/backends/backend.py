"""What a backend must do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, overload

from sitr.dataset.schema import Kind, Table
from sitr.errors import SourceError
from sitr.questions.aggregate.expressions.typed import Typed

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from sitr.backends.reading import Reading
    from sitr.questions.aggregate.bind import BoundedQuery, Cells
    from sitr.questions.histogram.tally import Tally
    from sitr.questions.question import Question
    from sitr.questions.statistic.numbers import Numbers
    from sitr.questions.synthetic.axes import Codes
    from sitr.questions.synthetic.diaries import Found, TableDiary
    from sitr.questions.synthetic.diary import Diary
    from sitr.questions.synthetic.sheet import Sheet
    from sitr.questions.tables.records import Records


class Backend(Protocol):
    """The rows of one table."""

    def kinds(self) -> dict[str, Kind]:
        """The columns and what they hold; reads no rows."""

    def schema(self) -> pa.Schema:
        """The columns with their Arrow types; reads no rows."""

    def verify(self) -> None:
        """Read every row once, when the data set is protected; `SourceError` if a value cannot be read."""

    def size(self) -> int:
        """The number of rows. Show it only where neighbors replace a row, because only then it is public."""

    @overload
    def read(self, reading: BoundedQuery, *, salt: int) -> Cells: ...
    @overload
    def read(self, reading: Tally, *, salt: int) -> dict[Any, Any]: ...
    @overload
    def read(self, reading: Sheet, *, salt: int) -> Codes: ...
    @overload
    def read(self, reading: TableDiary, *, salt: int) -> Found: ...  # type: ignore[overload-overlap]
    @overload
    def read(self, reading: Diary, *, salt: int) -> Codes: ...
    @overload
    def read(self, reading: Records, *, salt: int) -> NDArray[np.int64]: ...
    @overload
    def read(self, reading: Numbers, *, salt: int) -> NDArray[np.float64]: ...
    def read(self, reading: Reading, *, salt: int) -> Any:
        """The exact integers (for `Numbers`, the doubles) that the reading describes.

        `salt` decides which groups and rows of a person are kept, as `reading` proves. The only error that depends on
        the rows is `BackendFailure`, whose text is always the same.

        - `BoundedQuery`: the keys of each group that has rows, with one integer for each term and the number of people.
        - `Tally`: the number of each cell that has rows, with its count; without a grid, as for its query.
        - `Sheet`: the cell numbers of each kept row, one column for each axis.
        - `Diary`: the same after the number of the person and the place of the row among this person's rows.
        - `TableDiary`: the id of the person of each row as text, and the same.
        - `Records`: the cell numbers of each kept row, one column for each axis, and the integers that it adds.
        - `Numbers`: one number for each row, in the order of the rows.
        """


def check_able(backend: Backend, question: Question) -> None:
    """Let an engine refuse, before the charge, what it cannot compute.

    It has a method `refuse` for the name of a function, and `refuse_long` for all expressions of one reading.
    """
    refuse, refuse_long = getattr(backend, "refuse", None), getattr(backend, "refuse_long", None)
    if refuse is not None:
        for function in sorted(functions(question)):
            refuse(function)
    if refuse_long is not None:
        reading = question.reading()
        for each in reading if isinstance(reading, tuple) else (reading,):
            refuse_long(outermost(each))


def outermost(reading: object) -> list[Typed]:
    """The expressions in a reading that are no part of others, each once."""
    every = list(dict.fromkeys(_typed(reading, set())))
    inner = {part for typed in every for part in typed.parts}
    return [typed for typed in every if typed not in inner]


def functions(question: object) -> set[str]:
    """The names of all functions and operators in the expressions of a question, however deep they are."""
    return {typed.what for typed in _typed(question, set()) if isinstance(typed.what, str)}


def _typed(value: object, seen: set[int]) -> Iterator[Typed]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Typed):
        yield value
    if is_dataclass(value):
        for each in fields(value):
            yield from _typed(getattr(value, each.name), seen)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _typed(part, seen)
    elif isinstance(value, tuple | list | set | frozenset):
        for part in value:
            yield from _typed(part, seen)


def changed(found: Mapping[str, Kind], described: Mapping[str, Kind]) -> list[str]:
    """The columns that are missing, new or of another type.

    Moments with a time zone may be described as other, which no question can use: so they are in descriptions that were
    written before such columns had a type of their own.
    """
    older = {name for name, kind in found.items() if kind is Kind.ZONED and described.get(name) is Kind.OTHER}
    every = (found.keys() | described.keys()) - older
    return sorted(name for name in every if found.get(name) is not described.get(name))


def check_unchanged(backend: Backend, table: Table) -> None:
    """The columns must be those that were described, or the checks made on the description mean nothing."""
    differing = changed(backend.kinds(), {column.name: column.stored for column in table.columns})
    if differing:
        raise SourceError(
            given=f"In {table.name}, {', '.join(differing)} are missing, new or of another type than described.",
            do="Protect the data set again if the change is intended; nothing was spent.",
        )
