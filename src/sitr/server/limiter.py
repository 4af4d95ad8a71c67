"""How often something may be done, by one person or from one address.

Each worker process counts for itself, so with several of them the limit is that many times higher.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter


class TooMany(Exception):
    """It was done too often; it can be done again after a minute."""


@dataclass(frozen=True, slots=True)
class Limiter:
    """Counts what was done within the last minute. A limit of 0 is none."""

    _counts: MovingWindowRateLimiter = field(default_factory=lambda: MovingWindowRateLimiter(MemoryStorage()))

    def count(self, what: str, who: str, *, most: int, times: int = 1) -> None:
        """Count it, or refuse it. What takes long counts several times."""
        if most and not self._counts.hit(RateLimitItemPerMinute(most), what, who, cost=min(times, most)):
            raise TooMany
