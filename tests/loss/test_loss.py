from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.optimal_equal import optimal_equal
from sitr.errors import InvalidPromise, WiderThanAsked
from sitr.flavors.approximate import ApproximateDP
from sitr.loss import gaussian, sampled
from sitr.loss.closed import bisected
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import FiniteLaw, pair, response
from sitr.loss.forms.gaussian import GaussianLaw, hockey_stick
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import Law
from sitr.loss.loss import Loss
from sitr.loss.search import DeltaAt, EpsilonAt, answer
from sitr.numbers import exact

DPSGD = PoissonLaw(GaussianLaw(1 / 0.8), 0.01)

# Values from elsewhere


@pytest.mark.parametrize(("delta", "epsilon", "digits"), [(1e-5, 10.05363477, 8), (1e-12, 16.7626, 4)])
def test_a_known_training_run(delta, epsilon, digits):
    half = 0.5 * 10.0**-digits
    for relative in (0.05, 1e-3, 1e-4):
        found = Loss.of(DPSGD, 10_000).epsilon(delta=delta, relative=relative)
        assert found.lower <= epsilon + half
        assert epsilon - half <= found.upper
        assert found.width <= relative * found.upper


@pytest.mark.parametrize(
    ("epsilon", "delta", "times", "total"),
    [(0.1, 1e-8, 100, 1e-5), (1.0, 0.0, 100, 1e-5), (0.3, 1e-3, 7, 0.02), (0.1, 0.0, 10**6, 1e-6)],
)
def test_equal_promises_compose_as_the_optimal_theorem_says(epsilon, delta, times, total):
    exact = optimal_equal(Schedule((Part((ApproximateDP(epsilon, delta),), times=times),)), total)
    found = Loss.of(response(epsilon, infinite=delta), times).epsilon(delta=total)
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    assert found.width <= 1e-3 * found.upper


@pytest.mark.parametrize("mu", [1e-9, 0.01, 1.0, 30.0, 1e5])
@pytest.mark.parametrize("delta", [0.9, 0.1, 1e-5, 1e-100, 1e-300])
def test_gaussians_are_exact(mu, delta, truth):
    found = Loss.of(GaussianLaw(mu)).epsilon(delta=delta)
    m, d = truth.real(mu), truth.real(delta)

    def true(epsilon: float):
        e = truth.real(epsilon)
        if e / m - m / 2 > 1e4:  # beyond, both tails vanish before their difference is known
            return arb(0)
        return truth.normal(m / 2 - e / m) - e.exp() * truth.normal(-m / 2 - e / m)

    assert found.lower == 0.0 or true(found.lower) >= d
    assert not true(found.upper) > d
    assert found.width <= 1e-11 * found.upper


def test_many_gaussians_are_one(truth):
    whole = Loss.of(GaussianLaw(0.3), 9) + Loss.of(GaussianLaw(0.4)) * 9
    assert whole.laws[0][1] == 1
    (law, _), *_ = whole.laws
    assert isinstance(law, GaussianLaw)
    assert law.mu == pytest.approx(1.5, rel=1e-15)
    found = whole.delta(epsilon=2.0)
    mu = (arb(truth.real(0.3)) ** 2 * 9 + truth.real(0.4) ** 2 * 9).sqrt()
    true = truth.normal(mu / 2 - 2 / mu) - arb(2).exp() * truth.normal(-mu / 2 - 2 / mu)
    assert truth.real(found.lower) <= true <= truth.real(found.upper)


# Gaussians composed as if nobody knew that they are one: of a sample of everybody


def hidden(law: Law) -> Law:
    return PoissonLaw(law, 1.0) if isinstance(law, GaussianLaw) else law


@pytest.mark.sampled(4)
@pytest.mark.parametrize("times", [2, 100, 10**6])
@pytest.mark.parametrize("delta", [0.3, 1e-5, 1e-50, 1e-300])
def test_composition_of_hidden_gaussians(times, delta):
    plain = GaussianLaw(1.3 / math.sqrt(times))
    law, true = hidden(plain), Loss.of(plain, times).epsilon(delta=delta)
    for relative in (0.1, 1e-3):
        found, _ = answer(((law, times),), EpsilonAt(delta), relative=relative)
        assert found.lower <= true.upper
        assert true.lower <= found.upper
        assert found.width <= relative * found.upper
    at = true.upper
    found, _ = answer(((law, times),), DeltaAt(at), relative=1e-3)
    assert found.lower <= delta * (1 + 1e-9)
    assert delta * (1 - 1e-9) <= found.upper


