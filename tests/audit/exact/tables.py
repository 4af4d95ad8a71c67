"""Tables for tests, and their figures by brute force over all events."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations

from hypothesis import strategies as st

Law = Sequence[Fraction]
Rows = list[list[Fraction]]


def events(count: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(count), size) for size in range(1, count + 1))


def directed(rows: Rows) -> Iterator[tuple[Law, Law]]:
    for first in rows:
        for second in rows:
            if first is not second:
                yield first, second


def delta_by_sets(rows: Rows, epsilon: float) -> float:
    """The largest P(S) − e^ε·Q(S) of all sets of outcomes and all pairs."""
    return max(
        float(sum(p[z] for z in event)) - math.exp(epsilon) * float(sum(q[z] for z in event))
        for p, q in directed(rows)
        for event in events(len(p))
    )


def epsilon_by_sets(rows: Rows, delta: float) -> float:
    """The least ε ≥ 0 with P(S) ≤ e^ε·Q(S) + δ for all sets."""
    most = 0.0
    for p, q in directed(rows):
        for event in events(len(p)):
            more, less = float(sum(p[z] for z in event)) - delta, float(sum(q[z] for z in event))
            if more > 1e-15:
                most = max(most, math.log(more / less) if less else math.inf)
    return most


def losses(p: Law, q: Law) -> list[tuple[float, float]]:
    """(mass, loss) of every outcome of P."""
    return [(float(a), math.log(a / b) if b else math.inf) for a, b in zip(p, q, strict=True) if a]


def laws(outcomes: int, *, zeros: bool = False) -> st.SearchStrategy[list[Fraction]]:
    """Random laws with small fractions."""
    numbers = st.lists(st.integers(0 if zeros else 1, 40), min_size=outcomes, max_size=outcomes).filter(any)
    return numbers.map(lambda whole: [Fraction(one, sum(whole)) for one in whole])


def tables(*, zeros: bool = False, inputs: int = 3, outcomes: int = 4) -> st.SearchStrategy[Rows]:
    return st.lists(laws(outcomes, zeros=zeros), min_size=2, max_size=inputs)
