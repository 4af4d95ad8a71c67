from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sitr.flavors.pure import PureDP
from sitr.mechanisms.choice import Choice, rational_scores, whole, whole_scores
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.noisy_max import NoisyMax
from sitr.mechanisms.permute_and_flip import PermuteAndFlip
from sitr.mechanisms.sparse_vector import SparseVector
from sitr.mechanisms.tree import Tree
from sitr.numbers import exact, flag, natural


def test_a_unit_that_moves_scores_apart_counts_twice():
    assert Choice(0.3, 3).rate == Fraction(1, 20)
    assert Choice(0.3, 3, monotone=True).rate == Fraction(1, 10)


@pytest.mark.parametrize(
    "read",
    [
        lambda moved: Exponential(1, moved).sensitivity,
        lambda moved: PermuteAndFlip(1, moved).sensitivity,
        lambda moved: NoisyMax(1, moved).sensitivity,
        lambda moved: SparseVector(1, moved).sensitivity,
        lambda moved: Tree.fitting(PureDP(1.0), steps=5, sensitivity=moved).noise.sensitivity,
    ],
)
def test_every_sensitivity_in_floats_is_rounded_up(read):
    """What ten tenths add up to is less than one."""
    assert read(sum([0.1] * 10)) >= 1
    assert read(0.1) == exact(math.nextafter(0.1, 1)) > Fraction(1, 10)
    assert read(3) == 3 <= read(3.0) <= exact(math.nextafter(3, 4))
    assert read(Fraction(1, 10)) == Fraction(1, 10)


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_scores_that_are_fractions_move_by_no_whole_numbers(kind):
    """Ten times the float 0.1 is more than one, and rounded to one."""
    moved = 10 * Fraction(0.1)
    assert 10 * 0.1 == 1 < moved <= kind(1, 10 * 0.1).sensitivity


def test_scores_are_exact():
    assert rational_scores(np.array([1, 2**62]), mechanism="M") == [1, 2**62]
    mixed = rational_scores([np.int8(-3), Fraction(1, 3), 10**30], mechanism="M")  # type: ignore[list-item]
    assert mixed == [-3, Fraction(1, 3), 10**30]
    assert [type(score) for score in mixed] == [int, Fraction, int]
    assert whole_scores([10**30, np.int8(-3)], mechanism="M") == [10**30, -3]  # type: ignore[list-item]
    assert all(type(score) is int for score in whole_scores(np.array([1, 2], dtype=np.uint8), mechanism="M"))


@pytest.mark.parametrize("check", [rational_scores, whole_scores])
@pytest.mark.parametrize("scores", [[], [1.5], [math.nan], [7654321, None], ["7654321"]])
def test_a_refusal_repeats_no_score(check, scores):
    with pytest.raises(ValueError, match=r"a row of integers.* of M, got .*\. Compute") as caught:
        check(scores, mechanism="M")
    assert "7654321" not in str(caught.value)


def test_fractions_are_no_integers():
    with pytest.raises(ValueError, match="a row of integers, one"):
        whole_scores([Fraction(1, 2)], mechanism="M")  # type: ignore[list-item]


@pytest.mark.parametrize("number", [0, -1, 1.5, True, None, "2", math.inf])
def test_counts_are_natural(number):
    with pytest.raises(ValueError, match="n of M to be a whole number of at least 1"):
        natural(number, name="n", of="M")


@pytest.mark.parametrize("choice", [0, 1, None, "yes"])
def test_flags_are_booleans(choice):
    with pytest.raises(ValueError, match="f of M to be True or False"):
        flag(choice, name="f", of="M")


def test_numpy_integers_are_whole_and_booleans_of_numpy_are_not():
    assert whole(np.uint64(3))
    assert not whole(np.bool_(True))
