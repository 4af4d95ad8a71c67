"""W_∞ against couplings found by brute force, and the checks of laws."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.errors import InvalidParameter
from sitr.numbers import Number
from sitr.sensitivity.secrets import SecretLaws, wasserstein


def fits(first: list[int], second: list[int], distance: int) -> bool:
    """Whether equal masses at these places can be matched within a distance, by augmenting paths."""
    matched: dict[int, int] = {}

    def augment(one: int, seen: set[int]) -> bool:
        for other, value in enumerate(second):
            if abs(first[one] - value) <= distance and other not in seen:
                seen.add(other)
                if other not in matched or augment(matched[other], seen):
                    matched[other] = one
                    return True
        return False

    return all(augment(one, set()) for one in range(len(first)))


@settings(max_examples=100)
@given(st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 9), min_size=n, max_size=n)] * 2)))
def test_it_is_the_least_distance_of_any_matching(places):
    """Masses 1/n: some optimal coupling is a matching (Birkhoff)."""
    one, other = places
    laws = [{v: Fraction(law.count(v), len(law)) for v in law} for law in places]
    found = wasserstein(*laws)
    assert found == min(distance for distance in range(10) if fits(one, other, distance))
    assert found == wasserstein(*reversed(laws))


def test_unequal_supports_and_fractions():
    assert wasserstein({0: 1}, {0: 0.5, Fraction(7, 2): 0.5}) == Fraction(7, 2)
    assert wasserstein({0: 0.3, 1: 0.7}, {0: 0.3, 1: 0.7}) == 0
    assert wasserstein({0: 1, 5: 0}, {0: 1}) == 0  # a value that cannot be does not count
    assert wasserstein({-1: Fraction(1, 3), 4: Fraction(2, 3)}, {0: 1}) == 4


def test_only_pairs_that_a_prior_allows_are_compared():
    laws: Mapping[str, Mapping[str, Mapping[Number, Number]]] = {
        "p": {"a": {0: 1}, "b": {1: 1}},
        "q": {"b": {0: 1}, "c": {7: 1}},
    }
    assert SecretLaws(laws).distance == 7
    assert SecretLaws(laws, [("a", "b")]).distance == 1
    assert [(prior, pair) for prior, pair, _, _ in SecretLaws(laws).compared] == [("p", ("a", "b")), ("q", ("b", "c"))]
    assert SecretLaws(laws).values == (Fraction(0), Fraction(1), Fraction(7))
    with pytest.raises(InvalidParameter, match="two secrets of a pair are possible"):
        SecretLaws(laws, [("a", "c")])


def test_from_priors_on_whole_data_sets():
    worlds = {world: Fraction(1, 8) for world in product((0, 1), repeat=3)}
    secrets: dict[str, list[tuple[int, ...]]] = {
        "yes": [w for w in worlds if w[0]],
        "no": [w for w in worlds if not w[0]],
        "never": [(2, 2, 2)],
    }
    found = SecretLaws.of(sum, priors={"fair": worlds}, secrets=secrets)
    assert found.distance == 1  # independent people: one moves the sum by 1
    assert found == SecretLaws.of({w: sum(w) for w in worlds}, priors={"fair": worlds}, secrets=secrets)
    assert hash(found) == hash(SecretLaws(found.laws, found.pairs))


@pytest.mark.parametrize(
    ("laws", "pairs", "message"),
    [
        ({"p": {"a": {0: 0.5}, "b": {1: 1}}}, None, "add up to exactly 1"),
        ({"p": {"a": {0: 1.5}, "b": {1: 1}}}, None, "probabilities from 0 to 1"),
        ({"p": {"a": {"x": 1}, "b": {1: 1}}}, None, "numbers as values"),
        ({"p": {"a": {0: 1}, "b": {1: 1}}}, [("a", "c")], "pairs of two different secrets"),
        ({"p": {"a": {0: 1}, "b": {1: 1}}}, [("a", "a")], "pairs of two different secrets"),
        ({"p": {"a": {0: 1}}}, None, "two secrets of a pair are possible"),
    ],
)
def test_wrong_laws_are_refused(laws, pairs, message):
    with pytest.raises(InvalidParameter, match=message):
        SecretLaws(laws, pairs)
