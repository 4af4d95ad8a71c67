from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.granularity import movement, rounded, rounded_sensitivity
from sitr.mechanisms.laplace import Laplace
from sitr.noise.coins import TestCoins
from sitr.numbers import exact, granule

grains = st.one_of(
    st.integers(1, 1000), st.fractions(Fraction(1, 1000), 1000), st.integers(-60, 60).map(lambda n: 2.0**n)
)
NOISES = [lambda **more: Laplace(scale=5, **more), lambda **more: Gaussian(sigma=5, **more)]
STILL = [lambda **more: Laplace(scale=1e-6, **more), lambda **more: Gaussian(sigma=1e-6, **more)]
"""P(Y ≠ 0) < e^{−700} for granules of at least 1e-3."""

every_noise = pytest.mark.parametrize("noise", NOISES, ids=["Laplace", "Gaussian"])
still = pytest.mark.parametrize("noise", STILL, ids=["Laplace", "Gaussian"])


# What a float stands for


@given(st.integers(-1074, 1023))
def test_a_power_of_two_is_itself(power):
    assert granule(math.ldexp(1.0, power), of="Laplace") == Fraction(2) ** power


@given(st.integers(-1000, 1000), st.integers(1, 2**53 - 1))
def test_a_float_that_is_a_number_of_granules_is_that_number(power, count):
    grain = Fraction(2) ** power
    try:
        sensitivity = math.ldexp(float(count), power)
    except OverflowError:
        return
    if Fraction(sensitivity) == count * grain:  # not a denormal number that was rounded
        assert movement(sensitivity, grain, mechanism="Laplace") == count * grain


def test_other_floats_are_the_decimals_they_print_as():
    assert Laplace(scale=0.1, sensitivity=0.3, granularity=0.1) == Laplace(
        Fraction(1, 10), Fraction(3, 10), Fraction(1, 10)
    )
    assert Gaussian(sigma=0.1).sigma == Fraction(1, 10)


@given(st.floats(1e-300, 1e300), grains)
def test_a_sensitivity_is_rounded_up_unless_it_is_a_number_of_granules(sensitivity, grain):
    step = granule(grain, of="Laplace")
    moved = movement(sensitivity, step, mechanism="Laplace")
    up = exact(math.nextafter(sensitivity, math.inf))
    if moved in (exact(sensitivity), Fraction(sensitivity)):
        assert (moved / step).denominator == 1
        assert moved <= 2**53 * step
    else:
        assert moved >= up > max(exact(sensitivity), Fraction(sensitivity))
        assert moved == up or ((moved / step).denominator == 1 and moved - up < min(step, up / 2**39))


@given(st.one_of(st.integers(1, 10**40), st.fractions(Fraction(1, 10**40), 10**40)))
def test_integers_and_fractions_are_exact(sensitivity):
    assert movement(sensitivity, mechanism="Laplace") == sensitivity
    assert movement(exact(sensitivity), Fraction(1, 3), mechanism="Laplace") == sensitivity


def test_what_floats_have_rounded_off_is_made_up_for():
    """A sum of tenths that is a little too small; an integer that has no float; floats of 32 bits, which have fewer."""
    short = sum([0.1] * 10)
    assert short < 1
    assert movement(short, mechanism="Laplace") >= 1
    lost = float(2**53 + 1)
    assert lost < 2**53 + 1 <= movement(lost, mechanism="Laplace")
    assert movement(2.0**53 - 1, mechanism="Laplace") == 2**53 - 1
    narrow = np.float32(1.9999999)
    assert narrow < 2
    assert movement(np.float32(0.3) * 10, mechanism="Laplace") >= 3  # type: ignore[arg-type]
    assert movement(narrow, mechanism="Laplace") >= 2  # type: ignore[arg-type]
    assert movement(np.float32(3), mechanism="Laplace") == 3  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="finite number above 0"):
        movement(sys.float_info.max, mechanism="Laplace")


