from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from sitr import noise
from sitr.errors import InvalidParameter
from sitr.noise.coins import TestCoins
from sitr.noise.draws import BLOCK, NEVER, collect, collect_integers, random_bits
from sitr.numbers import inside, positive


def test_never_is_what_it_says():
    assert 1001 * math.log(2) < NEVER


@pytest.mark.parametrize("number", [0, -1, -0.0, math.nan, math.inf, -math.inf, Fraction(-1, 3)])
def test_a_scale_is_positive_and_finite(number):
    with pytest.raises(ValueError, match=r"sigma of noise to be a finite number above 0, got .*\. Choose"):
        positive(number, name="sigma", of="noise")


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, math.nan, math.inf])
def test_a_confidence_lies_strictly_inside(confidence):
    with pytest.raises(ValueError, match=r"strictly between 0 and 1, got .*\. Choose"):
        inside(confidence)


def test_numbers_are_read_as_they_print():
    assert positive(np.float64(0.1), name="scale", of="noise") == Fraction(1, 10)
    assert positive(np.int64(7), name="scale", of="noise") == 7  # type: ignore[arg-type]
    assert inside(0.95) == Fraction(19, 20)


def test_many_draws_keep_order_and_shape():
    numbers = iter(range(BLOCK * 3))

    def next_block(count: int) -> np.ndarray:
        return np.array([next(numbers) for _ in range(count)])

    assert collect_integers(next_block, size=BLOCK + 4, fits=True).tolist() == list(range(BLOCK + 4))
    assert collect(next_block, size=(2, 3), dtype=np.int64).shape == (2, 3)
    assert collect(next_block, size=(), dtype=np.int64).shape == ()
    assert next(numbers) == BLOCK + 4 + 6 + 1
    large = collect_integers(lambda count: np.full(count, 2**70, dtype=object), size=2, fits=False)
    assert large.dtype == object
    assert large.tolist() == [2**70, 2**70]


def test_no_block_is_larger_than_is_said():
    asked = []

    def block(count: int) -> np.ndarray:
        asked.append(count)
        return np.zeros(count)

    collect(block, size=(3, BLOCK), dtype=np.bool_)
    assert asked == [BLOCK] * 3


@pytest.mark.parametrize("fits", [True, False])
def test_no_draws_are_an_empty_array(fits):
    assert collect_integers(np.zeros, size=0, fits=fits).shape == (0,)
    assert collect_integers(np.zeros, size=(3, 0), fits=fits).shape == (3, 0)
    assert collect_integers(np.zeros, size=np.int64(2), fits=fits).shape == (2,)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [-1, (3, -1)])
def test_a_negative_size_is_refused(size):
    with pytest.raises(ValueError, match=r"at least 0, got -1\. Choose"):
        collect(np.zeros, size=size, dtype=np.int64)


@pytest.mark.parametrize("size", [2.0, (2.5,), "3"])
def test_a_size_that_is_no_integer_is_refused(size):
    with pytest.raises(InvalidParameter, match="whole number"):
        collect(np.zeros, size=size, dtype=np.int64)


@pytest.mark.parametrize("bits", [0, 1, 5, 16, 17, 32, 33, 62, 63, 64, 130])
def test_random_bits_are_balanced_and_independent(bits):
    drawn = random_bits(bits, size=20_000, coins=TestCoins(bits))
    assert drawn.dtype == (np.int64 if bits <= 63 else np.object_)
    assert drawn.min() >= 0
    assert int(drawn.max()) < 2**bits
    ones = [int(np.sum(drawn >> place & 1)) for place in range(bits)]
    assert all(abs(count - 10_000) < 7 * 70.8 for count in ones)  # seven deviations, 130 bits: below 1e-9
    for place in range(bits - 1):
        equal = int(np.sum((drawn >> place & 1) == (drawn >> place + 1 & 1)))
        assert abs(equal - 10_000) < 7 * 70.8


EVERY_PARAMETER = [
    *[(draw, name) for draw, name in [(noise.discrete_laplace, "scale"), (noise.discrete_gaussian, "sigma")]],
    *[(draw, "size") for draw in (partial(noise.discrete_laplace, scale=1), partial(noise.geometric, scale=1))],
    (noise.geometric, "scale"),
    (partial(noise.staircase, sensitivity=1), "epsilon"),
    (partial(noise.staircase, epsilon=1), "sensitivity"),
    (partial(noise.staircase, epsilon=1, sensitivity=2), "width"),
    (noise.bernoulli, "probability"),
    (noise.bernoulli_exponential, "exponent"),
    (noise.uniform, "bound"),
    (noise.permutation, "size"),
    (noise.rounded_laplace, "scale"),
    (noise.rounded_gaussian, "sigma"),
    (partial(noise.rounded_student, freedom=3), "scale"),
    (partial(noise.rounded_student, scale=1), "freedom"),
    (partial(noise.rounded_spherical, size=2), "scale"),
    (partial(noise.rounded_spherical, scale=1), "size"),
    (partial(noise.discrete_laplace_width, scale=1), "confidence"),
    (partial(noise.discrete_gaussian_width, confidence=0.95), "sigma"),
    (partial(noise.discrete_laplace_tail, 3), "scale"),
]


def spelled(value):
    """The name of a sampler; its address, which `str` would show, is another one in every process."""
    return getattr(getattr(value, "func", value), "__name__", str(value))


@pytest.mark.parametrize("wrong", ["1", b"1", True, np.True_], ids=repr)
@pytest.mark.parametrize(("draw", "name"), EVERY_PARAMETER, ids=spelled)
def test_text_and_booleans_are_no_numbers(draw, name, wrong):
    with pytest.raises(InvalidParameter, match=re.escape(f"got {wrong!r}.")):
        draw(**{name: wrong})


@pytest.mark.parametrize("scores", [["1", "2"], [True, False], np.array([True, False])])
def test_text_and_booleans_are_no_scores(scores):
    with pytest.raises(ValueError, match="scores to be finite numbers"):
        noise.select(log_weights=scores)
