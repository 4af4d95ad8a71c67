from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from sitr.errors import InvalidParameter
from sitr.numbers import (
    ball,
    downward,
    exact,
    float_above,
    float_below,
    lower,
    probability,
    square_root_upward,
    upper,
    upward,
)

LARGEST = exact(sys.float_info.max)
SMALLEST = math.ulp(0.0)

floats = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def between_floats(draw):
    """Numbers where rounding is hardest: on a float, halfway to the next one, and a hair beside either."""
    number = draw(floats)
    following = math.nextafter(number, 0.0)
    start = draw(st.sampled_from([exact(number), Fraction(number), (Fraction(number) + Fraction(following)) / 2]))
    nudged = start + draw(st.sampled_from([-1, 0, 1])) * abs(start) / 10 ** draw(st.integers(15, 60))
    return min(max(nudged, -LARGEST), LARGEST)


rationals = st.one_of(between_floats(), st.fractions(), st.integers(-(10**300), 10**300).map(Fraction))


# What a float stands for


@given(floats)
def test_a_float_stands_for_a_decimal_that_reads_as_it(number):
    assert float(exact(number)) == number
    assert exact(number) == Fraction(repr(number))


@given(floats, floats)
def test_floats_and_what_they_stand_for_have_one_order(first, second):
    assert (first < second) == (exact(first) < exact(second))


@given(rationals)
def test_integers_and_fractions_stand_for_themselves(number):
    assert exact(number) == number
    assert exact(int(number)) == int(number)


@given(floats)
def test_a_numpy_double_is_a_float(number):
    assert exact(np.float64(number)) == exact(number)


@pytest.mark.parametrize(
    ("scalar", "number"),
    [
        (np.int64(-7), Fraction(-7)),
        (np.uint8(200), Fraction(200)),
        (np.float32(0.5), Fraction(1, 2)),
        # A tenth in single precision is another number, and prints as such when it becomes a float.
        (np.float32(0.1), Fraction("0.10000000149011612")),
    ],
)
def test_other_numpy_scalars(scalar, number):
    assert exact(scalar) == number


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf")])
@pytest.mark.parametrize("function", [exact, upward, downward, ball])
def test_only_finite_numbers_stand_for_something(function, number):
    with pytest.raises(ValueError, match="finite"):
        function(number)


@pytest.mark.parametrize("number", [None, [], 1j])
def test_things_that_are_no_numbers(number):
    with pytest.raises(InvalidParameter, match="Expected a finite number, got"):
        exact(number)


# Outward, and not further than needed


@given(rationals)
@example(Fraction(0))
@example(Fraction(1, 10**400))
@example(Fraction(SMALLEST) / 2)
@example(Fraction(2**53 + 1))
@example(exact(1e308))
@example(LARGEST)
def test_upward_is_the_least_float_at_or_above(number):
    rounded = upward(number)
    assert exact(rounded) >= number
    if math.isfinite(below := math.nextafter(rounded, -math.inf)):
        assert exact(below) < number


@given(rationals)
@example(Fraction(0))
@example(Fraction(1, 10**400))
@example(Fraction(2**53 + 1))
@example(-LARGEST)
def test_downward_is_the_greatest_float_at_or_below(number):
    rounded = downward(number)
    assert exact(rounded) <= number
    if math.isfinite(above := math.nextafter(rounded, math.inf)):
        assert exact(above) > number


@given(floats)
def test_rounding_a_float_changes_nothing(number):
    assert upward(number) == number == downward(number)


def test_subnormal_numbers():
    assert upward(Fraction(1, 10**400)) == SMALLEST
    assert downward(Fraction(1, 10**400)) == 0.0
    assert upward(Fraction(-1, 10**400)) == 0.0


@pytest.mark.parametrize("rounding", [upward, downward])
@pytest.mark.parametrize("zero", [0, 0.0, -0.0, Fraction(0)])
def test_zero_has_no_sign(rounding, zero):
    assert repr(rounding(zero)) == "0.0"


@pytest.mark.parametrize("number", [10**309, LARGEST + 1, int(sys.float_info.max)])
def test_beyond_the_largest_float_there_is_nothing_to_round_to(number):
    assert Fraction(number) > LARGEST
    with pytest.raises(ValueError, match="below 1"):
        upward(number)
    with pytest.raises(ValueError, match="below 1"):
        downward(-number)


# Arb balls


@given(rationals)
def test_a_ball_holds_its_number(number):
    assert ball(number).contains(fmpq(number.numerator, number.denominator))


