"""What a reading takes from each row: the keys of its group, and the values that are added up or listed."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.dataset.cells import Grid
from sitr.dataset.schema import Quantised
from sitr.questions.aggregate.bind import GroupKey
from sitr.questions.aggregate.expressions.typed import Typed


@dataclass(frozen=True, slots=True)
class Key:
    """The value of an expression. If its keys are public, rows with other values are left out, or count as a bound."""

    of: GroupKey

    @property
    def cells(self) -> int | None:
        """How many different values are possible; None if there is no public limit."""
        return None if self.of.keys is None else len(self.of.keys)


@dataclass(frozen=True, slots=True)
class CellNumber:
    """The number of the public cell that a row is in. Rows without a cell are left out."""

    of: Grid

    @property
    def cells(self) -> int:
        return self.of.size

    @property
    def complete(self) -> bool:
        """Every row has a cell."""
        return self.of.complete


@dataclass(frozen=True, slots=True)
class EachRow:
    """1 for each row."""


@dataclass(frozen=True, slots=True)
class EachPerson:
    """1 for each person and group; with `where`, for each person with a row in the group for which it is true."""

    where: Typed | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """1 for each person and group from which some rows, but not all, are left out by a cap on rows."""


@dataclass(frozen=True, slots=True)
class Flag:
    """1 if the expression has a value and `where` is true, else 0. Without an expression, every row has a value."""

    of: Typed | None = None
    where: Typed | None = None


@dataclass(frozen=True, slots=True)
class Granules:
    """The expression's value, clamped and counted in granules, minus `centre`; 0 for NULL, NaN and unless `where`."""

    of: Typed
    to: Quantised
    centre: int = 0
    where: Typed | None = None


@dataclass(frozen=True, slots=True)
class Tallied:
    """The expression's value, clamped and counted in granules, and NULL for NULL, NaN and unless `where`.

    A group has all its values that are not NULL, each with its number of rows, instead of their sum.
    """

    of: Typed
    to: Quantised
    where: Typed | None = None


@dataclass(frozen=True, slots=True)
class Different:
    """The expression's value as a key; NULL unless `where`. A group has the number of different values, without NULL.

    At most m different values of each person and group count, whichever rows `FewRows` keeps.
    """

    of: Typed
    where: Typed | None = None


@dataclass(frozen=True, slots=True)
class Double:
    """The column as a double; `missing` for NULL, NaN and whatever is no number."""

    column: str
    missing: float


@dataclass(frozen=True, slots=True)
class PersonTotal:
    """The sum of a person's values in a group, in granules, clamped once; 0 for a person without a value.

    Each value is clamped to ±2^53 granules first, so that no sum can overflow.
    """

    of: Typed
    to: Quantised
    where: Typed | None = None


Value = EachRow | EachPerson | Cut | PersonTotal | Flag | Granules | Tallied | Different | CellNumber | Double
