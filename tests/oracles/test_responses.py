from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sitr.accounting.shares import Point, spare
from sitr.accounting.views import Inapplicable
from sitr.numbers import ball
from tests.oracles.responses import greatest, hockey_stick, least, product, responses

NEGLIGIBLE = 1e-30


def binomial(epsilon, times, minuses):
    """The exact probability of so many minus signs, in 300 bits."""
    with ctx.workprec(300):
        odds = ball(epsilon).exp()
        return math.comb(times, minuses) * odds ** (times - minuses) / (1 + odds) ** times


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 1), (0.1, 7), (2.0, 40), (0.01, 300), (5.0, 1000)])
def test_every_mass_is_right_to_within_its_stated_error(epsilon, times):
    law = responses(epsilon, times, negligible=NEGLIGIBLE)
    assert np.all(np.diff(law.losses) > 0)
    kept = 0.0
    for loss, mass in zip(law.losses, law.masses, strict=True):
        minuses = round((times - loss / epsilon) / 2)
        assert abs(loss - epsilon * (times - 2 * minuses)) <= law.shift
        exact_mass = binomial(epsilon, times, minuses)
        assert abs(ball(float(mass)) / exact_mass - 1) < ball(law.slip)
        kept += float(mass)
    assert 1 - kept <= law.lost + 1e-9


def test_what_is_lost_is_bounded():
    law = responses(0.5, 10_000, negligible=1e-6)
    with ctx.workprec(100):
        first = round((10_000 - law.losses[-1] / 0.5) / 2)
        last = round((10_000 - law.losses[0] / 0.5) / 2)
        outside = 1 - sum((binomial(0.5, 10_000, m) for m in range(first, last + 1)), arb(0))
    assert len(law.losses) < 2000
    assert 0 < outside < ball(law.lost)


def test_extreme_losses_are_no_trouble():
    law = responses(1e4, 100, negligible=NEGLIGIBLE)
    assert law.losses.tolist() == [1e6]
    assert law.masses.tolist() == [1.0]


@given(st.lists(st.tuples(st.floats(0.01, 3.0), st.integers(1, 4)), min_size=1, max_size=3))
def test_a_product_is_the_law_of_the_sum(steps):
    whole = responses(*steps[0], negligible=NEGLIGIBLE)
    for step in steps[1:]:
        whole = product(whole, responses(*step, negligible=NEGLIGIBLE), negligible=NEGLIGIBLE)
    assert np.all(np.diff(whole.losses) >= 0)
    assert whole.masses.sum() == pytest.approx(1.0, rel=1e-12)
    # Q's mass is 1 as well, and the mean is the sum of means ε·tanh(ε/2).
    assert float(np.dot(whole.masses, np.exp(-whole.losses))) == pytest.approx(1.0, rel=1e-12)
    mean = sum(times * epsilon * math.tanh(epsilon / 2) for epsilon, times in steps)
    assert float(np.dot(whole.masses, whole.losses)) == pytest.approx(mean, rel=1e-9)


@given(st.floats(0.01, 2.0), st.integers(1, 8), st.floats(1e-9, 0.9))
def test_the_two_solutions_enclose_the_truth_closely(epsilon, times, tail):
    law = responses(epsilon, times, negligible=tail * 1e-13)
    low, high = least(law, arb(tail)), greatest(law, arb(tail))
    assert 0.0 <= low <= high
    assert high - low < 1e-9

    def stick(at):
        with ctx.workprec(300):
            total = arb(0)
            for minuses in range(times + 1):
                ratio = (ball(at) - ball(epsilon) * (times - 2 * minuses)).exp()
                if ratio < 1:
                    total += binomial(epsilon, times, minuses) * (1 - ratio)
            return total

    assert stick(high) <= ball(tail) * (1 + ball(1e-13))
    assert low == 0.0 or stick(low) >= ball(tail) * (1 - ball(1e-13))


def test_a_law_with_less_certain_masses_has_a_wider_interval():
    """The stated errors count: with a slip of one percent the interval opens, and still holds the same truth."""
    law = responses(0.1, 100, negligible=1e-20)
    rough = type(law)(law.losses, law.masses, 0.01, 0.001, 1e-8)
    tail = arb(1e-6)
    assert least(rough, tail) < least(law, tail) - 0.001
    assert greatest(rough, tail) > greatest(law, tail) + 0.001


def test_a_tail_that_is_lost_in_rounding_is_refused():
    with pytest.raises(Inapplicable, match="too little"):
        greatest(responses(0.1, 100, negligible=1e-3), arb(1e-6))


def test_the_hockey_stick_of_one_response():
    law = responses(1.0, 1, negligible=NEGLIGIBLE)
    assert hockey_stick(law, 0.0) == pytest.approx(math.tanh(0.5), rel=1e-14)
    assert hockey_stick(law, 1.0) == 0.0


def test_what_infinite_losses_leave_of_delta():
    points = (Point(0.1, 0.1, 2, True), Point(0.2, 0.0, 5, True))
    spared = spare(points, 0.5)
    assert spared.overlaps(ball(1 - Fraction(1, 2) / Fraction(81, 100)))
    assert float(spared.rad()) < 1e-50
    with pytest.raises(Inapplicable, match=r"infinite with probability 0\.19"):
        spare(points, 0.18)
    with pytest.raises(Inapplicable, match="δ = 1"):
        spare((Point(0.1, 1.0, 1, True),), 0.5)
