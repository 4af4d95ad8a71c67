"""Parameters of others: rounded to the side that flatters nobody."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import InvalidPromise
from sitr.flavors.promise import count
from sitr.interop.noise_multiplier import (
    checked_noise,
    checked_rate,
    lost,
    noise_for,
    poisson,
)
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.loss import Loss
from sitr.numbers import float_above, float_below

noises = st.floats(1e-6, 1e6)


@given(st.fractions())
def test_rounding_is_outward_and_to_the_nearest_float_there(number: Fraction) -> None:
    above, below = float_above(number), float_below(number)
    assert Fraction(below) <= number <= Fraction(above)
    assert above in (below, math.nextafter(below, math.inf))


@given(noises, st.sampled_from((1, 2)))
def test_what_is_lost_is_never_less_than_the_quotient(noise: float, moves: int) -> None:
    assert Fraction(lost(noise, moves=moves)) * Fraction(noise) >= moves
    assert Fraction(math.nextafter(lost(noise, moves=moves), 0.0)) * Fraction(noise) < moves


@given(noises, st.sampled_from((1, 2)))
def test_noise_is_written_so_that_no_less_is_read(loss: float, moves: int) -> None:
    read = lost(noise_for(loss, moves=moves), moves=moves)
    assert loss <= read <= loss * (1 + 2**-50)


@given(noises, st.sampled_from((1, 2)))
def test_what_was_read_is_written_as_what_is_read_the_same(noise: float, moves: int) -> None:
    """Reading and writing in turn does not wear the noise away."""
    loss = lost(noise, moves=moves)
    assert lost(noise_for(loss, moves=moves), moves=moves) == loss


@given(st.integers(1, 10**5), st.integers(0, 3))
def test_noise_of_few_digits_is_written_as_it_was(digits: int, places: int) -> None:
    noise = digits / 10**places
    assert noise_for(lost(noise)) == noise


def test_nobody_and_everybody_are_samples_too() -> None:
    law = GaussianLaw(1.25)
    assert poisson(law, rate=0.0) == Loss(())
    assert poisson(None, rate=0.5) == Loss(())
    assert poisson(law, rate=1.0) == Loss.of(law)
    assert poisson(law, rate=0.5) == Loss.of(PoissonLaw(law, 0.5))


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, 1e-200, True, "1", None])
def test_noise_must_be_positive(value: object) -> None:
    with pytest.raises(InvalidPromise, match="the noise"):
        checked_noise(value, "the noise")


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, True, "0.5", None])
def test_a_rate_is_a_probability(value: object) -> None:
    with pytest.raises(InvalidPromise, match="the rate"):
        checked_rate(value, "the rate")


@pytest.mark.parametrize("value", [-1, 1.0, math.nan, True, "1", None])
def test_a_count_is_a_whole_number(value: object) -> None:
    with pytest.raises(InvalidPromise, match="the count"):
        count(value, what="the count", least=0)


def test_numbers_may_come_from_arrays() -> None:
    assert checked_noise(np.float32(0.5), "the noise") == 0.5
    assert checked_rate(Fraction(1, 4), "the rate") == 0.25
    assert count(np.int64(7), what="the count") == 7


def test_no_noise_is_said_in_words() -> None:
    with pytest.raises(InvalidPromise, match="got 0, which promises nothing"):
        checked_noise(0, "noise_multiplier")
