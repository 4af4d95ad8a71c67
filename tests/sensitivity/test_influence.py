"""Max-influence against enumeration of all series."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.sensitivity import influence
from sitr.sensitivity.chain import Chain
from sitr.sensitivity.influence import Influences, spread
from sitr.sensitivity.quilt import Quilt
from tests.oracles.series import every


def shares(weights: list[int]) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


def rows(states: int) -> st.SearchStrategy[list[Fraction]]:
    return st.lists(st.integers(0, 9), min_size=states, max_size=states).filter(sum).map(shares)


def chains(states: int) -> st.SearchStrategy[Chain]:
    return st.builds(Chain, rows(states), st.lists(rows(states), min_size=states, max_size=states))


def enumerated(chain: Chain, length: int, time: int, quilt: Quilt) -> float:
    """max ln P(x_Q | X_i = x)/P(x_Q | X_i = x′), from the definition.      [SWC17, Sec. 4.1]"""
    places = [time - quilt.before - 1] if quilt.before is not None else []
    places += [time + quilt.after - 1] if quilt.after is not None else []
    joint: dict[int, dict[tuple[int, ...], Fraction]] = {}
    for series, p in every(chain, length):
        told = joint.setdefault(series[time - 1], {})
        key = tuple(series[place] for place in places)
        told[key] = told.get(key, Fraction(0)) + p
    laws = [{key: p / sum(law.values()) for key, p in law.items()} for law in joint.values()]
    found = 0.0
    for law in laws:
        for other in laws:
            found = max([found, *(math.log(p / other[key]) if key in other else math.inf for key, p in law.items())])
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 3).flatmap(chains), st.data())
def test_the_influence_is_that_of_the_definition_rounded_up(chain, data):
    """Zeros included: what two states cannot both lead to is an infinite influence."""
    length = data.draw(st.integers(2, 5))
    time = data.draw(st.integers(1, length))
    found = Influences(chain, length)
    for before in [None, *range(1, time)]:
        for after in [None, *range(1, length - time + 1)]:
            true = enumerated(chain, length, time, Quilt(before, after))
            bound = found.at(time, before=before, after=after)
            assert true <= bound
            assert math.isinf(true) or bound <= true + 2 * found.slack + 1e-12


def test_the_published_example():
    chain = Chain([1, 0], [[0.9, 0.1], [0.4, 0.6]])
    assert Influences(chain, 100).at(8, before=5, after=5) == pytest.approx(0.3089, abs=5e-5)
    assert Influences(chain, 100).slack < 1e-10


def test_the_slack_covers_the_errors_of_floats():
    """Against fractions, for the longest distances of a slow chain; without the slack the bound would be too low."""
    chain = Chain(
        [Fraction(1, 3), Fraction(2, 3)], [[Fraction(99, 101), Fraction(2, 101)], [Fraction(1, 97), Fraction(96, 97)]]
    )
    found, below = Influences(chain, 60), 0
    law, step = list(chain.start), [[Fraction(p) for p in row] for row in chain.transition]
    power = step
    for steps in range(1, 50):
        ratios = [(power[x][r] / power[y][r]) for x, y in ((0, 1), (1, 0)) for r in (0, 1)]
        bound = found.at(1, before=None, after=steps)
        assert Fraction(bound) > max(log_below(ratio) for ratio in ratios)
        below += Fraction(bound - found.slack) < max(log_above(ratio) for ratio in ratios)
        power = [[sum((power[x][z] * step[z][y] for z in (0, 1)), Fraction(0)) for y in (0, 1)] for x in (0, 1)]
    assert law == list(chain.start)
    assert below > 0


def log_below(ratio: Fraction) -> Fraction:
    from sitr.numbers import ball, lower

    return Fraction(lower(ball(ratio).log()))


def log_above(ratio: Fraction) -> Fraction:
    from sitr.numbers import ball, upper

    return Fraction(upper(ball(ratio).log()))


def test_a_probability_that_floats_cannot_hold_is_no_reason_to_trust_a_quilt():
    """Rare steps: A^n has entries below TINY. They count as 0 in a denominator, and as something in a numerator."""
    chain = Chain([0.5, 0.5], [[1 - Fraction(1, 10**150), Fraction(1, 10**150)], [0, 1]])
    found = Influences(chain, 5)
    assert found.at(1, before=None, after=2) == math.inf  # state 1 never leads to state 0
    tiny = Chain([0.5, 0.5, 0], [[0, 1, 0], [0, Fraction(1, 10**290), 1 - Fraction(1, 10**290)], [0, 0, 1]])
    assert Influences(tiny, 3).at(1, before=None, after=1) == math.inf
    values, possible = np.array([[1e-290]]), np.array([[True]])
    power = influence._Power.of(values, possible)
    assert power.least[0, 0] == -math.inf
    assert power.most[0, 0] >= math.log(influence.TINY)


def test_the_scale_leaves_room_for_the_influence():
    assert spread(9, epsilon=Fraction(1), influence=0.25) == 12
    assert spread(9, epsilon=Fraction(1), influence=1.0) is None
    assert spread(9, epsilon=Fraction(1), influence=math.inf) is None