# One and two releases of every law

LAWS = [
    LaplaceLaw(1.0),
    LaplaceLaw(0.01),
    DiscreteLaplaceLaw(3.0, 2),
    DiscreteGaussianLaw(0.8, 1),
    response(1.5),
    response(0.5, answers=4),
    pair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
    *(
        PoissonLaw(inner, 0.1, added)
        for inner in (GaussianLaw(1.25), response(1.0), DiscreteGaussianLaw(0.8, 1))
        for added in (False, True)
    ),
]
ONCE = [
    *LAWS,
    GaussianLaw(2.0),
    BoundedRangeLaw(2.0),
    SubsetLaw(GaussianLaw(1.25), 0.2),
    SubsetLaw(LaplaceLaw(1.0), 0.3),
    PoissonLaw(LaplaceLaw(1.0), 0.2),
    PoissonLaw(response(1.0, infinite=0.125), 0.3, added=True),
]


def contains(found, true: arb, truth, nearly: float = 1e-13) -> bool:
    return bool(truth.real(found.lower * (1 - nearly)) <= true <= truth.real(found.upper * (1 + nearly)))


@pytest.mark.parametrize("law", ONCE, ids=str)
def test_one_release(law, truth):
    for epsilon in [one for one in (0.0, 0.05, 0.3, 0.9) if one < law.greatest]:
        found, _ = answer(((hidden(law), 1),), DeltaAt(epsilon), relative=1e-3)
        true = truth.delta(law, truth.real(epsilon))
        assert contains(found, true, truth) or true < arb("1e-15")
        directions = [truth.delta(one, truth.real(epsilon)) for one in (law, law.reversed())]
        assert contains(Loss.of(law).delta(epsilon=epsilon), max(directions, key=float), truth) or true < arb("1e-15")


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_two_releases(law, truth):
    for epsilon in [one for one in (0.0, 0.25, 1.1) if one < 2 * law.greatest]:
        true = truth.twice(law, truth.real(epsilon))
        for relative in (0.1, 1e-3):
            found, _ = answer(((law, 2),), DeltaAt(epsilon), relative=relative)
            assert contains(found, true, truth) or true < arb("1e-15")


def test_a_bounded_range_has_its_published_profile(truth):
    width = arb(2)
    for epsilon in (0.0, 0.5, 1.9):
        true = (1 - ((truth.real(epsilon) - width) / 2).exp()) ** 2 / (1 - (-width).exp())
        assert contains(Loss.of(BoundedRangeLaw(2.0)).delta(epsilon=epsilon), true, truth)


@pytest.mark.parametrize("times", [3, 10])
def test_discrete_laplace_on_its_own_lattice(times, truth):
    """ε = 1/3 per step of two: the loss is a whole number of thirds, and the sum can be enumerated exactly."""
    law = DiscreteLaplaceLaw(3.0, 2)
    atoms = [(round(float(loss * 3)), p) for loss, p, _ in truth.outputs(law)]
    sums = {0: arb(1)}
    for _ in range(times):
        following: dict[int, arb] = {}
        for at, mass in sums.items():
            for step, p in atoms:
                following[at + step] = following.get(at + step, arb(0)) + mass * p
        sums = following
    for epsilon in (0.0, 0.7, 1.9):
        e = truth.real(epsilon)
        true = sum((p * (1 - (e - arb(at) / 3).exp()) for at, p in sums.items() if arb(at) / 3 > e), arb(0))
        found = Loss.of(law, times).delta(epsilon=epsilon, relative=1e-6)
        assert contains(found, true, truth)
        assert found.width <= 1e-5 * found.upper


def test_different_laws_together(truth):
    """A response and a Laplace: the mean of the one's hockey-stick over the other's losses."""
    whole = Loss.of(response(0.5)) + Loss.of(LaplaceLaw(1.0))
    for epsilon in (0.0, 0.4, 1.2):
        e = truth.real(epsilon)
        true = sum((p * truth.delta(LaplaceLaw(1.0), e - loss) for loss, p, _ in truth.outputs(response(0.5))), arb(0))
        assert contains(whole.delta(epsilon=epsilon), true, truth)


