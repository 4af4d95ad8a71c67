from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement, product
from typing import Any, cast

import pytest
from scipy.stats import binom

from sitr.dataset.schema import Key
from sitr.errors import QuestionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.mechanisms.partition import PartitionSelection
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import Cells
from sitr.questions.aggregate.fit import fit
from sitr.questions.aggregate.other import Rest, gathered, other_cells, other_keys, spread, with_other
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release

BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
MANY = 10_000
PRICES = [ApproximateDP(1, 1e-6), ApproximateZeroConcentratedDP(0.1, 1e-6)]


@pytest.fixture(scope="session")
def other(plan) -> Callable[..., AggregatePlan]:
    """A question with a row for other keys, and its noise."""

    def made(sql: str = BY_WARD, *, price: Any = PRICES[1], **changed: Any) -> AggregatePlan:
        known = plan(sql, price=price, **({"keys": {}} | changed))
        return fit(with_other(known.query), price)

    return made


def release(plan: AggregatePlan, cells: Cells, *, seed: int = 1) -> Release:
    return AggregateQuestion(plan.query).answer(plan, cells, coins=TestCoins(seed))


def test_there_is_one_more_row_with_the_sum_of_all_keys_that_are_not_shown(other):
    cells: Cells = {("A",): (MANY, MANY), **{(f"rare {place}",): (place, 1) for place in range(200)}}
    made = release(other(), cells)
    assert made.keys == (("A",), (Rest.OTHER,))
    assert abs(made.measured[1][0] - 19_900) < 1_000
    assert [row["other"] for row in made.table().to_pylist()] == [False, True]
    assert made.table().to_pylist()[1]["ward"] is None
    assert made.possible()
    assert not replace(made, keys=made.keys[:1], measured=made.measured[:1]).possible()


def test_it_is_there_whatever_the_data_are(other):
    assert release(other(), {}).keys == ((Rest.OTHER,),)
    assert release(other(), {("A",): (MANY, MANY)}).keys == (("A",), (Rest.OTHER,))


def test_beside_public_keys_there_is_one_for_each_of_them(other):
    fitted = other(BY_WARD.replace("ward", "ward, urgent"), keys={"urgent": [True, False]})
    cells: Cells = {("A", True): (MANY, MANY), ("rare", True): (3, 1), ("rare", False): (4, 1), ("odd", False): (5, 1)}
    assert other_keys(fitted.query) == ((Rest.OTHER, True), (Rest.OTHER, False))
    assert other_cells(fitted.query, cells, [("A", True), ("A", False)]) == [(3,), (9,)]
    assert release(fitted, cells).keys == (("A", True), ("A", False), (Rest.OTHER, True), (Rest.OTHER, False))


def test_it_stays_where_rows_are_selected_or_cut(other):
    cells: Cells = {(ward,): (MANY * place, MANY) for place, ward in enumerate("ABC", start=1)}
    made = release(other(f"{BY_WARD} HAVING n > 5000 ORDER BY n DESC LIMIT 2"), cells)
    assert made.rows == (("C",), ("B",), (Rest.OTHER,))
    assert made.table().num_rows == 3


@pytest.mark.parametrize(
    ("sql", "because"),
    [
        ("SELECT ward, MEDIAN(days) AS m FROM visits GROUP BY ward", "quantiles of several groups do not add up"),
        ("SELECT ward, COUNT(DISTINCT days) AS n FROM visits GROUP BY ward", "the same value"),
        ("SELECT ward, COUNT(DISTINCT id) AS n FROM visits GROUP BY ward", "max_groups=1"),
        ("SELECT ward, SUM_PER_PERSON(days, 0, 5) AS n FROM visits GROUP BY ward", "max_groups=1"),
        ("SELECT ward, COUNT(*) AS other FROM visits GROUP BY ward", "Name it with AS"),
        ("SELECT urgent, COUNT(*) AS n FROM visits GROUP BY urgent", "The keys of this question are listed"),
        ("SELECT COUNT(*) AS n FROM visits", "The keys of this question are listed"),
    ],
)
def test_what_cannot_be_in_such_a_row_is_refused(other, sql, because):
    with pytest.raises(QuestionError, match=because):
        other(sql)


def test_people_who_have_one_group_at_most_add_up(other):
    made = release(other(BY_WARD.replace("*", "DISTINCT id"), max_groups=1), {(f"{ward}",): (1, 1) for ward in "ABC"})
    assert made.keys == ((Rest.OTHER,),)


# The distance


@pytest.mark.parametrize("k", [1, 2, 3])
def test_shown_cells_and_other_coordinates_move_no_further_than_cells(k):
    """All ways in which a unit's cells can be shown, or belong to one of two other rows: in ℓ1 one coordinate for each
    other row is enough; in ℓ2 it is not, and k are."""
    worst = 0
    for homes in combinations_with_replacement(["shown", "first", "second"], k):
        for values in product((-2, -1, 0, 2), repeat=k):
            one: Counter[tuple[str, int]] = Counter()
            many: Counter[tuple[str, int]] = Counter()
            for nth, (home, value) in enumerate(zip(homes, values, strict=True)):
                one[(home, nth if home == "shown" else 0)] += value
                many[(home, nth)] += value
            assert sum(map(abs, one.values())) <= 2 * k
            assert sum(value**2 for value in many.values()) <= 4 * k
            worst = max(worst, sum(value**2 for value in one.values()))
    assert worst == 4 * k**2


def test_draws_are_as_many_as_the_distance_needs(other):
    gaussian, laplace = other(price=PRICES[1], max_groups=5), other(price=ApproximateDP(40, 1e-6), max_groups=5)
    assert gaussian.other_draws == 5
    assert not laplace.noisy[0].noise.euclidean
    assert laplace.other_draws == 1
    assert gathered(list(spread([4, -1], 5)), 5) == [4, -1]


