"""How much Gaussian noise an approximate price pays for, by the loss of the whole plan."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from sitr.errors import WiderThanAsked
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.loss.loss import Loss
from sitr.loss.real import gaussian
from sitr.mechanisms.mechanism import Mechanism

CLOSE = 1e-4
"""How far the μ that is found may be below one that is too large, relative to it."""


def largest_mu(price: ApproximateDP, *, beside: Sequence[Mechanism] = ()) -> GaussianDP | None:
    """The largest μ whose Gaussian noise keeps the price together with other mechanisms; None if there is none.

    By itself, Gaussian noise is calibrated exactly [BW18, Thm 8]. Beside other mechanisms, all losses are added up,
    and δ at the price's ε decides: it grows with μ.

    >>> largest_mu(ApproximateDP(1.0, 1e-6))
    GaussianDP(mu=0.236...)
    >>> from sitr.mechanisms.exponential import Exponential
    >>> largest_mu(ApproximateDP(1.0, 1e-6), beside=[Exponential(epsilon=0.5)])
    GaussianDP(mu=0.1...)
    """
    alone = GaussianDP.fitting(price)
    losses = [mechanism.loss() for mechanism in beside]
    known = [loss for loss in losses if loss is not None]
    if len(known) < len(losses) or alone.mu == 0.0:
        return None
    if not known:
        return alone
    rest = Loss.compose(known)

    def fits(mu: float) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WiderThanAsked)  # the upper end is valid, however wide the interval is
            return (rest + gaussian(sigma=1, sensitivity=mu)).delta(epsilon=price.epsilon).upper <= price.delta

    high = alone.mu
    low = high
    while not fits(low):
        low, high = low / 2, low
        if low < alone.mu / 2**20:
            return None
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return GaussianDP(low)
