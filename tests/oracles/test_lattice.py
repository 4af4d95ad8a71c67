from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.lattice import Lattice, above, add, below
from tests.oracles.responses import Atoms, hockey_stick, product, responses

NEGLIGIBLE = 1e-40
steps = st.lists(st.floats(0.01, 1.5), min_size=1, max_size=8)
meshes = st.sampled_from([0.003, 0.02, 0.1, 0.5])
EPSILONS = [0.0, 0.05, 0.1, 0.4, 1.0, 1.7, 3.0]


def sum_of(sizes):
    whole = responses(sizes[0], 1, negligible=NEGLIGIBLE)
    for size in sizes[1:]:
        whole = product(whole, responses(size, 1, negligible=NEGLIGIBLE), negligible=NEGLIGIBLE)
    return whole


def encloses(law, sides, step):
    """Is the true hockey-stick between the two, but for roundings?"""
    upper, lower = (side(law, step=step).atoms() for side in sides)
    for epsilon in EPSILONS:
        low, true, high = (hockey_stick(atoms, epsilon) for atoms in (lower, law, upper))
        if not low * (1 - 1e-12) - 1e-15 <= true <= high * (1 + 1e-12) + 1e-15:
            return False
    return True


@given(steps, meshes)
def test_the_truth_lies_between_above_and_below(sizes, step):
    assert encloses(sum_of(sizes), (above, below), step)


def nearest(atoms, *, step):
    """A broken twin: every atom is moved to the nearest place."""
    places = np.round(atoms.losses / step).astype(np.int64)
    masses = np.bincount(places - places[0], weights=atoms.masses).astype(np.float64)
    return Lattice(masses, int(places[0]), step, 0.0, 0.0, 0.0)


def linear(atoms, *, step):
    """A broken twin: shares that keep the mean loss instead of Q's mass."""
    places = np.floor(atoms.losses / step).astype(np.int64)
    share = atoms.losses / step - places
    size = int(places[-1] - places[0]) + 2
    masses = np.zeros(size)
    masses += np.bincount(places - places[0] + 1, weights=atoms.masses * share, minlength=size)
    masses += np.bincount(places - places[0], weights=atoms.masses * (1 - share), minlength=size)
    return Lattice(masses, int(places[0]), step, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("sides", [(nearest, below), (above, nearest), (linear, below), (below, below), (above, above)])
def test_the_law_rejects_broken_twins(sides):
    assert not encloses(sum_of([0.11, 0.23, 0.37, 0.53]), sides, 0.1)


@given(steps, meshes)
def test_above_keeps_both_masses(sizes, step):
    law = above(sum_of(sizes), step=step).atoms()
    assert law.masses.sum() == pytest.approx(1.0, rel=1e-12)
    assert float(np.dot(law.masses, np.exp(-law.losses))) == pytest.approx(1.0, rel=1e-9)


@given(steps, meshes)
def test_below_keeps_the_mass_of_q_and_drops_little_of_p(sizes, step):
    law = below(sum_of(sizes), step=step).atoms()
    assert float(np.dot(law.masses, np.exp(-law.losses))) == pytest.approx(1.0, rel=1e-9)
    assert 0.0 < law.masses.sum() <= 1.0 + 1e-12


def test_both_sides_miss_by_the_square_of_the_step():
    law = sum_of([0.05 + 0.17 * ((i * 0.618) % 1) for i in range(14)])  # 16,384 atoms: closer than the lattices

    def largest_gap(side, step):
        moved = side(law, step=step).atoms()
        return max(abs(hockey_stick(moved, at) - hockey_stick(law, at)) for at in np.linspace(0, 1.5, 61))

    for side in (above, below):
        coarse, middle, fine = (largest_gap(side, step) for step in (0.4, 0.2, 0.1))
        assert coarse > 3 * middle > 9 * fine > 0


def test_atoms_on_the_lattice_stay():
    law = Atoms(np.array([-0.5, 0.5]), np.array([0.25, 0.75]), 0.0, 0.0, 0.0)
    for side in (above, below):
        moved = side(law, step=0.25).atoms()
        assert moved.losses[moved.masses > 0].tolist() == [-0.5, 0.5]
        assert moved.masses[moved.masses > 0] == pytest.approx([0.25, 0.75], rel=1e-12)


def test_losses_too_far_apart_are_not_fused():
    law = below(responses(500.3, 1, negligible=NEGLIGIBLE), step=1.0).atoms()
    assert hockey_stick(law, 499.0) <= 1 - np.exp(499.0 - 500.3)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6))
def test_sums_on_the_lattice_are_sums(sizes):
    parts = [above(sum_of([size]), step=0.05) for size in sizes]
    whole = parts[0]
    for part in parts[1:]:
        whole = add(whole, part, negligible=NEGLIGIBLE)
    atoms = whole.atoms()
    mean = sum(float(np.dot(part.atoms().masses, part.atoms().losses)) for part in parts)
    assert float(np.dot(atoms.masses, atoms.losses)) == pytest.approx(mean, abs=1e-12)
    assert atoms.masses.sum() == pytest.approx(1.0, rel=1e-12)
    assert atoms.slip > max(part.slip for part in parts)


def test_what_is_cut_off_counts_as_lost():
    law = above(sum_of([0.3] * 8), step=0.1)
    cut, whole = add(law, law, negligible=1e-2), add(law, law, negligible=0.0)
    missing = whole.masses.sum() - cut.masses.sum()
    assert len(cut.masses) < len(whole.masses)
    assert 0 < missing <= cut.lost
