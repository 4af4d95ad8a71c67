from __future__ import annotations

import math
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.noise.coins import Coins, TestCoins, system_coins
from sitr.questions.aggregate.bind import Cells
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release

BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(days) AS stay FROM visits GROUP BY ward"
UNKNOWN = {"keys": {}, "price": ApproximateDP(1, 1e-6)}
CLEAR = PureDP(1e6)
"""A price that buys all but exact numbers: P(Y ≠ 0) < 2e^{−1000} for every sum here."""


def release(plan: AggregatePlan, cells: Cells, *, coins: Coins) -> Release:
    return AggregateQuestion(plan.query).answer(plan, cells, coins=coins)


# Known keys


@pytest.mark.parametrize(
    "cells",
    [
        {},
        {("A",): (5, -3, 2)},
        {("A",): (5, -3, 2), ("B",): (7, 1, 3), (None,): (9, 8, 4)},
        {(None,): (9, 8, 4), ("B",): (7, 1, 3)},
    ],
)
def test_every_known_key_is_there_in_the_declared_order(plan, cells):
    noisy = release(plan(BY_WARD), cells, coins=TestCoins(1))
    assert noisy.keys == (("B",), ("A",), (None,))
    clear = release(plan(BY_WARD, price=CLEAR), cells, coins=TestCoins(1))
    assert clear.keys == noisy.keys
    assert clear.measured == tuple(cells.get(key, (0, 0, 0))[:2] for key in clear.keys)


def test_absent_keys_get_noise_too(plan):
    """Over many releases every key has been seen on both sides of its exact number."""
    fitted = plan(BY_WARD, price=PureDP(0.1))
    cells: Cells = {("A",): (5, -3, 2)}
    seen = [release(fitted, cells, coins=TestCoins(seed)) for seed in range(60)]
    for row, key in enumerate(fitted.query.keys[0].keys):
        for place in range(2):
            exact = cells.get((key,), (0, 0))[place]
            signs = {(answer.measured[row][place] > exact) - (answer.measured[row][place] < exact) for answer in seen}
            assert {-1, 1} <= signs


def test_known_keys_are_combined_in_the_order_of_the_question(plan):
    sql = "SELECT {0}, {1}, COUNT(*) AS n FROM visits GROUP BY {0}, {1}"
    urgent, born = (True, False), (date(2024, 2, 29), date(1999, 1, 1))
    one = release(plan(sql.format("urgent", "born")), {}, coins=TestCoins(1))
    other = release(plan(sql.format("born", "urgent")), {}, coins=TestCoins(1))
    assert one.keys == tuple((first, second) for first in urgent for second in born)
    assert other.keys == tuple((second, first) for second in born for first in urgent)


def test_cells_meet_their_key_and_their_column(plan):
    sql = "SELECT urgent, ward, COUNT(*) AS n, COUNT(DISTINCT id) AS people, SUM(days) AS stay FROM visits"
    fitted = plan(sql + " GROUP BY urgent, ward", price=CLEAR)
    cells: Cells = {(True, "A"): (1, 2, 3), (True, None): (4, 5, 6), (False, "B"): (7, 8, 9)}
    clear = release(fitted, cells, coins=TestCoins(1)).table().to_pylist()
    found = {(row["urgent"], row["ward"]): (row["n"], row["people"], row["stay"]) for row in clear}
    assert found == {(urgent, ward): (0, 0, 0) for urgent in (True, False) for ward in ("A", "B", None)} | cells


@pytest.mark.parametrize("cells", [{}, {(): (5,)}])
def test_without_keys_there_is_always_one_row(plan, cells):
    clear = release(plan("SELECT COUNT(*) AS n FROM visits", price=CLEAR), cells, coins=TestCoins(1))
    assert (clear.keys, clear.measured) == (((),), (cells.get((), (0,)),))


# Unknown keys


def test_keys_above_the_threshold_are_shown_sorted_with_null_last(plan):
    sql = "SELECT born, ward, days, COUNT(*) AS n FROM visits GROUP BY born, ward, days"
    expected = [
        (date(1999, 1, 1), "B", 1),
        (date(2024, 2, 29), "A", -1),
        (date(2024, 2, 29), "A", 2),
        (date(2024, 2, 29), "A", 10),
        (date(2024, 2, 29), "B", 0),
        (date(2024, 2, 29), None, 0),
        (None, "", 0),
        (None, "A", 0),
        (None, "ب", None),
        (None, None, None),
    ]
    fitted = plan(sql, bounds={}, granularity={}, **UNKNOWN)
    for order in (expected, expected[::-1], expected[5:] + expected[:5]):
        cells: Cells = {key: (10_000 + place, 10_000) for place, key in enumerate(order)}
        shown = release(fitted, cells, coins=TestCoins(1))
        assert list(shown.keys) == expected
        for key, (number,) in zip(expected, shown.measured, strict=True):
            assert abs(number - cells[key][0]) < 1_000  # e^{−100} at most: each number belongs to its key


def test_the_order_of_the_rows_changes_nothing(plan):
    cells: Cells = {(f"ward {place}",): (50 * place, 0, 20 * place) for place in range(6)}
    one, two = (
        release(plan(BY_WARD, **UNKNOWN), dict(items), coins=TestCoins(3))
        for items in (cells.items(), reversed(cells.items()))
    )
    assert one == two


