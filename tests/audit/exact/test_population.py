"""Random privacy: exact enumeration, and intervals from draws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sitr.audit.exact import population as drawing
from sitr.audit.exact.claims import Verdict
from sitr.audit.exact.population import PopulationMechanism, clopper_pearson, population
from sitr.errors import InvalidParameter
from sitr.noise import TestCoins
from tests.audit.exact.tables import epsilon_by_sets

SKEWED = {"0": Fraction(9, 10), "1": Fraction(1, 10)}


def gate(people: tuple[str, ...]) -> list[Fraction]:
    """Noise, unless nobody has the property: then nothing is said without it."""
    ones = people.count("1")
    return [Fraction(1), Fraction(0)] if not ones else [Fraction(1, 2 + ones), 1 - Fraction(1, 2 + ones)]


def by_hand(size: int, odds: Fraction) -> Fraction:
    """The definition itself: all sequences of n + 1 draws."""
    total = Fraction(0)
    for people in product("01", repeat=size + 1):
        weight = Fraction(1)
        for one in people:
            weight *= SKEWED[one]
        p, q = gate(people[:-1]), gate((*people[:-2], people[-1]))
        total += weight * any(a > odds * b or b > odds * a for a, b in zip(p, q, strict=True))
    return total


@pytest.mark.parametrize("size", [1, 2, 4])
def test_gamma_is_the_probability_of_the_definition(size: int) -> None:
    found = population(gate, records=SKEWED, size=size)
    odds = Fraction(2)
    assert found.gamma(epsilon=0.6931471805599453).exact == by_hand(size, odds * Fraction(999999, 1000000))
    assert found.gamma(epsilon=0.6931471805599454).exact == by_hand(size, odds)
    assert found.gamma(epsilon=0.1).exact == by_hand(size, Fraction("1.105170918"))


def test_a_table_of_multisets_and_one_of_orders() -> None:
    names = ["0 0", "0 1", "1 1"]
    rows = [gate(tuple(name.split())) for name in names]
    table = PopulationTable(names, rows)
    listed = table.population()
    assert listed.gamma(epsilon=0.5).exact == population(gate, records=SKEWED, size=2).gamma(epsilon=0.5).exact
    ordered = PopulationTable([*names, "1 0"], [*rows, gate(("1", "0"))]).population()
    assert ordered.gamma(epsilon=0.5).exact == listed.gamma(epsilon=0.5).exact


class PopulationTable:
    """A table that names its inputs by their records."""

    def __init__(self, names: list[str], rows: list[list[Fraction]]) -> None:
        from sitr.audit.exact.table import Table

        self.table = Table.of(rows, inputs=names)

    def population(self) -> PopulationMechanism:
        return population(self.table, records=SKEWED)


def test_approximate_inside() -> None:
    found = population(gate, records=SKEWED, size=3)
    assert found.gamma(epsilon=0.5, delta=0.99).exact == 0
    at_zero = found.gamma(epsilon=0, delta=0).exact
    assert at_zero is not None
    assert found.gamma(epsilon=0.3, delta=0.1).exact < at_zero  # type: ignore[operator]


def test_claims() -> None:
    found = population(gate, records=SKEWED, size=3)
    gamma = found.gamma(epsilon=1).exact
    assert gamma is not None
    assert found.verify(f"random(pure(1), {float(gamma) + 1e-9})").verdict is Verdict.KEPT
    broken = found.verify(f"random(pure(1), {float(gamma) - 1e-9})")
    assert (broken.verdict, broken.failing.pair is not None) == (Verdict.BROKEN, True)
    assert broken.to_dict()["verdict"] == "broken"
    assert found.verify("random(approximate(1, 0.9), 0.0)").verdict is Verdict.KEPT
    for claim in ("pure(1)", "random(zcdp(1), 0.1)"):
        with pytest.raises(InvalidParameter, match="a claim such as random"):
            found.verify(claim)


def test_draws_cover_the_exact_value() -> None:
    """At a confidence of 90%, at most 10% of intervals miss; 20 seeds miss at most 6 with a probability of 99.7%."""
    exact = population(gate, records=SKEWED, size=3).gamma(epsilon=1).exact
    assert exact is not None
    missed = 0
    for seed in range(20):
        found = population(gate, records=SKEWED, size=3, draws=400, confidence=0.9, coins=TestCoins(seed)).gamma(
            epsilon=1
        )
        assert found.confidence == 0.9
        missed += not found.value.lower <= float(exact) <= found.value.upper
        assert found.value.width < 0.12
    assert missed <= 6


def test_clopper_pearson_has_closed_forms() -> None:
    assert clopper_pearson((0, 0), 100, confidence=0.9).upper == pytest.approx(1 - 0.05 ** (1 / 100), rel=1e-8)
    assert clopper_pearson((100, 100), 100, confidence=0.9).lower == pytest.approx(0.05 ** (1 / 100), rel=1e-8)
    assert clopper_pearson((3, 3), 10, confidence=0.95).lower == pytest.approx(0.0667395, abs=1e-6)
    assert clopper_pearson((3, 3), 10, confidence=0.95).upper == pytest.approx(0.6524529, abs=1e-6)


def test_what_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="add up to exactly 1"):
        population(gate, records={"0": 0.5, "1": 0.4}, size=2)
    with pytest.raises(InvalidParameter, match="size of a data set"):
        population(gate, records=SKEWED)
    with pytest.raises(InvalidParameter, match="pairs of data sets to enumerate"):
        population(gate, records={str(one): Fraction(1, 40) for one in range(40)}, size=6)
    with pytest.raises(InvalidParameter, match="none for 1 1"):
        PopulationTable(["0 0", "0 1"], [gate(("0", "0")), gate(("0", "1"))]).population()


def noisy(people: tuple[str, ...]) -> list[Fraction]:
    """More noise where nobody has the property; every loss is finite."""
    ones = people.count("1")
    return [Fraction(9 - 2 * ones, 12), Fraction(2 + ones, 12), Fraction(1 + ones, 12)]


def needed(size: int, delta: Fraction) -> list[tuple[float, Fraction]]:
    """The ε that each pair of data sets needs, over all sequences and all sets of outcomes, with its probability."""
    found = []
    for people in product("01", repeat=size + 1):
        weight = math.prod((SKEWED[one] for one in people), start=Fraction(1))
        rows = [noisy(people[:-1]), noisy((*people[:-2], people[-1]))]
        found.append((epsilon_by_sets(rows, float(delta)), weight))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 100), Fraction(1, 20), Fraction(17, 100), Fraction(1, 2)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 50)])
def test_the_least_epsilon_for_a_gamma(gamma: Fraction, delta: Fraction) -> None:
    above, expected = Fraction(0), 0.0
    for one, weight in needed(3, delta):
        above += weight
        if above > gamma:
            expected = one
            break
    mechanism = population(noisy, records=SKEWED, size=3)
    found = mechanism.epsilon(gamma=gamma, delta=delta)
    assert found.lower - 1e-9 <= expected <= found.upper + 1e-9
    assert found.width < 1e-9
    assert mechanism.gamma(epsilon=found.upper + 1e-9, delta=delta).value.upper <= float(gamma) + 1e-12
    if expected > 0:  # the twin that stops one pair too early promises too little
        assert mechanism.gamma(epsilon=found.lower - 1e-6, delta=delta).value.lower > float(gamma)


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 20), Fraction(17, 100)])
def test_the_least_delta_for_a_gamma(gamma: Fraction) -> None:
    mechanism = population(noisy, records=SKEWED, size=3)
    found = mechanism.delta(epsilon=0.1, gamma=gamma)
    assert mechanism.gamma(epsilon=0.1, delta=found.upper * (1 + 1e-9) + 1e-12).value.upper <= float(gamma) + 1e-12
    if found.lower > 0:
        assert mechanism.gamma(epsilon=0.1, delta=found.lower * (1 - 1e-6)).value.lower > float(gamma)


def test_the_least_epsilon_from_draws_covers_the_exact_one() -> None:
    exact = population(noisy, records=SKEWED, size=3).epsilon(gamma=0.1)
    missed = 0
    for seed in range(20):
        drawn = population(noisy, records=SKEWED, size=3, draws=400, confidence=0.9, coins=TestCoins(seed))
        found = drawn.epsilon(gamma=0.1)
        missed += not found.lower <= exact.upper + 1e-12 or not exact.lower - 1e-12 <= found.upper
    assert missed <= 6
    few = population(noisy, records=SKEWED, size=3, draws=20, confidence=0.999, coins=TestCoins(1))
    assert few.epsilon(gamma=0.001).upper == math.inf  # so few draws cannot rule out so rare a pair


@pytest.mark.parametrize("whole", [10**3, 10**16 + 61, 10**19 + 51, 10**25 + 13])
def test_each_record_is_drawn_with_exactly_its_probability(whole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On both sides of the border between two records; as doubles, the larger borders would be elsewhere."""
    first = whole // 3 + 1
    weights = {"a": Fraction(first, whole), "b": Fraction(1, whole), "c": Fraction(whole - first - 1, whole)}
    kind = np.int64 if whole <= 2**63 else object
    draws = np.array([[first - 1, first], [first + 1, whole - 1], [0, first + 1]], dtype=kind)
    monkeypatch.setattr(drawing, "uniform", lambda **_: draws)
    found = list(drawing._drawn(weights, 1, 3, None))
    assert found == [(("a",), ("b",)), (("c",), ("c",)), (("a",), ("c",))]
    assert (float(first) == float(first + 1)) is (whole > 10**17)  # doubles could not tell these borders apart
