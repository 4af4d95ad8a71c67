"""One release as finitely many losses: from above never below the truth, from below never above; and broken twins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sitr.loss import mesh
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import FiniteLaw, pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import Law, Vector
from sitr.loss.mesh import Mesh, Nodes, above, below, cells_of, coarse, outline, refined

LAWS: list[Law] = [
    GaussianLaw(1.0),
    GaussianLaw(0.01),
    GaussianLaw(20.0),
    LaplaceLaw(1.0),
    LaplaceLaw(300.0),
    BoundedRangeLaw(2.0),
    DiscreteLaplaceLaw(3.0, 5),
    DiscreteGaussianLaw(0.8, 1),
    response(1.0, infinite=0.01),
    pair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
    *(PoissonLaw(GaussianLaw(1.25), 0.1, added) for added in (False, True)),
    *(PoissonLaw(response(1.0, infinite=0.125), 0.3, added) for added in (False, True)),
    *(PoissonLaw(DiscreteGaussianLaw(0.8, 1), 0.2, added) for added in (False, True)),
    SubsetLaw(GaussianLaw(1.25), 0.2),
    SubsetLaw(LaplaceLaw(1.0), 0.3),
]

ROUNDED = 1e-13
"""What adding the nodes up with floats may cost here."""


def cut(law: Law, count: int, *, tilt: float = 0.5, log_tail: float = -60.0) -> Mesh:
    found = coarse(outline(law), high=outline(law).high(log_tail))
    for number in (48, count):
        found = refined(law, found, tilt=tilt, count=number)
    return found


def between(law: Law, edges: Vector) -> Mesh:
    """A mesh with these edges, wherever the law may end."""
    found = law.cells(np.concatenate(((-np.inf,), edges, (np.inf,))))
    return mesh._found((edges, edges[:-1], edges[1:]), found)


def stick(nodes: Nodes, epsilon: float) -> float:
    falls = np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon - nodes.losses)))
    return float((np.exp(nodes.log_masses) * falls).sum()) + nodes.infinite


def slips(law: Law, over: Nodes, under: Nodes, truth) -> tuple[float, float]:
    """How far the law from above is below the truth at worst, and the one from below above it."""
    worst = [0.0, 0.0]
    shape = outline(law)
    for epsilon in np.linspace(max(shape.low, -8.0), min(shape.high(-40.0), 250.0), 41).tolist():
        true = float(truth.delta(law, truth.real(epsilon)).mid())
        high, low = stick(over, epsilon - over.off), stick(under, epsilon + under.off)
        worst[0], worst[1] = max(worst[0], true - high), max(worst[1], low - true)
    return worst[0], worst[1]


@pytest.mark.parametrize("log_tail", [-60.0, -3.0])
@pytest.mark.parametrize("count", [3, 20, 300])
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_truth_is_between(law, count, log_tail, truth):
    cells = cut(law, count, log_tail=log_tail)
    assert max(slips(law, above(cells, law), below(cells, law), truth)) <= ROUNDED


@pytest.mark.parametrize(
    "law", [GaussianLaw(1.0), PoissonLaw(GaussianLaw(1.25), 0.1), SubsetLaw(GaussianLaw(1.0), 0.2)], ids=str
)
def test_both_come_closer_with_the_square_of_the_number(law):
    gaps = []
    for count in (50, 200):
        cells = cut(law, count)
        gaps.append(stick(above(cells, law), 0.1) - stick(below(cells, law), 0.1))
    assert 0.0 < gaps[1] < gaps[0] / 8


@pytest.mark.parametrize("law", [law for law in LAWS if law.atoms(-9.0, 9.0) is not None], ids=str)
def test_atoms_have_a_cell_each(law, truth):
    """So both sides are exact, however few cells were asked for."""
    cells = cut(law, 3)
    over, under = above(cells, law), below(cells, law)
    assert np.all(cells.last - cells.first < 1e-12)  # of those that are told apart, there is one in each
    for epsilon in np.linspace(-0.9, 2.9, 20).tolist():
        true = float(truth.delta(law, truth.real(epsilon)).mid())
        assert stick(under, epsilon + under.off) - ROUNDED <= true <= stick(over, epsilon - over.off) + ROUNDED
        assert stick(over, epsilon) - stick(under, epsilon) < 1e-11


def test_atoms_that_are_hardly_told_apart_share_a_cell(truth):
    near = 1e-15
    losses = (-1.0, -1.0 + near, 1.0)
    p = 1 / (1 + math.exp(-1.0))
    law = FiniteLaw(losses, (math.log((1 - p) / 2), math.log((1 - p) / 2), math.log(p)))
    cells = cut(law, 10)
    assert len(cells.first) == 2
    assert cells.first[0] < cells.last[0]
    over, under = above(cells, law), below(cells, law)
    assert max(slips(law, over, under, truth)) <= ROUNDED


def test_what_lies_outside_counts_from_above_only(truth):
    """A mesh that ends in the midst of the law."""
    law = GaussianLaw(1.0)
    edges = np.linspace(-1.0, 1.0, 50)
    cells = between(law, edges)
    over, under = above(cells, law), below(cells, law)
    beyond = 1 - float(truth.below(law, truth.real(1.0))[0].mid())
    assert over.infinite == pytest.approx(beyond, rel=1e-9)
    assert under.infinite == 0.0
    assert np.exp(over.log_masses).sum() + over.infinite == pytest.approx(1.0, abs=1e-9)
    assert max(slips(law, over, under, truth)) <= ROUNDED


def test_edges_lie_where_a_law_has_its_atoms():
    cells = cut(LaplaceLaw(1.0), 60)
    assert cells.first[0] < -1.0 < 1.0 < cells.last[-1]
    assert np.abs(cells.first + 1.0).min() < 1e-13 > np.abs(cells.last - 1.0).min()
    assert 0.0 in cut(SubsetLaw(GaussianLaw(1.0), 0.2), 60).first


def test_a_tilt_draws_cells_to_the_tail():
    law = PoissonLaw(GaussianLaw(1.25), 0.01)
    plain, tilted = (float(np.median(cut(law, 100, tilt=tilt).first)) for tilt in (0.0, 8.0))
    assert plain < 0.1 < 0.5 < tilted


def test_nothing_is_lost_where_masses_are_only_bounded():
    """Cells so narrow that their masses are not known: from above they count, from below they do not."""
    law = GaussianLaw(1.0)
    edges = 0.5 + np.arange(5) * 2e-16
    cells = between(law, np.unique(edges))
    assert np.isinf(cells.masses.slack).any()
    over, under = above(cells, law), below(cells, law)
    assert len(over.losses) >= 1
    assert len(under.losses) < len(cells.first)


# Broken twins: what the tests above must reject


def lower_share(cells: Mesh, less: float) -> Mesh:
    """As if P's masses, of which shares are found, were smaller."""
    return replace(cells, masses=cells.masses._replace(log_q=cells.masses.log_q + less))


