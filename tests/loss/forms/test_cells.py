"""Every law's masses between edges, against Arb."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from sitr.loss.forms import sampled
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import ROUNDING, Law, LossCells
from sitr.loss.mesh import outline

PLAIN: list[Law] = [
    *(GaussianLaw(mu) for mu in (1e-6, 1.0, 30.0, 300.0)),
    *(LaplaceLaw(epsilon) for epsilon in (1e-5, 1.0, 50.0)),
    *(BoundedRangeLaw(width) for width in (1e-5, 1.0, 40.0)),
    DiscreteLaplaceLaw(3.0, 5),
    DiscreteLaplaceLaw(0.4, 1),
    DiscreteGaussianLaw(0.8, 1),
    DiscreteGaussianLaw(5.0, 3),
    DiscreteGaussianLaw(1.0, 12),
    response(1.0),
    pair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
]
INNER: list[Law] = [GaussianLaw(1.25), LaplaceLaw(1.0), response(1.0, infinite=0.125), DiscreteGaussianLaw(0.8, 1)]
RATES = (1e-12, 0.01, 0.5, 1 - 1e-9)
SAMPLED: list[Law] = [PoissonLaw(inner, q, added) for inner in INNER for q in RATES for added in (False, True)]
SUBSETS: list[Law] = [
    SubsetLaw(inner, q) for inner in (GaussianLaw(1.25), GaussianLaw(1e-4), LaplaceLaw(1.0)) for q in (1e-3, 0.3)
]


def edges_of(law: Law, seed: int) -> np.ndarray:
    """Wide and narrow cells, where there is mass."""
    draw = np.random.default_rng(seed)
    shape = outline(law)
    low, high = shape.low, shape.high(-60.0)
    width = (high - low) * 10.0 ** draw.uniform(-7.0, 0.0)
    edges = np.sort(draw.uniform(low, high) + width * draw.uniform(-1.0, 1.0, 7))
    return (
        np.concatenate(((-math.inf,), edges))
        if seed % 3 == 0
        else np.append(edges, math.inf)
        if seed % 3 == 1
        else edges
    )


@pytest.mark.sampled(18)
@pytest.mark.parametrize("law", PLAIN + SAMPLED + SUBSETS, ids=str)
def test_masses_are_right_to_within_slack_and_edges_to_within_blur(law, truth):
    nearly = arb("1e-15") if "FiniteLaw" in str(law) else arb("1e-50")  # masses of finite laws are floats themselves

    def at(edge: float, side: int):
        if math.isinf(edge):
            return (arb(0), arb(0)) if edge < 0 else (1 - truth.real(law.infinite), arb(1))
        x = truth.real(edge)
        return truth.below(law, x + side * truth.real(law.blur + 4 * ROUNDING) * (1 + abs(x)))

    for seed in range(6):
        edges = edges_of(law, seed)
        found = law.cells(edges)
        for cell in range(len(edges) - 1):
            outer = [high - low for low, high in zip(at(edges[cell], -1), at(edges[cell + 1], 1), strict=True)]
            inner = [high - low for low, high in zip(at(edges[cell], 1), at(edges[cell + 1], -1), strict=True)]
            sure, slack = math.isfinite(found.slack[cell]), truth.real(min(found.slack[cell], 1e300))
            for side, logs in enumerate((found.log_p, found.log_q)):
                if side == 1 and edges[cell + 1] == math.inf and law.reversed().infinite > 0:
                    continue  # what Q has beyond P is no loss at all
                mass = truth.real(logs[cell]).exp() if logs[cell] > -math.inf else arb(0)
                assert mass * (slack.exp() if sure else 1) >= inner[side] - nearly
                assert not sure or mass * (-slack).exp() <= outer[side] + nearly


@pytest.mark.parametrize("law", PLAIN + SAMPLED + SUBSETS, ids=str)
def test_all_mass_is_there(law):
    edges = np.array((-math.inf, -3.0, -1e-3, 0.0, 1e-6, 0.1, 2.0, math.inf))
    found = law.cells(edges)
    assert np.exp(found.log_p).sum() + law.infinite == pytest.approx(1.0, abs=1e-9)
    back = law.reversed()
    assert np.exp(found.log_q).sum() + back.infinite == pytest.approx(1.0, abs=1e-9)
    if "FiniteLaw" not in str(law):  # whose masses are rounded on the way
        assert back.reversed() == law
    assert back.least == pytest.approx(-law.greatest)


@pytest.mark.parametrize("law", PLAIN + SAMPLED + SUBSETS, ids=str)
def test_exchanging_the_data_sets_exchanges_the_sides(law):
    edges = np.array((-math.inf, -1.7123, -0.3123, -1.123e-3, 0.0131, 0.4123, 2.9123, math.inf))
    here, there = law.cells(edges), law.reversed().cells(-edges[::-1])
    some = np.isfinite(here.slack) & (here.log_p > -500) & (here.log_q > -500)
    assert here.log_p[some] == pytest.approx(there.log_q[::-1][some], rel=1e-9, abs=1e-9)
    assert here.log_q[some] == pytest.approx(there.log_p[::-1][some], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("law", [law for law in PLAIN + SAMPLED if law.atoms(-9.0, 9.0) is not None], ids=str)
def test_atoms_are_all_losses(law, truth):
    atoms = law.atoms(-50.0, 50.0)
    assert np.all(np.diff(atoms) > 0)
    for loss, p, _ in truth.outputs(law):
        if p > arb("1e-30") and abs(loss) < 49:
            nearest = float(atoms[np.argmin(np.abs(atoms - float(loss)))])
            assert abs(truth.real(nearest) - loss) <= truth.real(law.blur + 16 * ROUNDING) * (1 + abs(loss))


def test_a_smooth_discrete_gaussian_is_that_of_a_table():
    from sitr.loss.forms import discrete_gaussian

    sigma = 1000.0
    last = np.array((-math.inf, -9000.0, -1500.0, -1.0, 0.0, 1.0, 37.0, 2500.0, 12000.0, math.inf))
    table, smooth = discrete_gaussian._tabulated(sigma, last), discrete_gaussian._smooth(sigma, last)
    assert np.all(np.abs(table.logs - smooth.logs) <= table.slack + smooth.slack)
    assert np.all(table.slack + smooth.slack < 1e-6)


@pytest.mark.parametrize("tilt", [0.5, 3.0, 20.0])
@pytest.mark.parametrize(
    "law",
    [GaussianLaw(0.7), DiscreteGaussianLaw(0.8, 1), DiscreteGaussianLaw(5.0, 3), PoissonLaw(GaussianLaw(1.25), 0.1)],
    ids=str,
)
def test_moments_beyond_an_edge_are_bounded(law, tilt, truth):
    for edge in (0.0, 0.5, 4.0):
        if isinstance(law, DiscreteGaussianLaw):
            true = sum((p * (truth.real(tilt) * at).exp() for at, p, _ in truth.outputs(law) if at > edge), arb(0))
        else:
            fine = np.linspace(edge, edge + 60.0, 2001)
            cells = law.cells(fine)
            true = arb(float(np.exp(cells.log_p + tilt * fine[:-1]).sum()))  # the left end of each cell: too small
        assert truth.real(law.log_moment_above(tilt, edge)).exp() >= true


@pytest.mark.parametrize("rate", [1e-12, 0.3, 0.5, 0.7, 1 - 1e-9])
def test_the_ends_of_sampled_laws_are_right_to_the_last_digits(rate, truth):
    """However small they are: beyond its greatest loss, a law is said to lose nothing."""
    for size in (1e-15, 1e-9, 1e-3, 0.9, 1.1, 30.0, 690.0, 710.0):
        law, q = PoissonLaw(LaplaceLaw(size), rate), truth.real(rate)
        for found, z in ((law.greatest, truth.real(size)), (law.least, -truth.real(size))):
            true = (1 - q + q * z.exp()).log()
            assert abs(truth.real(found) / true - 1) < arb("1e-14")


@pytest.mark.parametrize(("old", "new"), [(math.inf, 0.1), (0.1, math.inf), (math.inf, math.inf), (1e-9, 0.1)])
def test_masses_that_are_put_together_are_still_bounded(old, new):
    """Of two masses, each is at most its bound, or e^{slack} times what it is said to be."""
    for here, there in ((-1.0, -2.0), (-2.0, -1.0), (-1.0, -40.0), (-40.0, -1.0)):
        log_p, log_q, slack = np.array([here]), np.array([here - 0.5]), np.array([old])
        sampled._put(log_p, log_q, slack, 0, there, there - 0.5, new)
        most = math.log(sum(math.exp(x + (s if s < math.inf else 0.0)) for x, s in ((here, old), (there, new))))
        least = math.log(sum(math.exp(x - s) for x, s in ((here, old), (there, new))) or 1e-300)
        found = LossCells(log_p, log_q, slack)
        assert found.log_p_most[0] >= most - 1e-15
        assert log_q[0] + (slack[0] if math.isfinite(slack[0]) else 0.0) >= most - 0.5 - 1e-15
        assert math.isinf(slack[0]) or log_p[0] - slack[0] <= least
