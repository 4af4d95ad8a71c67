"""What a promise says about one event agrees with what it says about the loss of two coins."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm

from sitr.audit.empirical.claims import check, divergence, epsilon, excess, moments, mu, refuted
from sitr.errors import InvalidUse
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.response import Response

shares = st.floats(0.001, 0.999)


@given(shares, shares, st.floats(0, 0.2))
def test_epsilon_is_the_least_that_allows_the_pair(p: float, q: float, delta: float) -> None:
    assume(p > q)
    found = epsilon(p, q, delta=delta)
    for factor, allowed in ((math.exp(found) * (1 + 1e-9), True), (math.exp(found) * (1 - 1e-6), False)):
        kept = p <= factor * q + delta and 1 - q <= factor * (1 - p) + delta
        assert kept == allowed or (found < 1e-5 and not allowed)


@given(shares, shares)
def test_mu_is_the_least_that_allows_the_pair(p: float, q: float) -> None:
    assume(p > q + 1e-6)
    found = mu(p, q)
    assert p == pytest.approx(norm.cdf(norm.ppf(q) + found), rel=1e-9)


@given(shares, shares, st.floats(1.05, 30))
def test_the_divergence_is_the_larger_one_of_both_directions(p: float, q: float, order: float) -> None:
    assume(abs(p - q) > 1e-3)

    def one_way(a: float, b: float) -> float:
        return math.log(a**order * b ** (1 - order) + (1 - a) ** order * (1 - b) ** (1 - order)) / (order - 1)

    assert divergence(p, q, order=order) == pytest.approx(max(one_way(p, q), one_way(q, p)), rel=1e-6, abs=1e-12)


RESPONSE = Response(1)
"""Its loss is known exactly, and its answer is one event: e/(1 + e) against 1/(1 + e)."""

TRUTH = math.e / (1 + math.e)


@pytest.mark.parametrize(
    ("below", "above"),
    [
        (PureDP(0.999), PureDP(1.001)),
        (ApproximateDP(0.9, 0.05), ApproximateDP(0.9, 0.07)),
        (PrivacyProfile(((0.5, 0.5), (0.9, 0.05))), PrivacyProfile(((0.5, 0.5), (0.9, 0.07)))),
        (GaussianDP(1.22), GaussianDP(1.24)),
        (ZeroConcentratedDP(0.44), ZeroConcentratedDP(0.47)),
        (RenyiDP.at({2: 0.7}), RenyiDP.at({2: 0.8})),
    ],
)
def test_a_claim_is_refuted_if_and_only_if_the_loss_breaks_it(below: Promise, above: Promise) -> None:
    loss = RESPONSE.loss()
    assert loss is not None
    for claim, kept in ((below, False), (above, True)):
        assert claim.kept_by(loss) is kept
        assert refuted(claim, TRUTH, 1 - TRUTH) is not kept


def test_concentrated_and_approximate_claims() -> None:
    assert refuted(ApproximateZeroConcentratedDP(0.1, 1e-3), TRUTH, 1 - TRUTH)
    assert not refuted(ApproximateZeroConcentratedDP(0.5, 1e-3), TRUTH, 1 - TRUTH)
    assert not refuted(ApproximateZeroConcentratedDP(0.0, 0.6), 0.55, 0.05)  # δ alone allows it
    assert refuted(ConcentratedDP(0.01, 0.1), TRUTH, 1 - TRUTH)
    assert not refuted(ConcentratedDP(0.5, 1.0), TRUTH, 1 - TRUTH)


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproximateDP(1.0, 1e-3), GaussianDP(1.0), ZeroConcentratedDP(0.5)])
@given(p=shares, q=shares, more=st.floats(0, 0.5))
def test_better_bounds_refute_more(claim: Promise, p: float, q: float, more: float) -> None:
    assume(p > q)
    wider = p + more * (1 - p), q * (1 - more)
    assert excess(claim, *wider) >= excess(claim, p, q) - 1e-9


def test_probabilities_that_do_not_differ_refute_nothing() -> None:
    assert not refuted(PureDP(0.0), 0.3, 0.3)
    assert not refuted(PureDP(0.0), 0.3, 0.4)
    assert refuted(PureDP(0.0), 0.3, 0.29)


def test_moments_of_promises() -> None:
    assert moments(PureDP(1.0)) == []
    assert dict(moments(RenyiDP.at({2: 0.5}))) == {2.0: 0.5}
    assert dict(moments(ZeroConcentratedDP(0.5, xi=0.1)))[2.0] == pytest.approx(1.1)


def test_a_random_promise_is_not_about_one_pair() -> None:
    with pytest.raises(InvalidUse, match="fraction of the data sets"):
        check(RandomDP(PureDP(1.0), 0.1))
