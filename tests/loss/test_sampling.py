"""The loss through a sample; that it is the right one is tested in tests/loss/forms and tests/mechanisms."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.errors import InvalidPromise
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.loss import Loss
from sitr.loss.sampling import Sampling, sampled, share

LOSS = Loss.of(GaussianLaw(1.0))


def test_a_rate_without_a_float_is_rounded_up():
    ((law, _),) = sampled(Loss.of(GaussianLaw(1.0)), rate=Fraction(1, 3)).laws
    assert isinstance(law, PoissonLaw)
    assert Fraction(1, 3) <= Fraction(law.rate) < Fraction(1, 3) + Fraction(1, 10**16)


def test_nothing_and_everything():
    assert sampled(LOSS, rate=0) == Loss(())
    assert sampled(LOSS, rate=1) == LOSS
    assert sampled(Loss(()), rate=0.5) == Loss(())


@pytest.mark.parametrize(("sampling", "law"), [(Sampling.POISSON, PoissonLaw), (Sampling.SUBSET, SubsetLaw)])
def test_a_sample_of_a_sample_is_a_smaller_one(sampling, law):
    twice = sampled(sampled(LOSS, rate=0.5, sampling=sampling), rate=0.25, sampling=sampling)
    assert twice == Loss.of(law(GaussianLaw(1.0), 0.125))


def test_losses_of_different_neighbours_are_not_sampled_together():
    with pytest.raises(InvalidPromise, match="Draw both in the same way"):
        sampled(sampled(LOSS, rate=0.5), rate=0.5, sampling=Sampling.SUBSET)


@pytest.mark.parametrize("several", [LOSS + Loss.of(LaplaceLaw(1.0)), Loss.of(LaplaceLaw(1.0), 2)])
def test_several_releases_on_one_sample_are_refused(several):
    with pytest.raises(InvalidPromise, match="2 releases on the same sample"):
        sampled(several, rate=0.5)


@pytest.mark.parametrize("rate", [-0.1, 1.5, True, "0.1", None, float("nan")])
def test_a_rate_is_a_number_from_0_to_1(rate):
    with pytest.raises(InvalidPromise, match="from 0 to 1"):
        share(rate)
