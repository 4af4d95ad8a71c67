from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from sitr.noise.bell import bell_sums, direct_sums, smooth_sums


@pytest.mark.parametrize("sigma", [Fraction(5, 2), Fraction(4), Fraction(10), Fraction(123, 4)])
@pytest.mark.parametrize("bits", [64, 100])
def test_both_ways_to_sum_agree(sigma, bits):
    with ctx.workprec(400):
        direct_whole, direct = direct_sums(sigma, bits=300)
        whole, tail = smooth_sums(sigma, bits=bits)
        assert whole.overlaps(direct_whole)
        for w in (0, 1, 2, 5, 10, math.floor(4 * sigma), math.floor(8 * sigma)):
            assert tail(w).overlaps(direct(w))
            assert direct(w).rad() < 1e-80  # so that the overlap says something
            assert 0 < tail(w).rad() < arb(2) ** (8 - bits) * arb(fmpq(sigma.numerator, sigma.denominator))


@pytest.mark.parametrize("sigma", [Fraction(1, 10**6), Fraction(1), Fraction(1000)])
def test_either_way_the_sums_are_narrow(sigma):
    with ctx.workprec(200):
        whole, tail = bell_sums(sigma, bits=128)
        assert whole.rel_accuracy_bits() > 100
        assert tail(0) > 0 or sigma < 1
        assert (1 + 2 * tail(0)).overlaps(whole)