# Intervals


def test_intervals_of_all_widths_have_the_truth_in_common():
    found = [Loss.of(DPSGD, 1000).epsilon(delta=1e-6, relative=relative) for relative in (0.3, 0.03, 3e-3, 3e-4, 3e-5)]
    assert max(one.lower for one in found) <= min(one.upper for one in found)
    assert found[-1].width < 1e-3 * found[0].width


@pytest.mark.parametrize("delta", [1e-5, 1e-50])
def test_many_laws_that_hardly_differ_lose_what_one_does_as_often(delta):
    """The rows of many laws, and the cells of each, are right: floats next to each other stand for one law."""
    many = Loss.compose([Loss.of(PoissonLaw(GaussianLaw(1.25 + i * 2.0**-50), 0.01)) for i in range(100)])
    assert len(many.laws) == 100
    found, one = many.epsilon(delta=delta), Loss.of(DPSGD, 100).epsilon(delta=delta)
    assert max(found.lower, one.lower) <= min(found.upper, one.upper)
    assert found.width <= 1e-3 * found.upper


def test_a_schedule_lies_between_its_ends():
    schedule = Loss.compose([Loss.of(PoissonLaw(GaussianLaw(1 / (0.8 + i / 500)), 0.01)) for i in range(100)])
    ends = [Loss.of(PoissonLaw(GaussianLaw(1 / sigma), 0.01), 100).epsilon(delta=1e-5) for sigma in (1.0, 0.8)]
    found = [schedule.epsilon(delta=1e-5, relative=relative) for relative in (0.05, 1e-3)]
    assert ends[0].upper < found[1].lower <= found[1].upper < ends[1].lower
    assert max(one.lower for one in found) <= min(one.upper for one in found)


sizes = st.floats(-9.0, 2.5).map(lambda power: 10.0**power)
inner = st.one_of(
    sizes.map(GaussianLaw),
    sizes.map(LaplaceLaw),
    sizes.map(BoundedRangeLaw),
    sizes.map(response),
    st.builds(DiscreteLaplaceLaw, st.floats(0.05, 1e4), st.integers(1, 100)),
    st.builds(DiscreteGaussianLaw, st.floats(0.2, 2000.0), st.integers(1, 20)),
    st.builds(
        lambda e, n, d: response(e, answers=n, infinite=d),
        st.floats(0.01, 5.0),
        st.integers(2, 50),
        st.floats(1e-300, 0.5),
    ),
)
rates = st.one_of(
    st.floats(-9.0, 0.0).map(lambda power: 10.0**power), st.floats(0.5, 1.0), st.sampled_from((1.0, 1e-12))
)
laws = st.one_of(inner, st.builds(PoissonLaw, inner, rates, st.booleans()), st.builds(SubsetLaw, inner, rates))
counts = st.one_of(st.integers(1, 5), st.integers(1, 10**6), st.integers(1, 10**10))
deltas = st.floats(-300.0, -0.01).map(lambda power: 10.0**power)


@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the slow test has 1,500
@given(st.lists(st.tuples(laws, counts), min_size=1, max_size=2), deltas)
def test_lower_is_never_above_upper(parts, delta):
    never_crossed(parts, delta)


def never_crossed(parts, delta):
    whole = Loss.compose([Loss.of(law, times) for law, times in parts])
    coarse, fine = (whole.epsilon(delta=delta, relative=relative) for relative in (0.2, 0.02))
    assert 0.0 <= coarse.lower <= coarse.upper
    assert max(coarse.lower, fine.lower) <= min(coarse.upper, fine.upper)
    if math.isfinite(fine.upper):
        assert whole.delta(epsilon=fine.upper, relative=0.1).lower <= delta * (1 + 1e-9)
    if fine.lower > 0.0 and math.isfinite(fine.lower):
        assert whole.delta(epsilon=fine.lower, relative=0.1).upper >= delta * (1 - 1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(laws, counts), min_size=1, max_size=3), deltas)
def test_lower_is_never_above_upper_long(parts, delta):
    never_crossed(parts, delta)


