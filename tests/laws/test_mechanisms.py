"""What every mechanism must satisfy. A new mechanism is one line in `MECHANISMS`."""

from __future__ import annotations

import math
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

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.bounds import ball, exact
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.threshold import Threshold
from sitr.noise.coins import TestCoins

Pair = list[tuple[arb, arb]]


# Exact laws of the answers on the two tables that are worst


def shifted(exponent: Callable[[int], Fraction], *, reach: int, shift: int) -> Pair:
    """P(y) ∝ e^{−exponent(y)} on a window, and the same law moved by `shift`."""
    weights = {y: (-ball(exponent(y))).exp() for y in range(-reach - shift, reach + shift + 1)}
    whole = sum(weights.values(), arb(0))
    return [(weights[y] / whole, weights[y - shift] / whole) for y in range(-reach, reach + shift + 1)]


def laplace(mechanism: Laplace) -> Pair:
    """All in one number; the window leaves out less than e^{−150} of the masses, and no larger loss."""
    scale, shift = exact(mechanism.scale), int(mechanism.sensitivity)
    return shifted(lambda y: abs(y) / scale, reach=math.ceil(150 * scale) + shift, shift=shift)


def gaussian(mechanism: Gaussian) -> Pair:
    """All in one number; 25σ leave out less than e^{−300}, also of moments of order 40 around −40·shift."""
    variance, shift = exact(mechanism.sigma) ** 2, int(mechanism.sensitivity)
    reach = math.ceil(25 * exact(mechanism.sigma)) + 40 * shift
    return shifted(lambda y: y * y / (2 * variance), reach=reach, shift=shift)


def threshold(mechanism: Threshold) -> Pair:
    """A unit alone with every one of its keys: it is seen, or nothing is; without it there is nothing to see."""
    q = (-ball(1 / exact(mechanism.noise.scale))).exp()
    hidden = (1 - q ** (mechanism.least - 1) / (1 + q)) ** mechanism.groups
    return [(1 - hidden, arb(0)), (hidden, arb(1))]


@dataclass(frozen=True)
class Case:
    """A mechanism: examples, its worst pair, which parameters of its promise that pair uses up, and how to fit it."""

    any: st.SearchStrategy[Any]
    worst: Callable[[Any], Pair]
    attained: tuple[str, ...]
    fitting: Callable[[Any, int], Any]
    prices: st.SearchStrategy[Any]


scales, shifts, sizes = st.fractions(Fraction(1, 2), 3), st.integers(1, 3), st.floats(1e-9, 1e6)
MECHANISMS = {
    "Laplace": Case(
        any=st.builds(Laplace, scales, shifts),
        worst=laplace,
        attained=("epsilon",),
        fitting=lambda price, moved: Laplace.fitting(price, sensitivity=moved),
        prices=st.builds(PureDP, sizes),
    ),
    "Gaussian": Case(
        any=st.builds(Gaussian, scales, shifts),
        worst=gaussian,
        attained=("rho",),
        fitting=lambda price, moved: Gaussian.fitting(price, sensitivity=moved),
        prices=st.builds(ZeroConcentratedDP, sizes),
    ),
    "Threshold": Case(
        any=st.builds(
            lambda scale, groups, more: Threshold(Laplace(scale, groups), groups, 3 * math.ceil(scale) + more),
            scales,
            shifts,
            st.integers(3, 20),
        ),
        worst=threshold,
        attained=("delta",),
        fitting=lambda price, moved: Threshold.fitting(price, sensitivity=moved, groups=min(moved, 50)),
        prices=st.builds(ApproximateDP, st.floats(1e-9, 100), st.floats(1e-30, 0.9)),
    ),
}

every_mechanism = pytest.mark.parametrize("case", MECHANISMS.values(), ids=MECHANISMS)
drawn = st.data()