@given(st.one_of(st.integers(1, 2**60), st.integers(1, 2**30).flatmap(lambda n: st.integers(n * n - 2, n * n + 2))))
def test_a_length_that_was_rounded_is_made_up_for(squares):
    """√(2^54 + 1), of so many numbers that move by one, has the float 2^27."""
    if squares >= 1:
        assert Gaussian(1, math.sqrt(squares)).sensitivity ** 2 >= squares


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("count", [50, 80, 1000])
def test_many_roundings_cost_no_granule(noise, count):
    """So many tenths are a few floats less than they should be, and a granule less is moved by none of them."""
    short = sum([0.1] * count)
    assert exact(math.nextafter(short, math.inf)) < Fraction(count, 10)
    assert math.floor(noise(sensitivity=short, granularity=0.1).in_granules().sensitivity) == count
    narrow = sum([np.float32(0.1)] * 50, start=np.float32(0))
    assert narrow < 5
    assert math.floor(noise(sensitivity=narrow, granularity=0.1).in_granules().sensitivity) == 50
    assert noise(sensitivity=2.5, granularity=1).sensitivity < Fraction(26, 10)


def test_a_length_that_was_not_rounded_stays():
    assert Gaussian(1, 1000.0).sensitivity == 1000
    assert Gaussian(1, 0.3, granularity=0.1).sensitivity == Fraction(3, 10)
    assert Gaussian(1, math.sqrt(2**54 + 1)).sensitivity > 2**27 == math.sqrt(2**54 + 1)


def test_what_is_yet_to_be_rounded_may_move_by_more_than_a_whole_float():
    low, high = -(1 / 8 + 2.0**-55), 7 / 8
    assert high - low == 1 < Fraction(high) - Fraction(low)
    moved = rounded(high, granularity=0.25) - rounded(low, granularity=0.25)
    assert moved == Fraction(5, 4) == rounded_sensitivity(high - low, granularity=0.25)
    assert rounded_sensitivity(1, granularity=0.25) == 1
    assert rounded_sensitivity(1.0, granularity=0.25, numbers=4, euclidean=True) > Fraction(3, 2)


@every_noise
@pytest.mark.parametrize("number", [0, -1, -0.0, math.nan, math.inf, -math.inf, None, "ten", True, 1j])
def test_a_bad_granularity_is_refused_by_name(noise, number):
    with pytest.raises(ValueError, match=r"granularity of .* to be a finite number above 0"):
        noise(granularity=number)


# Rounding to the grid


@given(st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False, allow_infinity=False)), grains)
def test_a_number_is_rounded_to_the_nearest_multiple(number, grain):
    near = rounded(number, granularity=grain)
    step = granule(grain, of="Laplace")
    assert (near / step).denominator == 1
    decimal = isinstance(number, float) and step.denominator.bit_count() > 1
    meant = Fraction(repr(number)) if decimal else Fraction(number)
    assert -step / 2 <= meant - near < step / 2


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan"), None, "1", 1j, Decimal("NaN")])
def test_what_is_no_number_is_not_rounded(number):
    with pytest.raises(ValueError, match="a finite number to round"):
        rounded(number, granularity=1)


@given(st.fractions(-50, 50), st.fractions(0, 7), st.fractions(Fraction(1, 8), 3))
def test_one_number_moves_no_farther_than_was_said(number, moved, grain):
    far = rounded(number + moved, granularity=grain) - rounded(number, granularity=grain)
    assert 0 <= far <= (rounded_sensitivity(moved, granularity=grain) if moved else 0)


def places(*, euclidean: bool, numbers: int, moved: Fraction) -> list[Fraction | int]:
    """All lengths, in granules, of moves of so many numbers on a fine grid, after rounding from the worst place."""
    steps = [Fraction(i, 12) for i in range(math.ceil(12 * moved) + 1)]
    found: list[Fraction | int] = []
    for move in product(steps, repeat=numbers):
        long = sum(s * s for s in move) if euclidean else sum(move)
        if long <= (moved**2 if euclidean else moved):
            # Just below a border a step of any size crosses it.
            ends = [rounded(s + Fraction(1, 2) - Fraction(1, 10**6), granularity=1) for s in move]
            found.append(sum(e * e for e in ends) if euclidean else sum(ends))
    return found


@pytest.mark.parametrize("numbers", [1, 2, 3])
@pytest.mark.parametrize("moved", [Fraction(1, 2), Fraction(1), Fraction(5, 4), Fraction(2)])
def test_in_the_sum_of_sizes_the_movement_is_attained(numbers, moved):
    assert max(places(euclidean=False, numbers=numbers, moved=moved)) == rounded_sensitivity(
        moved, granularity=1, numbers=numbers
    )