noises = st.floats(-6.0, 15.0).map(lambda power: 10.0**power)
times = st.one_of(st.integers(1, 5), st.floats(0.0, 12.0).map(lambda power: int(10.0**power)))
tails = st.one_of(st.floats(-300.0, -0.302), st.floats(-20.0, -0.302)).map(lambda power: 10.0**power)
shifts = st.sampled_from((1, 2, 7, 1000))
noisy = st.one_of(
    noises.map(lambda sigma: GaussianLaw(1 / sigma)),
    noises.map(lambda scale: LaplaceLaw(1 / scale)),
    noises.map(lambda scale: BoundedRangeLaw(1 / scale)),
    st.builds(lambda scale, infinite: response(1 / scale, infinite=infinite), noises, st.just(0) | tails),
    st.builds(DiscreteLaplaceLaw, st.floats(-3.0, 9.0).map(lambda power: 10.0**power), shifts),
    st.builds(DiscreteGaussianLaw, st.floats(-2.0, 4.0).map(lambda power: 10.0**power), shifts),
)
extreme = st.one_of(noisy, st.builds(PoissonLaw, noisy, rates, st.booleans()), st.builds(SubsetLaw, noisy, rates))


@settings(max_examples=150, deadline=None)
@given(noises, times, tails)
@example(1e12, 1, 1e-15)  # two places of which one is the double of the other: this search once never ended
@example(1e15, 1, 1e-300)
@example(1e-6, 10**12, 0.49)
def test_a_gaussian_is_searched_in_a_bounded_number_of_steps(sigma, many, delta):
    """0, two places that are guessed, and 63 halvings, for each end."""
    looks = 0

    def counted(mu: Fraction, epsilon: Fraction) -> arb:
        nonlocal looks
        looks += 1
        assert looks <= 2 * (1 + 2 + 63)
        return hockey_stick(mu, epsilon)

    law = Loss.of(GaussianLaw(1 / sigma), many)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sitr.loss.closed.hockey_stick", counted)
        found = law.epsilon(delta=delta)
    assert 0.0 <= found.lower <= found.upper < math.inf
    assert law.delta(epsilon=found.upper).lower <= delta
    assert found.lower == 0.0 or law.delta(epsilon=found.lower).upper >= delta
    assert math.sqrt(many) / sigma > 1e5 * (1 - 1e-9) or found.width <= 1e-11 * found.upper


def test_a_bisection_ends_wherever_it_starts():
    for true in (0.0, 5e-324, 1e-300, 1.5, 1e300):
        for places in ((0.0, 1e308, 1e308), (1.0, 2.0, 1e308), (2.0, 1.0, 1e308), (math.inf, math.nan, 1e308)):
            low, high = bisected(Fraction(true).__gt__, places)
            assert low <= true <= high
            assert high - low <= 1.2e-13 * high or high < 1e-300


@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(extreme, times), min_size=1, max_size=2), tails)
def test_extreme_parameters_have_an_answer(parts, delta):
    never_crossed(parts, delta)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(extreme, times), min_size=1, max_size=3), tails)
def test_extreme_parameters_have_an_answer_long(parts, delta):
    never_crossed(parts, delta)


# The other views of a loss


def test_nothing_is_lost_by_nothing():
    none = Loss(())
    assert (none.epsilon(delta=0.1).upper, none.delta(epsilon=0.0).upper, none.max(), none.infinite_mass()) == (
        0,
        0,
        0,
        0,
    )
    assert (none.mean().upper, none.renyi(order=2.0).upper) == (0.0, 0.0)
    assert Loss.of(DPSGD, 0) == none == Loss.of(DPSGD) * 0


def test_what_is_infinite_is_told_apart():
    whole = Loss.of(response(1.0, infinite=0.01), 3)
    assert whole.infinite_mass() == pytest.approx(1 - 0.99**3, rel=1e-12)
    assert whole.max() == math.inf
    assert whole.epsilon(delta=0.01).lower == math.inf
    assert whole.epsilon(delta=0.1).upper < 3.01
    assert 1 - 0.99**3 in whole.delta(epsilon=3.1)
    nearly = Loss.of(response(1.0, infinite=1 - 1e-12), 2).delta(epsilon=0.5)  # 1 − 10⁻²⁴ is no float
    assert 1.0 - 1e-12 < nearly.lower < 1.0 == nearly.upper
    sure = Loss.of(pair((1.0, 0.0), (0.0, 1.0)))
    assert sure.delta(epsilon=5.0).lower == sure.delta(epsilon=5.0).upper == 1.0


