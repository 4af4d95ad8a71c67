"""One release on a lattice: from above never below the truth, from below never above it; and broken twins that are."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sitr.loss import lattice
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.lattice import Nodes, above, below, combed, mesh
from sitr.loss.law import Law
from sitr.loss.search import outline

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


def stick(nodes: Nodes, epsilon: float) -> float:
    losses = nodes.losses
    return float((np.exp(nodes.log_masses) * np.maximum(0.0, -np.expm1(epsilon - losses))).sum()) + nodes.infinite


def sides(law: Law, step: float) -> tuple[Nodes, Nodes]:
    shape = outline(law)
    cells = mesh(law, step=step, low=shape.low, high=shape.high(-60.0), tilt=0.5, tolerance=step * step / 300)
    return above(cells, law), below(cells, law, tilt=0.5)


def slips(law: Law, step: float, truth) -> tuple[float, float]:
    """How far the law from above is below the truth at worst, and the one from below above it; in units of rounding."""
    over, under = sides(law, step)
    shape = outline(law)
    worst = [0.0, 0.0]
    for epsilon in np.linspace(max(shape.low, -8.0), min(shape.high(-40.0), 250.0), 41).tolist():
        true = float(truth.delta(law, truth.real(epsilon)).mid())
        high, low = stick(over, epsilon - over.off), stick(under, epsilon + under.off)
        worst[0], worst[1] = max(worst[0], true - high), max(worst[1], low - true)
    return worst[0], worst[1]


ROUNDED = 1e-13
"""What adding the nodes up with floats may cost here."""


@pytest.mark.parametrize("coarse", [1.0, 0.13, 0.01])
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_truth_is_between(law, coarse, truth):
    assert max(slips(law, coarse * outline(law).size, truth)) <= ROUNDED


@pytest.mark.parametrize(
    "law", [GaussianLaw(1.0), PoissonLaw(GaussianLaw(1.25), 0.1), SubsetLaw(GaussianLaw(1.0), 0.2)], ids=str
)
def test_both_come_closer_with_the_square_of_the_step(law):
    gaps = []
    for coarse in (0.2, 0.05):
        over, under = sides(law, coarse * outline(law).size)
        gaps.append(stick(over, 0.1) - stick(under, 0.1))
    assert 0.0 < gaps[1] < gaps[0] / 8


@pytest.mark.parametrize("law", [law for law in LAWS if law.comb is not None and law.comb[1] > 0.01], ids=str)
def test_combed_laws_are_exact(law, truth):
    shape = outline(law)
    over, under = combed(law, low=shape.low, high=shape.high(-60.0))
    for epsilon in np.linspace(-0.9, 2.9, 20).tolist():
        true = float(truth.delta(law, truth.real(epsilon)).mid())
        assert stick(under, epsilon + under.off) - ROUNDED <= true <= stick(over, epsilon - over.off) + ROUNDED
        assert stick(over, epsilon) - stick(under, epsilon) < 1e-11


# Broken twins: what the tests above must reject


def test_fusing_too_little_is_found_out(truth, monkeypatch):
    honest = lattice._fused

    def stingy(starts, ends, losses, lightest, heaviest, *, meeting):
        return honest(starts, ends, losses, lightest, [0.7 * mass for mass in heaviest], meeting=meeting)

    monkeypatch.setattr(lattice, "_fused", stingy)
    assert slips(GaussianLaw(1.0), 0.3, truth)[1] > 1e3 * ROUNDED


def test_a_common_loss_that_is_rounded_up_is_found_out(truth, monkeypatch):
    honest = lattice._fused

    def generous(starts, ends, losses, lightest, heaviest, *, meeting):
        higher = [loss + 0.02 * (end - start) for start, end, loss in zip(starts, ends, losses, strict=True)]
        return honest(starts, ends, higher, lightest, heaviest, meeting=meeting)

    monkeypatch.setattr(lattice, "_fused", generous)
    assert slips(PoissonLaw(GaussianLaw(1.25), 0.1), 0.1, truth)[1] > 1e3 * ROUNDED


def test_masses_without_their_slack_are_found_out(truth):
    """A law whose masses are a little too small, and says they are not: `above` has nothing to add."""

    class Light:
        def __init__(self, law: Law, slack: float) -> None:
            self.law, self.slack = law, slack

        def __getattr__(self, name):
            return getattr(self.law, name)

        def cells(self, edges):
            found = self.law.cells(edges)
            return replace_slack(found, -1e-6, self.slack)

    def replace_slack(found, less, slack):
        return type(found)(found.log_p + less, found.log_q, found.slack + slack)

    step, law = 0.02, GaussianLaw(1.0)
    results = []
    for slack in (1e-6, 0.0):
        shape = outline(law)
        light = Light(law, slack)
        over = above(mesh(light, step=step, low=shape.low, high=shape.high(-60.0), tilt=0.5, tolerance=0.0), light)
        gaps = [float(truth.delta(law, truth.real(e)).mid()) - stick(over, e) for e in (-6.0, -5.0, -4.0)]
        results.append(max(gaps))
    assert results[0] <= ROUNDED < 1e3 * ROUNDED < results[1]


def test_the_left_end_alone_is_no_law_from_above(truth):
    law, step = GaussianLaw(1.0), 0.3
    over, _ = sides(law, step)
    lowered = replace(over, places=over.places - 1)
    assert (
        max(float(truth.delta(law, truth.real(e)).mid()) - stick(lowered, e) for e in (0.0, 1.0, 2.0)) > 1e3 * ROUNDED
    )


def test_wide_cells_are_not_fused_beyond_what_floats_hold():
    law = GaussianLaw(60.0)
    shape = outline(law)
    cells = mesh(law, step=200.0, low=shape.low, high=shape.high(-60.0), tilt=0.0, tolerance=math.inf)
    under = below(cells, law, tilt=0.0)
    total = float(np.exp(under.log_masses).sum())
    assert 0.9 < total <= 1.0
