"""What every flavor must satisfy. A new flavor is one line in `FLAVORS`, and its meaning in conftest.py."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.notation import parse, write
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import ball, exact

Pair = list[tuple[arb, arb]]


# Witnesses: mechanisms that use their promise up


def response(promise: PureDP) -> Pair:
    """Randomized response loses ±ε."""
    lie = 1 / (1 + ball(promise.epsilon).exp())
    return [(1 - lie, lie), (lie, 1 - lie)]


def leaky_response(promise: ApproximateDP) -> Pair:
    """Exposed outright with probability δ, otherwise randomized response."""
    exposed = ball(promise.delta)
    rest = [((1 - exposed) * p, (1 - exposed) * q) for p, q in response(PureDP(promise.epsilon))]
    return [(exposed, arb(0)), *rest, (arb(0), exposed)]


def gaussian_response(promise: ZeroConcentratedDP) -> Pair:
    """Discrete Gaussian noise on a count, P(y) ∝ e^{−ρy²}, together with randomized response for ξ.

    D_α ≤ ρα for the one and ≤ ξ for the other. The window leaves out less than e^{−300} of the masses; ρ ≥ 1e-3.
    """
    if promise.rho == 0:
        return response(PureDP(promise.xi))
    rho = exact(promise.rho)
    reach = math.isqrt(int(300 / rho)) + 50
    weights = {y: (-ball(rho * y * y)).exp() for y in range(-reach - 1, reach + 1)}
    whole = sum(weights.values(), arb(0))
    noise = [(weights[y] / whole, weights[y - 1] / whole) for y in range(-reach, reach + 1)]
    if promise.xi == 0:
        return noise
    return [(p * s, q * t) for (p, q), (s, t) in product(noise, response(PureDP(promise.xi)))]


@dataclass(frozen=True)
class Flavor:
    """A flavor, promises to try (any at all, those of daily life, a few), a mechanism that uses up the daily ones."""

    kind: type[Any]
    any: st.SearchStrategy[Any]
    daily: st.SearchStrategy[Any]
    few: list[Any]
    witness: Callable[[Any], Pair]
    attained: tuple[str, ...]


sizes, daily, few = st.floats(0, 1e6), st.floats(0.01, 3), [0.0, 0.05, 0.3, 1.0, 2.5]
FLAVORS = [
    Flavor(
        PureDP,
        any=st.builds(PureDP, sizes),
        daily=st.builds(PureDP, daily),
        few=[PureDP(epsilon) for epsilon in few],
        witness=response,
        attained=("epsilon",),
    ),
    Flavor(
        ApproximateDP,
        any=st.builds(ApproximateDP, sizes, st.floats(0, 1)),
        daily=st.builds(ApproximateDP, daily, st.floats(1e-12, 0.9)),
        few=[ApproximateDP(epsilon, delta) for epsilon, delta in product(few, [0.0, 1e-6, 0.1, 0.4, 1.0])],
        witness=leaky_response,
        attained=("epsilon", "delta"),
    ),
    Flavor(
        ZeroConcentratedDP,
        any=st.builds(ZeroConcentratedDP, sizes, xi=sizes),
        daily=st.builds(ZeroConcentratedDP, daily),
        few=[ZeroConcentratedDP(rho, xi=xi) for rho, xi in product(few, [0.0, 0.25, 1.0])],
        witness=gaussian_response,
        attained=("rho",),
    ),
]
ARROWS: list[tuple[Flavor, Callable[[Any, float], Promise]]] = [
    (FLAVORS[0], lambda promise, _: promise.to_approximate()),
    (FLAVORS[0], lambda promise, delta: promise.to_approximate(delta=delta)),
    (FLAVORS[0], lambda promise, _: promise.to_zero_concentrated()),
    (FLAVORS[2], lambda promise, delta: promise.to_approximate(delta=delta)),
]

every_flavor = pytest.mark.parametrize("flavor", FLAVORS, ids=lambda flavor: flavor.kind.__name__)
every_arrow = pytest.mark.parametrize(("flavor", "arrow"), ARROWS)
drawn = st.data()


def parameters(promise: Any) -> list[float]:
    return [getattr(promise, field.name) for field in fields(promise)]


def at_least(promise: Any, other: Any, *, steps: int) -> bool:
    """Parameter by parameter not below the other one, and not more than a number of floats above it."""
    for high, low in zip(parameters(promise), parameters(other), strict=True):
        reached = low
        for _ in range(steps):
            reached = math.nextafter(reached, math.inf)
        if not low <= high <= reached:
            return False
    return True


# Composition


@every_flavor
@given(drawn)
def test_composition_is_commutative_exactly(flavor, data):
    first, second = data.draw(flavor.any), data.draw(flavor.any)
    assert first + second == second + first


@every_flavor
@given(drawn)
def test_many_parts_compose_in_any_order_exactly(flavor, data):
    parts = data.draw(st.lists(flavor.any, max_size=6))
    assert flavor.kind.compose(parts) == flavor.kind.compose(data.draw(st.permutations(parts)))


@every_flavor
@given(drawn)
def test_composition_is_associative_up_to_outward_rounding(flavor, data):
    """Rounding once is best: each further sum may round up again, by one float of its own."""
    a, b, c = (data.draw(flavor.any) for _ in range(3))
    once = flavor.kind.compose([a, b, c])
    assert at_least((a + b) + c, once, steps=2)
    assert at_least(a + (b + c), once, steps=2)


@every_flavor
@given(drawn)
def test_composition_of_decimals_is_associative_exactly(flavor, data):
    """Thousandths add up as on paper: no rounding happens."""
    size = len(fields(flavor.kind))
    numbers = st.lists(st.integers(0, 300).map(lambda n: n / 1000), min_size=size, max_size=size)
    names = [field.name for field in fields(flavor.kind)]
    a, b, c = (flavor.kind(**dict(zip(names, data.draw(numbers), strict=True))) for _ in range(3))
    assert (a + b) + c == a + (b + c) == flavor.kind.compose([a, b, c])


@every_flavor
@given(drawn, st.integers(1, 40))
def test_repetition_is_the_sum(flavor, data, times):
    promise = data.draw(flavor.any)
    assert promise * times == flavor.kind.compose([promise] * times)


@every_flavor
@given(drawn)
def test_nothing_is_neutral(flavor, data):
    promise = data.draw(flavor.any)
    assert promise + flavor.kind.compose([]) == promise == flavor.kind.compose([promise])


@every_flavor
@given(drawn)
def test_a_part_covers_the_whole(flavor, data):
    first, second = data.draw(flavor.any), data.draw(flavor.any)
    assert first.covers(first + second)


@every_flavor
def test_two_witnesses_keep_the_sum(flavor, keeps):
    def together(first: Pair, second: Pair) -> Pair:
        return [(p * s, q * t) for (p, q), (s, t) in product(first, second)]

    for first, second in product(flavor.few[1::2], flavor.few[::3]):
        laws = flavor.witness(first), flavor.witness(second)
        if len(laws[0]) * len(laws[1]) < 1500:  # two laws on hundreds of integers each would take long
            assert keeps(lambda a=first, b=second: together(flavor.witness(a), flavor.witness(b)), first + second)


# Groups


@every_flavor
@given(drawn)
def test_a_group_of_one_is_one(flavor, data):
    promise = data.draw(flavor.any)
    assert promise.for_group(1) == promise


@every_flavor
@given(drawn, st.integers(1, 5), st.integers(1, 5))
def test_a_group_of_groups_is_never_promised_more(flavor, data, size, number):
    promise = data.draw(flavor.daily)
    direct, nested = promise.for_group(size * number), promise.for_group(size).for_group(number)
    assert all(low <= high for low, high in zip(parameters(direct), parameters(nested), strict=True))


@every_flavor
@given(drawn, st.integers(1, 6))
def test_a_larger_group_is_promised_less(flavor, data, size):
    promise = data.draw(flavor.daily)
    assert promise.for_group(size).covers(promise.for_group(size + 1))


# What is implied


@every_flavor
@given(drawn)
def test_a_promise_covers_itself(flavor, data):
    promise = data.draw(flavor.any)
    assert promise.covers(promise)


ALL = [promise for flavor in FLAVORS for promise in flavor.few]


def test_covering_is_transitive():
    covered = {promise: {other for other in ALL if promise.covers(other)} for promise in ALL}
    assert all(covered[other] <= covered[promise] for promise in ALL for other in covered[promise])
    assert sum(map(len, covered.values())) > 3 * len(ALL)  # there was something to try


@every_flavor
def test_covering_both_ways_means_equal(flavor):
    """Except where δ = 1: then nothing is promised, whatever ε says."""
    meant = [promise for promise in flavor.few if getattr(promise, "delta", 0.0) < 1.0]
    both_ways = [(a, b) for a, b in product(meant, repeat=2) if a.covers(b) and b.covers(a)]
    assert both_ways == [(a, a) for a in meant]


@every_flavor
def test_the_witness_keeps_whatever_is_covered(flavor, keeps):
    for promise, other in product(flavor.few, ALL):
        if promise.covers(other):
            assert keeps(partial(flavor.witness, promise), other), (promise, other)


@every_flavor
@settings(max_examples=40)
@given(drawn)
def test_the_witness_keeps_its_promise_and_nothing_better(flavor, keeps, data):
    """A parameter that is smaller by a millionth is too small: the meaning in conftest.py can say no."""
    promise = data.draw(flavor.daily)
    assert keeps(partial(flavor.witness, promise), promise)
    for name in flavor.attained:
        better = replace(promise, **{name: getattr(promise, name) * (1 - 1e-6)})
        assert not keeps(partial(flavor.witness, promise), better)


# Arrows


@every_arrow
@given(drawn, st.floats(1e-12, 0.5))
def test_the_witness_keeps_every_arrow(flavor, arrow, keeps, data, delta):
    promise = data.draw(flavor.daily)
    assert keeps(partial(flavor.witness, promise), arrow(promise, delta))


@every_arrow
@given(drawn, st.floats(1e-12, 0.5))
def test_a_promise_covers_what_its_arrows_lead_to(flavor, arrow, data, delta):
    promise = data.draw(flavor.daily)
    assert promise.covers(arrow(promise, delta))


@every_arrow
@given(drawn, st.floats(1e-12, 0.5))
def test_arrows_respect_what_is_implied(flavor, arrow, data, delta):
    first, second = data.draw(flavor.daily), data.draw(flavor.daily)
    assert arrow(first, delta).covers(arrow(first + second, delta))


# Prices


@every_flavor
@given(drawn, st.lists(st.integers(1, 1000), min_size=1, max_size=8))
def test_shares_compose_to_at_most_the_whole_and_hardly_less(flavor, data, weights):
    promise = data.draw(flavor.any)
    whole = flavor.kind.compose([promise.share(Fraction(weight, sum(weights))) for weight in weights])
    for paid, most in zip(parameters(whole), parameters(promise), strict=True):
        assert paid <= most
        # Subnormal floats print with few digits, so that what they stand for is coarser than their spacing.
        assert most < sys.float_info.min or most - len(weights) * math.ulp(most) <= paid


@every_flavor
@given(drawn)
def test_a_whole_share_is_the_promise(flavor, data):
    promise = data.draw(flavor.any)
    assert promise.share(Fraction(1)) == promise
    assert promise.share(Fraction(0)) == flavor.kind.compose([])


# Form


@every_flavor
@given(drawn)
def test_promises_are_values(flavor, data):
    promise = data.draw(flavor.any)
    assert parse(write(promise)) == promise
    assert eval(repr(promise), {flavor.kind.__name__: flavor.kind}) == promise
    assert hash(promise) == hash(parse(write(promise)))
    with pytest.raises(AttributeError):
        setattr(promise, fields(promise)[0].name, 0.0)


@every_flavor
@pytest.mark.parametrize("times", [0, -1, 1.5, True])
def test_only_whole_numbers_count(flavor, times):
    with pytest.raises(InvalidPromise):
        flavor.few[-1] * times
    with pytest.raises(InvalidPromise):
        flavor.few[-1].for_group(times)


@pytest.mark.parametrize(("first", "second"), [(a, b) for a, b in product(FLAVORS, repeat=2) if a is not b])
def test_flavors_do_not_add(first, second):
    with pytest.raises(IncompatiblePromises, match=first.kind.__name__):
        first.few[-1] + second.few[-1]