@every_mechanism
@settings(max_examples=30)
@given(drawn)
def test_the_loss_keeps_the_promise_and_no_smaller_one(case, keeps, data):
    """Two-sided, so that a dropped factor fails; the other ways for neighbours to differ are in tests/mechanisms."""
    mechanism = data.draw(case.any)
    promise = mechanism.promise()
    assert keeps(partial(case.worst, mechanism), promise)
    for name in case.attained:
        smaller = replace(promise, **{name: getattr(promise, name) * (1 - 1e-6)})
        assert not keeps(partial(case.worst, mechanism), smaller)


@every_mechanism
@settings(max_examples=30)
@given(drawn)
def test_what_the_promise_covers_is_kept(case, keeps, data):
    mechanism = data.draw(case.any)
    promise = mechanism.promise()
    weaker = [PureDP(1.0), ApproximateDP(1.0, 1e-3), ApproximateDP(0.0, 0.7), ZeroConcentratedDP(0.5)]
    for other in weaker:
        if promise.covers(other):
            assert keeps(partial(case.worst, mechanism), other)


@every_mechanism
@given(drawn, st.integers(1, 30))
def test_repetition_is_the_sum(case, data, times):
    mechanism = data.draw(case.any)
    promise = mechanism.promise()
    together = Repeated(mechanism, times).promise()
    assert together == Composed((mechanism,) * times).promise() == promise * times
    assert together == type(promise).compose([promise] * times)


@pytest.mark.parametrize("name", ["Laplace", "Threshold"])
@given(drawn)
def test_two_releases_keep_the_sum(name, keeps, data):
    """The Gaussian's windows are too wide to multiply; its moments add by independence."""
    case = MECHANISMS[name]
    first, second = (data.draw(st.builds(Laplace, st.just(Fraction(1, 2)), shifts)), data.draw(case.any))
    law = lambda: [(p * s, q * t) for (p, q), (s, t) in product(coarse(laplace(first)), coarse(case.worst(second)))]  # noqa: E731
    assert keeps(law, Composed((first, second)).promise())


def coarse(pair: Pair) -> Pair:
    """Outcomes of one likelihood ratio are one outcome."""
    classes: dict[object, tuple[arb, arb]] = {}
    for p, q in pair:
        ratio = None if q == 0 else round(float((p / q).log()), 9)
        before = classes.get(ratio, (arb(0), arb(0)))
        classes[ratio] = (before[0] + p, before[1] + q)
    return list(classes.values())


@every_mechanism
@given(drawn, st.sampled_from([1, 2, 7, 10**6, 10**15]))
def test_what_is_fitted_stays_within_the_price_and_uses_it(case, data, moved):
    price = data.draw(case.prices)
    paid = case.fitting(price, moved).promise()
    assert type(paid) is type(price)
    assert paid.covers(price)
    for field in fields(price):
        asked, got = getattr(price, field.name), getattr(paid, field.name)
        assert got <= asked
        if field.name != "delta":  # a threshold is a whole number: it need not meet δ
            assert got >= asked * (1 - 1e-12)


@every_mechanism
@given(drawn)
def test_mechanisms_are_values(case, data):
    mechanism = data.draw(case.any)
    assert mechanism == replace(mechanism)
    assert hash(mechanism) == hash(replace(mechanism))
    with pytest.raises(AttributeError):
        setattr(mechanism, fields(mechanism)[0].name, 1)


@every_mechanism
@given(drawn, st.lists(st.integers(-(10**30), 10**30), max_size=5))
def test_every_value_gets_an_answer_of_its_own(case, data, values):
    mechanism = data.draw(case.any)
    answers = mechanism.release(values, coins=TestCoins(7))
    assert len(answers) == len(values)
    # Noise of scale 3 beyond 1000 has a probability below 1e-100.
    assert all(answer is None or abs(answer - value) < 1000 for answer, value in zip(answers, values, strict=True))
    assert answers == mechanism.release(values, coins=TestCoins(7))
