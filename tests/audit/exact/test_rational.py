"""Figures of one pair of rows of fractions, against all events."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.audit.exact.rational import above, hockey_stick, largest_ratio, log_moment, mean, odds_at, quantile_odds, sign
from sitr.audit.exact.table import Row, Table
from tests.audit.exact.tables import Law, Rows, tables

HALF = Fraction(1, 2)


def two(rows: Rows) -> tuple[Row, Row, Law, Law]:
    made = Table.of(rows[:2]).rows
    assert made is not None
    return made[0], made[1], rows[0], rows[1]


def sets(count: int) -> list[tuple[int, ...]]:
    return [*chain.from_iterable(combinations(range(count), size) for size in range(count + 1))]


PAIRS = tables(zeros=True, inputs=2).filter(lambda rows: len(rows) == 2)


@given(PAIRS)
def test_the_largest_ratio_and_where(rows: Rows) -> None:
    p, q, a, b = two(rows)
    found, places = largest_ratio(p, q)
    exposed = tuple(z for z in range(4) if a[z] and not b[z])
    if exposed:
        assert (found, places) == (None, exposed)
    else:
        assert found == max(a[z] / b[z] for z in range(4) if a[z])
        assert all(a[z] == found * b[z] for z in places)


@given(PAIRS, st.fractions(0, 2))
def test_the_best_event_beats_all_others(rows: Rows, epsilon: Fraction) -> None:
    p, q, a, b = two(rows)
    best = above(p, q, epsilon)
    value = float(hockey_stick(best, epsilon))
    most = max(float(sum(a[z] for z in s)) - math.exp(epsilon) * float(sum(b[z] for z in s)) for s in sets(4))
    assert value == pytest.approx(most, abs=1e-12)
    assert (best.p, best.q) == (sum(a[z] for z in best.places), sum(b[z] for z in best.places))


@given(PAIRS, st.fractions(0, 1))
def test_the_least_odds_at_a_delta(rows: Rows, delta: Fraction) -> None:
    """The hockey-stick at t is at most δ, and at any smaller t above 1 it is larger."""
    p, q, a, b = two(rows)
    found, _ = odds_at(p, q, delta)

    def over(t: Fraction) -> Fraction:
        return sum((max(Fraction(0), a[z] - t * b[z]) for z in range(4)), Fraction(0))

    if found is None:
        assert sum(a[z] for z in range(4) if not b[z]) > delta
    else:
        assert over(found) <= delta
        assert found == 1 or over(found * Fraction(999_999, 1_000_000)) > delta


@given(PAIRS, st.fractions(0, 1))
def test_the_least_odds_that_are_exceeded_with_probability_delta(rows: Rows, delta: Fraction) -> None:
    p, q, a, b = two(rows)
    found, places = quantile_odds(p, q, delta)

    def beyond(t: Fraction) -> Fraction:
        return sum((a[z] for z in range(4) if a[z] > t * b[z]), Fraction(0))

    if found is None:
        assert sum(a[z] for z in places) > delta
    else:
        assert beyond(found) <= delta
        assert found == 1 or beyond(found * Fraction(999_999, 1_000_000)) > delta


@given(tables(inputs=2).filter(lambda rows: len(rows) == 2), st.fractions(Fraction(1, 4), 3))
def test_moments(rows: Rows, tilt: Fraction) -> None:
    p, q, a, b = two(rows)
    losses = [(float(x), math.log(x / y)) for x, y in zip(a, b, strict=True)]
    assert float(mean(p, q)) == pytest.approx(sum(m * loss for m, loss in losses), abs=1e-12)
    direct = math.log(sum(m * math.exp(float(tilt) * loss) for m, loss in losses))
    assert float(log_moment(p, q, tilt)) == pytest.approx(direct, abs=1e-11)


def test_signs_are_decided_beyond_any_float() -> None:
    """e^(1/2) to 60 digits, one more and one less in the last one."""
    near = Fraction(1648721270700128146848650787814163571653776100710148011575079, 10**60)
    assert sign(near, Fraction(1), HALF) == -1
    assert sign(near + Fraction(1, 10**60), Fraction(1), HALF) == 1
    assert sign(Fraction(2), Fraction(2), Fraction(0)) == 0
    assert sign(Fraction(-1), Fraction(0), HALF) == -1
