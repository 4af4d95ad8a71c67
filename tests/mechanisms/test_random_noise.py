"""From data to answers: both laws of the answer for every pair of samples of a tiny population, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, chi2, halfnorm

from sitr.errors import DescriptionError, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.mechanisms.dilation import laplace_delta, laplace_dilation
from sitr.mechanisms.mechanism import Mechanism
from sitr.mechanisms.random_noise import RandomNoise, _chosen
from sitr.neighbors.relation import Relation
from sitr.noise.coins import TestCoins
from sitr.noise.rounded import rounded_laplace
from sitr.numbers import upward
from sitr.sensitivity import Pairs, mean, random

PRICE = ApproximateDP(1.0, 1e-6)


def fitted(price=PRICE, *, shift=None, **options):
    common = {"size": 1000, "gamma": 0.05, "granularity": 0.001, **options}
    return RandomNoise.fitting(price, sensitivity=random(mean, **common), shift=shift)


# The two laws


def masses(centre, scale, reach):
    """P(centre + ⌊bZ + ½⌋ = z) for |z| ≤ reach, from the distribution function of Z."""
    edges = (np.arange(-reach, reach + 2) - 0.5 - centre) / scale
    with np.errstate(over="ignore"):
        tail = 0.5 * np.exp(-np.abs(edges))
    lower = np.where(edges < 0, tail, 1 - tail)
    upper = np.where(edges < 0, 1 - tail, tail)
    # Of two differences the one between small numbers is exact.
    return np.where(
        edges[1:] <= 0, lower[1:] - lower[:-1], np.where(edges[:-1] >= 0, upper[:-1] - upper[1:], np.diff(lower))
    )


@cache
def hockey_stick(centre, scale, other_centre, other_scale, epsilon):
    """The larger of both directions; what is beyond the window is below e^{−60}."""
    reach = math.ceil(60 * max(scale, other_scale)) + abs(centre) + abs(other_centre)
    p, q = masses(centre, scale, reach), masses(other_centre, other_scale, reach)
    return max(np.sum(np.maximum(p - math.exp(epsilon) * q, 0)), np.sum(np.maximum(q - math.exp(epsilon) * p, 0)))


def failing(mechanism, chances, *, thinner=1.0):
    """The probability, over all samples of n + 1, that the two answers are farther apart than (ε, δ)."""
    rule, price = mechanism.sensitivity, mechanism.price

    @cache
    def law(sample):
        rows = rule.sample(np.array(sample, dtype=float))
        scale = rule.scale(rows, dilation=mechanism.dilation) / float(mechanism.shift)
        return rule.subject.centre(rows), scale / thinner

    total = 0.0
    for sample in product(chances, repeat=rule.size + 1):
        before, after = law(sample[:-1]), law(sample[:-2] + sample[-1:])
        if hockey_stick(*before, *after, price.epsilon) > price.delta * (1 + 1e-9):
            total += math.prod(chances[value] for value in sample)
    return total


STEEP = ApproximateDP(3.0, 0.1)
POPULATIONS = [{0: 0.45, 1: 0.1, 5: 0.45}, {0: 0.6, 1: 0.25, 5: 0.15}, {0: 0.8, 4: 0.1, 5: 0.1}]


@pytest.mark.parametrize("chances", POPULATIONS)
@pytest.mark.parametrize(
    ("size", "gamma", "options"),
    [
        (6, Fraction(1, 3), {"bound": 5}),
        pytest.param(7, Fraction(1, 3), {"bound": 5}, marks=pytest.mark.slow),
        (6, Fraction(2, 3), {"bound": 5}),
        (6, Fraction(1, 3), {"pairs": Pairs.EVERY}),
        (6, Fraction(1, 2), {"pairs": Pairs.EVERY}),
    ],
)
def test_the_promise_holds_exactly(chances, size, gamma, options):
    rule = random(mean, size=size, gamma=gamma, bounds=(0, 5), granularity=1, **options)
    mechanism = RandomNoise.fitting(STEEP, sensitivity=rule)
    assert failing(mechanism, chances) <= mechanism.promise().gamma <= upward(gamma)


@pytest.mark.parametrize("options", [{"bound": 5}, {"pairs": Pairs.EVERY}])
def test_with_a_third_of_the_noise_it_does_not(options):
    rule = random(mean, size=6, gamma=Fraction(1, 3), bounds=(0, 5), granularity=1, **options)
    mechanism = RandomNoise.fitting(ApproximateDP(1.0, 1e-3), sensitivity=rule)
    assert failing(mechanism, POPULATIONS[0]) <= Fraction(1, 3)
    assert failing(mechanism, POPULATIONS[0], thinner=3.0) > Fraction(1, 3)


@pytest.mark.slow
@pytest.mark.parametrize("chances", [{0: 0.5, 5: 0.5}, {0: 0.8, 4: 0.2}])
def test_without_a_bound_the_promise_holds_exactly(chances):
    rule = random(mean, size=8, gamma=Fraction(3, 4), granularity=1)
    mechanism = RandomNoise.fitting(STEEP, sensitivity=rule)
    assert 0 < failing(mechanism, chances) <= 0.75


@pytest.mark.slow
@pytest.mark.parametrize(
    "population",
    [
        lambda rng, size: rng.normal(size=size),
        lambda rng, size: rng.standard_cauchy(size=size),
        lambda rng, size: rng.integers(0, 4, size=size).astype(float),
        lambda rng, size: rng.normal(size=size) * 0.01 + 100 * (rng.random(size) < 0.05),
    ],
    ids=["normal", "Cauchy", "discrete", "gap"],
)
def test_on_draws_the_answers_are_as_close_as_promised(population):
    """The exact divergence of the two continuous laws, for n = 100 and γ = 0.1: fewer than one in ten is too large."""
    rng, price, trials = np.random.default_rng(7), ApproximateDP(1.0, 1e-3), 3000
    rule = random(mean, size=100, gamma=0.1, granularity=2.0**-4)
    mechanism = RandomNoise.fitting(price, sensitivity=rule, shift=0.5)
    failed = 0
    for _ in range(trials):
        people = np.clip(population(rng, 101), -1e5, 1e5)
        laws = []
        for rows in (rule.sample(people[:100]), rule.sample(np.r_[people[:99], people[100:]])):
            laws += [rule.subject.centre(rows), rule.scale(rows, dilation=mechanism.dilation) / 0.5]
        failed += continuous(laws, price.epsilon) > price.delta
    # 0.1 would give 300 ± 16.4: six standard deviations are 1e-9
    assert failed < 300 - 6 * 16.5


def continuous(laws, epsilon):
    """∫(p − e^ε·q)₊ both ways, on a grid that is fine where either law is narrow."""
    centre, scale, other, wide = laws
    steps = np.linspace(-60, 60, 2401)
    grid = np.unique(np.r_[centre + scale * steps, other + wide * steps])
    middle = (grid[1:] + grid[:-1]) / 2
    p, q = (np.exp(-np.abs(middle - m) / w) / (2 * w) for m, w in ((centre, scale), (other, wide)))
    return max(np.sum(np.maximum(a - math.exp(epsilon) * b, 0) * np.diff(grid)) for a, b in ((p, q), (q, p)))


# As published, where nothing makes S change slowly

GAMMA, DELTA, ALARM = 0.2, 1e-9, 1e-7


def divergence(shift, dilation, epsilon):
    """The larger H_{e^ε} of both directions, for Laplace laws of scale 1 at 0 and of scale r = e^b at d ≥ 0.

    The loss of the wide law, −b − |x − d|/r + |x|, exceeds ε beyond two points: below one that is negative, and above
    one that is less than d only if d − b > ε. The loss of the narrow law is largest at 0, where it is b + d/r, and
    exceeds ε between two points, of which the upper one is more than d only if b − d > ε.
    """
    d, b = shift, np.maximum(dilation, 1e-200)
    r, steep = np.exp(b), -np.expm1(-b)
    low, high = -(epsilon + b + d / r) / steep, (epsilon + b - d / r) / steep
    high = np.where(d - b > epsilon, (epsilon + b + d / r) / (1 + 1 / r), high)
    wide = under((low - d) / r) + under((d - high) / r) - math.exp(epsilon) * (under(low) + under(-high))
    excess = np.maximum(b + d / r - epsilon, 0)
    left, right = -excess / steep, np.where(b - d > epsilon, (b - epsilon - d / r) / steep, excess / (1 + 1 / r))
    narrow = under(right) - under(left) - math.exp(epsilon) * (under((right - d) / r) - under((left - d) / r))
    return np.maximum(wide, np.where(excess > 0, narrow, 0))


def under(x):
    """P(Z ≤ x) for Laplace noise Z of scale 1."""
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0, tail, 1 - tail)


@pytest.mark.sampled(25)
@pytest.mark.parametrize("epsilon", [0.0, 0.002, 0.3, 1.0])
@pytest.mark.parametrize("dilation", [0.0, 0.001, 0.1, 0.7, 2.0])
@pytest.mark.parametrize("shift", [0.0, 0.001, 0.25, 0.9, 3.0])
def test_the_closed_form_is_the_divergence_of_the_two_laws(shift, dilation, epsilon):
    """On a lattice of 2000 steps for each scale, where only the steps at which the loss crosses ε lose something."""
    summed = hockey_stick(0, 2000.0, round(2000 * shift), 2000 * math.exp(dilation), epsilon)
    assert divergence(shift, dilation, epsilon) == pytest.approx(summed, rel=1e-6, abs=2e-7)


def test_in_the_worst_case_the_closed_form_is_that_of_the_library():
    dilation = laplace_dilation(0.002, delta=DELTA, shift=0.001)
    worst = laplace_delta(0.002, shift=0.001, dilation=dilation)
    assert divergence(0.001, dilation, 0.002) == pytest.approx(worst, rel=1e-6) == pytest.approx(DELTA, rel=1e-6)


def outcomes(moved, before, after, epsilon):
    """How many draws break (ε, δ), which is the definition; and how many break what the proof supposes, which is more.

    The newcomer moves the mean by moved/n, and the noise has the scales before/(nα) and after/(nα), α = ε/2.
    """
    narrow, dilation = np.minimum(before, after), np.abs(np.log(before / after))
    broken = divergence(epsilon / 2 * moved / narrow, dilation, epsilon) > DELTA
    allowed = laplace_dilation(epsilon, delta=DELTA, shift=epsilon / 2)
    return np.array([np.sum(broken), np.sum((moved > narrow) | (dilation > allowed))])


def published_mechanism(size, epsilon):
    rule = random(mean, size=size, gamma=GAMMA, granularity=2.0**-30, pairs=Pairs.PUBLISHED)
    return RandomNoise.fitting(ApproximateDP(epsilon, DELTA), sensitivity=rule)


def quantiles(people, rank):
    """The h of this rank among the disjoint pairs of each row."""
    m = people.shape[1] // 2
    return np.partition(np.abs(people[:, :m] - people[:, m : 2 * m]), rank - 1, axis=1)[:, rank - 1]


def whole_samples(rng, size, epsilon, *, trials, block=200):
    """Draw n + 1 normal numbers, of which the last takes the place of the one before it."""
    rank, found = published_mechanism(size, epsilon).sensitivity.ladder().rank, np.zeros(2, dtype=int)
    for _ in range(trials // block):
        people = rng.normal(size=(block, size + 1))
        leaves, comes = people[:, -2].copy(), people[:, -1]
        before = quantiles(people[:, :-1], rank)
        people[:, -2] = comes
        found += outcomes(np.abs(leaves - comes), before, quantiles(people[:, :-1], rank), epsilon)
    return found


def changed_pairs(rng, size, epsilon, *, trials, block=200_000):
    """The same law, from five numbers for each draw: only one pair changes, and S is its h, held between two others.

    These two are the h of ranks r − 1 and r among the m − 1 pairs that stay. Half-normal quantiles take uniform numbers
    of these ranks to them: the lower is a beta variable, and the upper is the least of the m − r that lie above it.
    """
    ladder, found = published_mechanism(size, epsilon).sensitivity.ladder(), np.zeros(2, dtype=int)
    above = ladder.values - ladder.rank
    for _ in range(trials // block):
        lower = rng.beta(ladder.rank - 1, above + 1, size=block)
        upper = 1 - (1 - lower) * rng.random(block) ** (1 / above)
        low, high = math.sqrt(2) * halfnorm.ppf(lower), math.sqrt(2) * halfnorm.ppf(upper)
        partner, leaves, comes = rng.normal(size=(3, block))
        before, after = (np.clip(np.abs(partner - one), low, high) for one in (leaves, comes))
        found += outcomes(np.abs(leaves - comes), before, after, epsilon)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "epsilon", "trials", "rates"),
    [
        # By `changed_pairs` with default_rng(20111) and 20,000,000 draws: ± 0.0003 with 95% confidence.
        pytest.param(2000, 0.002, 40_000, (0.1940, 0.2608), id="γ is kept"),
        pytest.param(20_000, 0.0002, 12_000, (0.2333, 0.3107), id="γ is broken"),
    ],
)
def test_how_often_the_published_recipe_breaks_its_promise(size, epsilon, trials, rates):
    for count, draws in ((whole_samples, trials), (changed_pairs, 1_000_000)):
        found = count(np.random.default_rng(2017), size, epsilon, trials=draws)
        low, high = binom.interval(1 - ALARM, draws, rates)
        assert np.all((low <= found) & (found <= high))
        assert high[0] < low[1]  # what breaks the proof does not always break the promise
    # The million draws tell the rate from γ.
    below, above = binom.interval(1 - ALARM, 1_000_000, GAMMA)
    assert (found[0] < below) == (rates[0] < GAMMA)
    assert (found[0] > above) == (rates[0] > GAMMA)


def test_the_noise_as_published_is_fitted_to_that_quantile():
    mechanism, people = published_mechanism(2000, 0.002), np.random.default_rng(3).normal(size=(20, 2000))
    rule = mechanism.sensitivity
    scales = np.array([rule.scale(rule.sample(row), dilation=mechanism.dilation) for row in people])
    found = scales * float(rule.subject.granularity)
    assert found == pytest.approx(quantiles(people, rule.ladder().rank) / 2000, rel=1e-5)


# The mechanism


@pytest.mark.parametrize(
    ("options", "gamma", "parts"),
    [
        ({}, 0.05, [("newcomer", 0.046), ("largest pair", 0.004)]),
        ({"bounds": (0, 100), "bound": 100}, 0.05, [("newcomer", 0.05)]),
        ({"bounds": (0, 100), "pairs": Pairs.EVERY}, 0.05, None),
        ({"bounds": (0, 100), "pairs": Pairs.DRAWN}, 0.05, None),
    ],
)
def test_the_promise_is_the_price_but_for_gamma(options, gamma, parts):
    promise = fitted(**options).promise()
    assert promise.covers(RandomDP(PRICE, gamma))
    assert promise.gamma == pytest.approx(gamma, abs=1e-3)
    assert promise.basis is Basis.FINITE_SAMPLE
    assert parts is None or list(promise.parts) == parts


def test_what_is_published_is_asymptotic():
    promise = fitted(gamma=0.2, pairs=Pairs.PUBLISHED).promise()
    assert promise.basis is Basis.ASYMPTOTIC
    assert not promise.covers(RandomDP(PRICE, 0.2))


def test_the_dilation_uses_up_delta():
    assert fitted().dilation == laplace_dilation(1.0, delta=1e-6, shift=0.5)
    assert fitted(shift=0.25).dilation == laplace_dilation(1.0, delta=1e-6, shift=0.25)
    drawn = fitted(bounds=(0, 100), pairs=Pairs.DRAWN)
    assert drawn.dilation == laplace_dilation(1.0, delta=Fraction(9, 10**7), shift=0.5)


VALUES = np.random.default_rng(11).normal(size=1000) * 10 + 50


@pytest.mark.parametrize("pairs", [Pairs.DISJOINT, Pairs.EVERY])
def test_the_answer_is_the_statistic_and_the_noise(pairs):
    mechanism = fitted(bounds=(0, 100), pairs=pairs)
    rule = mechanism.sensitivity
    rows = rule.sample(VALUES)
    scale = rule.scale(rows, dilation=mechanism.dilation) / 0.5
    granules = int(rows.sum()) + rounded_laplace(scale=scale, coins=TestCoins(3))
    assert mechanism.release(VALUES, coins=TestCoins(3)) == granules * Fraction(1, 10**6)
    assert abs(float(mechanism.release(VALUES)) - VALUES.mean()) < 5


def test_drawn_pairs_are_drawn_with_the_same_coins_as_the_noise():
    mechanism = fitted(bounds=(0, 100), gamma=0.5, pairs=Pairs.DRAWN)
    assert mechanism.release(VALUES, coins=TestCoins(3)) == mechanism.release(VALUES, coins=TestCoins(3))
    assert len({mechanism.error(VALUES) for _ in range(8)}) > 1  # other pairs, another scale


def test_any_pair_of_two_people_is_drawn_as_often_as_any_other():
    first, second = _chosen(5, 20_000, TestCoins(1))
    assert not np.any(first == second)
    found = np.zeros((5, 5))
    np.add.at(found, (first, second), 1)
    counts = found[~np.eye(5, dtype=bool)]
    assert float(chi2.sf(np.sum((counts - 1000) ** 2) / 1000, 19)) > 1e-7
    broken = found[~np.eye(5, dtype=bool)] * np.linspace(0.9, 1.1, 20)
    assert float(chi2.sf(np.sum((broken - 1000) ** 2) / 1000, 19)) < 1e-7


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
def test_the_error_is_the_least_that_has_this_confidence(confidence):
    mechanism = fitted()
    rule = mechanism.sensitivity
    scale = rule.scale(rule.sample(VALUES), dilation=mechanism.dilation) / 0.5
    wide = mechanism.error(VALUES, confidence=confidence) / rule.subject.granularity
    assert wide.denominator == 1
    # P(|⌊bZ + ½⌋| ≤ w) = 1 − e^{−(w+½)/b}
    assert 1 - math.exp(-(int(wide) - 0.5) / scale) < confidence <= 1 - math.exp(-(int(wide) + 0.5) / scale)


def test_rows_of_any_width_are_answered():
    rows = np.random.default_rng(2).normal(size=(10_000, 3))
    rule = random(
        lambda x: float(np.abs(x).max(axis=1).clip(0, 3).mean()),
        h=lambda a, b: np.abs(np.abs(a).max(axis=1).clip(0, 3) - np.abs(b).max(axis=1).clip(0, 3)),
        size=10_000,
        gamma=0.05,
        granularity=2.0**-30,
        accuracy=1e-10,
        bound=3,
        pairs=Pairs.DRAWN,
    )
    noisy = RandomNoise.fitting(PRICE, sensitivity=rule).release(rows)
    assert abs(float(noisy) - np.abs(rows).max(axis=1).clip(0, 3).mean()) < 0.05


# What is refused


@pytest.mark.parametrize("price", [ApproximateDP(1.0, 0.0), ApproximateDP(1.0, 1.0), PureDP(1.0)])
def test_delta_is_between_0_and_1(price):
    with pytest.raises(InvalidPromise, match="0 < delta < 1"):
        fitted(price)


@pytest.mark.parametrize("shift", [0, -1, 1, 2, math.nan])
def test_a_shift_leaves_something_of_epsilon(shift):
    with pytest.raises((InvalidPromise, ValueError)):
        fitted(shift=shift)


def test_too_few_drawn_pairs_are_refused_before_any_data():
    with pytest.raises(DescriptionError, match="at least 342 pairs"):
        fitted(bounds=(0, 100), pairs=Pairs.DRAWN, draws=100)


@pytest.mark.parametrize("values", [VALUES[1:], np.where(VALUES > 70, np.nan, VALUES)], ids=["too few", "NaN"])
def test_bad_values_are_refused(values):
    with pytest.raises(DescriptionError):
        fitted().release(values)
    with pytest.raises(DescriptionError):
        fitted().error(values)


def test_a_random_promise_has_no_loss():
    noise: Mechanism = fitted()
    assert noise.loss() is None
    assert RandomNoise.relation is Relation.REPLACE_ONE
