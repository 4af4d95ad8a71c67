"""Weights that grow inward: sums and places agree, and the end of an interval is the last that fits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.mechanisms.inward import chosen_by, farthest, weights


@pytest.mark.parametrize("candidates", [1, 2, 17])
def test_sums_are_sums_and_every_number_has_its_place(candidates):
    each = [weights(k + 1, candidates) - weights(k, candidates) for k in range(candidates)]
    assert each == [3 * candidates + 10 * k for k in range(candidates)]
    drawn = [chosen_by(number, candidates) for number in range(weights(candidates, candidates))]
    assert [drawn.count(k) for k in range(candidates)] == each
    assert drawn == sorted(drawn)


@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)])
@pytest.mark.parametrize("candidates", [1, 5, 101])
def test_the_end_is_the_last_that_is_not_rare(candidates, confidence):
    for chosen in range(candidates):
        fits = [
            m
            for m in range(candidates)
            if (1 - confidence) * weights(m + 1, candidates) < weights(chosen + 1, candidates)
        ]
        assert farthest(chosen, candidates, confidence=confidence) == max(fits)


def test_bounds_as_wide_as_integers_of_64_bits():
    count = 2**64
    assert chosen_by(weights(count, count) - 1, count) == count - 1
    assert 15 < farthest(count // 100, count, confidence=Fraction(95, 100)) / (count // 100) < 20
