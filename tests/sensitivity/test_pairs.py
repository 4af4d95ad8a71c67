"""The experiment of random privacy itself: n + 1 people, of whom one takes another's place, again and again.

It fails if the two who take each other's place are farther apart than S or S', or if S and S' differ by more than e^β.
Exactly, over all orders of n + 1 given numbers; and by many draws from populations of several kinds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta as beta_law
from scipy.stats import binom

from sitr.errors import DescriptionError, InvalidParameter, InvalidPromise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.numbers import upward
from sitr.sensitivity.pairs import Ladder, disjoint, drawn, every, ordered, published

ALARM = 1e-7


# The experiment, many at a time


def heights(samples, *, all_pairs=False):
    n = samples.shape[1]
    first, second = np.triu_indices(n, 1) if all_pairs else (np.arange(n // 2), np.arange(n // 2) + n // 2)
    return np.abs(samples[:, first] - samples[:, second])


def scales(h, ladder, *, dilation, bound):
    rungs = np.sort(h, axis=1)[:, ladder.rank - 1 :: ladder.step]
    if bound is not None:
        rungs = np.column_stack([np.minimum(rungs, bound), np.full(len(h), bound)])
    return np.max(np.exp(-dilation * np.arange(rungs.shape[1])) * rungs, axis=1)


def failures(samples, ladder, *, dilation, bound=None, all_pairs=False, leaves=-1):
    """Whether each row of n + 1 numbers fails, if the last comes and this one of the others leaves."""
    before, after = samples[:, :-1].copy(), samples[:, :-1].copy()
    after[:, leaves] = samples[:, -1]
    s, t = (scales(heights(x, all_pairs=all_pairs), ladder, dilation=dilation, bound=bound) for x in (before, after))
    apart = np.abs(before[:, leaves] - samples[:, -1])
    rounding = 1 + 1e-12
    ratio = np.maximum(s, t) > np.minimum(s, t) * math.exp(dilation) * rounding
    return (apart > np.minimum(s, t) * rounding) | ratio


def at_most(count, trials):
    """Above the true probability, but for ALARM.      (Clopper and Pearson)"""
    return float(beta_law.ppf(1 - ALARM, count + 1, trials - count))


def at_least(count, trials):
    return float(beta_law.ppf(ALARM, count, trials - count + 1))


def gamma_of(ladder):
    return float(sum(share for _, share in ladder.parts))


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30),
    st.floats(1e-3, 5),
    st.none() | st.floats(0, 1e6),
    st.data(),
)
def test_the_height_is_what_its_definition_says(h, dilation, bound, data):
    rank = data.draw(st.integers(1, len(h)))
    ladder = Ladder(len(h), rank, data.draw(st.integers(1, 7)), ())
    growing = sorted(h)
    rungs = [growing[k - 1] for k in range(rank, len(h) + 1, ladder.step)]
    if bound is not None:
        rungs = [min(rung, bound) for rung in rungs] + [bound]
    expected = max(math.exp(-dilation * t) * rung for t, rung in enumerate(rungs))
    found = ladder.height(ordered(h), dilation=dilation, bound=bound)
    assert expected * (1 - 1e-15) <= found <= expected * (1 + (len(rungs) + 1) * 2**-33) + 1e-300
    again = scales(np.array([h]), ladder, dilation=dilation, bound=bound)[0]
    assert again == pytest.approx(expected, rel=1e-12)


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30),
    st.lists(st.floats(0, 1e6), min_size=1, max_size=7),
    st.floats(1e-6, 3),
    st.data(),
)
def test_one_person_changes_the_height_by_the_dilation_at_most_if_there_is_a_bound(h, others, dilation, data):
    """As it is computed, with nothing added for rounding."""
    changed = others[: len(h)]
    ladder = Ladder(len(h), data.draw(st.integers(1, len(h))), len(changed), ())
    positions = data.draw(st.permutations(range(len(h))))[: len(changed)]
    neighbour = list(h)
    for position, value in zip(positions, changed, strict=True):
        neighbour[position] = value
    s, t = (ladder.height(ordered(x), dilation=dilation, bound=1e6) for x in (h, neighbour))
    assert abs(math.log(s) - math.log(t)) <= dilation * (1 + 1e-15)


def test_a_step_smaller_than_what_one_person_changes_is_found():
    ladder = Ladder(4, 2, 1, ())
    s, t = (ladder.height(ordered(x), dilation=0.1, bound=9.0) for x in ([1.0, 1, 1, 1], [1.0, 1, 9, 9]))
    assert math.log(t / s) > 0.1


# Exactly, over all orders of n + 1 people: these are exchangeable

POINTS = {
    "powers": [2.0**i for i in range(9)],
    "squares": [float(i * i) for i in range(9)],
    "two clusters with a gap": [0, 0.1, 0.3, 0.7, 1.5, 100, 100.2, 101, 103],
    "one far away": [0, 0.1, 0.3, 0.7, 1.5, 2, 2.2, 2.9, 1000],
    "ties": [0.0, 0, 0, 1, 1, 5, 5, 5, 9],
}


def orders(points, people):
    return np.array(list(permutations(points[-people:])))


@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("dilation", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("n", [5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_with_a_bound_disjoint_and_all_pairs_keep_gamma_exactly(points, dilation, n):
    samples, bound = orders(points, n + 1), 2000.0
    for gamma in (Fraction(1, 2), Fraction(2, 3)) if n == 5 else (Fraction(1, 3), Fraction(2, 3)):
        for leaves in (0, n // 2, n - 1):
            ladder = disjoint(n, gamma=gamma, bounded=True)
            failed = failures(samples, ladder, dilation=dilation, bound=bound, leaves=leaves)
            assert np.mean(failed) <= gamma_of(ladder) <= gamma
        ladder = every(n, gamma=gamma)
        failed = failures(samples, ladder, dilation=dilation, bound=bound, all_pairs=True)
        assert np.mean(failed) <= gamma_of(ladder) <= gamma


def test_that_bound_is_nearly_attained_and_a_rank_one_lower_breaks_it():
    """Of all pairs, the rank that is broken is the one among those that are there, without the newcomer's."""
    for n, ladder, broken in ((6, disjoint(6, gamma=0.34, bounded=True), 2), (7, every(7, gamma=0.26), 16)):
        samples = [orders(points, n + 1) for points in POINTS.values()]
        options = {"dilation": 30.0, "bound": 2000.0, "all_pairs": ladder.step > 1}
        kept, lower = (
            max(np.mean(failures(rows, replace(ladder, rank=rank), **options)) for rows in samples)
            for rank in (ladder.rank, broken)
        )
        assert 0.8 * gamma_of(ladder) < kept <= gamma_of(ladder) < lower


