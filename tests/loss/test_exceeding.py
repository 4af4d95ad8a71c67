"""P(L > ε) against the truth in Arb, for one law and for sums."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from flint import arb

from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.loss import Loss


@pytest.mark.parametrize("epsilon", [0.0, 0.33, 0.9, 3.0])
@pytest.mark.parametrize(
    "law", [GaussianLaw(1.0), LaplaceLaw(1.0), DiscreteLaplaceLaw(3.0, 5), DiscreteGaussianLaw(1.3, 1)], ids=str
)
def test_one_law(law, epsilon, truth):
    true = 1 - truth.below(law, truth.real(epsilon))[0]
    found = Loss.of(law).exceeding(epsilon=epsilon)
    assert truth.real(found.lower) - arb("1e-15") <= true <= truth.real(found.upper) + arb("1e-15")
    assert found.width <= 1e-9


def test_the_worse_direction_counts(truth):
    ways = [1 - truth.below(PoissonLaw(GaussianLaw(2.0), 0.1, added), truth.real(0.05))[0] for added in (False, True)]
    found = Loss.of(PoissonLaw(GaussianLaw(2.0), 0.1)).exceeding(epsilon=0.05)
    assert truth.real(found.lower) <= max(ways, key=float) <= truth.real(found.upper)
    assert abs(float(ways[0] - ways[1])) > 0.01


@pytest.mark.parametrize("times", [2, 9])
def test_a_sum_of_responses_is_binomial(times):
    """L = ε(2k − n), with k truths."""
    truth = math.exp(0.5) / (1 + math.exp(0.5))
    for epsilon in (0.2, 0.7, 1.3):
        true = sum(
            math.comb(times, k) * truth**k * (1 - truth) ** (times - k)
            for k in range(times + 1)
            if 0.5 * (2 * k - times) > epsilon
        )
        found = Loss.of(response(0.5), times).exceeding(epsilon=epsilon)
        assert found.lower - 1e-12 <= true <= found.upper + 1e-12
        assert found.width <= 1e-3 * found.upper + 1e-12


def test_a_sum_of_gaussians_and_others(truth):
    """Real noise, once split into two parts that no closed form joins."""
    noise = Loss.of(GaussianLaw(0.6)) + Loss.of(PoissonLaw(GaussianLaw(0.8), 1.0))
    for epsilon in (0.5, 2.0):
        true = truth.normal(truth.real(0.5) - truth.real(epsilon))
        found = noise.exceeding(epsilon=epsilon)
        assert truth.real(found.lower) <= true <= truth.real(found.upper)
        assert found.width <= 0.03 * found.upper


def test_it_is_not_delta():
    """The broken twin: δ(ε) is smaller, and says something else."""
    loss = Loss.of(GaussianLaw(1.0))
    assert loss.delta(epsilon=1.0).upper < loss.exceeding(epsilon=1.0).lower
    assert 0.001 in Loss.of(response(0.5, infinite=0.001)).exceeding(epsilon=0.7)


def test_merged_outputs_may_exceed_more_often():
    """A bound dominates the merged pair, whose loss exceeds 0.9 with probability 0.6 instead of 0.1."""
    whole = Loss.of(pair((0.1, 0.5, 0.4), (0.01, 0.21, 0.78)))
    merged = Loss.of(pair((0.6, 0.4), (0.22, 0.78)))
    for epsilon in (0.0, 0.5, 0.9, 1.5):
        assert merged.delta(epsilon=epsilon).lower <= whole.delta(epsilon=epsilon).upper
    assert whole.exceeding(epsilon=0.9).upper < 0.2 < merged.exceeding(epsilon=0.9).lower
    bound = replace(whole, bound=True)
    for epsilon in (0.0, 0.5, 0.9, 1.5):
        assert bound.exceeding(epsilon=epsilon).upper >= merged.exceeding(epsilon=epsilon).lower
    assert bound.exceeding(epsilon=2.2).upper < 0.5
    assert bound.tail(deviations=1.0).upper == 1.0
    assert bound.variance().upper == math.inf


@pytest.mark.parametrize("deviations", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("loss", [Loss.of(GaussianLaw(0.7)), Loss.of(LaplaceLaw(1.0)), Loss.of(response(0.5), 20)])
def test_the_tail_of_a_concentrated_loss(loss, deviations):
    """P(L > μ + tτ) ≤ e^{−t²/2}, and what it is for Gaussian noise."""
    found = loss.tail(deviations=deviations)
    assert found.lower <= math.exp(-(deviations**2) / 2)
    if loss.laws[0][0] == GaussianLaw(0.7):
        assert found.lower <= math.erfc(deviations / math.sqrt(2)) / 2 <= found.upper
        assert found.width < 1e-9
