"""What moves between two neighbouring tables: one row, or all rows of one person."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Each row is protected by itself: right only where nobody can have two."""


@dataclass(frozen=True, slots=True)
class Person:
    """All rows that share a value in this column are protected together.

    >>> Person("patient_id")
    Person(column='patient_id')
    """

    column: str


Unit = Row | Person