@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")
@pytest.mark.parametrize(
    ("parts", "delta", "largest"),
    [
        ([Loss.of(response(1.0, infinite=1e-5))], 1e-5, 1.0),
        ([Loss.of(response(0.3, infinite=1e-6))], 1e-6, 0.3),
        ([Loss.of(response(0.5, infinite=1e-3), 2)], 0.001999, 1.0),  # 1 − 0.999²
        ([Loss.of(response(0.5, infinite=0.1)), Loss.of(response(0.5, infinite=0.5))], 0.55, 1.0),
        ([Loss.of(response(1.0, infinite=1e-3)), Loss.of(LaplaceLaw(1.0), 2)], 1e-3, 3.0),
    ],
)
def test_as_often_infinite_as_delta_allows_leaves_the_largest_loss(parts, delta, largest):
    """Decimals are compared, exactly: the float before δ allows for nothing."""
    whole = Loss.compose(parts)
    found = whole.epsilon(delta=delta)
    assert largest * 0.99 < found.lower <= largest <= found.upper <= largest * (1 + 1e-11)
    less = whole.epsilon(delta=math.nextafter(delta, 0.0))
    assert less.lower <= largest
    assert less.upper == math.inf
    assert whole.epsilon(delta=delta * (1 - 1e-9)).lower == math.inf
    assert whole.epsilon(delta=delta * (1 + 1e-6)).upper <= largest * (1 + 1e-11)


@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")
@pytest.mark.parametrize("mass", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 7)])
def test_a_mass_at_infinity_is_never_rounded_down(mass):
    assert exact(response(1.0, infinite=mass).infinite) >= mass
    less = mass - Fraction(1, 10**18)  # the nearest float may be the same
    assert Loss.of(response(1.0, infinite=mass)).epsilon(delta=less).upper == math.inf


@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")
def test_what_is_lost_at_most_is_not_rounded_down(truth):
    """Just below the largest loss δ is tiny, but not 0."""
    law, times = PoissonLaw(response(1e-13), 0.7), 2
    q, z = truth.real(0.7), truth.real(1e-13)
    largest = (1 - q + q * z.exp()).log() * times
    epsilon = float(largest) * (1 - 1e-9)
    assert truth.real(epsilon) < largest
    assert Loss.of(law, times).delta(epsilon=epsilon).upper > 0.0
    assert truth.real(Loss.of(law, times).epsilon(delta=1e-30).upper) >= largest * (1 - arb("1e-12"))
    assert truth.real(Loss.of(law, times).max()) >= largest


def test_the_largest_loss():
    assert Loss.of(LaplaceLaw(0.5), 4).max() == pytest.approx(2.0, rel=1e-12)
    assert Loss.of(LaplaceLaw(0.5), 4).max() >= 2.0
    many = [LaplaceLaw(1 / (3 + number)) for number in range(5000)]
    true = sum(Fraction(law.epsilon) for law in many)
    assert true <= Fraction(Loss.compose(map(Loss.of, many)).max()) <= true * (1 + Fraction(1, 10**14))
    assert Loss.of(PoissonLaw(response(1.0, infinite=0.125), 0.5, added=True)).infinite_mass() == 0.0625
    assert PoissonLaw(response(1.0, infinite=0.125), 0.5, added=True).greatest == pytest.approx(math.log(2.0))
    assert Loss.of(GaussianLaw(1.0)).max() == math.inf


def test_tiny_and_huge_losses():
    for law in (
        LaplaceLaw(1e-20),
        LaplaceLaw(1e-12),
        GaussianLaw(1e-200),
        BoundedRangeLaw(1e-18),
        PoissonLaw(GaussianLaw(1e-9), 1e-12),
    ):
        found = Loss.of(law, 10).epsilon(delta=1e-3)
        assert 0.0 == found.lower <= found.upper < 1e-9
    for huge in (LaplaceLaw(1e4), response(1e4), PoissonLaw(LaplaceLaw(1e4), 0.5)):
        found = Loss.of(huge, 2).epsilon(delta=1e-3)
        assert 1.999e4 < found.lower <= found.upper < 2.0001e4


def test_a_delta_near_one_costs_nothing():
    assert Loss.of(DPSGD, 10).epsilon(delta=1 - 1e-16).upper == 0.0
    assert Loss.of(LaplaceLaw(1.0)).epsilon(delta=0.5).upper == 0.0
    assert Loss.of(response(0.0), 5).epsilon(delta=1e-9).upper < 1e-12


