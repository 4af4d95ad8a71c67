"""One column as numbers: what a statistic is computed from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Numbers:
    """The column as doubles, one for each row, in the order of the rows.

    `missing` stands for NULL, NaN and whatever is no number.
    """

    column: str
    missing: float
