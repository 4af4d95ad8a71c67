from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sitr.noise.draws import NEVER, collect, inside, positive


def test_never_is_what_it_says():
    assert 1001 * math.log(2) < NEVER


@pytest.mark.parametrize("number", [0, -1, -0.0, math.nan, math.inf, -math.inf, Fraction(-1, 3)])
def test_a_scale_is_positive_and_finite(number):
    with pytest.raises(ValueError, match=r"The sigma of noise is a finite number above 0\. .* was given\. Fit it"):
        positive(number, name="sigma")


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, math.nan, math.inf])
def test_a_confidence_lies_strictly_inside(confidence):
    with pytest.raises(ValueError, match=r"strictly between 0 and 1\. .* was given\. Choose"):
        inside(confidence)


def test_numbers_are_read_as_they_print():
    assert positive(np.float64(0.1), name="scale") == Fraction(1, 10)
    assert positive(np.int64(7), name="scale") == 7  # type: ignore[arg-type]
    assert inside(0.95) == Fraction(19, 20)


def test_many_draws_keep_order_and_size():
    numbers = iter(range(100))
    assert collect(lambda: next(numbers), size=4, fits=True).tolist() == [0, 1, 2, 3]
    large = collect(lambda: 2**70, size=2, fits=False)
    assert large.dtype == object
    assert large.tolist() == [2**70, 2**70]
    assert next(numbers) == 4


@pytest.mark.parametrize("fits", [True, False])
def test_no_draws_are_an_empty_array(fits):
    assert collect(lambda: 1, size=0, fits=fits).shape == (0,)
    with pytest.raises(ValueError, match="at least 0"):
        collect(lambda: 1, size=-1, fits=fits)
