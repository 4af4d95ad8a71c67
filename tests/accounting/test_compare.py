from __future__ import annotations

import math
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitr.accounting.compare import THEOREMS, compare, curve, infinite_mass, named
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.schedule_file import read_schedule
from sitr.accounting.theorems.optimal_mixed import ERROR, optimal_mixed
from sitr.accounting.theorems.theorem import NO, Total
from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.numbers import ball

NAMES = [theorem.name for theorem in THEOREMS]


def totals(comparison):
    return {row.theorem.name: row.outcome for row in comparison.rows if isinstance(row.outcome, Total)}


def response(*sizes):
    return Schedule(tuple(read_schedule([{"response": {"epsilon": size}}]).parts[0] for size in sizes))


# Soundness: the truth is known, and no theorem says less


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(0.01, 2.0), min_size=1, max_size=5), st.sampled_from([1e-9, 1e-6, 1e-3, 0.1]))
def test_no_theorem_promises_more_of_randomized_response_than_is_true(worst_delta, sizes, delta):
    found = totals(compare(response(*sizes), delta=delta))
    assert set(found) >= set(NAMES) - {"optimal_equal", "random_union"}
    for name, bounds in found.items():
        assert worst_delta([(size, 0.0) for size in sizes], bounds.upper) <= ball(delta) * (1 + ball(1e-12)), name
        if bounds.two_sided and bounds.lower > 0:
            assert worst_delta([(size, 0.0) for size in sizes], bounds.lower) >= ball(delta) * (1 - ball(1e-12)), name


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.floats(0.0, 2.0), st.sampled_from([0.0, 1e-6, 1e-3])), min_size=1, max_size=5),
    st.sampled_from([1e-5, 1e-2, 0.1]),
)
def test_no_theorem_promises_more_of_approximate_releases_than_is_true(worst_delta, plan_of, releases, delta):
    found = totals(compare(plan_of(releases), delta=delta))
    for name, bounds in found.items():
        assert worst_delta(releases, bounds.upper) <= ball(delta) * (1 + ball(1e-12)), name
        if bounds.two_sided and bounds.lower > 0:
            assert worst_delta(releases, bounds.lower) >= ball(delta) * (1 - ball(1e-12)), name