def test_a_posterior_and_an_advantage(truth):
    one = Loss.of(GaussianLaw(1.0))
    tv = 2 * truth.normal(arb(0.5)) - 1
    assert contains(one.advantage(), tv, truth)
    assert contains(one.posterior(prior=0.5), (1 + tv) / 2, truth)
    e = arb(9).log()
    stick = truth.normal(arb(0.5) - e) - 9 * truth.normal(-arb(0.5) - e)
    for prior in (0.1, 0.9):
        assert contains(one.posterior(prior=prior), arb("0.9") + arb("0.1") * stick, truth, 1e-12)


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.epsilon(delta=0.0),
        lambda one: one.epsilon(delta=1.0),
        lambda one: one.epsilon(delta=math.nan),
        lambda one: one.epsilon(delta=-1e-5),
        lambda one: one.epsilon(delta="1e-5"),
        lambda one: one.epsilon(delta=1e-5, relative=0.0),
        lambda one: one.delta(epsilon=-1.0),
        lambda one: one.delta(epsilon=math.inf),
        lambda one: one.delta(epsilon=Fraction(10**400)),
        lambda one: one.exceeding(epsilon=10**400),
        lambda one: one.epsilon(delta=Fraction(1, 10**400)),
        lambda one: one.renyi(order=1.0),
        lambda one: one.posterior(prior=1.0),
        lambda one: one.trade_off(fpr=1.5),
        lambda one: one * -1,
        lambda one: one * 1.5,
        lambda _: GaussianLaw(0.0),
        lambda _: GaussianLaw(math.nan),
        lambda _: LaplaceLaw(-1.0),
        lambda _: BoundedRangeLaw(math.inf),
        lambda _: DiscreteGaussianLaw(-2.0, 1),
        lambda _: DiscreteLaplaceLaw(1.0, 0),
        lambda _: PoissonLaw(GaussianLaw(1.0), 0.0),
        lambda _: PoissonLaw(GaussianLaw(1.0), 1.1),
        lambda _: SubsetLaw(GaussianLaw(1.0), math.nan),
        lambda _: response(-1.0),
        lambda _: response(1.0, infinite=2.0),
        lambda _: FiniteLaw((0.0, 1.0), (-1.0, -1.0)),
    ],
)
def test_what_cannot_be_is_refused(ask):
    with pytest.raises(InvalidPromise, match=r"Expected .*, got .*\. "):
        ask(Loss.of(LaplaceLaw(1.0)))


def test_fractions_are_understood():
    assert Loss.of(LaplaceLaw(1.0)).delta(epsilon=Fraction(1, 3)).width < 1e-9
    assert Loss.of(LaplaceLaw(1.0)).epsilon(delta=Fraction(1, 1000)).width < 1e-6


def test_a_tail_far_below_all_others_is_found_again_after_a_look_too_far() -> None:
    """Cells up to a loss of 32768 were kept when only those up to 3.5 were needed, and [0, 1] was the answer.

    Ten independent losses exceed 3 about ten times as often as one does, and that seldom not in any other way.
    """
    one = sampled(gaussian(sigma=2), rate=0.001)
    single, ten = one.delta(epsilon=3.0), (one * 10).delta(epsilon=3.0, relative=0.1)
    assert 9 * single.lower < ten.lower
    assert ten.upper < 1.2 * ten.lower


def test_a_wide_answer_is_told_even_if_the_other_direction_is_closed() -> None:
    """Of the loss of those who are added, 3 is beyond the largest: its δ is 0, in closed form."""
    tiny = sampled(gaussian(sigma=20), rate=1e-8) * 2
    with pytest.warns(WiderThanAsked):
        found = tiny.delta(epsilon=0.5)
    assert found.lower == 0.0


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=5))
def test_gaussians_together_are_one_that_loses_no_less(mus):
    """Their μ² add up exactly; the root is rounded up, by less than one float."""
    ((law, _),) = Loss.compose([Loss.of(GaussianLaw(mu)) for mu in mus]).laws
    assert isinstance(law, GaussianLaw)
    whole = sum((Fraction(mu) ** 2 for mu in mus), Fraction(0))
    assert Fraction(math.nextafter(law.mu, 0.0)) ** 2 < whole <= Fraction(law.mu) ** 2
