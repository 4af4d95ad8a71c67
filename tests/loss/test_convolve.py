from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sitr.loss.convolve import Parts, tail, tilt_to, window
from sitr.loss.forms.finite import response
from sitr.loss.lattice import Nodes, combed


def coin(step: float = 0.1) -> Nodes:
    """±1 step with equal odds: sums are binomial."""
    return Nodes(step, np.array((-1, 1)), np.log(np.array((0.5, 0.5))), 0.0, 0.0)


def binomial(times: int, epsilon: float, step: float) -> float:
    """E[(1 − e^{ε−S})₊] for so many coins, exactly but for one rounding."""
    heads = range(times + 1)
    terms = (math.comb(times, k) / 2**times * max(0.0, -math.expm1(epsilon - (2 * k - times) * step)) for k in heads)
    return math.fsum(terms)


@pytest.mark.parametrize("tilt", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("times", [1, 2, 7, 200])
def test_coins_add_up(times, tilt):
    found = tail(Parts([(coin(), times)]), tilt=tilt, log_outside=-30.0)
    for epsilon in (-0.35, 0.0, 0.1, 0.333, 0.5):
        true = binomial(times, epsilon, 0.1)
        assert found.delta(epsilon, side=-1) <= true * (1 + 1e-15)
        assert true * (1 - 1e-15) <= found.delta(epsilon, side=1)


def test_the_tilt_makes_small_tails_accurate():
    parts = Parts([(coin(), 400)])
    found = tail(parts, tilt=tilt_to(parts, 30.0), log_outside=-30.0)
    true = binomial(400, 30.0, 0.1)
    assert true < 1e-50
    assert found.delta(30.0, side=-1) <= true <= found.delta(30.0, side=1) < true * (1 + 1e-6)


def test_the_window_holds_what_it_promises():
    parts = Parts([(coin(), 400)])
    left, right = window(parts, 0.0, -10.0)
    outside = sum(math.comb(400, k) / 2**400 for k in range(401) if not left <= (2 * k - 400) * 0.1 <= right)
    assert outside <= 2 * math.exp(-10.0)
    assert right - left < 40.0


def test_several_laws_and_origins():
    first, _ = combed(response(0.2), low=-0.2, high=0.2)
    found = tail(Parts([(first, 3), (first, 4)]), tilt=1.0, log_outside=-30.0)
    whole = tail(Parts([(first, 7)]), tilt=1.0, log_outside=-30.0)
    for epsilon in (0.0, 0.3, 1.0):
        assert found.delta(epsilon, side=0) == pytest.approx(whole.delta(epsilon, side=0), rel=1e-10)


def test_epsilon_and_delta_are_inverse():
    found = tail(Parts([(coin(), 50)]), tilt=2.0, log_outside=-30.0)
    for side in (-1, 1):
        epsilon = found.epsilon(0.01, side=side)
        # `side` moves both the same way
        assert found.delta(epsilon, side=side) == pytest.approx(0.01, rel=1e-9)
    assert found.epsilon(0.01, side=-1) <= found.epsilon(0.01, side=1)


# Broken twins


@pytest.mark.parametrize(
    "broken",
    [
        lambda found: replace(found, scale=0.0),  # the tilt without its scale
        lambda found: replace(found, tilt=found.tilt * 1.01),
        lambda found: replace(found, first=found.first + 1),
        lambda found: replace(found, stick=found.stick * (1 + 1e-4), sum=found.sum * (1 + 1e-4)),
    ],
)
def test_what_is_broken_is_found_out(broken):
    parts = Parts([(coin(), 200)])
    found = tail(parts, tilt=tilt_to(parts, 3.0), log_outside=-30.0)
    true = binomial(200, 3.0, 0.1)

    def holds(one) -> bool:
        return bool(one.delta(3.0, side=-1) <= true <= one.delta(3.0, side=1))

    assert holds(found)
    assert not holds(broken(found))


def test_aliasing_without_its_error_is_found_out():
    parts = Parts([(coin(), 400)])
    found = tail(parts, tilt=0.2, log_outside=-1.0)
    true = [binomial(400, epsilon, 0.1) for epsilon in (0.0, 1.0, 2.0, 3.0)]
    looks = [(found.delta(e, side=-1), found.delta(e, side=1)) for e in (0.0, 1.0, 2.0, 3.0)]
    assert all(low <= t <= high for t, (low, high) in zip(true, looks, strict=True))
    bare = replace(found, error=1e-12)
    looks = [(bare.delta(e, side=-1), bare.delta(e, side=1)) for e in (0.0, 1.0, 2.0, 3.0)]
    assert not all(low <= t <= high for t, (low, high) in zip(true, looks, strict=True))
