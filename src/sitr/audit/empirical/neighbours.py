"""Candidates for neighbouring inputs: the tables next to a given one that are likely to tell most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from sitr.neighbors.relation import Relation


def neighbouring(
    rows: Sequence[Any], *, relation: Relation = Relation.ADD_REMOVE, values: Sequence[Any] = ()
) -> list[tuple[list[Any], list[Any]]]:
    """Pairs of a table, given as a list of rows, and a neighbour of it.

    `values` are rows that may be added or put in place of another: the ends of the declared range, a missing value. If
    they are left out, these are the smallest and the largest row, 0, 1 and NaN for numbers. Every candidate is made
    from the table itself, from an empty one and from one with a single row, where one person matters most.

    >>> neighbouring([3, 5], values=[9])
    [([3, 5], [3, 5, 9]), ([3, 5], [5]), ([3, 5], [3]), ([], [9]), ([3], [3, 9]), ([3], [])]
    """
    found: list[tuple[list[Any], list[Any]]] = []
    others = list(values) or _usual(rows)
    for base in ([*rows], [], [*rows[:1]]):
        pairs = _added(base, others) if relation is Relation.ADD_REMOVE else _replaced(base, others)
        for pair in pairs:
            if not any(_same(pair, known) for known in found):
                found.append(pair)
    return found


def _usual(rows: Sequence[Any]) -> list[Any]:
    numbers = [row for row in rows if isinstance(row, int | float) and not isinstance(row, bool)]
    if len(numbers) < len(rows):
        return list(rows[:1])
    return [*list(dict.fromkeys([min(numbers, default=0), max(numbers, default=1), 0, 1])), math.nan]


def _added(base: list[Any], others: list[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
    for value in others:
        yield base, [*base, value]
    for place in sorted({0, len(base) - 1}) if base else ():
        yield base, base[:place] + base[place + 1 :]


def _replaced(base: list[Any], others: list[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
    for place in sorted({0, len(base) - 1}) if base else ():
        for value in others:
            yield base, [*base[:place], value, *base[place + 1 :]]


def _same(one: tuple[list[Any], list[Any]], other: tuple[list[Any], list[Any]]) -> bool:
    return repr(one) == repr(other)
