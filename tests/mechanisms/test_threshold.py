"""Both output laws of a threshold on neighbouring tables, computed exactly, for every small pair of tables."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, reject
from hypothesis import strategies as st

from sitr.flavors.approximate import ApproximateDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.threshold import Threshold
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.numbers import Number, ball, exact

BITS = 300
Pair = list[tuple[arb, arb]]
Counts = tuple[int, int]
"""The people of one key in two neighbouring tables; 0 where the table does not have the key at all."""


# Exact laws


def shown(people: int, *, scale: Fraction, least: int, top: int) -> list[arb]:
    """The law of what is shown of one key: nothing, least, …, top − 1, or anything from top on.

    P(Y = y) = (1 − q)/(1 + q)·q^|y|, so from top ≥ people on the rest of the mass is q^{top − people}/(1 + q): nothing
    is cut off. Beyond both counts the ratio of two laws is constant, so that one outcome may stand for all of them.
    """
    if people == 0:
        return [arb(1)] + [arb(0)] * (top - least + 1)
    q = (-ball(1 / scale)).exp()
    masses = [(1 - q) / (1 + q) * q ** abs(y - people) for y in range(least, top)]
    masses.append(q ** (top - people) / (1 + q))
    return [1 - sum(masses, arb(0)), *masses]


def merged(pair: Pair) -> Pair:
    """Outcomes with one and the same likelihood ratio are one outcome: this changes no divergence."""
    classes: dict[object, tuple[arb, arb]] = {}
    for p, q in pair:
        ratio = "none" if q == 0 else "all" if p == 0 else round(float((p / q).log()), 9)
        before = classes.get(ratio, (arb(0), arb(0)))
        classes[ratio] = (before[0] + p, before[1] + q)
    return list(classes.values())


@cache
def key(counts: Counts, scale: Fraction, least: int) -> Pair:
    top = max(least, *counts)
    laws = [shown(people, scale=scale, least=least, top=top) for people in counts]
    return merged([(p, q) for p, q in zip(*laws, strict=True) if not p == q == 0])


def both(first: Pair, second: Pair) -> Pair:
    return merged([(p * s, q * t) for (p, q), (s, t) in product(first, second)])


def hockey_stick(pair: Pair, epsilon: Number) -> arb:
    odds = ball(epsilon).exp()
    return sum(((p - odds * q).nonnegative_part() for p, q in pair), arb(0))


def neighbours(groups: int, least: int, relation: Relation, each: int = 1) -> Iterator[tuple[Counts, ...]]:
    """All ways in which one unit can have its keys: alone, or with few, nearly enough, or more than enough others."""
    others = sorted({0, 1, least - 2, least - 1, least + 2} - {-1})
    keys = [(other + added, other) for other in others for added in range(1, each + 1)]
    units = [unit for size in range(groups + 1) for unit in combinations_with_replacement(keys, size)]
    if relation is Relation.ADD_REMOVE:
        yield from units
    else:  # a key that both have does not change
        yield from (one + tuple((b, a) for a, b in other) for one, other in product(units, repeat=2))


def worst(threshold: Threshold, relation: Relation, *, epsilon: Number, each: int | None = None) -> arb:
    """The largest hockey-stick divergence over all neighbours, in both directions."""
    scale, largest = exact(threshold.noise.scale), arb(0)
    with ctx.workprec(BITS):
        for tables in neighbours(threshold.groups, threshold.least, relation, each or threshold.each):
            pair = reduce(both, (key(counts, scale, threshold.least) for counts in tables), [(arb(1), arb(1))])
            largest = max(largest, hockey_stick(pair, epsilon), hockey_stick([(q, p) for p, q in pair], epsilon))
        return largest


def exceeds(threshold: Threshold, relation: Relation, claimed: ApproximateDP, *, each: int | None = None) -> bool:
    loss = worst(threshold, relation, epsilon=claimed.epsilon, each=each)
    with ctx.workprec(BITS):
        return bool(loss > ball(claimed.delta))


def fitted(epsilon: float, delta: float, groups: int, relation: Relation) -> Threshold:
    moved = groups if relation is Relation.ADD_REMOVE else 2 * groups
    return Threshold.fitting(ApproximateDP(epsilon, delta), sensitivity=moved, groups=groups)


CASES = [
    (1.0, 1e-6, 1, Relation.ADD_REMOVE),
    (1.0, 1e-6, 2, Relation.ADD_REMOVE),
    (3.0, 1e-3, 3, Relation.ADD_REMOVE),
    (0.1, 0.02, 2, Relation.ADD_REMOVE),
    (20.0, 0.3, 3, Relation.ADD_REMOVE),
    (1.0, 1e-6, 1, Relation.REPLACE_ONE),
    (2.0, 1e-3, 2, Relation.REPLACE_ONE),
    (3.0, 0.01, 3, Relation.REPLACE_ONE),
]


# The promise


@pytest.mark.parametrize(("epsilon", "delta", "groups", "relation"), CASES)
def test_the_promise_is_kept_and_no_smaller_delta_would_be(epsilon, delta, groups, relation):
    threshold = fitted(epsilon, delta, groups, relation)
    promise = threshold.promise()
    assert promise.covers(ApproximateDP(epsilon, delta))
    loss = worst(threshold, relation, epsilon=promise.epsilon)
    with ctx.workprec(BITS):
        assert loss <= ball(promise.delta)
        assert loss > ball(promise.delta) * (1 - ball(1e-12))


@pytest.mark.parametrize(("epsilon", "delta", "groups", "relation"), CASES[:3])
def test_epsilon_is_needed_in_full(epsilon, delta, groups, relation):
    threshold = fitted(epsilon, delta, groups, relation)
    assert exceeds(threshold, relation, ApproximateDP(epsilon * 0.99, threshold.promise().delta))


@given(st.fractions(Fraction(1, 4), 10**6), st.integers(1, 50), st.integers(2, 60))
def test_delta_is_the_chance_of_being_exposed(scale, groups, wait):
    """1 − (1 − P(1 + Y ≥ least))^g, with the tail as 1 minus a sum of masses, in 3,000 bits."""
    least = 1 + int(wait * scale) + wait
    try:
        delta = Threshold(noise=Laplace(scale=scale, sensitivity=groups), groups=groups, least=least).promise().delta
    except ValueError:
        reject()  # too low a threshold; see below
    with ctx.workprec(3000):
        q = (-ball(1 / scale)).exp()
        # P(Y ≤ least − 2) = P(Y ≤ 0) + Σ_{1 ≤ y ≤ least − 2} (1 − q)/(1 + q)·q^y, the sum in closed form.
        below = 1 / (1 + q) + (q - q ** (least - 1)) / (1 + q)
        exposed = 1 - below**groups
        assert ball(delta) >= exposed
        assert ball(delta) <= exposed * (1 + ball(1e-13))


# Broken twins, which the same check must reject


@pytest.mark.parametrize(("epsilon", "delta", "groups", "relation"), CASES[:3])
def test_an_off_by_one_is_caught(epsilon, delta, groups, relation):
    """Shown at `least` but accounted for as if only above it: δ of P(1 + Y > least) instead of P(1 + Y ≥ least)."""
    threshold = fitted(epsilon, delta, groups, relation)
    twin = Threshold(threshold.noise, groups, threshold.least + 1)
    assert exceeds(threshold, relation, twin.promise())


def test_a_forgotten_number_of_groups_is_caught():
    threshold = fitted(1.0, 1e-6, 2, Relation.ADD_REMOVE)
    single = Threshold(threshold.noise, 1, threshold.least)
    assert exceeds(threshold, Relation.ADD_REMOVE, single.promise())


def test_a_replaced_unit_counts_twice():
    threshold = fitted(1.0, 1e-6, 1, Relation.ADD_REMOVE)
    assert exceeds(threshold, Relation.REPLACE_ONE, threshold.promise())


# Units with several rows in one key

ROWS = [
    (1.0, 1e-6, 1, 3, Relation.ADD_REMOVE),
    (3.0, 1e-3, 2, 2, Relation.ADD_REMOVE),
    (20.0, 0.3, 2, 4, Relation.ADD_REMOVE),
    (0.5, 0.05, 1, 5, Relation.ADD_REMOVE),
    (2.0, 1e-3, 1, 3, Relation.REPLACE_ONE),
]


@pytest.mark.parametrize(("epsilon", "delta", "groups", "each", "relation"), ROWS)
def test_units_with_several_rows_are_kept_the_promise(epsilon, delta, groups, each, relation):
    """Each key may get any number of rows up to `each`: the whole δ is used, by a unit that is alone with all of them.

    The twin counts one row for each key, with the same noise: then the same tables break the promise.
    """
    moved = groups * each * (1 if relation is Relation.ADD_REMOVE else 2)
    price = ApproximateDP(epsilon, delta)
    threshold = Threshold.fitting(price, sensitivity=moved, groups=groups, each=each)
    promise = threshold.promise()
    assert promise.covers(price)
    assert not exceeds(threshold, relation, promise)
    assert exceeds(threshold, relation, ApproximateDP(promise.epsilon, promise.delta * (1 - 1e-9)))
    twin = Threshold.fitting(price, sensitivity=moved, groups=groups)
    assert twin.least < threshold.least
    assert exceeds(twin, relation, twin.promise(), each=each)
    assert not exceeds(twin, relation, twin.promise())


def test_a_key_that_is_not_shown_may_tell_as_much_as_its_noise():
    """The lowest threshold that passes, and one below, where what is hidden would tell more than the noise."""
    noise, each = Laplace(scale=20, sensitivity=2), 2
    with ctx.workprec(BITS):
        q = (-ball(Fraction(1, 20))).exp()
        least = next(n for n in range(each + 1, 99) if q ** (n - each) / (1 + q) <= 1 - q**each)
    low = Threshold(noise, 1, least, each)
    assert not exceeds(low, Relation.ADD_REMOVE, low.promise())
    with pytest.raises(ValueError, match="seldom passes"):
        Threshold(noise, 1, least - 1, each)
    with ctx.workprec(BITS):
        hidden = 1 - q ** (least - 1 - each) / (1 + q)
        assert -hidden.log() > ball(Fraction(each, 20))


def test_noise_for_fewer_rows_than_a_unit_has_is_refused():
    with pytest.raises(ValueError, match="times each"):
        Threshold(noise=Laplace(scale=2, sensitivity=5), groups=3, least=30, each=2)


def test_integers_of_numpy_do_not_wrap_around():
    numbers: dict[str, Any] = {"groups": np.int8(127), "least": np.int16(2**15 - 1), "each": np.int8(1)}
    made = Threshold(Laplace(30, 127), **numbers)
    assert {type(number) for number in (made.groups, made.least, made.each)} == {int}
    assert made.promise() == Threshold(Laplace(30, 127), groups=127, least=2**15 - 1).promise()
    price = ApproximateDP(1.0, 1e-6)
    many: dict[str, Any] = {"sensitivity": np.int16(1000), "groups": np.int8(100), "each": np.int8(10)}
    assert Threshold.fitting(price, **many) == Threshold.fitting(price, sensitivity=1000, groups=100, each=10)


# The lowest threshold


@given(st.floats(0.01, 20), st.floats(1e-15, 0.5), st.integers(1, 20), st.sampled_from(Relation))
def test_no_lower_threshold_would_do(epsilon, delta, groups, relation):
    """One lower, δ is more than the price, or a key that is *not* shown could tell more than the noise on it."""
    threshold = fitted(epsilon, delta, groups, relation)
    assert threshold.promise().delta <= delta
    assert threshold.promise().epsilon == epsilon
    try:
        lower = Threshold(threshold.noise, groups, threshold.least - 1)
    except ValueError:
        with ctx.workprec(BITS):
            q = (-ball(1 / exact(threshold.noise.scale))).exp()
            single = q ** (threshold.least - 2) / (1 + q) if threshold.least > 2 else arb(1)
            assert single > 1 - q
    else:
        assert lower.promise().delta > delta


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), [(1e-9, 1e-6, 10**15), (1e6, 1e-6, 1), (1.0, 1e-300, 1)])
def test_extreme_parameters_work(epsilon, delta, sensitivity):
    threshold = Threshold.fitting(ApproximateDP(epsilon, delta), sensitivity=sensitivity, groups=1)
    assert threshold.promise().covers(ApproximateDP(epsilon, delta))
    assert threshold.noise.scale == sensitivity / exact(epsilon)


def test_the_known_value():
    """Replace-one, ε = 1, δ = 1e-6: the continuous rule 1 + 2·ln(1/2δ) says 27.24."""
    assert fitted(1.0, 1e-6, 1, Relation.REPLACE_ONE).least == 28


# Refusals


@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_a_threshold_needs_some_delta(delta):
    with pytest.raises(ValueError, match="delta of Threshold to be strictly between 0 and 1"):
        Threshold.fitting(ApproximateDP(1.0, delta), sensitivity=1, groups=1)


def test_a_threshold_needs_some_epsilon():
    with pytest.raises(ValueError, match="epsilon"):
        Threshold.fitting(ApproximateDP(0.0, 1e-6), sensitivity=1, groups=1)


@pytest.mark.parametrize("least", [0, 1, -5, 30.5, None])
def test_impossible_thresholds_are_refused(least):
    with pytest.raises(ValueError, match="a whole number as a threshold that a single person seldom passes"):
        Threshold(noise=Laplace(scale=2, sensitivity=2), groups=1, least=least)


@pytest.mark.parametrize("number", [0, -1, 1.5, True, None])
@pytest.mark.parametrize("name", ["groups", "each"])
def test_groups_and_rows_are_counted(name, number):
    with pytest.raises(ValueError, match=f"{name} of Threshold to be a whole number of at least 1"):
        Threshold(noise=Laplace(scale=2, sensitivity=2), **{"groups": 1, "least": 30, name: number})
    with pytest.raises(ValueError, match=f"{name} of Threshold to be a whole number of at least 1"):
        Threshold.fitting(ApproximateDP(1.0, 1e-6), sensitivity=5, **{"groups": 1, name: number})


def test_noise_for_fewer_groups_than_a_unit_has_is_refused():
    """A unit with three keys moves the counts by three: noise for a distance of one cannot keep its ε."""
    with pytest.raises(ValueError, match="sensitivity"):
        Threshold(noise=Laplace(scale=2, sensitivity=1), groups=3, least=30)


# The release


def test_a_key_is_shown_from_the_threshold_on():
    still = Threshold(noise=Laplace(scale=Fraction(1, 1000)), groups=1, least=10)  # P(Y ≠ 0) < 2e^{−1000}
    assert still.release([1, 9, 10, 11, 10**20]) == [None, None, 10, 11, 10**20]


def test_noise_decides_at_the_border():
    threshold = Threshold(noise=Laplace(scale=2), groups=1, least=30)
    answers = threshold.release([30] * 400, coins=TestCoins(1))
    numbers = [answer for answer in answers if answer is not None]
    # P(Y ≥ 0) = 1/(1 + e^{−1/2}) = 0.62; 400 draws leave [150, 330] with probability below 1e-15.
    assert 150 < len(numbers) < 330
    assert min(numbers) == 30


@pytest.mark.parametrize("confidence", [0.51, 0.75, 0.95, 0.999999])
@pytest.mark.parametrize("scale", [Fraction(1, 3), 2, Fraction(77, 10)])
def test_so_many_people_are_shown_with_this_confidence_and_no_fewer(scale, confidence):
    """P(n + Y ≥ least) = 1 − q^{n − least + 1}/(1 + q) for n ≥ least, q/(1 + q) < ½ for one fewer."""
    threshold = Threshold(noise=Laplace(scale=scale), groups=1, least=60)
    n = threshold.error(confidence=confidence)
    with ctx.workprec(BITS):
        q = (-ball(1 / exact(scale))).exp()
        shown = [1 - q ** (m - 59) / (1 + q) if m >= 60 else q / (1 + q) for m in (n - 1, n)]
        assert shown[0] < ball(confidence) <= shown[1]


def test_a_confidence_below_one_half_is_refused():
    with pytest.raises(ValueError, match="above one half"):
        Threshold(noise=Laplace(scale=2), groups=1, least=30).error(confidence=0.5)


def test_people_are_counted_in_integers():
    with pytest.raises(ValueError, match="noise on integers"):
        Threshold(noise=Laplace(scale=2, granularity=Fraction(1, 2)), groups=1, least=30)
