"""One release through every flavor: proved bounds of the same loss, and reasons where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.numbers import Interval
from sitr.questions.aggregate.release import Release
from sitr.report.figures import at_most
from sitr.report.headline import Headline, headline
from sitr.report.power import detected_at
from sitr.report.views import DELTAS, FALSE_ALARMS, ORDER, Missing, ProvedView, Views, trade_off, views
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH
from tests.report.conftest import planned


def of(release: Release) -> Views:
    return views(headline(release.plan), release.plan.loss())


def written(promise: Promise) -> Promise:
    """The promise with its numbers as a page shows them."""

    def up(number: float) -> float:
        text = at_most(number).replace(",", "")
        if "10" not in text or "⁻" not in text:
            return float(text)
        mantissa, _, power = text.rpartition("10")
        digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
        return float(Fraction(mantissa.removesuffix(" × ") or "1") * Fraction(10) ** int(digits))

    match promise:
        case RenyiDP():
            return RenyiDP.at({ORDER: up(promise.curve(ORDER))})
        case ApproximateDP(epsilon, delta):
            return ApproximateDP(up(epsilon), delta)
        case PureDP(epsilon):
            return PureDP(up(epsilon))
        case ZeroConcentratedDP(rho):
            return ZeroConcentratedDP(up(rho))
        case GaussianDP(mu):
            return GaussianDP(up(mu))
    return promise


def row(found: Views, flavor: type[Promise], *, delta: float | None = None) -> ProvedView:
    return next(view for view in found.rows if view.flavor is flavor and view.delta == delta)


@pytest.mark.parametrize("name", ["one_row", "ungrouped", "many", "hostile"])
def test_what_the_loss_proves_is_kept_as_it_is_written(make: Callable[[str], Release], name: str) -> None:
    release = make(name)
    loss = release.plan.loss()
    assert loss is not None
    proved = [view.promise for view in of(release).rows if view.from_loss and view.promise is not None]
    assert proved
    for promise in proved:
        if isinstance(promise, ApproximateDP | ZeroConcentratedDP | RenyiDP | PureDP):
            assert written(promise).kept_by(loss)


def test_a_smaller_promise_would_be_broken() -> None:
    loss = Loss.of(GaussianLaw(1.0))
    for view in views(Headline.of(ZeroConcentratedDP(0.5), loss=lambda: loss), loss).rows:
        match view.promise:
            case ApproximateDP(epsilon, delta):
                assert not ApproximateDP(0.99 * epsilon, delta).kept_by(loss)
            case GaussianDP(mu):
                assert mu == pytest.approx(1.0, rel=1e-3)
                assert not GaussianDP(0.99 * mu).kept_by(loss)
            case ZeroConcentratedDP(rho):
                assert not ZeroConcentratedDP(0.9 * rho).kept_by(loss)


def test_an_epsilon_is_never_shown_at_a_smaller_delta_than_it_was_promised_for(
    make: Callable[[str], Release],
) -> None:
    for name in ("thresholded", "gaussian_with_threshold"):
        found = of(make(name))
        assert all(view.promise is None or view.promise.delta <= view.delta for view in found.rows if view.delta)  # type: ignore[attr-defined]
        assert row(found, ApproximateDP, delta=1e-9).promise is None
        assert row(found, ApproximateDP, delta=1e-9).missing is Missing.OUTRIGHT


def test_a_loss_without_an_end_is_not_pure_and_a_loss_that_may_be_infinite_has_no_moments(
    make: Callable[[str], Release],
) -> None:
    assert row(of(make("ungrouped")), PureDP).missing is Missing.UNLIMITED
    assert row(of(make("ungrouped")), PureDP).promise is None
    for flavor in (PureDP, ZeroConcentratedDP, RenyiDP, GaussianDP):
        view = row(of(make("thresholded")), flavor)
        assert (view.promise, view.missing) == (None, Missing.OUTRIGHT)


def test_the_headline_and_the_table_agree(make: Callable[[str], Release]) -> None:
    release = make("ungrouped")
    found = of(release)
    assert row(found, ApproximateDP, delta=1e-6).promise == ApproximateDP(headline(release.plan).epsilon, 1e-6)
    assert {view.delta for view in found.rows if view.flavor is ApproximateDP} == {*DELTAS}


def test_the_loss_exceeds_epsilon_more_often_than_delta_says() -> None:
    loss = Loss.of(GaussianLaw(1.0))
    found = views(Headline.of(ZeroConcentratedDP(0.5), loss=lambda: loss), loss)
    exact = loss.exceeding(epsilon=found.headline.epsilon)
    assert found.exceeding is not None
    assert 1e-6 < exact.lower <= found.exceeding <= exact.upper * 1.001


def test_a_pure_loss_never_exceeds_its_epsilon(make: Callable[[str], Release]) -> None:
    assert of(make("one_row")).exceeding == 0.0


def test_the_loss_of_a_vector_exceeds_epsilon_no_more_often_than_its_promise_says() -> None:
    """Two counts move by one each, with discrete Gaussian noise: every pair of outputs is tried."""
    rho = 0.5
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    plan = planned(sql, ZeroConcentratedDP(rho), keys={"ward": ("a", "b")}, max_groups=2, max_rows_per_group=1)
    found = views(headline(plan), plan.loss())
    epsilon, (measured,) = found.headline.epsilon, plan.measurements
    variance = float(measured.mechanism.size) ** 2  # type: ignore[attr-defined] # discrete Gaussian noise has a size
    weights = {noise: math.exp(-(noise**2) / (2 * variance)) for noise in range(-25, 26)}
    whole = math.fsum(weights.values())
    tried = math.fsum(
        weights[one] * weights[other] / whole**2
        for one, other in product(weights, repeat=2)
        if (2 * (one + other) + 2) / (2 * variance) > epsilon
    )
    assert found.exceeding is not None
    assert 1e-7 < tried <= found.exceeding
    assert found.exceeding < math.exp(-((epsilon - rho) ** 2) / (4 * rho))  # which the promise alone proves
    assert found.exceeding_from_loss


def test_the_loss_bounds_its_tail_where_it_is_smaller_than_that_of_the_promise() -> None:
    loss = Loss.of(GaussianLaw(1.0))
    found = views(Headline.of(ZeroConcentratedDP(0.5), loss=lambda: loss), loss)
    assert found.exceeding_from_loss
    wide = views(Headline.of(ZeroConcentratedDP(50.0), loss=lambda: loss), loss)
    assert wide.exceeding_from_loss
    assert wide.exceeding == found.exceeding


def test_an_approximate_promise_alone_bounds_no_tail() -> None:
    assert views(Headline.of(ApproximateDP(1.0, 1e-6)), None).exceeding is None


def test_an_approximate_promise_without_a_delta_is_pure() -> None:
    for law in (None, Loss.of(response(1.0))):
        found, pure = (views(Headline.of(promise), law) for promise in (ApproximateDP(1.0, 0.0), PureDP(1.0)))
        assert row(found, PureDP).promise == PureDP(1.0)
        assert found.rows == pure.rows


def test_the_best_attack_is_bounded_from_above(make: Callable[[str], Release]) -> None:
    loss = make("ungrouped").plan.loss()
    assert loss is not None
    exact, found = loss.trade_off(fpr=FALSE_ALARMS), of(make("ungrouped")).detected
    assert found is not None
    assert exact.lower <= found <= 1.02 * exact.upper


@pytest.mark.parametrize("rho", [1e-6, 2.4e-4, 1e-3, 5e-3, 0.02])
def test_an_attack_that_detects_hardly_anything_is_bounded_without_a_search(
    rho: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a Gaussian the power is Φ(Φ⁻¹(a) + μ) at the rate a of false alarms."""

    def searched(*_: object, **__: object) -> Interval:
        raise AssertionError("the whole curve was searched")

    monkeypatch.setattr(Loss, "trade_off", searched)
    mu = math.sqrt(2 * rho)
    exact = NormalDist().cdf(NormalDist().inv_cdf(FALSE_ALARMS) + mu)
    found = views(Headline.of(ZeroConcentratedDP(rho)), Loss.of(GaussianLaw(mu)))
    assert found.detected is not None
    assert exact <= found.detected <= 1.01 * exact
    assert found.points[1][0] == 0.0
    assert detected_at(*found.points[1], alarms=FALSE_ALARMS) > 1.01 * exact  # the total variation alone says less


