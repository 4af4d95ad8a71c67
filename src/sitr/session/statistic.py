"""The answer of a mechanism applied to a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitr.session.answer import Answer


@dataclass(frozen=True, slots=True, repr=False)
class StatisticAnswer(Answer):
    """One value, or one for each part of a composition."""

    @property
    def value(self) -> Any:
        """The released value, None if the mechanism refused; for a composition, the values of its parts."""
        return self.released.value
