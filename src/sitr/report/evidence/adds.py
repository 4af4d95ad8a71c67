"""What one unit may add to some numbers: the caps and bounds from which their distance follows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sitr.neighbors.relation import Relation


@dataclass(frozen=True, slots=True)
class Adds:
    """A unit adds `low` to `high` with each row, or nothing, to at most `groups` of the `cells`.

    It has at most `each` rows in each of them, and at most `rows` in all; None where the others imply it, and for cells
    whose number has no public bound. A count of people is a sum to which each person adds 0 to 1 with one row.

    Several of these for one measurement are about different numbers, which move together. `times` is the number of such
    sets of numbers, as for the levels of a tree.
    """

    relation: Relation
    low: int = 0
    high: int = 1
    each: int = 1
    groups: int = 1
    rows: int | None = None
    cells: int | None = None
    times: int = 1
    bounds: tuple[Fraction, Fraction, Fraction] | None = None
    """The least and the largest value of a row in the unit of the column, and the centre that is subtracted."""
    sums: int | None = None
    """If it is not None, what is measured is this many sums, each over the sizes of all differences of such numbers."""
    deviations: int | None = None
    """If it is not None, what is measured is how far cells differ from the mean of 2, 4, … up to 2 to this power."""

    def to_dict(self) -> dict[str, Any]:
        """For machines, as `sitr.report.evidence.evidence` says."""
        found = {
            "relation": self.relation.value,
            "low": self.low,
            "high": self.high,
            "rows_per_group": self.each,
            "groups": self.groups,
            "rows": self.rows,
            "cells": self.cells,
            "times": self.times,
        }
        low, high, centre = self.bounds or (None, None, None)
        bounds = self.bounds and {"low": str(low), "high": str(high), "centre": str(centre)}
        more = {"bounds": bounds, "sums": self.sums, "deviations": self.deviations}
        return found | {name: value for name, value in more.items() if value is not None}


Moves = tuple[Adds, ...] | None
"""What one unit may add to the numbers of a measurement; None where the mechanism itself knows."""