def test_without_a_law_the_promise_speaks_for_itself() -> None:
    found = views(Headline.of(ZeroConcentratedDP(0.5)), None)
    assert row(found, ZeroConcentratedDP).promise == ZeroConcentratedDP(0.5)
    assert row(found, ApproximateDP, delta=1e-5).promise == ZeroConcentratedDP(0.5).to_approximate(delta=1e-5)
    assert found.exceeding is not None
    assert found.exceeding == pytest.approx(math.exp(-((found.headline.epsilon - 0.5) ** 2) / 2), rel=1e-9)
    assert found.exceeding >= Loss.of(GaussianLaw(1.0)).exceeding(epsilon=found.headline.epsilon).lower
    assert not found.exceeding_from_loss
    gaussian = Loss.of(GaussianLaw(1.0)).trade_off(fpr=FALSE_ALARMS)
    assert found.detected is not None
    assert found.detected >= gaussian.lower
    assert not any(view.from_loss for view in found.rows)


def test_a_random_promise_bounds_no_attack() -> None:
    found = views(Headline.of(RandomDP(PureDP(1.0), 0.05)), None)
    assert (found.detected, found.points) == (None, ())
    assert row(found, PureDP).promise == PureDP(1.0)


def drawn(points: tuple[tuple[float, float], ...], fprs: Sequence[float]) -> list[float]:
    """The heights of the curve as it is drawn: straight lines between its points."""
    xs, ys = zip(*trade_off(points), strict=True)
    heights: list[float] = np.interp(fprs, xs, ys).tolist()
    return heights


