from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sitr.errors import InvalidParameter
from sitr.sensitivity.chain import Chain


def test_floats_stand_for_their_decimals():
    chain = Chain([0.9, 0.1], [[0.8, 0.2], [0.3, 0.7]])
    rows = np.array([[0.8, 0.2], [0.3, 0.7]])
    assert chain == Chain((Fraction(9, 10), Fraction(1, 10)), rows)  # type: ignore[arg-type]
    assert chain.transition[1] == (Fraction(3, 10), Fraction(7, 10))
    assert hash(chain) == hash(Chain([Fraction(9, 10), 0.1], [[0.8, 0.2], [0.3, 0.7]]))
    assert chain.states == 2


@pytest.mark.parametrize(
    ("start", "transition", "message"),
    [
        ([0.5, 0.6], [[1, 0], [0, 1]], "the start of a chain to be probabilities"),
        ([1.5, -0.5], [[1, 0], [0, 1]], "the start of a chain to be probabilities"),
        ([0.5, 0.5], [[1, 0], [0.2, 0.2]], "each row of the transitions"),
        ([0.5, 0.5], [[1, 0]], "a square table"),
        ([1], [[1]], "a start with 2 to 64 states"),
        ([0.5, 0.5], [[1, 0, 0], [0, 1, 0]], "a square table"),
        ("ab", [[1, 0], [0, 1]], "lists of probabilities"),
        ([0.5, "x"], [[1, 0], [0, 1]], "the start of a chain"),
        ([0.5, 0.5], 3, "lists of probabilities"),
    ],
)
def test_wrong_chains_are_refused(start, transition, message):
    with pytest.raises(InvalidParameter, match=message):
        Chain(start, transition)
