from __future__ import annotations

import math

import numpy as np
import pytest

from sitr.loss import single
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import DiscreteLaplaceLaw, LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import Law
from sitr.loss.single import profile, single_delta, single_epsilon
from sitr.numbers import Interval

LAWS: list[Law] = [
    GaussianLaw(1.0),
    LaplaceLaw(1.0),
    DiscreteLaplaceLaw(3.0, 5),
    DiscreteGaussianLaw(0.8, 1),
    response(1.0, infinite=0.01),
    *(PoissonLaw(GaussianLaw(1.25), 0.1, added) for added in (False, True)),
    SubsetLaw(GaussianLaw(1.25), 0.2),
]

NEARLY = 1e-12
"""Masses of finite laws are floats, and add up to 1 only nearly."""


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_delta_is_between(law, truth):
    for epsilon in (0.0, 0.05, 1 / 3, 0.9, 1 - 1e-15, 1.0):
        found, true = single_delta(law, epsilon), truth.delta(law, truth.real(epsilon))
        assert truth.real(found.lower * (1 - NEARLY)) <= true <= truth.real(found.upper * (1 + NEARLY))
        assert found.width <= 1e-9 + 1e-9 * found.upper


@pytest.mark.parametrize("delta", [0.2, 0.03, 1e-5, 1e-30])
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_epsilon_is_between(law, delta, truth):
    found = single_epsilon(law, delta, narrow=1e-8)
    if delta < law.infinite:
        assert found.upper == math.inf
        return
    assert found.lower == 0.0 or truth.delta(law, truth.real(found.lower)) >= truth.real(delta * (1 - NEARLY))
    assert truth.delta(law, truth.real(found.upper)) <= truth.real(delta * (1 + NEARLY))
    assert found.width <= 1e-8 * found.upper


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_an_epsilon_below_another_one_is_not_searched(law):
    whole = single_epsilon(law, 0.03, narrow=1e-8)
    assert single_epsilon(law, 0.03, narrow=1e-8, least=2 * whole.upper) == Interval(0.0, 2 * whole.upper)
    assert single_epsilon(law, 0.03, narrow=1e-8, least=whole.lower / 2) == whole


def test_few_values_are_looked_at(monkeypatch):
    """A proved ε takes one round more than the digits of a line through two values would."""
    rounds = []

    def counted(law, at):
        rounds.append(at)
        return profile(law, at)

    monkeypatch.setattr(single, "profile", counted)
    found = single_epsilon(PoissonLaw(GaussianLaw(1.25), 0.01), 1e-5, narrow=1e-10)
    assert found.width <= 3e-10 * found.upper
    assert len(rounds) <= 6


def test_what_costs_nothing_is_zero():
    assert single_epsilon(LaplaceLaw(1.0), 0.5, narrow=1e-8).upper == 0.0


def test_a_profile_falls():
    low, high = profile(PoissonLaw(GaussianLaw(1.25), 0.1), np.linspace(0.0, 3.0, 50))
    assert np.all(np.diff(low) < 0.0)
    assert np.all(np.diff(high) < 0.0)
    assert np.all(low < high)


def test_tails_that_are_rounded_the_wrong_way_are_found_out(truth, monkeypatch):
    honest, law = single._tails, GaussianLaw(1.0)
    true = truth.delta(law, truth.real(0.5))

    def holds() -> bool:
        found = single_delta(law, 0.5)
        return bool(truth.real(found.lower) <= true <= truth.real(found.upper))

    assert holds()
    monkeypatch.setattr(single, "_tails", lambda logs, side: honest(logs, side) - side * 1e-11)
    assert not holds()