@settings(max_examples=10)
@given(st.lists(st.floats(0.05, 1.5), min_size=1, max_size=3), st.integers(1, 4), st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_no_theorem_promises_more_of_gaussian_noise_than_is_true(sizes, times, delta):
    steps = [{"gaussian": {"sigma": 1, "sensitivity": size}, "times": times} for size in sizes]
    found = totals(compare(read_schedule(steps), delta=delta))
    truth = GaussianDP(math.sqrt(times * sum(size * size for size in sizes))).to_approximate(delta=delta).epsilon
    assert set(found) >= set(NAMES) - {"optimal_equal", "random_union"}
    for name, bounds in found.items():
        assert bounds.upper >= truth * (1 - 1e-12), name
    assert found["gaussian"].two_sided
    assert found["gaussian"].lower <= truth * (1 + 1e-12)


@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_two_sided_bounds_agree(delta):
    bounds = [b for b in totals(compare(response(*[0.3] * 10), delta=delta)).values() if b.two_sided]
    assert len(bounds) == 3
    assert max(b.lower for b in bounds) <= min(b.upper for b in bounds)


# Monotonicity

SMOOTH = [theorem for theorem in THEOREMS if theorem.name not in ("profile", "loss", "random_union")]
kinds = st.sampled_from([{"pure": {"epsilon": 0.2}}, {"gaussian": {"sigma": 4, "sensitivity": 1}}])


def uppers(schedule, delta):
    """Of the theorems that are no sums on a lattice, which may wobble in the last digits it resolves."""
    rows = [curve(schedule, theorem=theorem, deltas=[delta])[0].rows[0] for theorem in SMOOTH]
    return {row.theorem.name: row.outcome.upper for row in rows if isinstance(row.outcome, Total)}


@settings(max_examples=20)
@given(kinds, st.integers(1, 400), st.integers(1, 50))
def test_more_releases_never_cost_less(kind, times, more):
    few, many = (uppers(read_schedule([{**kind, "times": number}]), 1e-6) for number in (times, times + more))
    assert len(few) >= 9
    for name, upper in few.items():
        assert upper <= many[name] * (1 + 1e-9), name


@settings(max_examples=20)
@given(kinds, st.integers(1, 400), st.floats(1e-12, 0.1), st.floats(1.01, 5.0))
def test_a_larger_delta_never_costs_more(kind, times, delta, factor):
    schedule = read_schedule([{**kind, "times": times}])
    small, large = uppers(schedule, delta), uppers(schedule, delta * factor)
    assert len(small) >= 9
    for name, upper in large.items():
        assert upper <= small[name] * (1 + 1e-9), name


# The table


def test_every_theorem_has_a_row_in_order_with_bounds_or_a_reason():
    comparison = compare(read_schedule([{"approximate": {"epsilon": 0.1, "delta": "1e-9"}, "times": 10}]), delta=1e-6)
    assert [row.theorem.name for row in comparison.rows] == NAMES
    reasons = {row.theorem.name: row.outcome for row in comparison.rows if isinstance(row.outcome, str)}
    assert set(reasons) == {
        "concentrated",
        "zero_concentrated",
        "renyi",
        "renyi_as_published",
        "gaussian",
        "random_union",
    }
    assert "neither the largest loss nor any moment" in reasons["renyi"]


def test_the_tightest_is_the_least_and_the_first_of_equals():
    comparison = compare(response(*[0.1] * 30), delta=1e-6)
    assert comparison.tightest is not None
    assert comparison.tightest.outcome.upper == min(bounds.upper for bounds in totals(comparison).values())
    nothing = compare(Schedule((Part((PureDP(0.0),), times=3),)), delta=0.0)
    assert nothing.tightest is not None
    assert nothing.tightest.theorem.name == "basic"


def test_where_nothing_applies_nothing_is_tightest():
    comparison = compare(Schedule((Part((ApproximateDP(1.0, 1e-3),)),)), delta=1e-6)
    assert comparison.tightest is None
    assert "0.001" in str(comparison.rows[0].outcome)


def test_at_delta_0_a_pure_plan_is_its_sum():
    found = totals(compare(Schedule((Part((PureDP(0.1),), times=3), Part((PureDP(0.5),)))), delta=0.0))
    assert found["basic"] == Total(0.8, 0.8, two_sided=True)
    assert found["optimal_mixed"] == Total(0.8, 0.8, two_sided=True)
    assert found["profile"].upper == pytest.approx(0.8, rel=1e-9)
    assert set(found) == {"basic", "optimal_mixed", "profile"}


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2, math.nan, math.inf, "1e-6", True])
def test_delta_is_a_probability_below_1(delta):
    with pytest.raises(InvalidPromise):
        compare(response(0.1), delta=delta)


def test_numbers_beyond_floats_are_told_not_raised():
    comparison = compare(Schedule((Part((PureDP(1e308),), times=10),)), delta=1e-6)
    assert all(isinstance(row.outcome, str) and row.outcome for row in comparison.rows)


def test_theorems_are_found_by_name():
    assert [named(name) for name in NAMES] == list(THEOREMS)
    assert len(set(NAMES)) == len(NAMES)
    with pytest.raises(InvalidPromise, match="optimal_mixed"):
        named("magic")


SHARES = "if the shares of δ are fixed in advance"
ORDER = re.compile(r"if order [\d.]+ is fixed in advance")


@pytest.mark.parametrize(
    ("step", "valid", "conditional"),
    [
        ({"pure": {"epsilon": 0.1}}, {"basic", "advanced", "halved", "zero_concentrated", "gaussian"}, set()),
        ({"approximate": {"epsilon": 0.1, "delta": "1e-9"}}, {"basic"}, {"advanced", "halved"}),
        ({"profile": [[0.1, "1e-8"], [0.2, "1e-9"]]}, set(), {"basic", "advanced", "halved"}),
        (
            {"gaussian": {"sigma": 4, "sensitivity": 1}},
            {"zero_concentrated", "gaussian"},
            {"basic", "advanced", "halved"},
        ),
    ],
)
def test_which_totals_may_decide_when_to_stop(step, valid, conditional):
    rows = {row.theorem.name: row for row in compare(read_schedule([{**step, "times": 5}]), delta=1e-6).rows}
    assert {name for name, row in rows.items() if row.adaptive.valid} == valid
    assert {name for name, row in rows.items() if row.adaptive.condition == SHARES} == conditional
    for name in ("renyi", "renyi_as_published"):
        assert bool(ORDER.fullmatch(rows[name].adaptive.condition)) == isinstance(rows[name].outcome, Total)
    assert not any(row.adaptive.valid and row.adaptive.condition for row in rows.values())


