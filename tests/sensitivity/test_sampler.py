"""The sensitivity sampler: how often a newcomer moves the statistic farther than any that was drawn."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta as beta_law

from sitr.errors import DescriptionError, InvalidParameter
from sitr.flavors.pure import PureDP
from sitr.sensitivity import mean, median, sampled, variance
from sitr.sensitivity.sampler import Draws, exchangeable, published

ALARM = 1e-7
rng = np.random.default_rng(2017)


# How many draws


def test_the_published_numbers():
    assert [published(gamma).pairs for gamma in (0.33, 0.1, 0.05, 0.01)] == [20, 285, 1305, 41971]
    assert [exchangeable(gamma).pairs for gamma in (0.33, 0.1, 0.05, 0.01)] == [3, 9, 19, 99]


@given(st.floats(1e-4, 0.99))
def test_the_published_numbers_are_what_their_inequality_needs_and_no_fewer(gamma):
    """γ ≥ ρ + (1 − k/m) + √(ln(1/ρ)/2m) for the ρ in the parts; and with the best ρ no smaller m has a k ≤ m."""
    draws = published(gamma)
    (_, quantile), (_, rho) = draws.parts
    m, deviation = draws.pairs, math.sqrt(-math.log(float(rho)) / (2 * draws.pairs))
    assert quantile + rho == Fraction(repr(gamma))
    assert 1 - draws.rank / m + deviation <= float(quantile) * (1 + 1e-9)
    rhos = np.geomspace(gamma * 1e-6, gamma * 0.999, 20_000)
    fewest = np.min(np.log(1 / rhos) / (2 * (gamma - rhos) ** 2))
    assert fewest * (1 - 1e-6) <= m <= fewest * (1 + 1e-3) + 1


@given(st.fractions(Fraction(1, 5000), Fraction(4999, 5000)))
def test_exchangeable_draws_are_as_few_as_can_be(gamma):
    draws = exchangeable(gamma)
    assert draws.rank == draws.pairs
    assert Fraction(1, draws.pairs + 1) == draws.parts[0][1] <= gamma
    assert draws.pairs == 0 or Fraction(1, draws.pairs) > gamma or draws.pairs == 1
    unpublished = published(float(gamma))
    assert Fraction(unpublished.pairs + 1 - unpublished.rank, unpublished.pairs + 1) <= gamma


@pytest.mark.parametrize("gamma", [0, 1, -1, 2, math.nan, None])
@pytest.mark.parametrize("choice", [exchangeable, published])
def test_gamma_is_between_0_and_1(choice, gamma):
    with pytest.raises(InvalidParameter, match="gamma"):
        choice(gamma)


# How often they are not enough


def bounds_on(count, trials):
    return (
        float(beta_law.ppf(ALARM, count, trials - count + 1)),
        float(beta_law.ppf(1 - ALARM, count + 1, trials - count)),
    )


def missed(population, *, size, trials, choice, statistic=np.mean):
    """How often a newcomer moves the statistic of private data farther than the rule says, each time a new rule."""
    count, options = 0, {"size": size, "gamma": 0.25, "granularity": 2.0**-30, "choice": choice}
    for _ in range(trials):
        rule = sampled(statistic, population=population, **options)
        people = population(size + 1)
        count += abs(rule.centre(people[:size]) - rule.centre(np.r_[people[: size - 1], people[size:]])) > rule.moved
    return count


@pytest.mark.parametrize(
    "population",
    [rng.standard_normal, pytest.param(rng.standard_cauchy, marks=pytest.mark.slow)],
    ids=["normal", "Cauchy"],
)
def test_a_continuous_statistic_fails_exactly_as_often_as_it_may(population):
    """No two movements are equal, so each is the largest of four with probability ¼: fewer pairs are too few."""
    trials = 1200
    lower, upper = bounds_on(missed(population, size=4, trials=trials, choice=exchangeable), trials)
    assert lower < 0.25 < upper
    fewer = missed(population, size=4, trials=trials, choice=lambda _: exchangeable(0.5))
    assert bounds_on(fewer, trials)[0] > 0.25


@pytest.mark.slow
@pytest.mark.parametrize("statistic", [np.mean, np.median])
def test_where_movements_are_equal_it_fails_less_often(statistic):
    for population in (lambda size: rng.integers(0, 3, size=size), lambda size: 100.0 * (rng.random(size) < 0.1)):
        count = missed(population, size=7, trials=2500, choice=exchangeable, statistic=statistic)
        assert bounds_on(count, 2500)[1] <= 0.25


def test_a_population_that_is_not_that_of_the_data_breaks_it():
    rule = sampled(np.mean, population=rng.standard_normal, size=50, gamma=0.05, granularity=2.0**-30)
    people = 1000 * rng.standard_normal((200, 51))
    moved = [abs(rule.centre(row[:50]) - rule.centre(np.r_[row[:49], row[50:]])) for row in people]
    assert np.mean(np.array(moved) > rule.moved) > 0.5


# What the rule is


def test_the_rule_is_frozen_and_says_its_parts():
    rule = sampled(median, population=rng.standard_normal, size=50, gamma=0.1, bounds=(-8, 8))
    assert rule.around(PureDP(1.0)).gamma == 0.1
    assert rule.around(PureDP(1.0)).parts == (("newcomer", 0.1),)
    with pytest.raises(AttributeError):
        rule.moved = 1  # type: ignore[misc]
    assert isinstance(rule.moved, int)


def test_a_statistic_that_never_moves_gets_one_granule():
    assert sampled(lambda _: 7.0, population=np.zeros, size=5, gamma=0.1, granularity=1).moved == 1


def test_rows_may_be_wide_and_variances_are_in_squared_granules():
    wide = sampled(
        lambda rows: float(rows[:, 0] @ rows[:, 1]),
        population=lambda size: rng.random((size, 2)),
        size=9,
        gamma=0.1,
        granularity=0.001,
    )
    assert 1 < wide.moved <= 1001
    squared = sampled(variance, population=rng.random, size=9, gamma=0.1, bounds=(0, 1))
    assert squared.subject.granularity == Fraction(1, 2**40)
    assert 0.001 < squared.moved * squared.subject.granularity < 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": lambda size: np.zeros(size - 1)}, "got 5 rows"),
        ({"population": lambda size: np.full(size, np.nan)}, "NaN among the values"),
        ({"size": 0}, "size of a sample to be a whole number"),
        ({"granularity": None}, "granularity"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises((DescriptionError, InvalidParameter), match=message):
        sampled(mean, **{"population": np.zeros, "size": 5, "gamma": 0.1, "granularity": 1, **options})


@pytest.mark.parametrize(("rank", "share"), [(9, 0), (9, Fraction(99, 1000)), (8, Fraction(1, 10)), (0, 1), (10, 1)])
def test_a_choice_that_claims_too_small_a_gamma_is_refused(rank, share):
    assert Draws(9, 9, (("newcomer", Fraction(1, 10)),)) == exchangeable(0.1)
    with pytest.raises(DescriptionError, match="a γ of at least"):
        Draws(9, rank, (("newcomer", Fraction(share)),))


def test_a_rule_is_for_one_number_of_people():
    rule = sampled(mean, population=np.zeros, size=5, gamma=0.1, granularity=1)
    with pytest.raises(DescriptionError, match="values of 5 people"):
        rule.centre(np.zeros(6))
