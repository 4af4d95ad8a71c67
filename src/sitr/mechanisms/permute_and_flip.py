"""Permute-and-flip: like the exponential mechanism, but nearer to the best candidate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from sitr.dataclass import dataclass
from sitr.mechanisms.choice import Choice, Scores, rational_scores
from sitr.mechanisms.exponential import Exponential
from sitr.namespace import Later
from sitr.noise.bernoulli import one_for_each
from sitr.noise.coins import Coins, system_coins
from sitr.numbers import Number, ball, exact, inside, natural, upward
from sitr.precision import precision

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


@dataclass(frozen=True, slots=True)
class PermuteAndFlip(Choice):
    """Go through the candidates in random order; take i with probability e^{ε(s_i − max s)/(2Δ)}, or go on.

    One unit moves every score by at most Δ; the exponent is ε(s_i − max s)/Δ if it moves all of them the same way.
    This is the best of s_i + X_i with independent exponential noise [DKSSWXZ21]: given the noise of all others,
    whose best is m, i wins with probability min(1, e^{−rate·(m − s_i)}), and no neighbour moves m − s_i by more than
    2Δ, or Δ. So the loss is at most ε.      [MS20, Alg. 1]

    Bounded range, as for `Exponential`, holds neither here nor for `NoisyMax`: where a candidate that is behind falls
    back by 2Δ, its loss is ε, and the loss of the best one is below 0.

    >>> PermuteAndFlip(epsilon=1).promise()
    PureDP(epsilon=1.0)
    >>> PermuteAndFlip(epsilon=1000).release([3, 50, 20])
    1
    """

    def error(self, *, candidates: int, confidence: Number = 0.95) -> float:
        """With this confidence the chosen score is at most this far below the best one.

        In the worst case all k − 1 others are just farther below, and their coins show heads with p = e^{−rate·error}.
        With N heads the best is chosen with probability 1/(1 + N), and E[1/(1 + N)] = (1 − (1 − p)^k)/(kp), which
        decreases in p and is at least 1/(1 + (k − 1)p): the error of the exponential mechanism is never smaller.

        >>> PermuteAndFlip(epsilon=1).error(candidates=10, confidence=0.95)
        8.93...
        """
        k, level = natural(candidates, name="candidates", of="PermuteAndFlip"), inside(confidence)
        enough = Exponential(self.epsilon, self.sensitivity, self.monotone).error(candidates=k, confidence=level)
        low, high = Fraction(0), exact(enough)
        with precision(128):
            while high - low > high / 2**50:
                middle = (low + high) / 2
                low, high = (low, middle) if _best(k, ball(self.rate * middle)) >= ball(level) else (middle, high)
        return upward(high)

    def release(self, scores: Scores, *, coins: Coins | None = None) -> int:
        """The index of the candidate that is chosen.

        All coins are tossed at once and one of the heads is drawn. That is the same law: the coins do not depend on the
        order, and whatever the set of heads, each of them comes first in equally many orders. The best candidate always
        shows a head, and the number of coins does not depend on the scores.
        """
        given = rational_scores(scores, mechanism="PermuteAndFlip")
        tossed, best = system_coins() if coins is None else coins, max(given)
        heads = np.flatnonzero(one_for_each([best - score for score in given], rate=self.rate, coins=tossed))
        return int(heads[tossed.below(len(heads))])


def _best(k: int, exponent: arb) -> arb:
    """E[1/(1 + N)] = (1 − (1 − p)^k)/(kp) with p = e^{−exponent} < 1."""
    p = (-exponent).exp()
    return -((-p).log1p() * k).expm1() / (k * p)