@pytest.mark.sampled(2)
@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
def test_without_a_bound_disjoint_pairs_keep_gamma_exactly(points):
    samples, ladder = orders(points, 9), disjoint(8, gamma=0.75)
    assert (ladder.values, ladder.rank) == (4, 4)
    for dilation in (0.05, 1.0):
        assert np.mean(failures(samples, ladder, dilation=dilation)) <= 0.75


# By draws from populations

POPULATIONS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "Cauchy": lambda rng, size: rng.standard_cauchy(size=size),
    "heavier than every power": lambda rng, size: np.exp(np.clip(3 * rng.standard_cauchy(size=size), -300, 300)),
    "discrete": lambda rng, size: rng.integers(0, 4, size=size).astype(float),
    "clusters with a gap": lambda rng, size: 0.01 * rng.normal(size=size) + 1000 * (rng.random(size) < 0.1),
    "levels": lambda rng, size: 10.0 ** rng.geometric(0.5, size=size),
}
every_population = pytest.mark.parametrize("population", POPULATIONS.values(), ids=POPULATIONS)


def failed_of(population, ladder, *, n, trials, block=20_000, **options):
    rng = np.random.default_rng(20110)
    blocks = (np.clip(population(rng, (block, n + 1)), -1e9, 1e9) for _ in range(trials // block))
    return sum(int(np.sum(failures(samples, ladder, **options))) for samples in blocks)


@every_population
@pytest.mark.parametrize("dilation", [1e-4, 0.05, 1.0])
def test_disjoint_pairs_keep_gamma(population, dilation):
    ladder, trials = disjoint(60, gamma=0.2), 20_000
    assert at_most(failed_of(population, ladder, n=60, trials=trials, dilation=dilation), trials) <= 0.2


@every_population
def test_with_a_bound_they_keep_it_too(population):
    """Nearly nothing is left over if the steps are steep; so a rank one lower is found out."""
    ladder, trials = disjoint(10, gamma=0.2, bounded=True), 300_000
    options = {"n": 10, "dilation": 60.0, "bound": 2e9}
    assert at_most(failed_of(population, ladder, trials=trials, **options), trials) <= 0.2


@pytest.mark.parametrize("kind", ["normal", "Cauchy", "clusters with a gap"])
def test_a_rank_one_lower_does_not(kind):
    ladder, trials = disjoint(10, gamma=0.2, bounded=True), 20_000
    broken = replace(ladder, rank=ladder.rank - 1)
    failed = failed_of(POPULATIONS[kind], broken, n=10, trials=trials, dilation=60.0, bound=2e9)
    assert at_least(failed, trials) > 0.2


def test_the_largest_pair_is_needed_where_there_is_no_bound():
    ladder, trials = disjoint(20, gamma=0.3), 20_000
    assert ladder.parts == (("newcomer", Fraction(1, 10)), ("largest pair", Fraction(1, 5)))
    failed = failed_of(POPULATIONS["normal"], ladder, n=20, trials=trials, dilation=0.05)
    assert 0.1 < at_least(failed, trials) < at_most(failed, trials) <= 0.3


@every_population
def test_all_pairs_keep_gamma(population):
    ladder, trials = every(12, gamma=0.2), 20_000
    options = {"n": 12, "bound": 2e9, "all_pairs": True, "trials": trials}
    for dilation in (0.5, 60.0):
        assert at_most(failed_of(population, ladder, dilation=dilation, **options), trials) <= 0.2


def test_the_rank_among_the_pairs_that_are_there_would_be_too_low():
    """⌈(1 − γ)·n(n−1)/2⌉ forgets that the newcomer has pairs too."""
    ladder, trials = every(10, gamma=0.2), 20_000
    options = {"n": 10, "bound": 2e9, "all_pairs": True, "trials": trials, "dilation": 60.0}
    heavy = POPULATIONS["heavier than every power"]
    assert at_most(failed_of(heavy, ladder, **options), trials) <= 0.2
    assert at_least(failed_of(heavy, replace(ladder, rank=36), **options), trials) > 0.2


# Pairs that are drawn


@pytest.mark.parametrize("miss", [1e-1, 1e-6, 1e-12])
def test_too_low_a_rank_is_drawn_seldom_enough_and_not_much_more_seldom(miss):
    ladder = drawn(1000, gamma=0.05, draws=5000, miss=miss)
    share = (every(1000, gamma=0.05).rank - 1) / 499_500
    # 2·P(Binomial ≥ r) ≤ miss; the inequality that proves it gives away a factor, but no more than 100.
    assert miss / 100 < 2 * binom.sf(ladder.rank - 1, 5000, share) <= miss
    assert ladder.parts == every(1000, gamma=0.05).parts


def test_the_coins_miss_the_newcomer_no_more_often_than_that():
    """For the worst of data: the two who take each other's place are as far apart as h* ≤ z allows."""
    n, trials, rng = 60, 20_000, np.random.default_rng(20110)
    people = rng.normal(size=n + 1)
    within = np.sort(heights(people[None, :], all_pairs=True)[0])
    ladder = drawn(n, gamma=0.1, draws=300, miss=0.2)
    z = within[every(n, gamma=0.1).rank - 1]
    pairs = heights(people[None, :-1], all_pairs=True)[0]
    found = np.sort(pairs[rng.integers(0, len(pairs), size=(trials, 300))], axis=1)
    assert at_most(int(np.sum(found[:, ladder.rank - 1] < z)), trials) <= 0.1  # half of `miss`: for X, and for X'
    naive = math.ceil(300 * float(1 - every(n, gamma=0.1).parts[0][1]))
    assert at_least(int(np.sum(found[:, naive - 1] < z)), trials) > 0.1


def test_too_few_draws_say_how_many_are_needed():
    with pytest.raises(DescriptionError, match="at least 295 pairs"):
        drawn(1000, gamma=0.05, draws=100, miss=1e-6)
    assert drawn(1000, gamma=0.05, draws=295, miss=1e-6).rank == 295
    with pytest.raises(DescriptionError):
        drawn(1000, gamma=0.05, draws=294, miss=1e-6)


def test_coins_can_always_be_unlucky():
    with pytest.raises(InvalidPromise, match="above 0"):
        drawn(1000, gamma=0.05, draws=1000, miss=0)


# γ and the number of people


@given(st.integers(2, 10**6), st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
def test_gamma_is_no_more_than_was_asked_and_the_rank_is_the_lowest(size, gamma):
    for make, parts in (
        (lambda: disjoint(size, gamma=gamma), 2),
        (lambda: disjoint(size, gamma=gamma, bounded=True), 1),
        (lambda: every(size, gamma=gamma), 1),
    ):
        try:
            ladder = make()
        except DescriptionError:
            continue
        total = sum(share for _, share in ladder.parts)
        assert len(ladder.parts) == parts
        assert 1 <= ladder.rank <= ladder.values
        one_rank = Fraction(1, ladder.values if ladder.step == 1 else math.comb(size + 1, 2))
        assert gamma - one_rank < total <= gamma
        assert ladder.around(PureDP(1.0)) == RandomDP(PureDP(1.0), upward(total))


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (lambda n: disjoint(n, gamma=0.05), 120),
        (lambda n: disjoint(n, gamma=0.05, bounded=True), 40),
        (lambda n: every(n, gamma=0.05), 39),
        (lambda n: published(n, gamma=0.1), 696),
        (lambda n: disjoint(n, gamma=Fraction(1, 3)), 18),
    ],
)
def test_too_few_people_are_told_the_least_number(make, least):
    assert make(least).rank >= 1
    with pytest.raises(DescriptionError, match=f"at least {least} people"):
        make(least - 1)
    with pytest.raises(DescriptionError, match=f"at least {least} people"):
        make(1)


@pytest.mark.parametrize("gamma", [0, 1, -0.1, 1.5, math.nan, math.inf, "much", None, True])
@pytest.mark.parametrize("make", [disjoint, every, published])
def test_gamma_is_between_0_and_1(make, gamma):
    with pytest.raises(InvalidParameter, match="gamma of a random promise to be strictly between 0 and 1"):
        make(100, gamma=gamma)


def test_what_is_published_says_that_it_is_asymptotic():
    ladder = published(10_000, gamma=0.1)
    promise = ladder.around(PureDP(1.0))
    assert promise.basis is Basis.ASYMPTOTIC
    assert not promise.covers(disjoint(10_000, gamma=0.1).around(PureDP(1.0)))
    (_, quantile), (_, rest) = ladder.parts
    delta = 1 - Fraction(ladder.rank, ladder.values)
    # δ' + 2e^{−n(δ'−δ)²} ≤ γ, and two ranks lower it is not
    tail, lower = (2 * math.exp(-10_000 * float(quantile - d) ** 2) for d in (delta, delta + Fraction(2, 5000)))
    assert tail <= float(rest) * (1 + 1e-9) < lower
    assert quantile + rest == Fraction(1, 10)