# Coverage


@pytest.mark.parametrize("price", PRICES, ids=repr)
def test_intervals_of_other_rows_hold_as_often_as_they_say(other, price):
    """600 public keys are 600 draws of each release. With the noise of a single draw, intervals would be too narrow."""
    fitted = other(
        "SELECT ward, days, COUNT(*) AS n FROM visits GROUP BY ward, days",
        price=price,
        keys={"days": list(range(600))},
        max_groups=4,
    )
    assert fitted.other_draws == 4
    (column,), held, narrow, draws = fitted.columns, 0, 0, 0
    for seed in range(5):
        made = release(fitted, {("rare", day): (day % 7, 0) for day in range(600)}, seed=seed)
        exact = [day % 7 for day in range(600)]
        found = made.estimates(column)
        held += sum(one.low <= value <= one.high for one, value in zip(found, exact, strict=True))
        width = column.width(0.95)
        values = [one.value for one in found if one.value is not None]
        narrow += sum(abs(one - value) <= width for one, value in zip(values, exact, strict=True))
        draws += len(found)
    assert binom.cdf(held, draws, 0.95) > 1e-6
    assert binom.sf(held - 1, draws, 0.97) > 1e-6
    assert binom.cdf(narrow, draws, 0.95) < 1e-6


def test_a_mean_in_another_row_has_the_noise_of_both_sums(other):
    fitted = other("SELECT ward, AVG(days) AS m FROM visits GROUP BY ward", price=ApproximateDP(5, 1e-6), max_groups=3)
    exact = {"SUM(days - 1)": 0, "COUNT(days)": 10}  # a mean of 1
    cells: Cells = {(f"rare {place}",): (*(exact[term.name] for term in fitted.query.terms), 1) for place in range(400)}
    misses = 0
    for seed in range(30):
        (one,) = release(fitted, cells, seed=seed).estimates(fitted.columns[0])
        misses += not one.low <= 1.0 <= one.high
    assert misses <= 7  # more have a probability of 10⁻⁴ at 5%


# The audit: nobody looks inside.

RUNS = 1_200


def divergence(one: list[tuple[int, ...]], two: list[tuple[int, ...]], epsilon: float) -> tuple[float, float]:
    """A lower bound on the hockey-stick divergence of what was seen, and its standard error.

    The outcomes that are likelier in the first half of the runs by more than e^ε are the event; the second half tells
    its probabilities.
    """
    half, factor = len(one) // 2, math.exp(epsilon)
    seen, other_seen = Counter(one[:half]), Counter(two[:half])
    event = {each for each in seen if seen[each] > factor * other_seen[each]}
    p, q = (sum(each in event for each in rest[half:]) / half for rest in (one, two))
    return p - factor * q, math.sqrt((p * (1 - p) + factor**2 * q * (1 - q)) / half)


def outcomes(plan: AggregatePlan, cells: Cells, *, first: int) -> list[tuple[int, ...]]:
    """What is seen in many runs: which keys are shown, and all noisy numbers, coarsely."""
    noise, found = plan.noisy[0].noise, []
    for seed in range(first, first + RUNS):
        made = release(plan, cells, seed=seed)
        steps = [math.floor(row[0] / (2 * noise.deviation)) for row in made.measured]
        found.append((hash(made.keys) & 0xFFFF, *steps))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("price", "k"),
    [
        pytest.param(ApproximateZeroConcentratedDP(0.3, 0.02), 2, marks=pytest.mark.sample),
        (ApproximateZeroConcentratedDP(0.3, 0.02), 1),
        (ApproximateDP(1, 0.02), 2),
        (ApproximateDP(1, 0.02), 1),
    ],
    ids=repr,
)
def test_a_person_with_rare_keys_loses_no_more_than_is_claimed(other, price, k):
    """Neighbours differ in one person with k keys: alone in them, or at the threshold, which these keys then cross half
    of the time. The exact remainder is caught."""
    fitted = other(price=price, max_groups=k, max_rows_per_group=3)
    assert fitted.threshold is not None
    optimal = isinstance(fitted.threshold, PartitionSelection)
    least = fitted.threshold.error(confidence=0.5) if optimal else fitted.threshold.least
    loss = fitted.loss()
    assert loss is not None
    rare = [f"rare {place}" for place in range(k)]
    for others in (0, least - 1):
        without: Cells = {**{(ward,): (3 * others, others) for ward in rare if others}, ("A",): (500, 500)}
        having: Cells = {**{(ward,): (3 * others + 3, others + 1) for ward in rare}, ("A",): (500, 500)}
        with_, without_ = outcomes(fitted, having, first=0), outcomes(fitted, without, first=RUNS)
        for epsilon in (0.5, 1.0):
            claimed = loss.delta(epsilon=epsilon).upper
            for pair in ((with_, without_), (without_, with_)):
                found, error = divergence(*pair, epsilon)
                assert found <= claimed + 4 * error

    def remainder(plan: AggregatePlan, cells: Cells, *, first: int) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        for seed in range(first, first + RUNS // 2):
            made = release(plan, cells, seed=seed)
            shown = [cast("tuple[Key, ...]", key) for key in made.keys if Rest.OTHER not in key]
            (left,) = other_cells(plan.query, cells, shown)
            found.append((len(shown), left[0]))
        return found

    with_, without_ = remainder(fitted, having, first=0), remainder(fitted, without, first=RUNS)
    found, error = divergence(with_, without_, 1.0)
    assert found > loss.delta(epsilon=1.0).upper + 6 * error
