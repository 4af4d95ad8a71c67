from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx, fmpq

from sitr.loss.forms.finite import pair


def test_small_losses_are_rounded_relative_to_themselves():
    """ln(50/49) from a quotient of 53 bits would be too small by five of its last digits, and no margin covers that."""
    law = pair((Fraction(50, 99), Fraction(49, 99)), (Fraction(49, 99), Fraction(50, 99)))
    tiny = pair((Fraction(1, 2) + Fraction(1, 10**9), Fraction(1, 2) - Fraction(1, 10**9)), (Fraction(1, 2),) * 2)
    with ctx.workprec(300):
        for found, ratio in ((law, fmpq(50, 49)), (tiny, fmpq(500000001, 500000000))):
            true = arb(ratio).log()
            assert abs(arb(found.greatest) - true) <= true * arb(2) ** -52
