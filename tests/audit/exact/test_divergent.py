"""Any pair becomes one whose losses are −ε, 0 and ε: the same largest loss, and no smaller mean."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings

from sitr.audit.exact.divergent import maximally_divergent
from sitr.audit.exact.mechanism import finite
from sitr.errors import InvalidParameter
from tests.audit.exact.tables import Rows, tables


def mean(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> float:
    return math.fsum(float(a) * math.log(a / b) for a, b in zip(p, q, strict=True))


@settings(max_examples=100, deadline=None)
@given(tables(inputs=2))
def test_the_reduction(rows: Rows) -> None:
    p, q = (tuple(row) for row in rows[:2])
    largest = max(max(a / b, b / a) for a, b in zip(p, q, strict=True))
    new_p, new_q = maximally_divergent(p, q)
    assert sum(new_p) == sum(new_q) == 1
    assert {a / b for a, b in zip(new_p, new_q, strict=True)} <= {largest, Fraction(1), 1 / largest}
    assert max(max(a / b, b / a) for a, b in zip(new_p, new_q, strict=True)) == largest
    assert mean(new_p, new_q) >= mean(p, q) - 1e-12
    assert mean(new_q, new_p) >= mean(q, p) - 1e-12
    if largest > 1:  # the bound of the text, which the reduction proves
        epsilon = math.log(largest)
        assert mean(new_p, new_q) <= epsilon * math.expm1(epsilon) / 2 + 1e-12


@settings(max_examples=15, deadline=None)
@given(tables(inputs=2))
def test_no_hockey_stick_falls(rows: Rows) -> None:
    p, q = rows[:2]
    new = maximally_divergent(p, q)
    for epsilon in (0.0, 0.2, 1.0):
        assert finite(new).delta(epsilon=epsilon).upper >= finite([p, q]).delta(epsilon=epsilon).lower - 1e-12


def test_merging_the_parts_gives_the_pair_back() -> None:
    p, q = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), (Fraction(1, 4), Fraction(7, 20), Fraction(2, 5))
    new_p, new_q = maximally_divergent(p, q)
    assert (len(new_p), new_p[0], new_q[0]) == (4, p[0], q[0])
    assert (new_p[1] + new_p[2], new_q[1] + new_q[2]) == (p[1], q[1])


def test_a_twin_that_rounds_losses_up_changes_the_masses() -> None:
    """To call every positive loss ε, without a split, keeps no law."""
    p, q = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), (Fraction(1, 4), Fraction(7, 20), Fraction(2, 5))
    largest = Fraction(2)
    twin = [a / (largest if a > b else 1 / largest) for a, b in zip(p, q, strict=True)]
    assert sum(twin) != 1


def test_what_has_no_such_pair() -> None:
    with pytest.raises(InvalidParameter, match="infinite"):
        maximally_divergent((1, 0), (0.5, 0.5))
    with pytest.raises(InvalidParameter, match="add up to exactly 1"):
        maximally_divergent((0.5, 0.4), (0.5, 0.5))