@pytest.mark.parametrize("numbers", [1, 2, 3])
@pytest.mark.parametrize("moved", [Fraction(1, 2), Fraction(1), Fraction(5, 4)])
def test_in_euclidean_length_the_movement_is_enough(numbers, moved):
    said = rounded_sensitivity(moved, granularity=1, numbers=numbers, euclidean=True)
    assert max(places(euclidean=True, numbers=numbers, moved=moved)) <= said**2


def test_halves_to_the_even_side_would_move_farther():
    """Broken: round() of Python. One granule of movement becomes two."""
    assert round(Fraction(3, 2)) - round(Fraction(1, 2)) == 2 > rounded_sensitivity(1, granularity=1)


@pytest.mark.parametrize("numbers", [0, -1, 1.5, True, None])
def test_rounding_counts_its_numbers(numbers):
    with pytest.raises(ValueError, match="numbers of Rounding to be a whole number of at least 1"):
        rounded_sensitivity(1, granularity=1, numbers=numbers)


# What is released


@every_noise
@given(grains, st.lists(st.integers(-(10**25), 10**25), max_size=4), st.integers(0, 2**32))
def test_every_answer_is_a_multiple_of_the_granule(noise, grain, counts, seed):
    step = granule(grain, of="Laplace")
    mechanism = noise(granularity=grain, sensitivity=1)
    answers = mechanism.release([count * step for count in counts], coins=TestCoins(seed))
    assert all(type(answer) is Fraction and (answer / step).denominator == 1 for answer in answers)


@every_noise
def test_the_noise_is_that_of_the_granules(noise):
    """The same coins give the same granules: numbers differ by their unit alone."""
    step = Fraction(3, 8)
    fine = noise(granularity=step, sensitivity=Fraction(1, 2))
    counts = list(range(-20, 20))
    coarse = fine.in_granules().release(counts, coins=TestCoins(4))
    assert fine.release([count * step for count in counts], coins=TestCoins(4)) == [step * answer for answer in coarse]
    assert fine.promise() == fine.in_granules().promise()
    assert fine.loss() == fine.in_granules().loss()
    assert fine.error(confidence=0.9) == step * fine.in_granules().error(confidence=0.9)


@still
def test_answers_have_the_type_of_the_value(noise):
    assert noise().release(7) == 7
    assert type(noise().release(7)) is int
    assert type(noise().release(np.int64(7))) is int
    assert type(noise().release(Fraction(7))) is Fraction
    assert noise().release((7, 8)) == [7, 8]
    assert noise().release([]) == []
    assert noise(granularity=5, sensitivity=5).release([10, -15]) == [10, -15]
    assert noise(granularity=Fraction(1, 2)).release([Fraction(5), Fraction(7, 2)]) == [5, Fraction(7, 2)]


@still
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, object])
def test_arrays_keep_their_shape(noise, dtype):
    values = np.arange(6).astype(dtype).reshape(2, 3)
    answers = noise().release(values)
    assert answers.dtype == (object if dtype is object else np.int64)
    assert answers.shape == (2, 3)
    assert (answers == values).all()
    assert noise().release(np.array(5, dtype=dtype)).shape == ()
    assert noise().release(np.array([], dtype=dtype)).shape == (0,)


@still
def test_arrays_on_other_grids_hold_exact_numbers(noise):
    assert noise(granularity=5, sensitivity=5).release(np.array([10, -15])).tolist() == [10, -15]
    halves = noise(granularity=Fraction(1, 2)).release(np.array([Fraction(5), Fraction(7, 2)]))
    assert halves.tolist() == [Fraction(5), Fraction(7, 2)]


@every_noise
def test_arrays_get_the_noise_of_rows(noise):
    values = np.arange(1000)
    one, other = noise().release(values, coins=TestCoins(5)), noise().release(values.tolist(), coins=TestCoins(5))
    assert one.tolist() == other


