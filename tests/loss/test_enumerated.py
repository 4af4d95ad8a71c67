"""Sums of finite losses, value by value: the truth lies in the interval, and a smaller one would miss it."""

from __future__ import annotations

import math
from itertools import product as patterns

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.loss.enumerated import MOST_ATOMS, enumerated, hockey_stick
from sitr.loss.forms.finite import FiniteLaw, pair, response
from sitr.loss.forms.laplace import LARGE, DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.law import TOO_MANY
from sitr.loss.loss import Loss
from sitr.loss.search import DeltaAt, answer
from sitr.numbers import ball

Part = tuple[float, float, int]


def truth(parts: list[Part], epsilon: float) -> arb:
    """δ(ε) of responses (ε, δ), each a number of times, by every pattern of signs."""
    with ctx.workprec(300):
        each = [(size, delta) for size, delta, times in parts for _ in range(times)]
        finite = arb(1)
        for _, delta in each:
            finite *= 1 - ball(delta)
        stick = arb(0)
        for signs in patterns((1, -1), repeat=len(each)):
            p = q = arb(1)
            for sign, (size, _) in zip(signs, each, strict=True):
                odds = (sign * ball(size)).exp()
                p, q = p * odds / (1 + odds), q / (1 + odds)
            stick += (p - ball(epsilon).exp() * q).nonnegative_part()
        return 1 - finite * (1 - stick)


def total(parts: list[Part]) -> Loss:
    return Loss.compose(Loss.of(response(size, infinite=delta), times) for size, delta, times in parts)


several = st.lists(
    st.tuples(st.floats(1e-6, 4.0), st.sampled_from([0.0, 1e-9, 0.01]), st.integers(1, 3)), min_size=1, max_size=3
)


@settings(max_examples=40)
@given(several, st.floats(0.0, 1.1))
def test_delta_is_exact_up_to_rounding(parts, share):
    epsilon = share * sum(size * times for size, _, times in parts)
    found, exactly = total(parts).delta(epsilon=epsilon), truth(parts, epsilon)
    assert not exactly > ball(found.upper) * (1 + ball(1e-14))
    assert not exactly < ball(found.lower) * (1 - ball(1e-14))
    assert found.width <= 1e-12


@settings(max_examples=40)
@given(several, st.floats(0.05, 0.9))
def test_epsilon_is_exact_up_to_rounding(parts, share):
    loss = total(parts)
    mass = loss.infinite_mass()
    delta = mass + share * (float(truth(parts, 0.0).mid()) - mass)
    found = loss.epsilon(delta=delta)
    assert found.width <= 1e-9
    with ctx.workprec(300):
        assert not truth(parts, found.upper) > ball(delta) * (1 + ball(1e-14))
        assert found.lower == 0.0 or not truth(parts, found.lower) < ball(delta) * (1 - ball(1e-14))
        # Broken twins: an interval that is moved by a millionth misses the truth.
        assert found.lower == 0.0 or truth(parts, found.lower * (1 - 1e-6)) > ball(delta)
        assert found.upper == 0.0 or truth(parts, found.upper * (1 + 1e-6)) < ball(delta)


@pytest.mark.parametrize("times", [100, 100_000])
def test_many_equal_responses_are_a_binomial(times):
    """The masses add up to 1, and so do Q's, e^{−l} times as large."""
    found = enumerated([(response(0.01), times)])
    assert found is not None
    assert len(found.losses) <= times + 1
    assert found.masses.sum() == pytest.approx(1.0, abs=1e-9)
    assert hockey_stick(found, -1e4) == pytest.approx(1.0, abs=1e-9)


def test_laws_of_three_values_are_multiplied_out():
    law = pair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))
    found = Loss.of(law, 5).delta(epsilon=1.0)
    exactly = 0.0
    for places in patterns(range(3), repeat=5):
        p = math.prod((0.5, 0.3, 0.2)[place] for place in places)
        q = math.prod((0.2, 0.3, 0.5)[place] for place in places)
        exactly += max(0.0, p - math.e * q)
    assert found.lower == pytest.approx(exactly, rel=1e-11)
    assert found.upper == pytest.approx(exactly, rel=1e-11)


