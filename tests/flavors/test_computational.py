"""Computational promises: what leads to them, that nothing leads back, and that they are labelled."""

from __future__ import annotations

import pytest

from sitr.errors import IncompatiblePromises, InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import express, kept
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import parse, write
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss import laplace

INNER = [PureDP(0.5), ApproximateDP(1.0, 1e-6), ZeroConcentratedDP(0.5), GaussianDP(1.0), RandomDP(PureDP(0.5), 0.01)]


@pytest.mark.parametrize("inner", INNER)
def test_every_promise_implies_its_computational_form_and_nothing_leads_back(inner):
    limited = express(inner, ComputationalDP)
    assert limited == ComputationalDP(inner)
    assert inner.covers(limited)
    assert not limited.covers(inner)
    with pytest.raises(IncompatiblePromises, match="limited computing power"):
        express(limited, type(inner))


def test_a_stronger_promise_implies_a_weaker_computational_one():
    assert PureDP(0.5).covers(ComputationalDP(ZeroConcentratedDP(0.125)))
    assert not PureDP(0.5).covers(ComputationalDP(PureDP(0.4)))
    assert ComputationalDP(PureDP(0.5)).covers(ComputationalDP(ApproximateDP(0.5, 0.0)))
    assert not ComputationalDP(PureDP(0.5)).covers(ComputationalDP(PureDP(0.4)))


def test_it_has_no_epsilon_for_everybody():
    with pytest.raises(IncompatiblePromises, match="unlimited computing power"):
        ComputationalDP(PureDP(0.5)).to_approximate(delta=1e-6)
    assert ComputationalDP(PureDP(0.5)).largest_loss() is None
    assert not kept(ComputationalDP(PureDP(0.5)))


def test_composition_is_that_of_the_inner_promise():
    first, second = ComputationalDP(ZeroConcentratedDP(0.1)), ComputationalDP(ZeroConcentratedDP(0.2))
    assert first + second == ComputationalDP(ZeroConcentratedDP(0.3))
    assert first * 3 == ComputationalDP(ZeroConcentratedDP(0.1) * 3)
    assert first.for_group(2) == ComputationalDP(ZeroConcentratedDP(0.1).for_group(2))
    for other in (ComputationalDP(PureDP(1)), ZeroConcentratedDP(0.2)):
        with pytest.raises(IncompatiblePromises):
            first + other  # type: ignore[operator]
    with pytest.raises(InvalidPromise):
        ComputationalDP.compose([])


def test_a_loss_keeps_it_if_true_coins_keep_the_inner_promise():
    assert ComputationalDP(PureDP(0.6)).kept_by(laplace(scale=2))
    assert not ComputationalDP(PureDP(0.4)).kept_by(laplace(scale=2))


@pytest.mark.parametrize("inner", INNER)
def test_it_is_written_and_read(inner):
    assert parse(write(ComputationalDP(inner))) == ComputationalDP(inner)


@pytest.mark.parametrize("inner", [PureDP, ComputationalDP(PureDP(1)), 0.5, "pure(1)"])
def test_only_another_promise_is_inside(inner):
    with pytest.raises(InvalidPromise, match="inside ComputationalDP"):
        ComputationalDP(inner)