@every_noise
@pytest.mark.parametrize("end", [2**63 - 1, -(2**63)])
def test_answers_beyond_64_bits_are_integers_of_python(noise, end):
    """In 400 answers at the end of 64 bits some surely lie beyond: all below has a probability under 2^{−200}."""
    values = np.full(400, end, dtype=np.int64)
    answers = noise().release(values, coins=TestCoins(6))
    assert answers.dtype == object
    assert answers.tolist() == noise().release([end] * 400, coins=TestCoins(6))
    assert any(not -(2**63) <= answer < 2**63 for answer in answers)
    for seed in range(20):  # without an axis numpy adds in another way
        alone, row = np.array(end), [end]
        assert [noise().release(alone, coins=TestCoins(seed)).item()] == noise().release(row, coins=TestCoins(seed))


@still
def test_unsigned_numbers_are_not_read_as_negative_ones(noise):
    largest = np.array([2**64 - 1], dtype=np.uint64)
    assert noise().release(largest).tolist() == [2**64 - 1]


@every_noise
@pytest.mark.parametrize(
    "values",
    [
        *[0.1, 1.0, -0.0, 5e-324, 1e308, math.nan, math.inf, -math.inf, None, "7", b"7", 1j],
        *[[1, 2.0], [1, math.nan], [None], ["7"], Fraction(1, 3), [Fraction(1, 3)], Decimal(1)],
        *[np.array([1.0]), np.array([math.nan]), np.array(["7"]), np.float64(1), np.array([1j])],
    ],
    ids=repr,
)
def test_what_is_no_integer_is_refused_and_never_repeated(noise, values):
    with pytest.raises(ValueError, match=r"Expected integers for \w+, got something else\. Round what each unit adds"):
        noise().release(values)


@every_noise
@pytest.mark.parametrize("values", [5, [5], np.array([5]), Fraction(1, 3), 0.25], ids=repr)
def test_off_the_grid_is_refused(noise, values):
    with pytest.raises(ValueError, match="fractions that are multiples of 1/4"):
        noise(granularity=Fraction(1, 4)).release(values)
    with pytest.raises(ValueError, match="integers that are multiples of 10"):
        noise(granularity=10, sensitivity=10).release(values)


@every_noise
def test_nothing_is_drawn_for_values_that_are_refused(noise):
    coins = TestCoins(8)
    with pytest.raises(ValueError, match="Expected integers"):
        noise().release([1, 0.5], coins=coins)
    assert coins.bits(64) == TestCoins(8).bits(64)


def test_floats_of_numpy_are_what_they_are_and_print_as():
    """As Python's they would move by a granule more: 0.35 and 0.85 of 32 bits, and two of 80 bits that differ by 1."""
    near: Any = np.float32(0.35)
    far: Any = np.float32(0.85)
    assert float(far) - float(near) > 0.5
    assert rounded(far, granularity=0.1) - rounded(near, granularity=0.1) == Fraction(1, 2)
    wide: Any = np.longdouble(-1) / 8 - 3 * np.longdouble(2) ** -57
    assert rounded(wide + 1, granularity=0.25) - rounded(wide, granularity=0.25) == 1
    assert rounded(np.float64(0.15), granularity=0.1) == Fraction(1, 5) == rounded(0.15, granularity=0.1)


@pytest.mark.parametrize("g", [0.1, 0.01, 0.25, 2.0**-40])
def test_decimals_move_no_farther_than_is_said(g):
    steps = [n * 0.05 for n in range(40)] if g != 2.0**-40 else [n * 2.0**-41 for n in range(40)]
    numbers = [float(f"{step:.12g}") if g != 2.0**-40 else step for step in steps]
    for low, high in product(numbers, numbers):
        if low < high:
            exactly = (
                Fraction(high) - Fraction(low) if g in (0.25, 2.0**-40) else Decimal(repr(high)) - Decimal(repr(low))
            )
            moved = rounded(high, granularity=g) - rounded(low, granularity=g)
            assert moved <= rounded_sensitivity(Fraction(exactly), granularity=g)


@pytest.mark.parametrize("mechanism", [Laplace(1000), Gaussian(1000)])
def test_masked_places_are_refused(mechanism):
    for kind in (np.uint64, np.int64):
        with pytest.raises(ValueError, match="plain array"):
            mechanism.release(np.ma.array([1, 123456, 3], mask=[False, True, False], dtype=kind))
