"""What every flavor must satisfy. A new flavor is one entry of `FLAVORS`, and one case of the oracle in conftest.py."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import sitr.flavors
from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import express
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import parse, write
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Framework, Pufferfish
from sitr.flavors.pure import PureDP, ResponseCurve
from sitr.flavors.random import Basis, RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.numbers import ball, exact, upward
from tests.laws import walk

Pair = list[tuple[arb, arb]]

ORDERS = [1.01, 1.5, 2.0, 3.0, 10.0, 40.0]


# Witnesses: mechanisms that use their promise up


def together(first: Pair, second: Pair) -> Pair:
    return [(p * s, q * t) for (p, q), (s, t) in product(first, second)]


def response(promise: PureDP) -> Pair:
    """Randomized response loses ±ε."""
    lie = 1 / (1 + ball(promise.epsilon).exp())
    return [(1 - lie, lie), (lie, 1 - lie)]


def leaky_response(promise: ApproximateDP) -> Pair:
    """Exposed outright with probability δ, otherwise randomized response."""
    exposed = ball(promise.delta)
    rest = [((1 - exposed) * p, (1 - exposed) * q) for p, q in response(PureDP(promise.epsilon))]
    return [(exposed, arb(0)), *rest, (arb(0), exposed)]


def worst_pair(promise: PrivacyProfile) -> Pair:
    """The pair whose δ is the lower convex envelope of the points in t = e^ε, with their mirror images and (0, 1)."""
    points = [(ball(epsilon).exp(), ball(delta)) for epsilon, delta in promise.points]
    corners = [*((1 / t, 1 - (1 - delta) / t) for t, delta in points), *points]
    hull = [(arb(0), arb(1))]
    while further := [corner for corner in corners if corner[0] > hull[-1][0]]:
        t, delta = hull[-1]
        hull.append(min(further, key=lambda corner: (corner[1] - delta) / (corner[0] - t)))  # the steepest fall
    slopes = [(b - a) / (u - t) for (t, a), (u, b) in pairwise(hull)]
    bends = [after - before for before, after in pairwise([*slopes, arb(0)])]
    exposed = hull[-1][1]
    told = [(t * bend, bend) for (t, _), bend in zip(hull[1:], bends, strict=True)]
    return [(exposed, arb(0)), *told, (arb(0), exposed)]


def discrete_gaussian(rho: Fraction) -> Pair:
    """Discrete Gaussian noise on a count, P(y) ∝ e^{−ρy²}: D_α ≤ ρα, with equality at whole α.

    Its loss is ρ(1 − 2y): mean ρ, and subgaussian with τ² = 2ρ. The window leaves out less than e^{−300}; ρ ≥ 1e-4.
    """
    if rho == 0:
        return [(arb(1), arb(1))]
    reach = math.isqrt(int(300 / rho)) + 50
    weights = {y: (-ball(rho * y * y)).exp() for y in range(-reach - 1, reach + 1)}
    whole = sum(weights.values(), arb(0))
    return [(weights[y] / whole, weights[y - 1] / whole) for y in range(-reach, reach + 1)]


def gaussian_response(promise: ZeroConcentratedDP) -> Pair:
    """Discrete Gaussian noise together with randomized response for ξ: D_α ≤ ρα for the one and ≤ ξ for the other."""
    noise = discrete_gaussian(exact(promise.rho))
    return together(noise, response(PureDP(promise.xi))) if promise.xi else noise


def leaky_gaussian(promise: ApproximateZeroConcentratedDP) -> Pair:
    """Exposed outright with probability δ, otherwise discrete Gaussian noise."""
    exposed = ball(promise.delta)
    rest = [((1 - exposed) * p, (1 - exposed) * q) for p, q in discrete_gaussian(exact(promise.rho))]
    return [(exposed, arb(0)), *rest, (arb(0), exposed)]


def concentrated_gaussian(promise: ConcentratedDP) -> Pair:
    return discrete_gaussian(min(exact(promise.mu), exact(promise.tau) ** 2 / 2))


def moment_gaussian(promise: RenyiDP) -> Pair:
    """The largest ρ with ρα below the promise at the orders in use here."""
    if isinstance(promise.curve, ResponseCurve):
        return response(PureDP(promise.curve.epsilon))
    bounds = [(exact(order), promise.curve(order)) for order in ORDERS]
    return discrete_gaussian(min(exact(bound) / order for order, bound in bounds if math.isfinite(bound)))


def binned_gaussian(promise: GaussianDP) -> Pair:
    """N(μ, 1) and N(0, 1), of which only a bin is told; the best tests at the ε of conftest.py need no more."""
    if promise.mu == 0:
        return [(arb(1), arb(1))]
    mu = ball(promise.mu)
    edges = [mu / 2 + ball(epsilon) / mu for epsilon in (-8, -3, -1, -0.3, -0.1, 0, 0.1, 0.3, 1, 3, 8)]

    def bins(centre: Any) -> list[arb]:
        beyond = [arb(1), *(((edge - centre) / arb(2).sqrt()).erfc() / 2 for edge in edges), arb(0)]
        return [more - less for more, less in pairwise(beyond)]

    return list(zip(bins(mu), bins(0), strict=True))


def random_response(promise: RandomDP) -> Pair:
    """A mechanism that uses up the inner promise on every pair of draws."""
    assert isinstance(promise.inner, PureDP)
    return response(promise.inner)


def secret_response(promise: Pufferfish) -> Pair:
    """Randomized response about which of two secrets is true."""
    return response(PureDP(promise.epsilon))


def limited_response(promise: ComputationalDP) -> Pair:
    """The same mechanism, whose coins an attacker cannot tell from random ones."""
    assert isinstance(promise.inner, PureDP)
    return response(promise.inner)


@dataclass(frozen=True)
class Flavor:
    """A flavor and promises to try: any at all, those of daily life, a few.

    The witness uses up the daily ones, and breaks those that are better by so little. A sum may round up so often.
    Where not all daily promises extend to groups, `grouped` are some that do; where none does, it is empty.
    """

    kind: type[Any]
    any: st.SearchStrategy[Any]
    daily: st.SearchStrategy[Any]
    few: list[Any]
    witness: Callable[[Any], Pair]
    better: Callable[[Any], list[Any]]
    roundings: int = 2
    grouped: st.SearchStrategy[Any] | None = None

    @property
    def groups(self) -> st.SearchStrategy[Any]:
        return self.daily if self.grouped is None else self.grouped


def smaller(*names: str) -> Callable[[Any], list[Any]]:
    """Each of these parameters smaller by a millionth."""
    return lambda promise: [replace(promise, **{name: getattr(promise, name) * (1 - 1e-6)}) for name in names]


def line(rho: float, orders: set[float]) -> RenyiDP:
    return RenyiDP.at({order: upward(exact(rho) * exact(order)) for order in orders})


def named_exceptions(inner: Promise, gamma: float, basis: Basis) -> RandomDP:
    return RandomDP(inner, gamma, basis, parts=(("newcomer", gamma * 0.5), ("gate", gamma * 0.25)))


def two_points(epsilon: float, more: float, delta: float, share: float) -> PrivacyProfile:
    return PrivacyProfile(((epsilon, delta), (epsilon + more, delta * share)))


CHAIN = Framework("which of 2 states a series of 100 is in", "one Markov chain", series="0123abcd")
HOUSES = Framework("whether one person is ill", "illness is contagious")
sizes, daily, few = st.floats(0, 1e6), st.floats(0.01, 3), [0.0, 0.05, 0.3, 1.0, 2.5]
FLAVORS = [
    Flavor(
        PureDP,
        any=st.builds(PureDP, sizes),
        daily=st.builds(PureDP, daily),
        few=[PureDP(epsilon) for epsilon in [*few, 20.0]],
        witness=response,
        better=smaller("epsilon"),
    ),
    Flavor(
        ApproximateDP,
        any=st.builds(ApproximateDP, sizes, st.floats(0, 1)),
        daily=st.builds(ApproximateDP, daily, st.floats(1e-12, 0.9)),
        few=[ApproximateDP(epsilon, delta) for epsilon, delta in product(few, [0.0, 1e-6, 0.1, 0.4, 1.0])],
        witness=leaky_response,
        better=smaller("epsilon", "delta"),
    ),
    Flavor(
        PrivacyProfile,
        any=st.lists(st.tuples(st.floats(0, 20), st.floats(0, 1)), min_size=1, max_size=3).map(
            lambda points: PrivacyProfile(tuple(points))
        ),
        daily=st.builds(two_points, st.floats(0.05, 1), st.floats(0.1, 2), st.floats(1e-6, 0.3), st.floats(1e-3, 0.5)),
        few=[
            PrivacyProfile(((0.3, 0.0),)),
            PrivacyProfile(((0.3, 1e-6), (1.0, 0.0))),
            PrivacyProfile(((0.0, 0.3), (0.3, 0.1), (1.0, 1e-3), (2.5, 1e-6))),
            PrivacyProfile(((0.05, 0.1),)),
            PrivacyProfile(((1.0, 0.4), (20.0, 1e-12))),
        ],
        witness=worst_pair,
        better=lambda promise: [
            PrivacyProfile((*promise.points[:-1], (promise.points[-1][0], promise.points[-1][1] * (1 - 1e-6)))),
            PrivacyProfile((*promise.points[:-1], (promise.points[-1][0] * (1 - 1e-6), promise.points[-1][1]))),
        ],
    ),
    Flavor(
        GaussianDP,
        any=st.builds(GaussianDP, sizes),
        daily=st.builds(GaussianDP, st.floats(0.1, 3)),
        few=[GaussianDP(mu) for mu in [*few, 12.0]],
        witness=binned_gaussian,
        better=smaller("mu"),
        roundings=3,
    ),
    Flavor(
        ConcentratedDP,
        any=st.builds(ConcentratedDP, sizes, sizes, scales_to_groups=st.booleans()),
        daily=st.floats(0.1, 2).map(
            lambda tau: ConcentratedDP(upward(exact(tau) ** 2 / 2), tau, scales_to_groups=True)
        ),
        few=[
            ConcentratedDP(0.0, 0.0),
            ConcentratedDP(0.02, 0.2, scales_to_groups=True),
            ConcentratedDP(0.02, 0.3),
            ConcentratedDP(0.045, 0.3),
            ConcentratedDP(0.5, 1.0, scales_to_groups=True),
            ConcentratedDP(0.5, 1.0),
            ConcentratedDP(12.5, 20.0, scales_to_groups=True),
        ],
        witness=concentrated_gaussian,
        better=smaller("mu", "tau"),
        roundings=3,
    ),
    Flavor(
        ZeroConcentratedDP,
        any=st.builds(ZeroConcentratedDP, sizes, xi=sizes),
        daily=st.builds(ZeroConcentratedDP, daily),
        few=[ZeroConcentratedDP(rho, xi=xi) for rho, xi in product(few, [0.0, 0.25, 1.0])],
        witness=gaussian_response,
        better=smaller("rho"),
    ),
    Flavor(
        ApproximateZeroConcentratedDP,
        any=st.builds(ApproximateZeroConcentratedDP, sizes, st.floats(0, 1)),
        daily=st.builds(ApproximateZeroConcentratedDP, daily, st.floats(1e-12, 0.4)),
        few=[ApproximateZeroConcentratedDP(rho, delta) for rho, delta in product(few, [0.0, 1e-6, 0.1, 0.4, 1.0])],
        witness=leaky_gaussian,
        better=smaller("rho", "delta"),
        grouped=st.builds(ApproximateZeroConcentratedDP, daily, st.just(0.0))
        | st.builds(ApproximateZeroConcentratedDP, st.just(0.0), st.floats(1e-12, 0.4)),
    ),
    Flavor(
        RenyiDP,
        any=st.dictionaries(st.sampled_from(ORDERS), sizes, min_size=1).map(RenyiDP.at),
        daily=st.builds(line, daily, st.sets(st.sampled_from([2.0, 3.0, 10.0, 40.0]), min_size=1)),
        few=[
            RenyiDP.at({2: 0.1}),
            RenyiDP.at({2: 0.1, 10: 0.5}),
            RenyiDP.at({3: 1.0, 40: 3.0}),
            RenyiDP.at({1.5: 3.0}),
            ZeroConcentratedDP(0.05).to_renyi(),
            ZeroConcentratedDP(1.0).to_renyi(),
            PureDP(0.3).to_renyi(),
        ],
        witness=moment_gaussian,
        better=lambda promise: [
            RenyiDP.at({**dict(promise.curve.points), order: epsilon * (1 - 1e-6)})
            for order, epsilon in promise.curve.points
        ],
        roundings=6,
    ),
    Flavor(
        RandomDP,
        any=st.builds(named_exceptions, st.builds(PureDP, sizes), st.floats(0, 1), st.sampled_from(Basis)),
        daily=st.builds(named_exceptions, st.builds(PureDP, daily), st.floats(0, 0.9), st.sampled_from(Basis)),
        few=[
            *(RandomDP(PureDP(epsilon), gamma) for epsilon, gamma in product([0.0, 0.3, 1.0], [0.0, 0.01, 0.5])),
            named_exceptions(PureDP(0.3), 0.02, Basis.FINITE_SAMPLE),
            named_exceptions(PureDP(0.3), 0.01, Basis.ASYMPTOTIC),
            named_exceptions(PureDP(1.0), 0.5, Basis.ASYMPTOTIC),
        ],
        witness=random_response,
        better=lambda promise: [replace(promise, inner=PureDP(promise.inner.epsilon * (1 - 1e-6)))],
    ),
    Flavor(
        Pufferfish,
        any=st.builds(Pufferfish, sizes, st.just(CHAIN)),
        daily=st.builds(Pufferfish, daily, st.just(CHAIN)),
        few=[Pufferfish(epsilon, CHAIN) for epsilon in few],
        witness=secret_response,
        better=smaller("epsilon"),
        grouped=st.nothing(),
    ),
    Flavor(
        ComputationalDP,
        any=st.builds(ComputationalDP, st.builds(PureDP, sizes)),
        daily=st.builds(ComputationalDP, st.builds(PureDP, daily)),
        few=[ComputationalDP(PureDP(epsilon)) for epsilon in few],
        witness=limited_response,
        better=lambda promise: [ComputationalDP(PureDP(promise.inner.epsilon * (1 - 1e-6)))],
    ),
]
BY_KIND = {flavor.kind: flavor for flavor in FLAVORS}
ADDITIVE = [BY_KIND[kind] for kind in (PureDP, ApproximateDP, ZeroConcentratedDP, ApproximateZeroConcentratedDP)]
ALL = [promise for flavor in FLAVORS for promise in flavor.few]
NOTHING: dict[Any, Any] = {RandomDP: RandomDP(PureDP(0), 0), Pufferfish: Pufferfish(0, CHAIN)}
NOTHING |= {ComputationalDP: ComputationalDP(PureDP(0))}
NOTHING |= {kind: kind.compose([]) for kind in BY_KIND if kind not in NOTHING}


def beyond(promise: Any, delta: float) -> float:
    """A δ above the probability of an infinite loss, the larger the larger this δ is."""
    above: float = float(promise.delta) + (1 - promise.delta) * delta * 0.5
    return max(delta, above)


Arrow = Callable[[Any, float], Promise]
ARROWS: dict[str, tuple[type[Any], Arrow]] = {
    "pure to approximate": (PureDP, lambda promise, _: promise.to_approximate()),
    "pure to approximate at δ": (PureDP, lambda promise, delta: promise.to_approximate(delta=delta)),
    "pure to concentrated": (PureDP, lambda promise, _: promise.to_concentrated()),
    "pure to concentrated, published": (PureDP, lambda promise, _: promise.to_concentrated_as_published()),
    "pure to zCDP": (PureDP, lambda promise, _: promise.to_zero_concentrated()),
    "pure to Rényi": (PureDP, lambda promise, _: promise.to_renyi()),
    "pure to Gaussian": (PureDP, lambda promise, _: promise.to_gaussian()),
    "profile to approximate": (
        PrivacyProfile,
        lambda promise, delta: promise.to_approximate(delta=max(delta, promise.infinite_mass())),
    ),
    "Gaussian to approximate": (GaussianDP, lambda promise, delta: promise.to_approximate(delta=delta)),
    "Gaussian to zCDP": (GaussianDP, lambda promise, _: promise.to_zero_concentrated()),
    "Gaussian to Rényi": (GaussianDP, lambda promise, _: promise.to_renyi()),
    "concentrated to approximate": (ConcentratedDP, lambda promise, delta: promise.to_approximate(delta=delta)),
    "concentrated to zCDP": (ConcentratedDP, lambda promise, _: promise.to_zero_concentrated()),
    "concentrated to Rényi": (ConcentratedDP, lambda promise, _: promise.to_renyi()),
    "zCDP to approximate": (ZeroConcentratedDP, lambda promise, delta: promise.to_approximate(delta=delta)),
    "zCDP to Rényi": (ZeroConcentratedDP, lambda promise, _: promise.to_renyi()),
    "approximate zCDP to approximate": (
        ApproximateZeroConcentratedDP,
        lambda promise, delta: promise.to_approximate(delta=beyond(promise, delta)),
    ),
    "pure to approximate zCDP": (PureDP, lambda promise, _: express(promise, ApproximateZeroConcentratedDP)),
    "Gaussian to approximate zCDP": (GaussianDP, lambda promise, _: express(promise, ApproximateZeroConcentratedDP)),
    "zCDP to approximate zCDP": (
        ZeroConcentratedDP,
        lambda promise, _: express(promise, ApproximateZeroConcentratedDP),
    ),
    "approximate to approximate zCDP": (
        ApproximateDP,
        lambda promise, _: express(promise, ApproximateZeroConcentratedDP),
    ),
    "Rényi to approximate zCDP at δ": (
        RenyiDP,
        lambda promise, delta: express(promise, ApproximateZeroConcentratedDP, delta=delta),
    ),
    "pure to computational": (PureDP, lambda promise, _: express(promise, ComputationalDP)),
    "zCDP to computational": (ZeroConcentratedDP, lambda promise, _: express(promise, ComputationalDP)),
    "random to computational": (RandomDP, lambda promise, _: express(promise, ComputationalDP)),
    "Rényi to approximate": (RenyiDP, lambda promise, delta: promise.to_approximate(delta=delta)),
    "Rényi to approximate, published": (
        RenyiDP,
        lambda promise, delta: promise.to_approximate_as_published(delta=delta),
    ),
}


@pytest.mark.parametrize("promise", ALL, ids=repr)
def test_only_flavors_that_say_so_expose_anybody_outright(promise: Any) -> None:
    assert type(promise).exposes or promise.infinite_mass() == 0.0


def test_every_flavor_that_exposes_somebody_has_such_a_promise() -> None:
    leaky = ApproximateDP(1.0, 1e-3)
    more = [RandomDP(leaky, 0.1), ComputationalDP(leaky)]  # of these, the inner promise decides
    exposing = {type(promise) for promise in [*ALL, *more] if promise.infinite_mass() > 0}
    assert exposing == {flavor.kind for flavor in FLAVORS if flavor.kind.exposes}


MEANING = ("of", "excess", "kept_by", "worst_loss")


def is_flavor(thing: object) -> bool:
    """Promises to people and to groups of them, and implies others."""
    return isinstance(thing, type) and is_dataclass(thing) and hasattr(thing, "covers") and hasattr(thing, "for_group")


groups = pytest.mark.parametrize(
    "flavor", [flavor for flavor in FLAVORS if not flavor.groups.is_empty], ids=lambda flavor: flavor.kind.__name__
)
every_flavor = pytest.mark.parametrize("flavor", FLAVORS, ids=lambda flavor: flavor.kind.__name__)
additive_flavors = pytest.mark.parametrize("flavor", ADDITIVE, ids=lambda flavor: flavor.kind.__name__)
every_arrow = pytest.mark.parametrize("name", ARROWS)
drawn = st.data()


def numbers(promise: Any) -> list[float]:
    """All that a promise says, each number the worse the larger it is."""
    match promise:
        case RenyiDP():
            return [promise.curve(order) for order in ORDERS]
        case RandomDP():
            return [*numbers(promise.inner), promise.gamma]
        case Pufferfish():
            return [promise.epsilon]
        case ComputationalDP():
            return numbers(promise.inner)
        case PrivacyProfile():
            return [promise.delta(epsilon=epsilon) for epsilon in (0.0, 0.1, 1.0, 5.0, 30.0, 100.0)]
    return [getattr(promise, field.name) for field in fields(promise) if field.name != "scales_to_groups"]


def implies(first: Any, second: Any) -> bool:
    """`covers`, but for two curves without a table, which are compared where the others are."""
    if isinstance(first, RenyiDP) and isinstance(second, RenyiDP):
        return all(low <= high for low, high in zip(numbers(first), numbers(second), strict=True))
    return bool(first.covers(second))


def at_least(promise: Any, other: Any, *, steps: int) -> bool:
    """Number by number not below the other one, and not more than so many floats above it."""
    for high, low in zip(numbers(promise), numbers(other), strict=True):
        reached = low
        for _ in range(steps):
            reached = math.nextafter(reached, math.inf)
        if not low <= high <= reached:
            return False
    return True


@cache
def witness(promise: Any) -> Pair:
    """Always made with the precision of `keeps`."""
    with ctx.workprec(300):
        return BY_KIND[type(promise)].witness(promise)


# Composition


@every_flavor
@given(drawn)
def test_composition_is_commutative_exactly(flavor, data):
    first, second = data.draw(flavor.any), data.draw(flavor.any)
    assert first + second == second + first


@every_flavor
@settings(max_examples=50)
@given(drawn)
def test_many_parts_compose_in_any_order_exactly(flavor, data):
    parts = data.draw(st.lists(flavor.any, min_size=1, max_size=6))
    assert flavor.kind.compose(parts) == flavor.kind.compose(data.draw(st.permutations(parts)))


@pytest.mark.parametrize(
    "flavor",
    [flavor for flavor in FLAVORS if flavor.kind is not PrivacyProfile],
    ids=lambda flavor: flavor.kind.__name__,
)
@given(drawn)
def test_composition_is_associative_up_to_outward_rounding(flavor, data):
    """Rounding once is best: each further sum may round up again, by a float or two of its own."""
    a, b, c = (data.draw(flavor.any) for _ in range(3))
    once = flavor.kind.compose([a, b, c])
    assert at_least((a + b) + c, once, steps=flavor.roundings)
    assert at_least(a + (b + c), once, steps=flavor.roundings)


@settings(max_examples=30)
@given(*[BY_KIND[PrivacyProfile].daily] * 3)
def test_profiles_compose_from_above_up_to_the_lattice(a, b, c):
    """In whatever order, δ is not below that of the worst pairs, and above it by less than the lattice costs.

    A mass split over a step h raises δ by at most h/4: on 256 points for ε ≤ 3, a few times 12/256/4.
    """
    sums = [PrivacyProfile.compose([a, b, c]), (a + b) + c, a + (b + c)]
    with ctx.workprec(300):
        pair = together(together(witness(a), witness(b)), witness(c))
    for epsilon, whole in product((0.0, 0.3, 1.0, 2.0), sums):
        delta = whole.delta(epsilon=epsilon)
        with ctx.workprec(300):
            true = sum(((p - ball(epsilon).exp() * q).nonnegative_part() for p, q in pair), arb(0))
            assert not true > ball(delta)
            assert ball(delta) < true + ball(0.1)


@additive_flavors
@given(drawn)
def test_composition_of_decimals_is_associative_exactly(flavor, data):
    """Thousandths add up as on paper: no rounding happens."""
    size = len(fields(flavor.kind))
    thousandths = st.lists(st.integers(0, 300).map(lambda n: n / 1000), min_size=size, max_size=size)
    names = [field.name for field in fields(flavor.kind)]
    a, b, c = (flavor.kind(**dict(zip(names, data.draw(thousandths), strict=True))) for _ in range(3))
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
    assert promise + NOTHING[flavor.kind] == promise == flavor.kind.compose([promise]) == promise * 1


@every_flavor
@given(drawn)
def test_a_part_covers_the_whole(flavor, data):
    first, second = data.draw(flavor.any), data.draw(flavor.any)
    assert first.covers(first + second)


@every_flavor
def test_two_witnesses_keep_the_sum(flavor, keeps):
    tried = 0
    for first, second in product(flavor.few[1::2], flavor.few[::3]):
        # Two laws on hundreds of integers each would take long.
        if len(witness(first)) * len(witness(second)) < 3000:
            assert keeps(lambda a=first, b=second: together(witness(a), witness(b)), first + second)
            tried += 1
    assert tried


# Groups


@every_flavor
@given(drawn)
def test_a_group_of_one_is_one(flavor, data):
    promise = data.draw(flavor.any)
    assert promise.for_group(1) == promise


@groups
@given(drawn, st.integers(1, 5), st.integers(1, 5))
def test_a_group_of_groups_is_never_promised_more(flavor, data, size, number):
    promise = data.draw(flavor.groups)
    direct, nested = promise.for_group(size * number), promise.for_group(size).for_group(number)
    assert implies(direct, nested)


@groups
@given(drawn, st.integers(1, 6))
def test_a_larger_group_is_promised_less(flavor, data, size):
    promise = data.draw(flavor.groups)
    assert implies(promise.for_group(size), promise.for_group(size + 1))


def test_only_pufferfish_promises_nothing_to_groups():
    assert {flavor.kind for flavor in FLAVORS if flavor.groups.is_empty} == {Pufferfish}
    with pytest.raises(IncompatiblePromises, match="a group of one"):
        Pufferfish(0.5, CHAIN).for_group(2)


# What is implied


@every_flavor
@given(drawn)
def test_a_promise_covers_itself(flavor, data):
    promise = data.draw(flavor.any)
    assert promise.covers(promise)


def test_covering_is_transitive():
    covered = {promise: {other for other in ALL if promise.covers(other)} for promise in ALL}
    broken = [
        (first, second, third)
        for first in ALL
        for second in covered[first]
        for third in covered[second] - covered[first]
    ]
    assert broken == []
    assert sum(map(len, covered.values())) > 10 * len(ALL)  # there was something to try


@every_flavor
def test_covering_both_ways_means_equal(flavor):
    """Except where δ = 1: then nothing is promised, whatever ε says."""
    meant = [promise for promise in flavor.few if getattr(promise, "delta", 0.0) != 1.0]
    both_ways = [(a, b) for a, b in product(meant, repeat=2) if a.covers(b) and b.covers(a)]
    assert both_ways == [(a, a) for a in meant]


@pytest.mark.sampled(5)
@every_flavor
def test_the_witness_keeps_whatever_is_covered(flavor, keeps):
    for promise, other in product(flavor.few, ALL):
        if promise.covers(other):
            assert keeps(partial(witness, promise), other), (promise, other)


@every_flavor
@settings(max_examples=40)
@given(drawn)
def test_the_witness_keeps_its_promise_and_nothing_better(flavor, keeps, data):
    """A parameter that is smaller by a millionth is too small: the meaning in conftest.py can say no."""
    promise = data.draw(flavor.daily)
    assert keeps(partial(witness, promise), promise)
    for better in flavor.better(promise):
        assert not keeps(partial(witness, promise), better)


# Arrows


@pytest.mark.sampled(12)
@every_arrow
@settings(max_examples=60)
@given(drawn, st.floats(1e-12, 0.5))
def test_the_witness_keeps_every_arrow(name, keeps, data, delta):
    kind, arrow = ARROWS[name]
    promise = data.draw(BY_KIND[kind].daily)
    assert keeps(partial(witness, promise), arrow(promise, delta))


@every_arrow
@settings(max_examples=60)
@given(drawn, st.floats(1e-12, 0.5))
def test_a_promise_covers_what_its_arrows_lead_to(name, data, delta):
    kind, arrow = ARROWS[name]
    promise = data.draw(BY_KIND[kind].daily)
    assert promise.covers(arrow(promise, delta))


@pytest.mark.sampled(12)
@every_arrow
@settings(max_examples=60)
@given(drawn, st.floats(1e-12, 0.5))
def test_arrows_respect_what_is_implied(name, data, delta):
    kind, arrow = ARROWS[name]
    first, second = data.draw(BY_KIND[kind].daily), data.draw(BY_KIND[kind].daily)
    whole = first + second
    if kind is PrivacyProfile:
        delta = max(delta, whole.infinite_mass())
    if kind is ApproximateZeroConcentratedDP:
        delta = beyond(whole, delta)  # the same for both
    assert implies(arrow(first, delta), arrow(whole, delta))


# Prices


@additive_flavors
@given(drawn, st.lists(st.integers(1, 1000), min_size=1, max_size=8))
def test_shares_compose_to_at_most_the_whole_and_hardly_less(flavor, data, weights):
    promise = data.draw(flavor.any)
    whole = flavor.kind.compose([promise.share(Fraction(weight, sum(weights))) for weight in weights])
    for paid, most in zip(numbers(whole), numbers(promise), strict=True):
        assert paid <= most
        # Subnormal floats print with few digits, so that what they stand for is coarser than their spacing.
        assert most < sys.float_info.min or most - len(weights) * math.ulp(most) <= paid


@additive_flavors
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
    assert (
        eval(repr(promise), {"Basis": Basis, "Framework": Framework} | {kind.__name__: kind for kind in BY_KIND})
        == promise
    )
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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(a, b, id=f"{a.kind.__name__}+{b.kind.__name__}")
        for a, b in product(FLAVORS, repeat=2)
        if a is not b
    ],
)
def test_flavors_do_not_add(first, second):
    with pytest.raises(IncompatiblePromises, match=first.kind.__name__):
        first.few[-1] + second.few[-1]


def test_profiles_are_added_on_the_coarse_lattice_of_these_tests():
    assert len((PrivacyProfile(((1.0, 1e-3), (2.0, 1e-6))) * 20).points) <= 256  # 1750 on the usual lattice


# None is missing


def test_every_flavor_is_in_this_suite_and_says_what_it_means():
    """Walks the package: a new flavor without laws, without `of` or without `kept_by` fails here."""
    found = walk.having(["covers"])
    assert found == set(BY_KIND)
    assert all(map(is_flavor, found))
    assert {thing for thing in found if not all(hasattr(thing, name) for name in MEANING)} == set()
    assert {name for name in sitr.flavors.__all__ if is_flavor(getattr(sitr.flavors, name))} == {
        kind.__name__ for kind in found
    }


def test_a_flavor_without_a_meaning_would_be_missed():
    """The broken twin: what the walk looks for is what makes a flavor, not what it says of a loss."""

    @dataclass(frozen=True)
    class Silent:
        epsilon: float

        def covers(self, other: object) -> bool:
            return other == self

        def for_group(self, size: int) -> int:
            return size

    assert is_flavor(Silent)
    assert not any(hasattr(Silent, name) for name in MEANING)
