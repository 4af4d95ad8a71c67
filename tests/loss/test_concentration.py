"""Variance, τ and ρ against the truth in Arb: the interval holds it, and is as narrow as asked for."""

from __future__ import annotations

import math

import pytest
from flint import arb

from sitr.errors import InvalidPromise
from sitr.loss.around import Around, average, law_variance
from sitr.loss.concentration import least_rho, subgaussian_square
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss

DISCRETE = [
    DiscreteLaplaceLaw(3.0, 5),
    response(1.0),
    response(20.0),
    response(1e-4),
    response(0.5, answers=4),
    pair((0.7, 0.2, 0.1), (0.1, 0.3, 0.6)),
    PoissonLaw(DiscreteLaplaceLaw(1.0, 1), 0.25),
]
NEARLY = arb("1e-14")  # the masses of finite laws are floats, which add up to 1 only nearly


def moments(law, truth):
    """ψ(λ) and K(λ), from the definition."""
    atoms = truth.outputs(law)
    mean = sum((p * loss for loss, p, _ in atoms), arb(0))

    def moment(tilt):
        return sum((p * (truth.real(tilt) * loss).exp() for loss, p, _ in atoms), arb(0)).log()

    return atoms, mean, moment


@pytest.mark.parametrize("law", [*DISCRETE, DiscreteGaussianLaw(0.8, 1)], ids=str)
def test_the_variance_of_discrete_laws(law, truth):
    atoms, mean, _ = moments(law, truth)
    true = sum((p * (loss - mean) ** 2 for loss, p, _ in atoms), arb(0))
    found = law_variance(law, relative=1e-3)
    assert truth.real(found.lower) * (1 - NEARLY) <= true <= truth.real(found.upper) * (1 + NEARLY)
    assert found.width <= 1e-3 * found.upper


def test_the_variance_of_real_noise(truth):
    e = truth.real(1.5)
    # ½ of the mass is at ε, e^{−ε}/2 at −ε, the rest has the density e^{(l − ε)/2}/4.
    second = e**2 / 2 + e**2 * (-e).exp() / 2 + (e**2 / 2 - 2 * e + 4) - (-e).exp() * (e**2 / 2 + 2 * e + 4)
    true = second - (e - 1 + (-e).exp()) ** 2
    found = Loss.of(LaplaceLaw(1.5)).variance(relative=1e-4)
    assert truth.real(found.lower) <= true <= truth.real(found.upper)
    assert found.width <= 1e-4 * found.upper
    assert 9.0 in Loss.of(GaussianLaw(0.3), 100).variance()


def test_variances_add():
    one, other = Loss.of(response(1.0)), Loss.of(LaplaceLaw(0.5))
    whole, parts = (one * 3 + other).variance(), [one.variance(), other.variance()]
    assert whole.lower <= 3 * parts[0].upper + parts[1].upper
    assert whole.upper >= 3 * parts[0].lower + parts[1].lower


@pytest.mark.parametrize("tilt", [-0.5, -0.01, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("even", [False, True])
def test_the_function_around_a_point(tilt, even, truth):
    """E[2(e^y − 1 − y)/λ²], y = λ(L − m) or |λ(L − m)|, whatever m is."""
    law, tilt = DiscreteLaplaceLaw(3.0, 5), min(tilt, 0.5) if even else tilt
    t = truth.real(tilt)
    for centre in (-0.4, 0.1, 0.9):
        true = arb(0)
        for loss, p, _ in truth.outputs(law):
            x = loss - truth.real(centre)
            y = abs(t * x) if even else t * x
            true += p * (x**2 if tilt == 0.0 else 2 * (y.exp() - 1 - y) / t**2)
        found = average(law, Around(centre, tilt, even), relative=1e-6)
        assert truth.real(found.lower) <= true <= truth.real(found.upper)
        assert found.width <= 1e-6 * found.upper


@pytest.mark.parametrize("law", DISCRETE, ids=str)
def test_the_standard_of_discrete_laws(law, truth):
    """No λ shows more than the upper end, and some λ shows nearly as much as the lower end."""
    _, mean, moment = moments(law, truth)
    found = subgaussian_square([(law, 1)], relative=1e-2)
    sizes = [0.01 * 1.2**n for n in range(55)]
    seen = [2 * (moment(tilt) - truth.real(tilt) * mean) / truth.real(tilt) ** 2 for s in sizes for tilt in (s, -s)]
    assert all(one <= truth.real(found.upper) * (1 + NEARLY) for one in seen)
    assert max(map(float, seen)) >= found.lower * (1 - 1e-2)
    assert found.width <= 1e-2 * found.upper


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0, 20.0])
def test_the_standard_of_randomized_response(epsilon, truth):
    """τ² = 2ε·tanh(ε/2), twice the mean: the bound E[L] ≤ τ²/2 is attained."""
    e = truth.real(epsilon)
    found = Loss.of(response(epsilon)).subgaussian()
    assert truth.real(found.lower) <= (2 * e * (e / 2).tanh()).sqrt() <= truth.real(found.upper)
    assert found.width <= 1e-2 * found.upper
    # Broken twins: neither the variance nor the range is the square of the standard.
    assert Loss.of(response(epsilon)).variance().upper < found.lower**2 < found.upper**2 <= epsilon**2 * 1.01