@given(st.floats(-1e300, 1e300), st.integers(-200, 0))
def test_the_ends_of_a_ball_are_rounded_outward(middle, width):
    radius = abs(Fraction(middle)) * Fraction(2) ** width
    # Arb keeps a radius in 30 bits, rounded up: this one is a power of two times a float, so ask the ball itself.
    known = arb(middle, ball(radius).upper())
    with ctx.workprec(3000):
        (top, power), (bottom, depth) = known.upper().man_exp(), known.lower().man_exp()
    highest = Fraction(int(top)) * Fraction(2) ** int(power)
    lowest = Fraction(int(bottom)) * Fraction(2) ** int(depth)
    assert exact(upper(known)) >= highest >= Fraction(middle) + radius
    assert exact(lower(known)) <= lowest <= Fraction(middle) - radius
    # One step for the end of the ball in 53 bits, one for the float; decimals add a fraction of a step.
    assert Fraction(upper(known)) <= highest + 3 * Fraction(math.ulp(float(highest)))
    assert Fraction(lower(known)) >= lowest - 3 * Fraction(math.ulp(float(lowest)))


@given(st.floats(-2, 2))
def test_a_transcendental_value_lies_between_its_bounds(number):
    low, high = lower(ball(number).exp()), upper(ball(number).exp())
    with ctx.workprec(1200):  # enough to tell e^x from 1 at the smallest float
        assert ball(low) < ball(number).exp() < ball(high) or number == 0.0
    assert high - low <= 16 * math.ulp(high)  # e^x is off by a relative |x|·2⁻⁵³ to either side


@pytest.mark.parametrize("unknown", [arb.nan(), arb.pos_inf(), arb.neg_inf(), arb(0, math.inf)])
@pytest.mark.parametrize("bound", [upper, lower])
def test_a_ball_without_finite_ends_is_refused(bound, unknown):
    with pytest.raises(ValueError, match="finite"):
        bound(unknown)


# Square roots


@given(st.fractions(min_value=0), st.integers(1, 200))
@example(Fraction(2), 64)
@example(Fraction(10) ** 600 + 1, 64)
@example(Fraction(1, 10**600 + 1), 64)
def test_a_square_root_is_rounded_up_within_its_bits(number, bits):
    root = square_root_upward(number, bits=bits)
    assert root**2 >= number
    assert (root * (1 - Fraction(1, 2**bits))) ** 2 <= number


@given(st.fractions(min_value=0))
def test_the_root_of_a_square_is_exact(root):
    assert square_root_upward(root**2) == root


def test_no_square_root_below_zero():
    with pytest.raises(ValueError, match="at least 0"):
        square_root_upward(Fraction(-1, 10**30))


def test_balls_beyond_all_floats_are_rounded_outward_at_once():
    """e^(−1e15) has 10^14 digits behind the point: nothing may try to write it down."""
    tiny, huge = (-ball(1e15)).exp(), ball(1e15).exp()
    assert (upper(tiny), lower(tiny), upper(-tiny), lower(-tiny)) == (5e-324, 0.0, 0.0, -5e-324)
    with pytest.raises(ValueError, match=r"1\.8e308"):
        upper(huge)


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_floats_around_a_fraction(number):
    below, above = float_below(number), float_above(number)
    assert Fraction(below) <= number <= Fraction(above)
    assert above - below <= 2.0**-52 * above


@pytest.mark.parametrize("number", [Fraction(10) ** 400, -(Fraction(10) ** 400)])
def test_no_float_is_beyond_the_largest(number):
    for rounded in (float_below, float_above):
        with pytest.raises(InvalidParameter, match=r"1\.8e308"):
            rounded(number)


@pytest.mark.parametrize("text", ["1", "0.1", b"1", bytearray(b"1")])
def test_text_is_no_number(text):
    with pytest.raises(InvalidParameter, match="Expected a finite number, got"):
        exact(text)


# Probabilities


@pytest.mark.parametrize(
    ("bound", "value"),
    [
        (arb(0), 0.0),
        (arb(-1), 0.0),
        (arb(0.25), 0.25),
        (arb(2), 1.0),
        (arb.nan(), 1.0),
        (arb.pos_inf(), 1.0),
        (arb(0.5, 1), 1.0),
        (arb(-(10**20)).exp(), 5e-324),  # written out, it would fill the memory
    ],
)
def test_a_bound_on_a_probability(bound, value):
    assert probability(bound) == value


def test_a_bound_on_a_probability_is_rounded_up():
    assert exact(probability(arb(1) / 3)) > Fraction(1, 3)
    assert exact(probability(arb(0.25, 1e-3))) >= exact(0.251)
