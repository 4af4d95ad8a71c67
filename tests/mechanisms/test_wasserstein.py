"""The Wasserstein mechanism: the published example, exact verification, and twins with too little noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr import audit
from sitr.errors import IncompatiblePromises, InvalidParameter
from sitr.flavors.pufferfish import Pufferfish
from sitr.mechanisms.composed import Repeated
from sitr.mechanisms.wasserstein import Wasserstein
from sitr.noise.coins import TestCoins
from sitr.numbers import Number
from sitr.sensitivity.secrets import SecretLaws
from tests.oracles.series import noisy

CASES = (0.1, 0.15, 0.5, 0.15, 0.1)
"""How many of four people are ill: all equally likely to be among them."""


def clique() -> SecretLaws:
    worlds = {}
    for world in product((0, 1), repeat=4):
        ill = sum(world)
        worlds[world] = Fraction(str(CASES[ill])) / math.comb(4, ill)
    secrets = {"ill": [w for w in worlds if w[0]], "well": [w for w in worlds if not w[0]]}
    return SecretLaws.of(sum, priors={"flu": worlds}, secrets=secrets)


def test_the_published_example():
    """W = 2, where noise for a group of four would need 4."""
    laws = dict(dict(clique().laws)["flu"])
    assert laws["well"] == tuple(
        zip(map(Fraction, range(4)), map(Fraction, ("0.2", "0.225", "0.5", "0.075")), strict=True)
    )
    assert laws["ill"] == tuple(
        zip(map(Fraction, range(1, 5)), map(Fraction, ("0.075", "0.5", "0.225", "0.2")), strict=True)
    )
    mechanism = Wasserstein(clique(), 1)
    assert mechanism.distance == 2
    assert mechanism.noise.scale == 2


def verified(secrets: SecretLaws, scale: Fraction):
    """The exact table: values as inputs, and the laws given secrets as priors on them."""
    values = [int(value) for value in secrets.values]
    table = [noisy(value, scale=scale, reach=max(map(abs, values)) + 1) for value in values]
    names = {value: str(place) for place, value in enumerate(values, start=1)}
    found = []
    for _, _, one, other in secrets.compared:
        # Secrets are events of the pair (secret, value): two copies of the table.
        size = len(values)
        halves = [Fraction(0)] * (2 * size)
        for start, law in ((0, one), (size, other)):
            for value, p in law:
                halves[start + int(names[int(value)]) - 1] += p / 2
        told = {"one": [str(n) for n in range(1, size + 1)], "other": [str(n) for n in range(size + 1, 2 * size + 1)]}
        found.append(audit.pufferfish(table * 2, priors=[halves], secrets=told))
    return found


def test_the_example_is_kept_and_less_noise_is_not():
    mechanism = Wasserstein(clique(), 1)
    for scale, verdict in ((mechanism.noise.scale, "kept"), (Fraction(1, 2), "broken")):
        (found,) = verified(clique(), Fraction(scale))
        assert found.verify(mechanism.promise()).verdict.value == verdict


laws = st.dictionaries(st.integers(0, 5), st.integers(1, 9), min_size=1, max_size=4).map(
    lambda law: {value: Fraction(weight, sum(law.values())) for value, weight in law.items()}
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(laws, laws), min_size=1, max_size=3), st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)])
)
def test_the_promise_holds_for_all_priors(several, epsilon):
    secrets = SecretLaws({f"prior {n}": {"a": one, "b": other} for n, (one, other) in enumerate(several)})
    mechanism = Wasserstein(secrets, epsilon)
    for found in verified(secrets, Fraction(mechanism.noise.scale)):
        assert found.epsilon().upper <= float(epsilon) * (1 + 1e-12)


def test_noise_for_one_prior_is_caught():
    """The broken twin: W of the first prior only."""
    both: Mapping[str, Mapping[str, Mapping[Number, Number]]] = {
        "near": {"a": {0: 1}, "b": {1: 1}},
        "far": {"a": {0: 1}, "b": {5: 1}},
    }
    one = Wasserstein(SecretLaws({"near": both["near"]}), 1)
    assert Wasserstein(SecretLaws(both), 1).distance == 5
    near, far = verified(SecretLaws(both), Fraction(one.noise.scale))
    assert near.verify(one.promise()).verdict.value == "kept"
    assert far.epsilon().lower > 4.9
    assert far.verify(one.promise()).verdict.value == "broken"


def test_the_mean_distance_would_not_do():
    """The broken twin: W_1 instead of W_∞ ignores a rare value that is far away."""
    rare = SecretLaws({"prior": {"a": {0: 1}, "b": {0: 0.9, 5: 0.1}}})
    assert rare.distance == 5
    (found,) = verified(rare, Fraction(1, 2))  # the mean distance
    assert found.epsilon().lower > 5


def test_twice_is_refused():
    mechanism = Wasserstein(clique(), 1)
    with pytest.raises(IncompatiblePromises, match="may reveal a secret that each of them hides"):
        Repeated(mechanism, 2).promise()
    assert Repeated(mechanism, 1).promise() == mechanism.promise()
    assert mechanism.loss() is None  # type: ignore[func-returns-value]


def test_why_twice_is_refused():
    """One bit hidden by the other: each answer by itself has the same law whatever the secret is, but both tell it.

    A fair key k is in the data. The first answer is k, and the second is secret + k.
    """
    table = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]  # (secret, k) ↦ secret + k modulo 2
    key = [[1, 0], [0, 1], [1, 0], [0, 1]]
    told: dict[str, Any] = {"priors": [[0.25] * 4], "secrets": {"0": ["1", "2"], "1": ["3", "4"]}}
    assert audit.pufferfish(table, **told).epsilon().upper == 0
    assert audit.pufferfish(key, **told).epsilon().upper == 0
    both = [[a * b for a in one for b in other] for one, other in zip(table, key, strict=True)]
    assert audit.pufferfish(both, **told).epsilon().upper == math.inf


def test_equal_laws_get_noise_of_one_granule():
    same = SecretLaws({"prior": {"a": {0: 0.5, 2: 0.5}, "b": {0: 0.5, 2: 0.5}}})
    assert same.distance == 0
    assert Wasserstein(same, 2, granularity=0.5).noise.scale == Fraction(1, 4)


def test_answers_are_on_the_grid_and_follow_the_coins():
    halves = SecretLaws({"prior": {"a": {0: 0.5, 0.5: 0.5}, "b": {0.5: 0.5, 1: 0.5}}})
    mechanism = Wasserstein(halves, 1, granularity=0.5)
    assert mechanism.distance == Fraction(1, 2)
    answers = {mechanism.release(Fraction(1, 2), coins=TestCoins(seed)) for seed in range(40)}
    assert len(answers) > 2
    assert {(answer * 2).denominator for answer in answers} == {1}
    assert mechanism.release(Fraction(1, 2), coins=TestCoins(1)) == mechanism.release(
        Fraction(1, 2), coins=TestCoins(1)
    )
    assert mechanism.error() == mechanism.noise.error(confidence=0.95)
    with pytest.raises(InvalidParameter):
        mechanism.release(0.3)


def test_values_between_two_multiples_are_refused():
    with pytest.raises(InvalidParameter, match="multiples of the granularity"):
        Wasserstein(SecretLaws({"prior": {"a": {0: 1}, "b": {0.5: 1}}}), 1)


def test_the_promise_says_who_is_protected_against_what():
    promise = Wasserstein(clique(), 0.5).promise()
    assert isinstance(promise, Pufferfish)
    assert promise.epsilon == 0.5
    assert promise.framework.secrets == "ill or well"
    assert promise.framework.priors.startswith("flu [")
    assert promise.framework.series == ""
    other = SecretLaws({"flu": {"ill": {1: 1}, "well": {0: 1}}})
    assert Wasserstein(other, 0.5).promise().framework != promise.framework
    many = SecretLaws({f"p\n{n}": {f"secret {m}": {m: 1} for m in range(9)} for n in range(9)})
    assert "and 33 more" in Wasserstein(many, 1).promise().framework.secrets
