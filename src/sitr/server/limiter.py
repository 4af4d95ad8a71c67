"""How often something may be done, by one person or from one address.

Each worker process counts for itself, so with several of them the limit is that many times higher.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter


class TooMany(Exception):
    """It was done too often; it can be done again after a minute."""


@dataclass(frozen=True, slots=True)
class Limiter:
    """Counts what was done within the last minute. A limit of 0 is none."""

    _running: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)
    _counts: MovingWindowRateLimiter = field(default_factory=lambda: MovingWindowRateLimiter(MemoryStorage()))

    def count(self, what: str, who: str, *, most: int, times: int = 1) -> None:
        """Count it, or refuse it. What takes long counts several times."""
        if most and not self._counts.hit(RateLimitItemPerMinute(most), what, who, cost=min(times, most)):
            raise TooMany

    @contextmanager
    def running(self, who: str, *, most: int) -> Iterator[None]:
        """Let somebody wait for a few answers at once: each waits for its deadline, and others need the threads."""
        with self._lock:
            if most and self._running[who] >= most:
                raise TooMany
            self._running[who] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[who] -= 1
                if not self._running[who]:
                    del self._running[who]
