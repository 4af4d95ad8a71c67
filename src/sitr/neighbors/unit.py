"""The unit of protection: one row, all rows of one person, or all rows of one person in one period."""

from __future__ import annotations

from sitr.dataclass import dataclass
from sitr.neighbors.period import Period


@dataclass(frozen=True, slots=True)
class Row:
    """Each row is protected on its own, which is enough only if nobody has two rows."""


@dataclass(frozen=True, slots=True)
class Person:
    """All rows that share a value in this column are protected together.

    With a period, only those of them that belong to the same period: the unit is then one person in one period, and
    somebody present in several periods is as many units.

    >>> Person("patient_id")
    Person(column='patient_id', period=None)
    """

    column: str
    period: Period | None = None


Unit = Row | Person
