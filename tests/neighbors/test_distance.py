from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sitr.neighbors.distance import Distance


@given(st.integers(0, 10**40))
def test_the_length_is_never_too_short_and_hardly_too_long(squares):
    length = Distance(l1=0, l2_squared=squares, largest=0).l2
    assert length**2 >= squares
    assert (length * (1 - Fraction(1, 2**64))) ** 2 <= squares


@given(st.integers(0, 10**30))
def test_the_length_of_a_square_is_exact(root):
    assert Distance(l1=0, l2_squared=root**2, largest=0).l2 == root
