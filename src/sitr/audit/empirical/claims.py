"""What a promise says about one event: which pairs of probabilities it allows.

Whether an event happened is itself an answer, computed from the answer, so it keeps every promise that the mechanism
keeps. Let p and q be the probabilities of the event for two neighbouring inputs. Then a promise allows (p, q) if and
only if the two laws Bernoulli(p) and Bernoulli(q) keep it. A pair that is not allowed refutes the promise, and the
larger p and the smaller q, the more it does: bounds on both are enough.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sitr.errors import InvalidUse
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import special
else:
    np, special = Later("numpy"), Later("scipy.special")

Reals = Any
"""A float, or an array of them."""

ORDERS = (1.05, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0)
"""The orders at which moments are compared with a promise about all of them."""

_DOWN = 1.0 - 1e-12
"""Lower bounds are moved down by more than the rounding of these formulas."""


def epsilon(p: Reals, q: Reals, *, delta: float = 0.0) -> Reals:
    """The least ε ≥ 0 with p ≤ e^ε·q + δ and 1 − q ≤ e^ε·(1 − p) + δ: no smaller ε allows (p, q).      [KOV15, Sec. 2]

    >>> round(epsilon(0.75, 0.25), 6), epsilon(0.3, 0.3), epsilon(0.2, 0.0)
    (1.098612, 0.0, inf)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.log(np.maximum(p - delta, 0.0)) - np.log(q)
        second = np.log(np.maximum((1.0 - q) - delta, 0.0)) - np.log(1.0 - p)
        found = np.fmax(np.nan_to_num(np.fmax(first, second), nan=0.0, posinf=math.inf, neginf=0.0), 0.0)
    return _plain(found * _DOWN)


def mu(p: Reals, q: Reals) -> Reals:
    """The least μ ≥ 0 with p ≤ Φ(Φ⁻¹(q) + μ).      [DRS22, Def. 2.6]

    >>> round(mu(0.69146246, 0.30853754), 6)
    1.0
    """
    with np.errstate(invalid="ignore"):  # ∞ − ∞, where nothing differs
        found = special.ndtri(np.asarray(p, dtype=float)) - special.ndtri(np.asarray(q, dtype=float))
    return _plain(np.fmax(np.nan_to_num(found, nan=0.0, posinf=math.inf, neginf=0.0), 0.0) * _DOWN)


def divergence(p: Reals, q: Reals, *, order: float) -> Reals:
    """The larger one of D_α(Bernoulli(p)‖Bernoulli(q)) and D_α(Bernoulli(q)‖Bernoulli(p)), for α > 1.      [vEH14]

    It grows with p and falls with q as long as p ≥ q.

    >>> divergence(0.5, 0.5, order=2), divergence(0.5, 0.0, order=2)
    (0.0, inf)
    """
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    found = np.fmax(_one_way(p, q, order), _one_way(q, p, order))
    return _plain(np.fmax(found, 0.0) * _DOWN)


def _one_way(p: NDArray[np.float64], q: NDArray[np.float64], order: float) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [order * np.log(a) - (order - 1.0) * np.log(b) for a, b in ((p, q), (1.0 - p, 1.0 - q))]
        terms = [np.where(a == 0.0, -math.inf, term) for term, a in zip(terms, (p, 1.0 - p), strict=True)]
        found: NDArray[np.float64] = np.logaddexp(*terms) / (order - 1.0)
    return found


def excess(claim: Promise, p: Reals, q: Reals) -> Reals:
    """How far (p, q), with p ≥ q, is beyond what a promise allows: above 0 it is refuted, below 0 it is consistent.

    >>> excess(PureDP(1.0), 0.75, 0.25) > 0, excess(PureDP(1.2), 0.75, 0.25) > 0
    (True, False)
    """
    match claim:
        case PureDP():
            return epsilon(p, q) - claim.epsilon
        case ApproximateDP() | PrivacyProfile():
            points = claim.stated
            return np.max([epsilon(p, q, delta=delta) - most for most, delta in points], axis=0)
        case GaussianDP():
            return mu(p, q) - claim.mu
        case ApproximateZeroConcentratedDP():
            # P = (1 − δ)P' + δP'' and the same of Q: so P' ≥ (P − δ)/(1 − δ) and Q' ≤ Q/(1 − δ) for every event.
            rest = 1.0 - claim.delta
            inner = ZeroConcentratedDP(claim.rho)
            less, more = np.clip((p - claim.delta) / rest, 0.0, 1.0), np.clip(q / rest, 0.0, 1.0)
            return np.where(less > more, excess(inner, less, np.minimum(more, less)), -1.0)
        case ZeroConcentratedDP() | RenyiDP() | ConcentratedDP():
            return np.max([divergence(p, q, order=a) / most - 1.0 for a, most in moments(claim)], axis=0)
    raise unusable(claim)


def refuted(claim: Promise, p: float, q: float) -> bool:
    """Whether an event with probability at least p on one input and at most q on the other refutes the promise."""
    return p > q and bool(excess(claim, p, q) > 0.0)


def moments(claim: Promise) -> list[tuple[float, float]]:
    """The orders at which a promise bounds a divergence, and the bounds; none for promises that are not about moments.

    >>> moments(ZeroConcentratedDP(0.5))[3]
    (2.0, 1.0)
    """
    if isinstance(claim, ConcentratedDP):
        claim = claim.to_zero_concentrated()
    if isinstance(claim, ZeroConcentratedDP):
        return [(order, max(claim.xi + claim.rho * order, math.ulp(0.0))) for order in ORDERS]
    if isinstance(claim, RenyiDP):
        return [(order, max(claim.curve(order), math.ulp(0.0))) for order in claim.orders if 1.0 < order < math.inf]
    return []


def failure_of(claim: Promise) -> float:
    """The δ at which a lower bound on ε is compared with a promise; 0 without one."""
    return claim.stated[-1][1] if claim.stated else 0.0


def check(claim: Promise) -> None:
    """Refuse promises that say nothing about one pair of inputs."""
    excess(claim, 0.5, 0.5)


def unusable(claim: Promise) -> InvalidUse:
    """The error for promises that one pair of inputs cannot refute."""
    if isinstance(claim, RandomDP):
        return InvalidUse(
            given="A random promise may fail for a fraction of the data sets, so one pair of inputs cannot refute it.",
            do="Audit the promise inside of it, on inputs for which it should hold.",
        )
    if isinstance(claim, Pufferfish):
        return InvalidUse(
            given="A Pufferfish promise is about secrets and priors, so one pair of inputs cannot refute it.",
            do="Use sitr.audit.pufferfish(…) with the table of a finite mechanism.",
        )
    return InvalidUse(
        given=f"The audit has no test for {claim!r}.", do="Convert it first, for example with to_approximate(delta=…)."
    )


def _plain(found: Any) -> Any:
    return float(found) if np.ndim(found) == 0 else found