@pytest.mark.parametrize("law", [GaussianLaw(1.0), PoissonLaw(GaussianLaw(1.25), 0.1)], ids=str)
def test_a_share_that_is_too_small_is_found_out(law, truth):
    cells = cut(law, 40)
    assert slips(law, above(lower_share(cells, 1e-3), law), below(cells, law), truth)[0] > 1e3 * ROUNDED


@pytest.mark.parametrize("law", [GaussianLaw(1.0), PoissonLaw(GaussianLaw(1.25), 0.1)], ids=str)
def test_a_common_loss_that_is_too_large_is_found_out(law, truth):
    cells = cut(law, 40)
    assert slips(law, above(cells, law), below(lower_share(cells, -1e-3), law), truth)[1] > 1e3 * ROUNDED


def test_masses_without_their_slack_are_found_out(truth):
    law = GaussianLaw(1.0)
    cells = cut(law, 300)
    found = []
    for slack in (1e-6, 0.0):
        masses = cells.masses._replace(log_p=cells.masses.log_p - 1e-6, slack=cells.masses.slack + slack)
        over = above(replace(cells, masses=masses), law)
        gaps = [float(truth.delta(law, truth.real(e)).mid()) - stick(over, e) for e in (-6.0, -5.0, -4.0)]
        found.append(max(gaps))
    assert found[0] <= ROUNDED < 1e3 * ROUNDED < found[1]


def test_the_left_end_alone_is_no_law_from_above(truth):
    law = GaussianLaw(1.0)
    cells = cut(law, 40)
    lowered = above(replace(cells, last=cells.first), law)
    assert slips(law, lowered, below(cells, law), truth)[0] > 1e3 * ROUNDED


def test_the_right_end_is_no_law_from_below(truth):
    law = GaussianLaw(1.0)
    cells = cut(law, 40)
    raised = below(replace(cells, first=cells.last), law)
    assert slips(law, above(cells, law), raised, truth)[1] > 1e3 * ROUNDED


@pytest.mark.parametrize(
    "forget", [lambda cells: replace(cells, log_before=-math.inf), lambda cells: replace(cells, log_beyond=-math.inf)]
)
def test_what_lies_outside_is_missed(forget, truth):
    law = GaussianLaw(1.0)
    edges = np.linspace(-1.0, 1.0, 50)
    cells = forget(between(law, edges))
    assert slips(law, above(cells, law), below(cells, law), truth)[0] > 1e3 * ROUNDED


def test_an_edge_that_is_off_must_be_told():
    """Losses that are 1e-3 larger than they are said to be: only `off` makes up for it."""
    over = above(cut(response(1.0), 3), response(1.0))
    true = stick(replace(over, losses=over.losses + 1e-3), 0.5)
    assert stick(replace(over, off=1e-3), 0.5 - 1e-3) >= true > stick(over, 0.5 - over.off) + 1e3 * ROUNDED


def test_many_laws_have_the_cells_that_each_has_by_itself(monkeypatch):
    """Sampled Gaussians are handled in rows, of several lengths; all others by themselves, in their places."""
    laws: list[Law] = []
    for number in range(40):
        laws += [PoissonLaw(GaussianLaw(0.1 + number / 10), 0.001 + number / 50, added=number % 3 == 0)]
        laws += [[PoissonLaw(GaussianLaw(1.0), 1.0), *LAWS][number % 12]]
    edges = [np.concatenate(((-np.inf,), np.linspace(-1.0, 2.0, 3 + place), (np.inf,))) for place in range(len(laws))]
    for row in (1, 64, 1 << 13):
        monkeypatch.setattr(mesh, "ROW", row)
        for law, own, found in zip(laws, edges, cells_of(laws, edges), strict=True):
            alone = law.cells(own)
            assert all(len(part) == len(own) - 1 for part in found)
            assert np.array_equal(np.isinf(found.slack), np.isinf(alone.slack))
            for side in (0, 1):
                one, other = found[side], alone[side]
                assert np.array_equal(np.isneginf(one), np.isneginf(other))
                some = np.isfinite(one)
                spare = np.where(np.isinf(alone.slack), 1e-12, alone.slack)[some]
                assert np.all(np.abs(one[some] - other[some]) <= spare)
