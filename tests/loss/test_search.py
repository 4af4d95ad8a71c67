"""Answers to one question, in one direction, against outputs that are counted; and broken twins."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb, fmpq

from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.theorems.optimal_equal import optimal_equal
from sitr.flavors.approximate import ApproximateDP
from sitr.loss import search
from sitr.loss.forms.discrete_gaussian import DiscreteGaussianLaw
from sitr.loss.forms.finite import FiniteLaw, pair, response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw, SubsetLaw
from sitr.loss.law import Law
from sitr.loss.search import DeltaAt, EpsilonAt, answer, narrow

Both = tuple[arb, arb]


def fraction(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def shares(*weights: int) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


def sampled(outputs: list[Both], rate: float, truth) -> list[Both]:
    q = truth.real(rate)
    return [((1 - q) * b + q * a, b) for a, b in outputs]


def composed(outputs: list[Both], times: int) -> list[Both]:
    """All vectors of so many outputs, by how often each occurs."""
    found: list[tuple[int, arb, arb]] = [(times, arb(1), arb(1))]
    for p, q in outputs:
        following = []
        for left, a, b in found:
            for number in range(left + 1):
                ways = math.comb(left, number)
                following.append((left - number, ways * a * p**number, ways * b * q**number))
        found = following
    return [(a, b) for left, a, b in found if left == 0]


def stick(outputs: list[Both], epsilon: float, truth) -> arb:
    e = truth.real(epsilon).exp()
    return sum((p - e * q for p, q in outputs if p > e * q), arb(0))


def cases(truth) -> list[tuple[list[tuple[Law, int]], list[Both]]]:
    """Sums of laws, and all that they can put out."""
    found = []
    for p, q, rate, times, more in [
        (shares(5, 3, 2), shares(2, 3, 5), 0.3, 7, 0),
        (shares(1, 9, 90), shares(7, 13, 80), 0.01, 5, 2),
        (shares(1, 1, 998), shares(498, 4, 498), 0.75, 3, 1),
        (shares(10**9, 10**9 + 1), shares(10**9 + 1, 10**9), 1e-3, 9, 0),
        (shares(1, 10**12), shares(1, 1), 0.5, 4, 1),
    ]:
        outputs = [(fraction(a), fraction(b)) for a, b in zip(p, q, strict=True)]
        law = pair(p, q)
        e = (1 + arb(1).exp()) ** -1
        coins = composed([(1 - e, e), (e, 1 - e)], more)
        ways: list[tuple[Law, list[Both]]] = [
            (law, outputs),
            (PoissonLaw(law, rate), sampled(outputs, rate, truth)),
            (PoissonLaw(law, rate, added=True), [(b, a) for a, b in sampled(outputs, rate, truth)]),
        ]
        for one, both in ways:
            laws: list[tuple[Law, int]] = [(one, times)] + ([(response(1.0), more)] if more else [])
            whole = [(a * c, b * d) for (a, b), (c, d) in product(composed(both, times), coins)]
            found.append((laws, whole))
    return found


@pytest.mark.parametrize(
    ("relative", "every"),
    [(0.2, 4), (1e-3, 4), *(pytest.param(relative, 1, marks=pytest.mark.slow) for relative in (0.2, 1e-3, 1e-5, 1e-7))],
)
def test_what_can_be_counted_is_between(relative, every, truth):
    for laws, outputs in cases(truth)[::every]:
        losses = sorted(float((p / q).log()) for p, q in outputs)
        kinks = [loss for loss in losses if loss > 0.0]
        ends = [kinks[len(kinks) // 2], kinks[-1] * (1 - 1e-9)]
        for epsilon in (0.0, *ends, ends[0] * (1 + 1e-15), ends[0] * 0.7):
            found, _ = answer(laws, DeltaAt(epsilon), relative=relative, most=1.0)
            assert truth.real(found.lower) <= stick(outputs, epsilon, truth) <= truth.real(found.upper)
        for delta in (0.3, 1e-3, 1e-9, 1e-15):
            found, _ = answer(laws, EpsilonAt(delta), relative=relative)
            assert found.lower == 0.0 or stick(outputs, found.lower, truth) >= truth.real(delta)
            assert stick(outputs, found.upper, truth) <= truth.real(delta)


HIDDEN = PoissonLaw(GaussianLaw(0.13), 1.0)
"""A sample of everybody: nobody is told that this is Gaussian."""


def gaussian(mu, epsilon: float, truth):
    e = truth.real(epsilon)
    return truth.normal(mu / 2 - e / mu) - e.exp() * truth.normal(-mu / 2 - e / mu)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("known", [0.0, 0.4])
@pytest.mark.parametrize("delta", [0.2, 1e-6, 1e-40])
def test_hidden_gaussians_beside_one_that_is_known(known, delta, truth):
    laws: list[tuple[Law, int]] = [(HIDDEN, 50)] + ([(GaussianLaw(known), 3)] if known else [])
    mu = (truth.real(0.13) ** 2 * 50 + truth.real(known) ** 2 * 3).sqrt()
    for relative in (0.1, 1e-3, 1e-5):
        found, hint = answer(laws, EpsilonAt(delta), relative=relative)
        assert gaussian(mu, found.lower, truth) >= truth.real(delta) >= gaussian(mu, found.upper, truth)
        assert narrow(EpsilonAt(delta), found, hint, relative)
        back, _ = answer(laws, DeltaAt(found.upper), relative=relative, most=1.0)
        assert truth.real(back.lower) <= gaussian(mu, found.upper, truth) <= truth.real(back.upper)


@pytest.mark.parametrize(("epsilon", "delta", "times", "total"), [(0.1, 1e-8, 100, 1e-5), (1e-3, 0.0, 10**5, 1e-9)])
def test_equal_promises_compose_as_the_optimal_theorem_says(epsilon, delta, times, total):
    exact = optimal_equal(Schedule((Part((ApproximateDP(epsilon, delta),), times=times),)), total)
    for relative in (0.2, 1e-3, 1e-6):
        found, _ = answer(((response(epsilon, infinite=delta), times),), EpsilonAt(total), relative=relative)
        assert found.lower <= exact.upper
        assert exact.lower <= found.upper


def test_a_hint_of_the_other_direction_is_only_a_hint(truth):
    """A first answer may be of any law: what follows is as true."""
    laws, outputs = cases(truth)[3]
    true = stick(outputs, 0.4, truth)
    _, wrong = answer([(LaplaceLaw(0.1), 3), (LaplaceLaw(2.0), 1)], DeltaAt(1.5), relative=0.01, most=1.0)
    found, _ = answer(laws, DeltaAt(0.4), relative=1e-3, most=1.0, hint=wrong._replace(lower=-math.inf))
    assert truth.real(found.lower) <= true <= truth.real(found.upper)


def test_what_is_surely_smaller_is_not_looked_at_closely():
    small, large = [(LaplaceLaw(0.1), 3)], [(LaplaceLaw(1.0), 3)]
    _, hint = answer(large, EpsilonAt(1e-3), relative=1e-3)
    found, _ = answer(small, EpsilonAt(1e-3), relative=1e-9, hint=hint)
    assert found.upper <= hint.lower


def test_no_answer_is_above_what_is_known():
    found, _ = answer([(LaplaceLaw(1.0), 3)], EpsilonAt(1e-12), relative=0.1, most=2.9999)
    assert found.upper <= 2.9999
    assert answer([(response(1e-9), 10**18)], EpsilonAt(0.1), relative=0.1, most=7.0)[0].upper <= 7.0


@pytest.mark.parametrize("times", [10**13, 10**15, 10**18])
@pytest.mark.parametrize("law", [response(1e-6), PoissonLaw(GaussianLaw(1.25), 0.01), HIDDEN], ids=str)
def test_of_too_many_releases_nothing_false_is_said(law, times):
    """The true ε is far above 1: the mean of the losses alone is."""
    found, _ = answer([(law, times)], EpsilonAt(1e-5), relative=1e-3)
    assert found.upper > 1.0


def test_losses_far_apart():
    """Two losses thousands apart: one e^{6000} of the other is no float."""
    law = FiniteLaw((-math.log(2), 6000.0), (math.log(0.5), math.log(0.5)))
    for epsilon, near in ((3.0, 0.75), (5000.0, 0.75), (5999.4, 0.25), (11000.0, 0.25)):
        found, _ = answer([(law, 2)], DeltaAt(epsilon), relative=1e-2, most=1.0)
        assert found.lower <= near <= found.upper
        assert epsilon == 5999.4 or found.width < 1e-2


def test_nearly_everything_at_infinity():
    """2·10⁻¹² is lost in the last digits of 1, but δ is not 1."""
    law = response(1.0, infinite=1 - 1e-12)
    found, _ = answer([(law, 2)], DeltaAt(0.5), relative=1e-3, most=1.0)
    assert found.lower < 1.0 - 1e-24 < found.upper or found.upper == 1.0 > found.lower


# Broken twins


@pytest.mark.parametrize("exchanged", [False, True])
def test_sides_that_are_exchanged_are_found_out(exchanged, truth, monkeypatch):
    law, mu = PoissonLaw(GaussianLaw(0.5), 1.0), truth.real(0.5) * 3
    honest = search._sides
    if exchanged:
        monkeypatch.setattr(search, "_sides", lambda *given: honest(*given)[::-1])
    found, _ = answer([(law, 9)], DeltaAt(3.0), relative=0.1, most=1.0)
    true = gaussian(mu, 3.0, truth)
    assert (truth.real(found.lower) <= true <= truth.real(found.upper)) is not exchanged


def test_a_variance_that_is_missing_is_found_out(truth, monkeypatch):
    laws: list[tuple[Law, int]] = [(HIDDEN, 50), (GaussianLaw(0.4), 3)]
    mu = (truth.real(0.13) ** 2 * 50 + truth.real(0.4) ** 2 * 3).sqrt()
    honest, true = search._sides, gaussian(mu, 1.0, truth)
    monkeypatch.setattr(search, "_sides", lambda given, variance, here: honest(given, variance * 0.999, here))
    found, _ = answer(laws, DeltaAt(1.0), relative=1e-5, most=1.0)
    assert not truth.real(found.lower) <= true <= truth.real(found.upper)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "law", [DiscreteGaussianLaw(0.8, 1), SubsetLaw(LaplaceLaw(1.0), 0.3), PoissonLaw(response(1e-10), 0.7)], ids=str
)
def test_intervals_of_all_widths_have_the_truth_in_common(law):
    for question in (EpsilonAt(1e-4), DeltaAt(0.3 * law.greatest if law.greatest < 1.0 else 0.3)):
        found = [
            answer([(law, 20)], question, relative=relative, most=1e3)[0] for relative in (0.3, 0.03, 1e-3, 1e-5, 1e-7)
        ]
        assert max(one.lower for one in found) <= min(one.upper for one in found)
