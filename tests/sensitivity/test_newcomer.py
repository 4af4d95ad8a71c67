"""How far one person moves a statistic, and what is refused before anything is spent."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.errors import DescriptionError, InvalidParameter, QuestionError
from sitr.sensitivity import Pairs, interquartile_range, mean, median, quantile, random, trimmed_mean, variance
from sitr.sensitivity.newcomer import slope

KNOWN = [mean, median, quantile(0.9), trimmed_mean(0.2), interquartile_range]


def row_distance(first, second):
    return np.abs(first - second).sum(axis=1)


def first_column(rows):
    return rows[:, 0].mean()


@pytest.mark.parametrize("statistic", KNOWN, ids=repr)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=12), st.integers(-50, 50), st.data())
def test_nobody_moves_a_known_statistic_farther_than_its_slope_says(statistic, values, newcomer, data):
    position = data.draw(st.integers(0, len(values) - 1))
    after = list(values)
    after[position] = newcomer
    moved = abs(statistic.value(np.sort(values)) - statistic.value(np.sort(after)))
    assert moved <= slope(statistic, len(values)) * abs(values[position] - newcomer)


@pytest.mark.parametrize("statistic", KNOWN, ids=repr)
def test_and_somebody_moves_it_so_far(statistic):
    moves = []
    for tens in range(10):
        sample = np.repeat([0, 10], [9 - tens, tens])
        after = np.sort(np.r_[sample[1:], 10])
        moves.append(abs(statistic.value(sample) - statistic.value(after)) / 10)
    assert max(moves) == slope(statistic, 9)


def test_the_variance_has_no_slope():
    with pytest.raises(DescriptionError, match="Pass it as a function"):
        random(variance, size=1000, gamma=0.05, granularity=1)


@pytest.mark.parametrize("statistic", KNOWN, ids=repr)
def test_the_scale_is_the_height_times_the_slope_and_one_granule(statistic):
    values = np.random.default_rng(3).normal(size=200) * 1000
    rule = random(statistic, size=200, gamma=0.1, granularity=1)
    sample = rule.sample(values)
    pairs = np.sort(np.abs(sample[:100] - sample[100:]))[93 - 1 :]
    height = max(math.exp(-0.1 * t) * rung for t, rung in enumerate(pairs))
    fineness = 1 / rule.subject.granularity
    expected = height * float(slope(statistic, 200) * fineness) + 1
    assert rule.scale(sample, dilation=0.1) == pytest.approx(expected, rel=1e-8)


def test_a_function_moves_by_a_share_of_h_by_its_errors_and_by_rounding():
    """The same numbers as a function: in granules of 1/4 and with errors of up to 1/8, s/g = 4·(S/n + 2/8) + 1."""
    values = np.random.default_rng(3).normal(size=(200, 2)) * 1000
    rule = random(first_column, h=row_distance, size=200, gamma=0.1, granularity=0.25, accuracy=0.125)
    pairs = np.sort(row_distance(values[:100], values[100:]))[93 - 1 :]
    height = max(math.exp(-0.1 * t) * rung for t, rung in enumerate(pairs))
    assert rule.scale(rule.sample(values), dilation=0.1) == pytest.approx(4 * (height / 200 + 0.25) + 1, rel=1e-8)


def test_pairs_are_made_in_the_order_that_is_given():
    values = np.random.default_rng(3).normal(size=400)
    rule = random(mean, size=400, gamma=0.1, granularity=2**-20)
    shuffled, alike = (rule.scale(rule.sample(x), dilation=0.1) for x in (values, np.repeat(np.sort(values)[::2], 2)))
    assert shuffled != alike
    paired = np.r_[np.sort(values)[::2], np.sort(values)[1::2]]  # each next to the one most like it
    assert rule.scale(rule.sample(paired), dilation=0.1) < shuffled / 2


@pytest.mark.parametrize("order", [lambda a, b: np.abs(a - b), lambda a, b: np.where(a > b, np.abs(a - b), 0)])
def test_the_larger_h_of_both_ways_counts(order):
    values = np.random.default_rng(3).normal(size=200)
    rules = [
        random(np.mean, h=h, size=200, gamma=0.1, granularity=2**-20, accuracy=0)
        for h in (lambda a, b: np.abs(a - b), order)
    ]
    assert len({rule.scale(rule.sample(values), dilation=0.1) for rule in rules}) == 1


def test_all_pairs_agree_one_by_one_and_on_a_line():
    values = np.random.default_rng(3).integers(0, 1000, size=300)
    common: dict[str, Any] = {"size": 300, "gamma": 0.05, "pairs": Pairs.EVERY}
    line = random(mean, bounds=(0, 1000), granularity=1, **common)
    each = random(
        lambda x: Fraction(int(x.sum()), 300),
        h=lambda a, b: np.abs(a - b),
        bound=1000,
        granularity=Fraction(1, 300),
        accuracy=0,
        **common,
    )
    on_line, one_by_one = (rule.scale(rule.sample(values), dilation=0.1) for rule in (line, each))
    assert on_line == pytest.approx(one_by_one, rel=1e-9)
    assert line.subject.centre(line.sample(values)) == each.subject.centre(each.sample(values)) == values.sum()


def test_drawn_pairs_step_by_what_one_person_is_in():
    values = np.array([0, 0, 0, 0, 100] * 20)
    rule = random(mean, bounds=(0, 100), granularity=1, size=100, gamma=0.1, pairs=Pairs.DRAWN, draws=200)
    first = np.arange(200) % 100
    second = (first + 1 + (np.arange(200) == 0)) % 100  # one person is in five pairs
    degree = np.bincount(np.r_[first, second]).max()
    rank = rule.ladder(miss=0.1).rank
    growing = np.sort(np.abs(values[first] - values[second]))
    rungs = [*growing[rank - 1 :: degree], 100]
    expected = max(math.exp(-0.1 * t) * rung for t, rung in enumerate(rungs)) + 1
    assert degree == 5
    found = rule.scale(rule.sample(values), dilation=0.1, miss=0.1, chosen=(first, second))
    assert found == pytest.approx(expected, rel=1e-9)


def test_all_pairs_of_one_person_are_one_step():
    """One of ten people moves nine pairs, to the ranks 37 to 45. From rank 29 on, steps of eight would meet two."""
    rule = random(mean, size=10, gamma=Fraction(26, 55), bounds=(0, 100), granularity=1, pairs=Pairs.EVERY)
    assert rule.ladder().rank == 29
    s, t = (rule.scale(rule.sample([0] * 9 + [last]), dilation=0.5) for last in (0, 100))
    assert 1.6 < t / s <= math.exp(0.5)


def test_drawn_pairs_of_one_person_are_one_step():
    """One person is in five of 200 pairs, the ranks 196 to 200. From rank 176 on, steps of four would meet two."""
    rule = random(mean, bounds=(0, 100), granularity=1, size=100, gamma=0.2, pairs=Pairs.DRAWN, draws=200)
    first = np.arange(200) % 100
    chosen = first, (first + 1 + (np.arange(200) == 0)) % 100
    assert np.bincount(np.r_[chosen])[2] == 5
    assert rule.ladder(miss=0.1).rank == 176
    values = np.arange(100) == 2
    s, t = (rule.scale(rule.sample(x), dilation=0.1, miss=0.1, chosen=chosen) for x in (0 * values, 100 * values))
    assert t <= s * math.exp(0.1)


@pytest.mark.parametrize("pairs", [Pairs.DISJOINT, Pairs.EVERY, Pairs.PUBLISHED])
def test_constant_data_and_ties_are_answered(pairs):
    rule = random(mean, size=1000, gamma=0.2, bounds=(0, 10), granularity=1, pairs=pairs)
    assert rule.scale(rule.sample(np.full(1000, 7)), dilation=2.0) == pytest.approx(1, abs=1e-9)
    assert rule.scale(rule.sample(np.arange(1000) ** 2 % 3), dilation=2.0) >= 1


# What is refused


def test_too_few_people_are_told_the_least_number():
    with pytest.raises(DescriptionError, match="at least 120 people"):
        random(mean, size=119, gamma=0.05, granularity=1)
    random(mean, size=120, gamma=0.05, granularity=1)


@pytest.mark.parametrize("gamma", [0, 1, 1.5, -1, math.nan])
def test_gamma_is_between_0_and_1(gamma):
    with pytest.raises(InvalidParameter, match="gamma of a random promise to be strictly between 0 and 1"):
        random(mean, size=1000, gamma=gamma, granularity=1)


@pytest.mark.parametrize(
    ("statistic", "options", "message"),
    [
        (mean, {}, "granularity"),
        (mean, {"granularity": 0}, "granularity of a statistic to be a finite number above 0"),
        (mean, {"granularity": 1, "h": row_distance}, "no h, because its own is known"),
        (mean, {"granularity": 1, "accuracy": 0}, "no accuracy"),
        (mean, {"granularity": 1, "pairs": Pairs.EVERY}, "bounds, within which"),
        (mean, {"granularity": 1, "pairs": Pairs.DRAWN}, "a public bound on h"),
        (mean, {"granularity": 1, "bound": -1}, "bound of h to be a finite number of at least 0"),
        (mean, {"granularity": 1, "bound": 1, "pairs": Pairs.PUBLISHED}, "no bound on h"),
        (first_column, {"granularity": 1, "accuracy": 0}, "needs h"),
        (first_column, {"granularity": 1, "h": row_distance}, "as accuracy a bound"),
        (first_column, {"h": row_distance, "accuracy": 0}, "granularity"),
        (first_column, {"granularity": 1, "bounds": (0, 1), "h": row_distance, "accuracy": 0}, "and no bounds"),
        (
            first_column,
            {"granularity": 1, "h": row_distance, "accuracy": -1},
            "accuracy of a statistic to be",
        ),
        (
            first_column,
            {"granularity": 1, "h": row_distance, "accuracy": math.nan},
            "accuracy of a statistic to be",
        ),
        ("mean", {"granularity": 1}, "a statistic of Sitr"),
        (mean, {"granularity": 1, "size": 0}, "size of a sample to be a whole number"),
        (mean, {"granularity": 1, "size": 1000.0}, "size of a sample to be a whole number"),
        (mean, {"bounds": (0, 1), "pairs": Pairs.DRAWN, "draws": 0}, "draws of pairs to be a whole number"),
    ],
)
def test_what_does_not_fit_is_refused_before_there_are_any_data(statistic, options, message):
    with pytest.raises((DescriptionError, InvalidParameter), match=message):
        random(statistic, **{"size": 1000, "gamma": 0.05, **options})


@pytest.mark.parametrize("pairs", [Pairs.DISJOINT, Pairs.EVERY, Pairs.DRAWN])
def test_a_bound_that_clamped_values_may_break_is_refused(pairs):
    """Differences of up to 1000 would count as 1, and so would the noise: for nearly every newcomer too little."""
    common: dict[str, Any] = {"size": 1000, "gamma": 0.05, "bounds": (0, 1000), "granularity": 1, "pairs": pairs}
    assert random(mean, bound=1000, **common).bound == 1000
    for bound in (1, 999):
        with pytest.raises(DescriptionError, match="no smaller than its bounds imply"):
            random(mean, bound=bound, **common)


@pytest.mark.parametrize("pairs", [Pairs.DISJOINT, Pairs.DRAWN])
def test_a_bound_on_values_without_bounds_is_refused(pairs):
    with pytest.raises(DescriptionError, match="no smaller than its bounds imply"):
        random(mean, size=1000, gamma=0.05, granularity=1, bound=1000, pairs=pairs)


def test_all_pairs_of_many_rows_are_refused():
    with pytest.raises(DescriptionError, match=r"Pairs\.DRAWN"):
        random(
            first_column, h=row_distance, size=10_000, gamma=0.05, granularity=1, accuracy=0, bound=1, pairs=Pairs.EVERY
        )


def test_a_trimmed_mean_of_nobody_is_refused():
    with pytest.raises(QuestionError, match="leaves at least one value"):
        random(trimmed_mean(0.5), size=1000, gamma=0.05, granularity=1)


VALUES = np.arange(1000.0)
MASKED = np.ma.masked_greater(VALUES, 500)


@pytest.mark.parametrize(
    "values",
    [
        VALUES[:-1],
        np.where(VALUES == 17, np.nan, VALUES),
        MASKED,
        "text",
        [],
        ["a"] * 1000,
        np.array(VALUES, dtype="m8[s]"),
    ],
    ids=["too few", "NaN", "masked", "text", "none", "letters", "times"],
)
@pytest.mark.parametrize("known", [True, False])
def test_bad_values_are_refused_without_saying_which(values, known):
    rule = (
        random(mean, size=1000, gamma=0.05, granularity=1)
        if known
        else random(np.mean, h=lambda a, b: np.abs(a - b), size=1000, gamma=0.05, granularity=1, accuracy=0)
    )
    with pytest.raises(DescriptionError) as caught:
        rule.sample(values)
    assert "17" not in str(caught.value)
    assert "501" not in str(caught.value)


@pytest.mark.parametrize(
    "h",
    [
        lambda a, b: np.abs(a - b).sum(),
        lambda a, b: -np.abs(a - b),
        lambda a, b: (a - b) * np.nan,
        lambda a, b: np.abs(a - b) + np.inf,
    ],
)
def test_an_h_that_is_not_a_bound_row_by_row_is_refused(h):
    rule = random(np.mean, h=h, size=1000, gamma=0.05, granularity=1, accuracy=0)
    with pytest.raises(DescriptionError, match="finite number of at least 0 for each row"):
        rule.scale(rule.sample(VALUES), dilation=0.1)
