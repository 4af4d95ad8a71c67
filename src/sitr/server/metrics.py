"""Counts for Prometheus, in its text format."""

from __future__ import annotations

from collections.abc import Mapping


def exposition(seen: Mapping[tuple[str, str, int], int]) -> str:
    """How many responses there were, by method, route and status. Routes have no names of data sets in them.

    >>> print(exposition({("GET", "/api/v1/health", 200): 2}), end="")
    # HELP sitr_responses_total Responses by method, route and status.
    # TYPE sitr_responses_total counter
    sitr_responses_total{method="GET",route="/api/v1/health",status="200"} 2
    """
    name = "sitr_responses_total"
    lines = [f"# HELP {name} Responses by method, route and status.", f"# TYPE {name} counter"]
    for (method, route, status), number in sorted(seen.items()):
        lines.append(f'{name}{{method="{_safe(method)}",route="{_safe(route)}",status="{status}"}} {number}')
    return "\n".join(lines) + "\n"


def _safe(text: str) -> str:
    return "".join(sign for sign in text if sign.isascii() and sign.isprintable() and sign not in '"\\')