def test_both_directions_are_answered():
    uneven = FiniteLaw((-math.log(2), math.log(4)), (math.log(2 / 7), math.log(5 / 7)), infinite=0.0, beyond=0.25)
    loss = Loss.of(uneven, 2)
    assert loss.infinite_mass() == pytest.approx(1 - 0.75**2)
    assert loss.epsilon(delta=0.4).lower == math.inf


def test_sums_with_too_many_values_and_other_laws_are_left_to_cells():
    assert enumerated([(response(0.1), MOST_ATOMS)]) is None
    assert enumerated([(response(0.1), 3), (LaplaceLaw(1.0), 1)]) is None
    assert enumerated([]) is None


def test_sums_with_more_atoms_than_floats_can_count_are_left_to_other_ways() -> None:
    law = pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    assert len(law.losses) == 3
    assert enumerated([(law, 1000)]) is None
    assert enumerated([(law, 2)]) is not None


Noise = tuple[float, int]
"""A scale, and how far an integer moves."""


def of_noise(parts: list[Noise], epsilon: float) -> float:
    """δ(ε) of Laplace noise on integers, from the masses of all outputs that floats can tell from 0."""
    pairs = [(1.0, 1.0)]
    for scale, shift in parts:
        odds = math.exp(-1 / scale)
        far = math.ceil(45 * scale)
        each = [
            (1 - odds) / (1 + odds) * math.exp(-abs(y - moved) / scale)
            for moved in (shift, 0)
            for y in range(-far, shift + far + 1)
        ]
        both = list(zip(each[: len(each) // 2], each[len(each) // 2 :], strict=True))
        pairs = [(p * here, q * there) for p, q in pairs for here, there in both]
    return math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in pairs)


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "parts",
    [[(4.0, 1), (4.0, 3)], [(0.5, 3), (2.0, 2)], [(1.5, 2)] * 2, [(0.7, 1)] * 3, [(1.1, 2), (3.0, 7)]],
    ids=repr,
)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.77, 0.99])
def test_laplace_noise_is_multiplied_out(parts: list[Noise], share: float) -> None:
    loss = Loss.compose(Loss.of(DiscreteLaplaceLaw(scale, shift)) for scale, shift in parts)
    epsilon = share * sum(shift / scale for scale, shift in parts)
    found, exactly = loss.delta(epsilon=epsilon), of_noise(parts, epsilon)
    assert found.lower == pytest.approx(exactly, rel=1e-11)
    assert found.upper == pytest.approx(exactly, rel=1e-11)
    # Broken twin: a person whose number moves one step further is hidden less well.
    (scale, shift), *rest = parts
    assert of_noise([(scale, shift + 1), *rest], epsilon) > found.upper * (1 + 1e-6)


@pytest.mark.parametrize(("scale", "shift"), [(400.0, 100), (8000.0, 2000), (2.5, 40)])
def test_cells_agree_about_laplace_noise(scale: float, shift: int) -> None:
    """Both ways prove an interval, and the truth is in both."""
    laws = [(DiscreteLaplaceLaw(4.0, 1), 2), (DiscreteLaplaceLaw(scale, shift), 1)]
    for share in (0.1, 0.6):
        epsilon = share * (0.5 + shift / scale)
        atoms = enumerated(laws)
        assert atoms is not None
        exactly = atoms.delta(epsilon)
        assert exactly.width <= 1e-8 * exactly.upper
        found, _ = answer(laws, DeltaAt(epsilon), relative=0.01, most=1.0)
        assert max(found.lower, exactly.lower) <= min(found.upper, exactly.upper)


def test_laplace_noise_that_is_alone_or_has_too_many_or_too_large_losses_is_not_listed() -> None:
    assert enumerated([(DiscreteLaplaceLaw(4.0, 1), 1)]) is None
    assert enumerated([(DiscreteLaplaceLaw(4.0, 1), 2)]) is not None
    assert enumerated([(DiscreteLaplaceLaw(1e4, TOO_MANY), 2)]) is None
    assert enumerated([(DiscreteLaplaceLaw(1 / LARGE, 1), 2)]) is not None
    assert enumerated([(DiscreteLaplaceLaw(0.9 / LARGE, 1), 2)]) is None
