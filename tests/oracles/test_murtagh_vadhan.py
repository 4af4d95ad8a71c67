"""The lattices of Murtagh and Vadhan enclose the truth: an oracle must be right itself."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.optimal_equal import optimal_equal
from sitr.flavors.pure import PureDP
from tests.oracles import murtagh_vadhan as module
from tests.oracles.lattice import below
from tests.oracles.murtagh_vadhan import on_lattices

tiny = st.tuples(
    st.sampled_from([1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6]),
    st.lists(st.floats(0.1, 3.0), min_size=2, max_size=7),
    st.sampled_from([1e-6, 1e-3, 0.1, 0.5, 0.9]),
).map(lambda case: ([case[0] * size for size in case[1]], case[2]))


def enclosed(worst_delta, precise, sizes, share):
    """Is the truth, at this share of the δ that the releases have at ε = 0, within the interval; how wide is it?"""
    parts = [(size, 0.0) for size in sizes]
    delta = share * float(worst_delta(parts, 0.0).mid())
    schedule = Schedule(tuple(Part((PureDP(size),)) for size in sizes))
    bounds = on_lattices(schedule, delta, error=sum(sizes) / 1000)
    above, below = (worst_delta(parts, end) for end in (bounds.upper, bounds.lower))
    within = not above > precise(delta) and (bounds.lower == 0.0 or not below < precise(delta))
    return within, bounds.width / sum(sizes)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("blocks", [1, 2**22])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(case=tiny)
def test_tiny_losses_are_enclosed_by_the_lattice_too(monkeypatch, worst_delta, precise, blocks, case):
    monkeypatch.setattr(module, "ENUMERATED", 1)
    monkeypatch.setattr(module, "BLOCKS", blocks)
    within, width = enclosed(worst_delta, precise, *case)
    assert within
    assert width <= 2e-3


def subtracting(atoms, *, step):
    """A broken twin of `below`: what P has more than Q is taken as a difference of sums, right only to 1e-16."""
    places = np.floor(atoms.losses / step).astype(np.int64)
    first = int(places[0])
    p = np.bincount(places - first, weights=atoms.masses)
    q = np.bincount(places - first, weights=atoms.masses * np.exp(places * step - atoms.losses))
    fused = np.zeros(len(p))
    place, surplus = 0, 0.0
    for cell in map(int, np.flatnonzero(p)[::-1]):
        part = 0.0
        if surplus > 0.0:
            partner = float(q[cell]) * math.exp((place - cell) * step)
            wanting = partner - float(p[cell])
            part = 1.0 if wanting <= surplus else surplus / wanting
            fused[place] += part * partner
            surplus -= part * wanting
        if part < 1.0:
            place, surplus = cell, (1.0 - part) * float(p[cell] - q[cell])
            fused[cell] = (1.0 - part) * float(q[cell])
    return replace(below(atoms, step=step), masses=fused)


def test_differences_of_sums_would_not_enclose_them(monkeypatch, worst_delta, precise):
    """Either the interval is empty, which is noticed, or the truth is not in it."""
    monkeypatch.setattr(module, "below", subtracting)
    monkeypatch.setattr(module, "ENUMERATED", 1)
    monkeypatch.setattr(module, "BLOCKS", 1)
    failures = 0
    for seed in range(60):
        sizes = [1e-13 * (0.1 + 3 * ((seed + 1) * (i + 1) * 0.6180339887 % 1)) for i in range(5)]
        try:
            within, _ = enclosed(worst_delta, precise, sizes, 0.5)
        except AssertionError:
            within = False
        failures += not within
    assert failures > 0


def test_equal_steps_on_a_lattice_enclose_the_other_theorem(monkeypatch):
    monkeypatch.setattr(module, "ENUMERATED", 1)
    schedule = Schedule((Part((PureDP(0.1),), times=300),))
    mixed, equal = on_lattices(schedule, 1e-6, error=0.01), optimal_equal(schedule, 1e-6)
    assert mixed.lower <= equal.upper
    assert equal.lower <= mixed.upper
    assert mixed.width <= 0.01