def test_no_total_decides_anything_where_there_is_none():
    rows = compare(Schedule((Part((ApproximateDP(1.0, 1e-3),)),)), delta=1e-6).rows
    assert {row.adaptive for row in rows} == {NO}


# The error of the interval for different steps


def test_the_interval_for_different_steps_is_as_narrow_as_asked_for():
    schedule = Schedule(tuple(Part((PureDP(0.01 + 0.19 * ((i * 0.618034) % 1)),)) for i in range(60)))
    wide, narrow = (totals(compare(schedule, delta=1e-6, error=error))["optimal_mixed"] for error in (1.0, 0.005))
    assert narrow.width <= 0.005
    assert wide.width <= 1.0  # the loss is narrower than was asked for
    assert max(wide.lower, narrow.lower) <= min(wide.upper, narrow.upper)
    assert totals(compare(schedule, delta=1e-6))["optimal_mixed"] == optimal_mixed(schedule, 1e-6, error=ERROR)


@pytest.mark.parametrize("error", [0, -0.1, math.nan, math.inf, True, "0.05"])
def test_an_error_is_a_number_above_0(error):
    with pytest.raises(InvalidPromise, match="additive error"):
        compare(response(0.1), delta=1e-6, error=error)


# Random plans


def test_a_random_plan_is_compared_by_its_inner_promises_and_carries_gamma():
    steps = read_schedule([{"response": {"epsilon": 0.1}, "times": 20}]).parts
    plain = compare(Schedule(steps), delta=1e-6)
    step = Part(tuple(RandomDP(promise, 0.001) for promise in steps[0].promises), times=20, known=steps[0].known)
    random = compare(Schedule((step,)), delta=1e-6)
    assert plain.gamma is None
    assert random.gamma == 0.02
    assert {row.adaptive for row in random.rows} == {NO}
    expected = totals(plain)
    expected["random_union"] = expected["basic"]
    assert totals(random) == expected


def test_one_random_step_makes_the_whole_random():
    schedule = Schedule((Part((RandomDP(PureDP(0.1), 0.25),), times=2), Part((PureDP(0.5),))))
    comparison = compare(schedule, delta=0.0)
    assert comparison.gamma == 0.5
    assert totals(comparison)["random_union"].upper == 0.7


# The two failure modes of δ


@pytest.mark.parametrize(
    ("promises", "mass"),
    [
        ((ApproximateDP(1.0, 0.1),), 0.1),
        ((PrivacyProfile(((1.0, 0.5), (2.0, 0.1))),), 0.1),
        ((ApproximateDP(1.0, 0.2), PrivacyProfile(((2.0, 0.1),))), 0.1),
        ((PureDP(1.0),), 0.0),
        ((GaussianDP(1.0),), 0.0),
        ((ApproximateDP(1.0, 0.1), GaussianDP(1.0)), 0.0),
        ((RandomDP(ApproximateDP(1.0, 0.1), 0.5),), 0.1),
    ],
)
def test_the_mass_at_infinity_is_kept_apart(promises, mass):
    assert infinite_mass(Schedule((Part(promises),))) == pytest.approx(mass, rel=1e-12)


def test_masses_at_infinity_combine_as_independent_accidents():
    schedule = Schedule(
        (Part((ApproximateDP(1.0, 0.1),), times=2), Part((ApproximateDP(0.5, 0.5),)), Part((PureDP(1.0),)))
    )
    assert infinite_mass(schedule) == pytest.approx(1 - 0.81 * 0.5, rel=1e-12)
    assert infinite_mass(Schedule((Part((ApproximateDP(1.0, 1.0),)),))) == 1.0


# Curves


def test_a_curve_is_the_comparison_of_one_theorem_at_many_deltas():
    schedule = response(*[0.2] * 12)
    deltas = [1e-9, 1e-6, 1e-3]
    points = curve(schedule, theorem=named("optimal_equal"), deltas=deltas)
    assert [point.delta for point in points] == deltas
    assert points[1].rows[0] in compare(schedule, delta=1e-6).rows
    falling = [totals(point)["optimal_equal"].upper for point in points]
    assert falling == sorted(falling, reverse=True)


def test_a_curve_of_a_random_plan_carries_gamma():
    schedule = Schedule((Part((RandomDP(PureDP(0.1), 0.25),)),))
    assert [point.gamma for point in curve(schedule, theorem=named("basic"), deltas=[0.0, 0.1])] == [0.25, 0.25]