people = st.integers(1, 200)
wards = st.none() | st.text(max_size=3)


@pytest.fixture(scope="module")
def unknown(plan) -> AggregatePlan:
    """Wards that are not declared, and a threshold."""
    fitted: AggregatePlan = plan(BY_WARD, **UNKNOWN)
    return fitted


@given(st.dictionaries(st.tuples(wards), st.tuples(people, people, people), max_size=12), st.integers(0, 10**6))
def test_no_key_is_shown_that_nobody_has(unknown, cells, seed):
    shown = release(unknown, cells, coins=TestCoins(seed))
    assert set(shown.keys) <= cells.keys()
    assert len(set(shown.keys)) == len(shown.keys) == len(shown.measured)
    assert release(unknown, {}, coins=TestCoins(seed)).keys == ()


def test_people_decide_what_is_shown_and_not_rows_or_values(plan):
    fitted = plan(BY_WARD, **UNKNOWN)
    assert fitted.threshold is not None
    far = 60 * int(fitted.threshold.noise.size)  # noise reaches so far with probability e^{−60}, or less
    cells: Cells = {("many rows",): (10**6, 10**6, 1), ("many people",): (0, 0, fitted.threshold.least + far)}
    for seed in range(20):
        assert release(fitted, cells, coins=TestCoins(seed)).keys == (("many people",),)


def test_a_key_at_the_threshold_is_shown_half_the_time(plan):
    """P(Y ≥ 0) = P(Z ≥ −1/(2σ)): the number of people with its noise decides, against `least` itself."""
    fitted = plan(BY_WARD, **UNKNOWN)
    assert fitted.threshold is not None
    cells: Cells = {(f"{ward:05}",): (0, 0, fitted.threshold.least) for ward in range(20_000)}
    shown = len(release(fitted, cells, coins=TestCoins(5)).keys)
    assert isinstance(fitted.threshold.noise, RoundedGaussian)
    chance = (1 + math.erf(1 / (2 * math.sqrt(2) * float(fitted.threshold.noise.size)))) / 2
    assert 1e-7 < binom.cdf(shown, 20_000, chance) < 1 - 1e-7
    # A threshold that were one higher: P(Y ≥ 1) = 1 − P(Y ≥ 0).
    assert binom.sf(shown, 20_000, 1 - chance) < 1e-7


# The coins


@pytest.mark.parametrize("settings", [{}, {"price": ZeroConcentratedDP(0.1)}, UNKNOWN])
def test_equal_coins_give_equal_answers(plan, settings):
    cells: Cells = {(ward,): (200, -30, 100) for ward in ("A", "B", None)}
    fitted = plan(BY_WARD, **settings)
    one, two, other = (release(fitted, cells, coins=TestCoins(seed)) for seed in (1, 1, 2))
    assert one == two
    assert one.measured != other.measured


def test_secret_coins_give_answers_that_differ(plan):
    fitted = plan(BY_WARD, price=PureDP(1e-9))
    one, two = (release(fitted, {}, coins=system_coins()) for _ in range(2))
    assert one.measured != two.measured


def test_every_number_has_noise_of_its_own(plan):
    """Equal noise on two numbers would cancel in their difference."""
    numbers = release(plan(BY_WARD, price=PureDP(1e-9)), {}, coins=TestCoins(1)).measured
    assert len({number for row in numbers for number in row}) == 6


# Coverage

DRAWS = 20_000


@pytest.mark.parametrize(
    ("price", "scaled"),
    [
        (PureDP(0.02), lambda noise, by: Laplace(noise.scale * by)),
        (ZeroConcentratedDP(0.0004), lambda noise, by: Gaussian(noise.sigma * by)),
    ],
    ids=["laplace", "gaussian"],
)
def test_intervals_hold_the_exact_value_as_often_as_they_say(plan, price, scaled):
    """20,000 known keys are 20,000 draws. One width more or less changes the coverage by less than 0.1% here, so the
    exact binomial tails at 0.95 and 0.951 leave a correct sampler a chance of 2·10⁻⁷; twins that are fitted to 10% less
    or more noise fall out of them."""
    sql = "SELECT days, COUNT(*) AS n FROM visits GROUP BY days"
    fitted = plan(sql, price=price, keys={"days": range(DRAWS)}, max_groups=1)
    cells: Cells = {(key,): (key % 97, key % 89) for key in range(0, DRAWS, 2)}
    answer = release(fitted, cells, coins=TestCoins(7))
    ends = answer.intervals().select(["days", "n_low", "n_high"]).to_pylist()
    exact = [cells.get((row["days"],), (0, 0))[0] for row in ends]
    held = sum(row["n_low"] <= value <= row["n_high"] for row, value in zip(ends, exact, strict=True))
    assert binom.cdf(held, DRAWS, 0.95) > 1e-7
    assert binom.sf(held - 1, DRAWS, 0.951) > 1e-7

    def within(width: int) -> int:
        return sum(abs(row[0] - value) <= width for row, value in zip(answer.measured, exact, strict=True))

    noise = fitted.noisy[0].noise
    assert held == within(noise.error())
    assert binom.cdf(within(scaled(noise, Fraction(9, 10)).error()), DRAWS, 0.95) < 1e-7
    assert binom.sf(within(scaled(noise, Fraction(11, 10)).error()) - 1, DRAWS, 0.951) < 1e-7
