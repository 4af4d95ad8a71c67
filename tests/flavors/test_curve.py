"""Tables are judged by curves that are known exactly, of randomized response and of Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sitr.flavors.pure import ResponseCurve
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import Line
from sitr.numbers import exact, upward

orders = st.floats(1.01, 200)


def sampled(curve: ResponseCurve | Line, at: list[float]) -> RenyiDP:
    return RenyiDP.at({order: curve(order) for order in at})


@given(st.floats(0.01, 20), st.lists(orders, min_size=1, max_size=6, unique=True), orders)
def test_a_table_is_sound_at_every_order(epsilon, at, order):
    """Between two orders, below the first, beyond the last: never below the curve it was taken from."""
    for curve in (ResponseCurve(epsilon), Line(epsilon, 0.5)):
        bound = sampled(curve, at).curve(order)
        assert bound >= curve(order) * (1 - 1e-14)
        assert math.isinf(bound) == (order > max(at))


def test_a_chord_of_the_divergence_itself_would_not_be_sound():
    """The twin that interpolates D_α instead of (α − 1)D_α claims too little."""
    curve = ResponseCurve(3.0)
    at_two, at_ten = curve(2.0), curve(10.0)
    assert any(at_two + (at_ten - at_two) * (order - 2) / 8 < curve(order) - 1e-3 for order in (3.0, 5.0))


def test_chords_can_be_attained():
    """(α − 1)D_α is straight for a loss that is constant where it counts: P in one place, where Q has e^{−ε}."""
    table = RenyiDP.at({2: 1.0, 10: 1.0}).curve
    assert [table(order) for order in (1.1, 2.0, 5.0, 10.0)] == [1.0] * 4


def test_a_bound_that_two_others_undercut_is_not_used():
    table = RenyiDP.at({2: 0.5, 4: 0.1, 8: 7.0})
    assert table.curve(2.0) == 0.1
    assert table.curve(4.0) == 0.1
    assert RenyiDP.at({2: 0.1, 3: 9.0, 4: 0.2}).curve(3.0) == 0.175  # (0.1 + 0.6)/2, over 2


@given(st.dictionaries(orders, st.floats(0, 10), min_size=1, max_size=5), orders)
def test_a_table_never_says_more_than_its_points(points, order):
    bound = RenyiDP.at(points).curve(order)
    assert all(bound <= epsilon for alpha, epsilon in points.items() if order <= alpha)


def test_a_sum_of_tables_is_rounded_once():
    """Two chords at order 2, whose sum is a chord again: rounded one by one they would be above it."""
    first, second = RenyiDP.at({1.5: 0.0, 3.0: 665125.0}), RenyiDP.at({1.01: 0.0, 2.0: 665125.0, 3.0: 520323.5})
    bound = RenyiDP.compose((first, second)).curve(2.0)
    chords = [Fraction(665125 * 2, 3), exact(520323.5) * 2 * Fraction(99, 199)]
    assert bound == upward(sum(chords))
    assert bound < upward(sum(exact(upward(chord)) for chord in chords))
