"""Pufferfish privacy: conditional laws, against direct sums."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.audit.exact.coupled import coupled_worlds
from sitr.audit.exact.mechanism import Meaning
from sitr.audit.exact.pufferfish import pufferfish
from sitr.errors import InvalidParameter
from tests.audit.exact.tables import Rows, tables

Bits = tuple[list[list[int]], list[Fraction], dict[str, list[str]], list[int]]


def sum_of_bits(count: int) -> Bits:
    """The sum without noise; inputs are one bit and the sum of the others."""
    table, prior, others = [], [], []
    for bit in (0, 1):
        for rest in range(count):
            table.append([int(bit + rest == z) for z in range(count + 1)])
            prior.append(Fraction(comb(count - 1, rest), 2**count))
            others.append(rest)
    secrets = {str(bit): [str(count * bit + place + 1) for place in range(count)] for bit in (0, 1)}
    return table, prior, secrets, others


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.21939), (0.5, 0.105779), (1, 0.036752)])
def test_the_sum_of_ten_fair_bits(epsilon: float, delta: float) -> None:
    table, prior, secrets, _ = sum_of_bits(10)
    seen = pufferfish(table, priors=[prior], secrets=secrets)
    assert seen.delta(epsilon=epsilon).upper == pytest.approx(delta, abs=6e-7)
    assert seen.meaning is Meaning.PUFFERFISH
    assert seen.infinite_mass().exact == Fraction(1, 512)
    floats = pufferfish(np.array(table) * (1 - 1e-14), priors=[prior], secrets=secrets).delta(epsilon=epsilon)
    assert floats.lower - 1e-12 <= seen.delta(epsilon=epsilon).lower <= floats.upper + 1e-12


@pytest.mark.parametrize(
    ("count", "epsilon", "delta", "off"),
    [
        (10, 0.1, 0.090196, 6e-7),
        (10, 0.5, 0.013875, 6e-7),
        (10, 1, 0.001371, 6e-7),
        (20, 0.1, 0.049643, 6e-7),
        (20, 0.5, 0.002142, 6e-7),
        (20, 1, 2.2e-5, 5e-7),
    ],
)
def test_coupled_worlds_of_sums_of_bits(count: int, epsilon: float, delta: float, off: float) -> None:
    table, prior, secrets, others = sum_of_bits(count)
    found = coupled_worlds(table, epsilon=epsilon, priors=[prior], secrets=secrets, aggregate=others)
    assert found.delta.lower <= found.delta.upper <= found.delta.lower + 1e-10
    assert found.delta.upper == pytest.approx(delta, abs=off)


def test_several_priors_and_listed_pairs() -> None:
    table = [["3/4", "1/4"], ["1/4", "3/4"], ["1/2", "1/2"]]
    secrets = {"a": ["1"], "b": ["2"], "c": ["3"], "a or b": ["1", "2"]}
    both = pufferfish(
        table,
        priors={"even": [Fraction(1, 2), Fraction(1, 2), 0], "one": {"1": 1}, "third": [0.25, 0.25, 0.5]},
        secrets=secrets,
        pairs=[("a", "b"), ("a or b", "c")],
    )
    assert set(both.table.inputs) == {
        ("even", "a"),
        ("even", "b"),
        ("third", "a"),
        ("third", "b"),
        ("third", "a or b"),
        ("third", "c"),
    }
    assert both.epsilon().odds == 3
    only = pufferfish(table, priors=[[0.25, 0.25, 0.5]], secrets=secrets, pairs=[("a or b", "c")])
    assert only.epsilon().odds == 1


def test_what_is_refused() -> None:
    table, secrets = [[1, 0], [0, 1]], {"a": ["1"], "b": ["2"]}
    with pytest.raises(InvalidParameter, match="add up to exactly 1"):
        pufferfish(table, priors=[[0.5, 0.4]], secrets=secrets)
    with pytest.raises(InvalidParameter, match="two secrets of a pair are possible"):
        pufferfish(table, priors=[[1, 0]], secrets=secrets)
    with pytest.raises(InvalidParameter, match="secrets that are named"):
        pufferfish(table, priors=[[0.5, 0.5]], secrets=secrets, pairs=[("a", "c")])
    with pytest.raises(InvalidParameter, match="an aggregate for each input"):
        coupled_worlds(table, epsilon=1, priors=[[0.5, 0.5]], secrets=secrets, aggregate=[0])
    with pytest.raises(InvalidParameter, match="some secret is possible"):
        coupled_worlds(table, epsilon=1, priors=[[0, 1]], secrets={"a": ["1"]}, aggregate=[0, 0])


def test_a_product_of_small_numbers_does_not_vanish() -> None:
    """As a float it would be 0, and an outcome that only one secret allows would be left out of the largest loss."""
    table = [[0.3 + 1e-14, 0.7, 0.0], [0.3, 0.7, 1e-200], [0.3 + 1e-14, 0.7, 0.0]]
    tiny = Fraction(1, 10**200)
    with pytest.raises(InvalidParameter, match="probabilities of 0 or at least"):
        pufferfish(table, priors=[[(1 - tiny) / 2, tiny, (1 - tiny) / 2]], secrets={"a": ["1", "2"], "b": ["3"]})


# Pufferfish and differential privacy      [KM14]

PEOPLE = [(first, second) for first in "01" for second in "01"]
"""Two people with one bit each."""

SECRETS = {
    f"person {place} has {bit}": [str(number) for number, people in enumerate(PEOPLE, start=1) if people[place] == bit]
    for place in (0, 1)
    for bit in "01"
}
TOLD = [("person 0 has 0", "person 0 has 1"), ("person 1 has 0", "person 1 has 1")]


def independent(first: Fraction, second: Fraction) -> list[Fraction]:
    """The prior of two people who have a 1 with these probabilities, independently."""
    shares = [{"0": 1 - share, "1": share} for share in (first, second)]
    return [shares[0][one] * shares[1][two] for one, two in PEOPLE]


def dependent(both: Fraction) -> list[Fraction]:
    """Nearly always, both have the same bit."""
    return [both, Fraction(1, 2) - both, Fraction(1, 2) - both, both]


@given(
    tables(inputs=4, outcomes=3).filter(lambda rows: len(rows) == 4),
    st.lists(st.fractions(0, 1), min_size=2, max_size=2),
)
def test_with_independent_people_pufferfish_is_differential_privacy(rows: Rows, shares: list[Fraction]) -> None:
    """Point masses for the others give back every pair of neighbours, and mixtures of them are no worse."""
    edges = [Fraction(0), Fraction(1), Fraction(1, 2)]
    priors = [independent(a, Fraction(1, 2)) for a in edges[:2]] + [independent(Fraction(1, 2), a) for a in edges[:2]]
    neighbors = [(i, j) for i, one in enumerate(PEOPLE) for j, two in enumerate(PEOPLE) if i < j and one != two]
    neighbors = [(i, j) for i, j in neighbors if sum(a != b for a, b in zip(PEOPLE[i], PEOPLE[j], strict=True)) == 1]
    largest = max(max(a / b, b / a) for i, j in neighbors for a, b in zip(rows[i], rows[j], strict=True))
    seen = pufferfish(rows, priors=priors, secrets=SECRETS, pairs=TOLD)
    assert seen.epsilon().odds == largest
    inside = [min(max(share, Fraction(1, 100)), Fraction(99, 100)) for share in shares]
    mixed = pufferfish(rows, priors=[independent(*inside)], secrets=SECRETS, pairs=TOLD).epsilon().odds
    assert mixed is not None
    assert mixed <= largest


def test_with_dependent_people_it_is_not() -> None:
    """The twin: each bit is turned with probability 1/4, so ε = ln 3, but the other person's bit tells too."""
    turned = {True: Fraction(3, 4), False: Fraction(1, 4)}
    rows = [[turned[a == c] * turned[b == d] for c, d in PEOPLE] for a, b in PEOPLE]
    apart = pufferfish(rows, priors=[independent(Fraction(1, 3), Fraction(1, 5))], secrets=SECRETS, pairs=TOLD)
    together = pufferfish(rows, priors=[dependent(Fraction(49, 100))], secrets=SECRETS, pairs=TOLD)
    assert apart.epsilon().odds == 3
    odds = together.epsilon().odds
    assert odds is not None
    assert odds > 8
