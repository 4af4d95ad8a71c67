"""Sums of losses by Fourier's inversion, against sums that are counted; and broken twins that must be rejected."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from flint import arb

from sitr.loss import transform
from sitr.loss.inversion import Tail, tail
from sitr.loss.mesh import Nodes
from sitr.loss.total import Comb, SumOfLaws, tilt_for, tilt_to

UNEVEN = {-0.7: 0.3, 0.11: 0.35, 0.95: 0.35}
"""No two of these losses have a common measure."""


def nodes(masses: dict[float, float], *, infinite: float = 0.0, off: float = 0.0) -> Nodes:
    return Nodes(np.array(list(masses)), np.log(np.array(list(masses.values()))), infinite, off)


def coin(step: float = 0.1) -> Nodes:
    """±1 step with equal odds: sums are binomial."""
    return nodes({-step: 0.5, step: 0.5})


def counted(parts: Iterable[tuple[Nodes, int]], truth) -> list[tuple[arb, arb]]:
    """All sums of losses, and their masses, exactly."""
    found = [(arb(0), arb(1))]
    for one, times in parts:
        atoms = [
            (truth.real(loss), truth.real(mass).exp())
            for loss, mass in zip(one.losses.tolist(), one.log_masses.tolist(), strict=True)
        ]
        ways = []
        for chosen in combinations_with_replacement(range(len(atoms)), times):
            loss, mass, left = arb(0), arb(1), times
            for index in range(len(atoms)):
                number = chosen.count(index)
                loss, mass = loss + number * atoms[index][0], mass * atoms[index][1] ** number * math.comb(left, number)
                left -= number
            ways.append((loss, mass))
        found = [(loss + more, mass * other) for loss, mass in found for more, other in ways]
    return found


def stick(sums: list[tuple[arb, arb]], epsilon: arb) -> arb:
    return sum((mass * (1 - (epsilon - loss).exp()) for loss, mass in sums if loss > epsilon), arb(0))


def look(
    total: SumOfLaws, epsilon: float, *, smoothing: float = 1e-6, tilt: float | None = None, log_outside: float = -25.0
):
    found = tilt_to(total, epsilon, start=1.0, at_most=1e3) if tilt is None else tilt
    return tail(total, tilt=found, low=epsilon, high=epsilon, smoothing=smoothing, log_outside=log_outside)


def holds(found: Tail, epsilon: float, true: arb, truth) -> bool:
    low, high = (found.delta(epsilon, side=side) for side in (-1, 1))
    return bool(truth.real(low) <= true <= truth.real(high))


# What is true


@pytest.mark.parametrize("tilt", [1e-9, 0.01, 1.0, 8.0])
@pytest.mark.parametrize("times", [1, 2, 7, 200])
def test_coins_add_up(times, tilt, truth):
    total = SumOfLaws([(coin(), times)], 0.0)
    sums = counted(total.parts, truth)
    found = tail(total, tilt=tilt, low=0.0, high=0.5, smoothing=1e-4, log_outside=-25.0)
    assert found.comb is not None
    for epsilon in (0.0, 0.1 - 1e-15, 0.1, 0.1 + 1e-15, 0.333, 0.4, 0.5):
        assert holds(found, epsilon, stick(sums, truth.real(epsilon)), truth)


@pytest.mark.parametrize("smoothing", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("times", [1, 2, 5, 12])
def test_uneven_losses_add_up(times, smoothing, truth):
    total = SumOfLaws([(nodes(UNEVEN), times)], 0.0)
    assert total.comb is None
    sums = counted(total.parts, truth)
    kinks = [float(loss) for loss, _ in sums[:: max(1, len(sums) // 5)] if loss > 0]
    for epsilon in (0.0, 0.4, 0.95 * times - 1e-3, *kinks):
        found = look(total, epsilon, smoothing=smoothing)
        assert holds(found, epsilon, stick(sums, truth.real(epsilon)), truth)


def test_different_laws_and_a_gaussian_add_up(truth):
    parts = [(nodes(UNEVEN, infinite=0.0), 3), (coin(0.3), 4)]
    variance = 0.3
    total, sums = SumOfLaws(parts, variance), counted(parts, truth)
    mu = truth.real(variance).sqrt()
    for epsilon in (0.0, 0.5, 2.0, 4.0):
        found, e = look(total, epsilon, smoothing=0.0), truth.real(epsilon)
        true = arb(0)
        for loss, mass in sums:
            x = e - loss
            true += mass * (truth.normal(mu / 2 - x / mu) - x.exp() * truth.normal(-mu / 2 - x / mu))
        assert holds(found, epsilon, true, truth)
        assert found.delta(epsilon, side=1) < float(true) * (1 + 1e-8)


def test_the_tilt_makes_small_tails_accurate(truth):
    total = SumOfLaws([(coin(), 400)], 0.0)
    found, true = look(total, 30.0), stick(counted(total.parts, truth), arb(30))
    assert true < arb("1e-50")
    assert holds(found, 30.0, true, truth)
    assert found.delta(30.0, side=1) < float(true) * (1 + 1e-6)


def test_a_mass_at_infinity_is_added(truth):
    total = SumOfLaws([(nodes({-0.5: 0.4, 0.5: 0.5}, infinite=0.1), 3)], 0.0)
    true = stick(counted(total.parts, truth), arb("0.2")) + 1 - (1 - truth.real(0.1)) ** 3
    assert holds(look(total, 0.2), 0.2, true, truth)
    none = SumOfLaws([(Nodes(np.zeros(0), np.zeros(0), 0.25, 0.0), 2)], 0.0)
    assert look(none, 0.2, tilt=1.0).delta(0.2, side=1) == pytest.approx(1 - 0.75**2, rel=1e-12)


def test_losses_that_are_off_are_made_up_for(truth):
    """However each loss is moved by no more than `off`."""
    off = 1e-3
    for masses in (UNEVEN, {-0.5: 0.5, 0.5: 0.5}):
        told = SumOfLaws([(nodes(masses, off=off), 5)], 0.0)
        for moved in (-off, off, 0.0):
            sums = counted([(nodes({loss + moved: mass for loss, mass in masses.items()}), 5)], truth)
            for epsilon in (0.0, 0.499, 0.5, 0.501, 1.3, 2.4999, 2.5, 2.5001):  # the last place of a comb is 2.5
                assert holds(look(told, epsilon), epsilon, stick(sums, truth.real(epsilon)), truth)


def test_a_comb_of_any_pitch_is_a_line_between_its_places(truth):
    """Losses −ln 2 and 2·pitch: as close to the places as can be told."""
    for pitch in (0.01, 3.0, 100.0, 3000.0):
        total = SumOfLaws([(nodes({-math.log(2): 0.5, pitch: 0.5}), 2)], 0.0)
        sums = counted(total.parts, truth)
        place = pitch - math.log(2)
        for epsilon in (max(0.0, place - 1e-6), max(0.0, place * (1 - 1e-3)), place + 1e-3, 2 * pitch * (1 - 1e-6)):
            found, true = look(total, epsilon, smoothing=1e-2), stick(sums, truth.real(epsilon))
            assert holds(found, epsilon, true, truth)
            if pitch < 1000.0:
                assert found.delta(epsilon, side=1) - found.delta(epsilon, side=-1) < 1e-5


def test_epsilon_is_proved_at_any_delta(truth):
    total = SumOfLaws([(coin(), 2000)], 0.0)
    sums = counted(total.parts, truth)
    for delta in (0.3, 1e-5, 1e-100, 1e-250, 1e-300):
        tilt = tilt_for(total, math.log(delta), start=1.0, at_most=1e3)
        mean = total.cumulants(tilt)[1]
        found = tail(total, tilt=tilt, low=max(0.0, mean - 9.0), high=mean + 9.0, smoothing=1e-6, log_outside=-25.0)
        low, high = (found.epsilon(delta, side=side, within=1e-10) for side in (-1, 1))
        assert stick(sums, truth.real(low)) > truth.real(delta) >= stick(sums, truth.real(high))
        assert high - low < 1e-6 * high
        # Not by more than it must be: what is proved is told by δ itself, of which ln is rounded.
        assert found.delta(high, side=1) <= delta < found.delta(low, side=-1)


def test_beside_the_places_nothing_is_claimed():
    found = look(SumOfLaws([(coin(), 7)], 0.0), 0.3)
    assert (found.delta(0.31, side=1), found.delta(0.31, side=-1)) == (1.0, 0.0)


@pytest.mark.parametrize("times", [10**13, 10**15, 10**18, 10**25])
def test_of_too_many_losses_nothing_is_claimed(times):
    """Nor is anything overflown, or no number."""
    for size in (1e-7, 1.0):
        total = SumOfLaws([(nodes({-size: 0.5, size: 0.5}, off=1e-15), times)], 0.0)
        found = look(total, 1.0, tilt=1e-9)
        assert found.delta(1.0, side=-1) <= found.delta(1.0, side=1)
        if times > 10**13:
            assert (found.delta(1.0, side=-1), found.delta(1.0, side=1)) == (0.0, 1.0)
            assert found.epsilon(0.1, side=1, within=1e-3) == math.inf
            assert found.epsilon(0.1, side=-1, within=1e-3) == 0.0


@pytest.mark.parametrize("masses", [{-1.0: 0.5, 1.0: 0.5}, UNEVEN], ids=str)
def test_culling_keeps_what_comes_back(masses, truth, monkeypatch):
    """The transform of ±1 is a cosine: as large at π as at 0."""
    monkeypatch.setattr(transform, "WORTH_CULLING", 0)
    total = SumOfLaws([(nodes(masses), 12)], 0.0)
    sums = counted(total.parts, truth)
    for epsilon in (0.5, 2.9, 7.1):
        assert holds(look(total, epsilon, smoothing=1e-5), epsilon, stick(sums, truth.real(epsilon)), truth)


# Broken twins


@pytest.mark.parametrize(
    "broken",
    [
        lambda found: replace(found, scale=0.0),  # the tilt without its scale
        lambda found: replace(found, tilt=found.tilt * 1.01),
        lambda found: replace(found, mean=found.mean + 1e-4),
        lambda found: replace(found, terms=found.terms * (1 + 1e-4)),
        lambda found: replace(found, frequencies=found.frequencies * 1.001),
        lambda found: replace(found, comb=found.comb._replace(pitch=0.25)),
    ],
)
def test_what_is_broken_is_found_out(broken, truth):
    total = SumOfLaws([(coin(), 200)], 0.0)
    found, true = look(total, 3.03), stick(counted(total.parts, truth), truth.real(3.03))
    assert holds(found, 3.03, true, truth)
    assert not holds(broken(found), 3.03, true, truth)


def test_smoothing_without_its_correction_is_found_out(truth):
    total = SumOfLaws([(nodes(UNEVEN), 3)], 0.0)
    kink = 2 * 0.95 - 0.7
    found, true = look(total, kink, smoothing=1e-4), stick(counted(total.parts, truth), truth.real(kink))
    assert holds(found, kink, true, truth)
    assert not holds(replace(found, smoothing=0.0), kink, true, truth)
    # Half of the correction would do far from other losses, where the density grows with 1/√w as it is assumed to:
    # the bound is not ten times what it must be.
    assert not holds(replace(found, smoothing=found.smoothing / 2.2), kink, true, truth)


def test_aliasing_without_its_error_is_found_out(truth):
    total = SumOfLaws([(coin(), 400)], 0.0)
    sums = counted(total.parts, truth)
    places = (0.05, 1.05, 2.05, 3.05)
    found = tail(total, tilt=0.2, low=0.0, high=3.1, smoothing=1e-6, log_outside=-1.0)
    true = [stick(sums, truth.real(epsilon)) for epsilon in places]
    assert all(holds(found, epsilon, one, truth) for epsilon, one in zip(places, true, strict=True))
    bare = replace(found, error=1e-12)
    assert not all(holds(bare, epsilon, one, truth) for epsilon, one in zip(places, true, strict=True))


def test_culling_too_eagerly_is_found_out(truth, monkeypatch):
    """Looks that are far apart, as if nothing could happen between them."""
    monkeypatch.setattr(transform, "WORTH_CULLING", 0)
    total = SumOfLaws([(nodes({-1.0: 0.5, 0.4142: 0.2, 1.0: 0.3}), 40)], 0.0)
    sums = counted(total.parts, truth)
    places = (0.7, 2.9, 7.13)

    def all_hold() -> bool:
        return all(holds(look(total, e, smoothing=1e-7), e, stick(sums, truth.real(e)), truth) for e in places)

    assert all_hold()
    honest = transform._culled
    monkeypatch.setattr(transform, "_culled", lambda *given: (honest(*given)[0] // 16 + 1, 0.0))
    assert not all_hold()


def test_losses_that_are_off_and_do_not_say_so_are_found_out(truth):
    off = 1e-3
    for masses in (UNEVEN, {-0.5: 0.5, 0.5: 0.5}):
        told = SumOfLaws([(nodes(masses, off=off), 5)], 0.0)
        wrong = []
        for moved in (-off, off):
            sums = counted([(nodes({loss + moved: mass for loss, mass in masses.items()}), 5)], truth)
            found, true = look(told, 0.5), stick(sums, truth.real(0.5))
            assert holds(found, 0.5, true, truth)
            wrong.append(holds(replace(found, shift=0.0), 0.5, true, truth))
        assert not all(wrong)


def test_a_comb_that_is_none_is_found_out(truth):
    total = SumOfLaws([(nodes(UNEVEN), 5)], 0.0)
    found, true = look(total, 0.3, smoothing=1e-6), stick(counted(total.parts, truth), truth.real(0.3))
    assert holds(found, 0.3, true, truth)
    assert not holds(replace(found, comb=Comb(-3.5, 3.0)), 0.3, true, truth)
