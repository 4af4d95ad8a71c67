"""What mechanisms released from a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitr.session.answer import Answer


@dataclass(frozen=True, slots=True, repr=False)
class StatisticAnswer(Answer):
    """One value, or one for each part of a composition."""

    @property
    def value(self) -> Any:
        """What the mechanism released, None if it refused; of a composition, what each of its parts released."""
        return self.released.value
