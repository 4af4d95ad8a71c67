"""What follows from the bounds on events: verdicts, lower bounds and curves, against direct formulas."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.audit.empirical.finding import Finding, Seen, Witness, hull, witness_content
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP

EVENT = Seen("value", 0, "above", 3.5)


def witness(p: float, q: float) -> Witness:
    return Witness(EVENT, round(1000 * p), round(1000 * q), 1000, p, q)


def finding(claim: Promise, *bounds: tuple[float, float], divergences: tuple[tuple[float, float], ...] = ()) -> Finding:
    found = tuple(witness(p, q) for p, q in bounds)
    return Finding(claim, 0.99, 4000, found[:1], found[1:], divergences)


def test_an_event_bounds_epsilon_in_both_directions() -> None:
    """ln(p/q) from the event itself, and ln((1 − q)/(1 − p)) from its complement."""
    assert witness(0.6, 0.2).epsilon() == pytest.approx(math.log(3))
    assert witness(0.6, 0.2).epsilon(delta=0.1) == pytest.approx(math.log(2.5))
    assert witness(0.9, 0.6).epsilon() == pytest.approx(math.log(4))
    assert witness(0.6, 0.2).epsilon() <= math.log(3)


def test_an_event_that_does_not_tell_bounds_nothing() -> None:
    blind = witness(0.2, 0.3)
    assert (blind.tells, blind.epsilon(), blind.mu) == (False, 0.0, 0.0)
    assert finding(PureDP(0.01), (0.2, 0.3)).delta(epsilon=0.0) == 0.0
    assert not finding(PureDP(0.01), (0.2, 0.3)).broken


@pytest.mark.parametrize(("epsilon", "broken"), [(1.09, True), (1.1, False)])
def test_the_verdict_turns_at_the_bound(epsilon: float, broken: bool) -> None:
    """ln 3 = 1.0986."""
    found = finding(PureDP(epsilon), (0.6, 0.2), (0.5, 0.4))
    assert found.broken is broken
    assert (found.witness is not None) is broken
    assert found.closest is found.witnesses[0]


def test_the_worst_event_is_the_witness_even_if_it_is_on_the_curve() -> None:
    found = finding(PureDP(0.5), (0.6, 0.3), (0.6, 0.1))
    assert found.witness is found.curve[0]
    assert found.epsilon() == pytest.approx(math.log(6))


def test_a_divergence_alone_refutes_a_claim_about_moments() -> None:
    found = finding(ZeroConcentratedDP(0.1), (0.2, 0.3), divergences=((2.0, 0.25),))
    assert found.broken
    assert found.refuting_order is not None
    assert list(found.refuting_order) == pytest.approx([2.0, 0.25, 0.2])
    assert not finding(ZeroConcentratedDP(0.1), (0.2, 0.3), divergences=((2.0, 0.19),)).broken
    assert found.renyi(2.0) == 0.25


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0, 3))
def test_the_hockey_stick_is_that_of_two_bits(p: float, q: float, epsilon: float) -> None:
    exact = max(0.0, p - math.exp(epsilon) * q, (1 - q) - math.exp(epsilon) * (1 - p)) if p > q else 0.0
    found = finding(PureDP(1.0), (p, q)).delta(epsilon=epsilon)
    assert found <= exact
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-12)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=8))
def test_a_hull_is_concave_and_below_no_point(points: list[tuple[float, float]]) -> None:
    corners = hull(points)
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in pairwise(corners) if c - a > 1e-9]
    assert all(later <= earlier * (1 + 1e-6) + 1e-6 for earlier, later in pairwise(slopes))
    for x, y in points:
        near = [(a, b, c, d) for (a, b), (c, d) in pairwise(corners) if a <= x <= c]
        assert any(
            y <= max(b, d) + 1e-9 if c - a < 1e-9 else y <= b + (d - b) * (x - a) / (c - a) + 1e-6
            for a, b, c, d in near
        )


def test_everything_is_json_even_infinity() -> None:
    found = finding(ApproximateDP(1.0, 1e-6), (0.6, 0.0))
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert said["verdict"] == "broken"
    assert said["epsilon"] == {"delta": 1e-6, "at_least": "inf"}
    assert said["witness"] == witness_content(found.witnesses[0])
    assert said["order"] is None