def test_the_curve_stays_above_every_attack() -> None:
    loss = Loss.of(GaussianLaw(1.0))
    found = views(Headline.of(ZeroConcentratedDP(0.5), loss=lambda: loss), loss)
    fprs = (0.001, 0.01, 0.1, 0.3, 0.5, 0.9)
    for fpr, height in zip(fprs, drawn(found.points, fprs), strict=True):
        best = loss.trade_off(fpr=fpr)
        assert best.lower - 1e-9 <= height <= best.upper + 0.05


def profile(mu: float) -> tuple[tuple[float, float], ...]:
    """Points (ε, δ) of Gaussian DP, at equal steps of ε."""
    normal = NormalDist().cdf
    return tuple(
        (e, normal(-e / mu + mu / 2) - math.exp(e) * normal(-e / mu - mu / 2)) for e in np.linspace(0, 3, 13).tolist()
    )


def tossed(epsilon: float) -> tuple[tuple[float, float], ...]:
    """Points (ε′, δ) of randomized response, whose lines all cross in one corner, up to rounding."""
    steps = [epsilon * step / 12 for step in range(13)]
    return tuple((e, max(0.0, (math.exp(epsilon) - math.exp(e)) / (1 + math.exp(epsilon)))) for e in steps)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "points",
    [*map(tossed, (0.01, 0.1, 1.0, 5.0)), *map(profile, (0.1, 0.5, 1.0, 2.0))],
    ids=[*(f"response-{e}" for e in (0.01, 0.1, 1.0, 5.0)), *(f"gaussian-{m}" for m in (0.1, 0.5, 1.0, 2.0))],
)
def test_the_curve_is_drawn_no_lower_than_the_least_line(points: tuple[tuple[float, float], ...]) -> None:
    fprs = np.linspace(0, 1, 1001).tolist()
    for fpr, height in zip(fprs, drawn(points, fprs), strict=True):
        least = min(detected_at(epsilon, delta, alarms=fpr) for epsilon, delta in points)
        assert least - 1e-12 <= height <= least + 1e-12


def test_the_curve_of_one_point_is_the_known_one() -> None:
    epsilon, delta = 1.0, 0.01
    (left, start), (middle, height), *others, end = trade_off(((epsilon, delta),))
    assert (left, start) == (0.0, delta)
    assert middle == pytest.approx((1 - delta) / (1 + math.e))
    assert height == pytest.approx(1 - middle)
    assert others[-1] == pytest.approx((1 - delta, 1.0))
    assert end == (1.0, 1.0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "loss",
    [
        Laplace(scale=10).loss(),
        Laplace(scale=10).loss() + Laplace(scale=3).loss(),
        Gaussian(sigma=2, single=True).loss(),
        Gaussian(sigma=5, sensitivity=3).loss(),
        Laplace(scale=10).loss() + Gaussian(sigma=5, single=True).loss(),
    ],
    ids=str,
)
def test_moments_and_mu_are_shown_to_one_percent(loss: Loss) -> None:
    found = views(Headline.of(ZeroConcentratedDP(100.0), loss=lambda: loss), loss)
    lowest: dict[type[Promise], Interval] = {
        ZeroConcentratedDP: loss.rho(relative=1e-3),
        GaussianDP: loss.mu(relative=1e-3),
    }
    for flavor, bounds in lowest.items():
        shown = astuple(row(found, flavor).promise)[0]  # type: ignore[call-overload]
        assert bounds.lower <= shown
        assert shown <= 1.01 * bounds.upper
    concentrated = row(found, ConcentratedDP)
    if loss.bound:
        assert (concentrated.promise, concentrated.missing) == (None, Missing.UNPROVED)
    else:
        assert loss.subgaussian(relative=2e-3).lower <= concentrated.promise.tau  # type: ignore[union-attr]
        assert concentrated.promise.tau <= 1.0105 * loss.subgaussian(relative=2e-3).upper  # type: ignore[union-attr]


def test_every_missing_bound_says_why() -> None:
    for language in (ENGLISH, ARABIC):
        reasons = {
            language.certificate.proof(ProvedView(flavor, None, missing=missing))
            for flavor in (GaussianDP, ConcentratedDP, ZeroConcentratedDP)
            for missing in Missing
        }
        assert len(reasons) == 6
