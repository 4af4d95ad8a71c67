"""What one unit may add to some numbers: the caps and bounds from which their distance follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol

from sitr.neighbors.relation import Relation


class Counts(Enum):
    """What is counted or added up: this decides which caps matter."""

    ROWS = "rows"
    """In each cell, the rows of a unit up to the cap on rows in a group."""
    UNITS = "units"
    """In each cell, a unit once."""
    ROWS_OVER_ALL = "rows over all groups"
    UNITS_OVER_ALL = "units over all groups"
    """One number: the sum over all groups of rows, or of units once in each group."""
    ALL_ROWS = "all rows"
    """Sums over ranges of cells: all rows of a unit may be in one of them."""
    ROWS_LEFT_OUT = "rows left out"
    """One number: the rows beyond the caps, up to a second cap."""
    ONCE = "once"
    """A unit is in one cell at most, once, whatever the caps are."""


class Capped(Protocol):
    """Whatever has caps: a table or a question."""

    @property
    def max_groups(self) -> int: ...
    @property
    def max_rows_per_group(self) -> int: ...
    @property
    def max_rows(self) -> int | None: ...


def caps(of: Capped) -> dict[str, int | None]:
    """The caps of one unit."""
    return {
        "max_groups": of.max_groups,
        "max_rows_per_group": of.max_rows_per_group,
        "max_rows": of.max_rows,
    }


@dataclass(frozen=True, slots=True)
class Adds:
    """With each row that counts, a unit adds 0 to 1, or a value between `bounds`, or nothing.

    `cells` is the number of cells, each with a number of its own; None if it has no public bound. Several of these for
    one measurement are about different numbers, which move together.
    """

    relation: Relation
    counts: Counts = Counts.ONCE
    caps: Mapping[str, int | None] = field(default_factory=dict)
    """None of them where a unit counts once."""
    cells: int | None = None
    times: int | None = None
    """If it is not None, the number of such sets of numbers, as for the levels of a tree."""
    bounds: tuple[Fraction, Fraction, Fraction] | None = None
    """The least and the largest value of a row in the unit of the column, and the centre that is subtracted."""
    sums: int | None = None
    """If it is not None, what is measured is this many sums, each over the sizes of all differences of such numbers."""
    deviations: int | None = None
    """If it is not None, what is measured is how far cells differ from the mean of 2, 4, … up to 2 to this power."""
    counted_up_to: int | None = None
    """If it is not None, rows that are left out are counted up to this many rows of a unit."""

    def to_dict(self) -> dict[str, Any]:
        """For machines, as `sitr.report.evidence.evidence` says."""
        found = {"relation": self.relation.value, "counts": self.counts.value, **self.caps, "cells": self.cells}
        low, high, centre = self.bounds or (None, None, None)
        bounds = self.bounds and {"low": str(low), "high": str(high), "centre": str(centre)}
        more = {
            "bounds": bounds,
            "times": self.times,
            "sums": self.sums,
            "deviations": self.deviations,
            "counted_up_to": self.counted_up_to,
        }
        return found | {name: value for name, value in more.items() if value is not None}


Moves = tuple[Adds, ...] | None
"""What one unit may add to the numbers of a measurement; None where the mechanism itself knows."""
