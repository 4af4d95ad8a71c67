"""One release through every flavor: each flavor bounds the same loss in its own way.

Every number is a proved upper bound, from the law of the loss or from the promise, whichever is smaller. Where neither
proves one, the view says why. The suprema over all moments are computed to `WIDE`, so that a certificate takes about a
second at most.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from functools import lru_cache, partial
from typing import Any, cast

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises, SitrError, WiderThanAsked
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise, largest_fitting
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import RELATIVE, Loss
from sitr.report.headline import Headline
from sitr.report.power import detected_at

DELTAS = (1e-5, 1e-6, 1e-9)
"""The δ at which ε is shown."""

FALSE_ALARMS = 0.01
"""The rate at which a test points at somebody who did not take part."""

WIDTH = 0.01
"""The relative width of the intervals that describe attacks."""

ORDER = 2.0
"""The order of the Rényi divergence that is shown."""

WIDE = 0.01
"""The relative width of ρ, μ and τ."""

FAINT = 0.02
"""What an attack detects at most where the points alone bound it to `WIDTH`. To search for the rest took 20 seconds for
a price of ρ = 0.0002, because the profile of a small loss must be known where it hardly differs from 0."""

STEPS = 12
"""The trade-off curve is drawn from δ at this many ε above 0."""

_DELTAS_OF_A_PROMISE = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)


class Missing(Enum):
    """Why a loss has no bound in a flavor."""

    OUTRIGHT = "the loss may be infinite"
    UNLIMITED = "the loss has no largest value"
    UNPROVED = "no bound is proved"


@dataclass(frozen=True, slots=True)
class ProvedView:
    """The tightest promise of one flavor that is proved, or why there is none."""

    flavor: type[Promise]
    promise: Promise | None
    from_loss: bool = False
    """Whether the law of the loss proves it; else the promise does."""
    missing: Missing = Missing.UNPROVED
    delta: float | None = None
    """The δ at which ε was asked for."""


@dataclass(frozen=True, slots=True)
class Views:
    """A release through every flavor, and what the best attack on membership can do."""

    headline: Headline
    rows: tuple[ProvedView, ...]
    exceeding: float | None
    """P(L > ε) at most, at the ε of the headline; None if nothing is proved."""
    exceeding_from_loss: bool
    """Whether the law of the loss proves it; else the promise does."""
    mass: float
    """P(L = +∞) at most; 1 if nothing is known."""
    detected: float | None
    """The most that a test with `FALSE_ALARMS` detects; None for a random promise, which bounds no attack on you."""
    points: tuple[tuple[float, float], ...]
    """Proved (ε, δ), from which the trade-off curve is drawn."""


@lru_cache(maxsize=64)
def views(headline: Headline, loss: Loss | None) -> Views:
    """All views of a loss with this headline; of the promise alone where no law is known.

    A random promise is viewed inside its γ.
    """
    promise = headline.promise.inner if isinstance(headline.promise, RandomDP) else headline.promise
    mass = promise.infinite_mass() if loss is None else min(promise.infinite_mass(), loss.infinite_mass())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WiderThanAsked)
        rows = tuple(_rows(headline, promise, loss, mass))
        exceeding, from_loss = _exceeding(headline, promise, loss)
        points = () if headline.gamma is not None else tuple(_points(headline, promise, loss))
        detected = _detected(points, loss)
    return Views(headline, rows, exceeding, from_loss, mass, detected, points)


def _rows(headline: Headline, promise: Promise, loss: Loss | None, mass: float) -> Iterator[ProvedView]:
    why = Missing.OUTRIGHT if mass > 0.0 else Missing.UNPROVED
    unlimited = Missing.OUTRIGHT if mass > 0.0 else Missing.UNLIMITED
    deltas = {*DELTAS, *([headline.delta] if headline.delta > 0.0 else [])}
    yield _view(ProvedView(PureDP, None, missing=unlimited), promise, loss, PureDP.of)
    for delta in sorted(deltas, reverse=True):
        yield _epsilon(headline, promise, loss, ProvedView(ApproximateDP, None, delta=delta), mass)
    if mass > 0.0:
        empty = ProvedView(ApproximateZeroConcentratedDP, None)
        yield _view(empty, promise, loss, partial(_moments, ApproximateZeroConcentratedDP))
    for flavor in (ZeroConcentratedDP, RenyiDP, ConcentratedDP, GaussianDP):
        yield _view(ProvedView(flavor, None, missing=why), promise, loss, partial(_moments, flavor))


def _moments(flavor: Any, loss: Loss) -> Promise:
    if flavor is RenyiDP:
        return RenyiDP.of(loss, orders=[ORDER])
    width = 2 * WIDE if flavor is ConcentratedDP else WIDE  # the width of τ² is twice that of τ
    return cast("Promise", flavor.of(loss, relative=width))


def _view(empty: ProvedView, promise: Promise, loss: Loss | None, of: Callable[[Loss], Promise]) -> ProvedView:
    """The smaller of what the loss proves and what the promise implies; the promise where both are equal."""
    flavor: Any = empty.flavor
    implied = _tried(lambda: _implied(flavor, promise, empty.delta))
    found = None if loss is None else _tried(lambda: of(loss))
    proved = [(_size(each), each is found, each) for each in (implied, found) if each is not None]
    if not proved or not math.isfinite(min(proved)[0]):
        return empty
    _, from_loss, smaller = min(proved, key=lambda one: one[:2])
    return replace(empty, promise=smaller, from_loss=from_loss)


def _implied(flavor: Any, promise: Promise, delta: float | None) -> Promise | None:
    """What the promise says in this flavor; an (ε, δ) says nothing at a smaller δ, and an (ε, 0) is pure."""
    if isinstance(promise, ApproximateDP) and promise.delta == 0.0:
        promise = PureDP(promise.epsilon)
    if type(promise) is not flavor:
        return cast("Promise | None", flavor.implied_by(promise, delta=delta))
    return promise if delta is None or cast("ApproximateDP", promise).delta <= delta else None


def _size(promise: Promise) -> float:
    """The number by which promises of one flavor are compared here."""
    match promise:
        case PureDP(epsilon) | ApproximateDP(epsilon, _):
            return epsilon
        case ZeroConcentratedDP(rho) | ApproximateZeroConcentratedDP(rho):
            return rho
        case ConcentratedDP(_, tau):
            return tau
        case GaussianDP(mu):
            return mu
    return cast("RenyiDP", promise).curve(ORDER)


def _tried(find: Callable[[], Promise | None]) -> Promise | None:
    try:
        return find()
    except (SitrError, ValueError):  # none is proved, or no float can hold it
        return None


def _epsilon(headline: Headline, promise: Promise, loss: Loss | None, empty: ProvedView, mass: float) -> ProvedView:
    """ε at δ, the same as in the headline where that has the same δ. Losses with an end are slow to bound closely."""
    delta = cast("float", empty.delta)
    if delta == headline.delta:
        known = ApproximateDP(headline.epsilon, delta) if math.isfinite(headline.epsilon) else None
        return replace(empty, promise=known, from_loss=headline.exact is not None)
    width = WIDTH if loss is not None and math.isfinite(loss.max()) else RELATIVE
    why = Missing.OUTRIGHT if mass > delta else Missing.UNPROVED
    return _view(
        replace(empty, missing=why), promise, loss, lambda loss: ApproximateDP.of(loss, delta=delta, relative=width)
    )


def _exceeding(headline: Headline, promise: Promise, loss: Loss | None) -> tuple[float | None, bool]:
    """P(L > ε), and whether the loss proves it: 0 where ε bounds the largest loss.

    For a sum, the bound that any dominating law gives is quick, but the tail of the promise may be far smaller.
    """
    if headline.delta == 0.0:
        return 0.0, False
    if not math.isfinite(headline.epsilon):
        return None, False
    implied = _tail(promise, headline.epsilon)
    if loss is None:
        return implied, False
    single = len(loss.laws) <= 1 and all(times == 1 for _, times in loss.laws)
    law = loss if single else replace(loss, bound=True)
    found = law.exceeding(epsilon=headline.epsilon, relative=WIDTH).upper
    return (found, True) if implied is None or found < implied else (implied, False)


def _tail(promise: Promise, epsilon: float) -> float | None:
    """The least δ = e^{−x} for which the promise proves P(L > ε) ≤ δ; None if it proves none below 1."""

    def proved(x: float) -> bool:
        quantile = promise.loss_quantile(delta=math.exp(-x)) if x < 700.0 else None
        return quantile is not None and quantile <= epsilon

    return math.exp(-largest_fitting(proved, start=WIDTH)) if proved(WIDTH) else None


def _points(headline: Headline, promise: Promise, loss: Loss | None) -> Iterator[tuple[float, float]]:
    """(ε, δ) that hold at the same time: of the loss at equal steps, or of the promise at several δ."""
    if math.isfinite(headline.epsilon):
        yield headline.epsilon, headline.delta
    if loss is not None:
        last = min(8.0, headline.epsilon) or 1.0
        for step in range(STEPS):
            epsilon = last * step / STEPS
            yield epsilon, min(1.0, loss.delta(epsilon=epsilon, relative=WIDTH).upper)
        return
    for delta in _DELTAS_OF_A_PROMISE:
        found = _tried(lambda delta=delta: ApproximateDP.implied_by(promise, delta=delta))  # type: ignore[misc]
        if isinstance(found, ApproximateDP):
            yield found.epsilon, found.delta


def _detected(points: tuple[tuple[float, float], ...], loss: Loss | None) -> float | None:
    """The least bound of all points, and of the loss itself unless hardly anything is detected."""
    if not points:
        return None
    from_points = min(detected_at(epsilon, delta, alarms=FALSE_ALARMS) for epsilon, delta in points)
    if loss is None or from_points <= FAINT:
        return from_points
    try:
        return min(from_points, loss.trade_off(fpr=FALSE_ALARMS, relative=WIDTH).upper)
    except IncompatiblePromises:
        return from_points


def trade_off(points: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Points of the curve below which every test stays: false positives and the most true positives.

    Each (ε, δ) allows at most δ + e^ε·x and 1 − e^{−ε}(1 − δ − x) at x false positives.      [KOV15, Sec. 2]

    The least of these lines bends only where two of them cross, so all crossings are points. None is left out as
    straight: many lines may cross in one corner, which rounding splits into several that seem straight.

    >>> trade_off(((0.0, 0.5),))
    [(0.0, 0.5), (0.5, 1.0), (1.0, 1.0)]
    """
    lines = {(0.0, 1.0)}
    for epsilon, delta in points:
        factor = math.exp(min(epsilon, 700.0))
        lines |= {(factor, delta), (1 / factor, 1 - (1 - delta) / factor)}
    crossings = {
        (other - start) / (slope - steeper) for slope, start in lines for steeper, other in lines if slope < steeper
    }
    places = sorted({0.0, 1.0, *(place for place in crossings if 0.0 < place < 1.0)})
    return [(place, min(start + slope * place for slope, start in lines)) for place in places]