@pytest.mark.parametrize("laws", [[(GaussianLaw(0.7), 1)], [(DiscreteGaussianLaw(0.6, 1), 3), (GaussianLaw(1.0), 2)]])
def test_gaussian_noise_is_exactly_as_concentrated_as_it_says(laws):
    square = sum(times * (getattr(law, "mu", 0.0) or law.shift / law.sigma) ** 2 for law, times in laws)
    loss = Loss(tuple(laws))
    assert loss.subgaussian().lower <= math.sqrt(square) <= loss.subgaussian().upper
    assert loss.rho().lower <= square / 2 <= loss.rho().upper
    assert loss.subgaussian().width < 1e-10
    assert loss.mean().lower <= square / 2 <= loss.mean().upper


@pytest.mark.parametrize("law", DISCRETE, ids=str)
@pytest.mark.parametrize("xi", [0.0, 0.01, 0.3])
def test_the_line_above_all_moments(law, xi, truth):
    _, mean, moment = moments(law, truth)
    found = least_rho([(law, 1)], xi=xi, relative=1e-2)
    tilts = [0.003 * 1.25**n for n in range(55)]
    seen = [(moment(tilt) / truth.real(tilt) - truth.real(xi)) / (1 + truth.real(tilt)) for tilt in tilts]
    assert all(one <= truth.real(found.upper) + NEARLY for one in [*seen, mean - truth.real(xi)])
    best = max(0.0, float(mean) - xi, *map(float, seen))
    assert best >= found.lower * (1 - 1e-2) - 1e-12
    assert found.width <= 1e-2 * found.upper + 1e-11


def test_a_pure_loss_needs_no_slope_above_its_end():
    assert Loss.of(LaplaceLaw(0.5)).rho(xi=0.6).upper < 1e-9
    assert Loss.of(LaplaceLaw(0.5)).rho(xi=0.4).lower > 1e-3


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "law",
    [
        PoissonLaw(GaussianLaw(1.25), 0.01),
        PoissonLaw(GaussianLaw(1.25), 0.01, added=True),
        SubsetLaw(GaussianLaw(1.0), 0.1),
        PoissonLaw(DiscreteGaussianLaw(1.0, 1), 0.1),
        LaplaceLaw(10.0),
        BoundedRangeLaw(1.0),
    ],
    ids=str,
)
def test_smooth_and_sampled_laws(law):
    """A sample is no more concentrated than its noise in the far tail; all are consistent with each other."""
    loss = Loss.of(law)
    tau, mean, variance = loss.subgaussian(), loss.mean(), loss.variance()
    # The moments of a sample of integer noise are known less well.
    narrow = 2e-2 if isinstance(getattr(law, "inner", None), DiscreteGaussianLaw) else 1e-2
    assert tau.width <= narrow * tau.upper
    assert 2 * mean.lower <= tau.upper**2
    assert variance.lower <= tau.upper**2
    for order in (1.5, 3.0, 10.0, 50.0):
        assert loss.renyi(order=order).lower <= loss.rho().upper * order
    match law:
        case PoissonLaw(GaussianLaw(mu)) | SubsetLaw(GaussianLaw(mu)):
            assert tau.lower <= mu <= tau.upper


def test_what_may_be_infinite_is_not_concentrated():
    exposing = Loss.of(response(1.0, infinite=1e-9))
    for view in (exposing.variance, exposing.subgaussian, exposing.rho):
        assert view().lower == math.inf
    assert exposing.tail(deviations=1.0).upper == 1.0
    for view in (Loss(()).variance, Loss(()).subgaussian, Loss(()).rho):
        assert view().upper == 0.0


def test_arguments_are_checked():
    with pytest.raises(InvalidPromise, match="xi"):
        Loss(()).rho(xi=-1.0)
    with pytest.raises(InvalidPromise, match="deviations"):
        Loss(()).tail(deviations=-1.0)
