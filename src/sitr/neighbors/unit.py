"""The unit of protection: one row, or all rows of one person."""

from __future__ import annotations

from sitr.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Each row is protected on its own, which is enough only if nobody has two rows."""


@dataclass(frozen=True, slots=True)
class Person:
    """All rows that share a value in this column are protected together.

    >>> Person("patient_id")
    Person(column='patient_id')
    """

    column: str


Unit = Row | Person
