"""The exponential mechanism: chooses one of several candidates, better ones more often."""

from __future__ import annotations

from sitr.dataclass import dataclass
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.bounded_range import BoundedRangeLaw
from sitr.loss.loss import Loss
from sitr.mechanisms.choice import Choice, Scores, rational_scores
from sitr.noise.coins import Coins
from sitr.noise.selection import select
from sitr.numbers import Number, ball, exact, float_above, inside, natural, upper, upward
from sitr.precision import precision


@dataclass(frozen=True, slots=True)
class Exponential(Choice):
    """Choose candidate i with probability ∝ e^{ε·s_i/(2Δ)}, if one unit moves every score s_i by at most Δ.

    Where a unit can only raise all scores, or only lower them (`monotone`: counts, if people are added or removed),
    the probability is ∝ e^{ε·s_i/Δ}.      [MT07, Thm 6; DR14, Thm 3.10]

    >>> Exponential(epsilon=1).promise()
    PureDP(epsilon=1.0)
    >>> Exponential(epsilon=1000).release([3, 50, 20])
    1
    """

    def zero_concentrated(self) -> ZeroConcentratedDP:
        """ρ = ε²/8: a quarter of what a pure promise implies, because the losses lie in an interval of length ε. [CR21]

        >>> Exponential(epsilon=1).zero_concentrated()
        ZeroConcentratedDP(rho=0.125)
        """
        return ZeroConcentratedDP(upward(exact(self.epsilon) ** 2 / 8))

    def loss(self) -> Loss:
        """The worst loss over all scores and candidates: no smaller law dominates them all.

        ln P(i)/Q(i) = ε(s_i − s'_i)/(2Δ) + a constant, and s_i − s'_i lies in [−Δ, Δ], so that all losses of one pair
        lie in an interval of length ε; with ε/Δ and scores that move one way, likewise.      [DDR20, Lemma 3.4]

        >>> Exponential(epsilon=0.1).loss().epsilon(delta=1e-3).upper < 0.095
        True
        """
        return Loss.of(BoundedRangeLaw(float_above(self.epsilon)), bound=True)

    @precision()
    def error(self, *, candidates: int, confidence: Number = 0.95) -> float:
        """With this confidence the chosen score is at most this far below the best one: ln((k − 1)c/(1 − c))/rate.

        `rate` is the factor in the exponent. Let the best candidate have weight 1 and those farther below weight B: one
        of them is chosen with a probability of at most B/(1 + B), and B ≤ (k − 1)e^{−rate·error}. No smaller bound
        holds: k − 1 candidates at that distance attain it. [DR14, Thm 3.11] has ln(k/(1 − c))/rate.

        >>> Exponential(epsilon=1).error(candidates=10, confidence=0.95)
        10.28...
        """
        k, level = natural(candidates, name="candidates", of="Exponential"), inside(confidence)
        odds = (k - 1) * level / (1 - level)
        return upper(ball(odds).log() / ball(self.rate)) if odds > 1 else 0.0

    def release(self, scores: Scores, *, coins: Coins | None = None) -> int:
        """The index of the candidate that is chosen, exactly with its probability."""
        given = rational_scores(scores, mechanism="Exponential")
        return select(log_weights=[self.rate * score for score in given], coins=coins)
