"""Every figure of a finite mechanism, against brute force over all sets, closed forms and Sitr's own losses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.audit.exact.events import exponential
from sitr.audit.exact.mechanism import FiniteMechanism, finite
from sitr.audit.exact.pairs import Pairs
from sitr.flavors.pure import PureDP
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.exponential import Exponential
from sitr.precision import precision
from tests.audit.exact.tables import Rows, delta_by_sets, directed, epsilon_by_sets, losses, tables

CLOSE = 1e-9


def both(rows: Rows) -> list[FiniteMechanism]:
    """The same table as fractions and as floats that do not add up to 1 as decimals."""
    floats = np.array([[float(one) for one in row] for row in rows])
    return [finite(rows), finite(floats * (1 - 1e-14))]


def response(odds: int, answers: int = 2) -> Rows:
    total = odds + answers - 1
    return [[Fraction(odds if x == z else 1, total) for z in range(answers)] for x in range(answers)]


@settings(max_examples=30, deadline=None)
@given(tables(zeros=True), st.sampled_from([0.0, 0.1, 0.7, 2.0]))
def test_delta_is_the_largest_of_all_sets(rows: Rows, epsilon: float) -> None:
    expected = max(0.0, delta_by_sets(rows, epsilon))
    for mechanism in both(rows):
        found = mechanism.delta(epsilon=epsilon)
        assert found.lower - CLOSE <= expected <= found.upper + CLOSE
        assert found.value.width < 1e-10
        if expected > 1e-6:  # the event attains it
            p, q = (rows[int(str(name)) - 1] for name in found.pair)
            event = [int(outcome) - 1 for outcome in found.outcomes]
            attained = float(sum(p[z] for z in event)) - math.exp(epsilon) * float(sum(q[z] for z in event))
            assert attained == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(tables(zeros=True), st.sampled_from([Fraction(1, 1000), Fraction(1, 20), Fraction(1, 4)]))
def test_epsilon_is_the_least_of_all_sets(rows: Rows, delta: Fraction) -> None:
    expected = epsilon_by_sets(rows, float(delta))
    for mechanism in both(rows):
        found = mechanism.epsilon(delta=delta)
        if math.isinf(found.upper):
            assert any(
                abs(float(sum(a for a, b in zip(p, q, strict=True) if not b)) - float(delta)) < 1e-6
                or sum(a for a, b in zip(p, q, strict=True) if not b) > delta
                for p, q in directed(rows)
            )
            continue
        assert found.lower - 1e-8 <= expected <= found.upper + 1e-8
        assert found.value.width < 1e-6
    assert epsilon_by_sets(rows, 0.0) == pytest.approx(finite(rows).epsilon().upper, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(tables(zeros=True), st.sampled_from([0.0, 0.3, 1.0]), st.sampled_from([Fraction(1, 100), Fraction(1, 5)]))
def test_probabilities_of_large_losses(rows: Rows, epsilon: float, delta: Fraction) -> None:
    exceed = max(sum(mass for mass, loss in losses(p, q) if loss > epsilon + 1e-12) for p, q in directed(rows))
    for mechanism in both(rows):
        found = mechanism.exceeding(epsilon=epsilon)
        assert found.upper >= exceed - CLOSE
        if mechanism.table.rows is not None:
            assert found.lower == pytest.approx(exceed, abs=CLOSE)
            at = mechanism.quantile(delta=delta)
            if math.isfinite(at.upper):
                assert mechanism.exceeding(epsilon=math.nextafter(at.upper, math.inf)).upper <= float(delta) + CLOSE
                assert at.lower == 0.0 or mechanism.exceeding(epsilon=at.lower * (1 - 1e-9)).lower > float(delta)
            rough = both(rows)[1].quantile(delta=delta)
            assert rough.lower - 1e-9 <= at.upper
            assert at.lower <= rough.upper + 1e-9


def _renyi(found: list[tuple[float, float]], order: float) -> float:
    top = max(loss for _, loss in found)
    rest = sum(mass * math.exp((order - 1) * (loss - top)) for mass, loss in found)
    return math.log(rest) / (order - 1) + top


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from([1.5, 2.0, 8.0, 300.0]))
def test_moments(rows: Rows, order: float) -> None:
    worst = max(_renyi(losses(p, q), order) for p, q in directed(rows))
    mean = max(sum(mass * loss for mass, loss in losses(p, q)) for p, q in directed(rows))
    for mechanism in both(rows):
        found, middle = mechanism.renyi(order=order), mechanism.mean()
        assert found.lower - 1e-9 <= max(0.0, worst) <= found.upper + 1e-9
        assert middle.lower - 1e-12 <= mean <= middle.upper + 1e-12


@settings(max_examples=10, deadline=None)
@given(tables(inputs=2))
def test_suprema_over_all_moments(rows: Rows) -> None:
    (p, q) = rows[:2]
    tilts = np.concatenate((np.geomspace(1e-4, 1e4, 4000), [1.0]))
    rho, tau = 0.0, 0.0
    for first, second in ((p, q), (q, p)):
        found = losses(first, second)
        mass, loss = (np.array(column) for column in zip(*found, strict=True))
        mean = float(mass @ loss)
        with np.errstate(over="ignore"):
            for sign in (1, -1):
                powers = sign * tilts[:, None] * (loss - mean)
                top = powers.max(axis=1)
                psi = top + np.log((mass * np.exp(powers - top[:, None])).sum(axis=1))
                tau = max(tau, float(np.max((2 * psi / tilts**2)[tilts > 1e-2])), float(mass @ (loss - mean) ** 2))
            powers = tilts[:, None] * loss
            top = powers.max(axis=1)
            moment = top + np.log((mass * np.exp(powers - top[:, None])).sum(axis=1))
            rho = max(rho, float(np.max((moment / tilts / (tilts + 1))[tilts > 1e-2])), mean)
    for mechanism in both([p, q]):
        for found_figure, expected in (
            (mechanism.rho(relative=1e-5), rho),
            (mechanism.subgaussian(relative=1e-5), math.sqrt(tau)),
        ):
            assert found_figure.upper >= expected * (1 - 1e-9) - 1e-9
            assert found_figure.lower <= expected * (1 + 1e-4) + 1e-9
            assert found_figure.value.width <= 3e-5 * found_figure.upper + 1e-9


@settings(max_examples=8, deadline=None)
@given(tables(inputs=2))
def test_mu_against_the_loss(rows: Rows) -> None:
    for mechanism in both(rows[:2]):
        found, known = mechanism.mu(), mechanism.loss("1", "2").mu(relative=1e-3)
        assert found.lower <= known.upper * (1 + 1e-9) + 1e-9
        assert known.lower * (1 - 1e-9) - 1e-9 <= found.upper
        assert found.value.width < 1e-8


@pytest.mark.parametrize("odds", [2, 3, 9])
def test_randomized_response_has_closed_forms(odds: int) -> None:
    mechanism, epsilon = finite(response(odds)), math.log(odds)
    assert mechanism.epsilon().odds == odds
    assert mechanism.mean().upper == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-14)
    assert mechanism.rho(relative=1e-6).upper == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=2e-5)
    assert mechanism.subgaussian(relative=1e-6).lower == pytest.approx(
        math.sqrt(2 * epsilon * math.tanh(epsilon / 2)), rel=2e-5
    )
    order = 3.0
    expected = math.log((math.sinh(order * epsilon) - math.sinh((order - 1) * epsilon)) / math.sinh(epsilon)) / 2
    assert mechanism.renyi(order=order).lower == pytest.approx(expected, rel=1e-12)
    assert mechanism.advantage().exact == Fraction(odds - 1, odds + 1)
    assert mechanism.trade_off(fpr=0.05).upper == pytest.approx(0.05 * odds, rel=1e-9)
    assert finite(response(odds, 5)).epsilon().odds == odds
    assert mechanism.infinite_mass().exact == 0


def test_the_exponential_mechanism_as_a_table() -> None:
    promise = Exponential(epsilon=1.0, sensitivity=1).promise()
    assert isinstance(promise, PureDP)
    scores = np.array([[0.0, 1, 2, 1], [1, 1, 1, 1], [1, 2, 2, 0]])
    weights = np.exp(promise.epsilon * scores / 2)
    table = finite(weights / weights.sum(axis=1, keepdims=True), neighbors="adjacent")
    assert 0.5 < table.epsilon().upper <= 1.0
    assert table.verify("pure(1)").verdict.value == "kept"
    assert (
        finite((weights**1.5) / (weights**1.5).sum(axis=1, keepdims=True)).verify("pure(1)").verdict.value == "broken"
    )


def test_discrete_gaussian_noise_as_a_table() -> None:
    """Truncated where nothing is left, the table has the figures of the noise."""
    sigma, reach = 3.0, 60
    places = np.arange(-reach, reach + 2)
    weights = np.exp(-((places[None, :] - np.array([[0], [1]])) ** 2) / (2 * sigma * sigma))
    table = finite(weights / weights.sum(axis=1, keepdims=True))
    loss = Loss.of(DiscreteGaussianLaw(sigma, 1))
    assert table.mean().upper == pytest.approx(loss.mean().upper, rel=1e-3)
    assert table.delta(epsilon=0.5).upper == pytest.approx(loss.delta(epsilon=0.5).upper, rel=1e-6)
    assert table.epsilon(delta=1e-6).upper == pytest.approx(loss.epsilon(delta=1e-6).upper, rel=1e-3)
    assert table.mu().upper == pytest.approx(loss.mu().upper, rel=1e-3)
    assert table.rho().upper == pytest.approx(1 / 18, rel=2e-3)


def test_mass_at_infinity_is_kept_apart() -> None:
    mechanism = finite([["9/10", "1/10", 0], ["9/10", 0, "1/10"]])
    assert mechanism.infinite_mass().exact == Fraction(1, 10)
    assert mechanism.infinite_mass().outcomes in (("2",), ("3",))
    assert mechanism.delta(epsilon=50).exact == Fraction(1, 10)
    assert mechanism.epsilon(delta=Fraction(1, 10)).upper == 0.0
    for figure in (
        mechanism.epsilon(),
        mechanism.epsilon(delta=0.09),
        mechanism.rho(),
        mechanism.mu(),
        mechanism.mean(),
        mechanism.subgaussian(),
        mechanism.renyi(order=2),
        mechanism.quantile(delta=0),
    ):
        assert figure.lower == math.inf


def test_the_worst_of_many_pairs_is_found() -> None:
    """A pair that is slightly worse than 2,000 others, in one direction."""
    rows = np.tile([[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]], (1000, 1))
    rows[1500] = (0.55, 0.3, 0.15)
    mechanism = finite(rows, neighbors="adjacent")
    for figure in (
        mechanism.mean(),
        mechanism.rho(),
        mechanism.subgaussian(),
        mechanism.delta(epsilon=0.1),
        mechanism.mu(),
        mechanism.epsilon(delta=0.01),
    ):
        assert "1501" in figure.pair


def test_an_error_of_rounding_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin that ignores the rounding of its floats proves a false bound."""
    rows = [[Fraction(1, 3), Fraction(2, 3)], [Fraction(2, 3), Fraction(1, 3)]]
    exact = finite(rows).epsilon()
    rounded = np.array([[0.333333, 0.666667], [0.666667, 0.333333]])
    assert finite(rows).epsilon().odds == 2
    wide = finite(rounded * (1 - 1e-14), rounding=2e-6).epsilon()
    assert wide.lower < exact.lower
    assert exact.upper < wide.upper
    monkeypatch.setattr(Pairs, "wrong", 0.0)
    twin = finite(rounded * (1 - 1e-14), rounding=2e-6).epsilon()
    assert not twin.lower <= exact.lower <= exact.upper <= twin.upper


@pytest.mark.parametrize("epsilon", [0.1, 20.1, 100.3, 333.3, 699.9])
def test_floats_around_the_exponential_of_a_decimal(epsilon: float) -> None:
    """The decimal and its float differ, and e^ε multiplies that by ε."""
    low, high = exponential(epsilon)
    with precision(200):
        true = arb(fmpq(*Fraction(repr(epsilon)).as_integer_ratio())).exp()
        assert arb(low) <= true <= arb(high)
        assert true <= arb(low) * (1 + 1e-11)
