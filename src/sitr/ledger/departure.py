"""When an answer left: what the ledger's owner can say about its time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Departure:
    """A deadline that was fixed before any row was read, and the multiple of it at which the answer left.

    >>> Departure(7.0).late, Departure(7.0, multiple=2).late
    (False, True)
    """

    seconds: float
    multiple: int = 1

    @property
    def late(self) -> bool:
        """Whether the deadline was missed: then the time depends on the rows, and no promise covers it."""
        return self.multiple > 1
