"""Report noisy max: releases only which candidate is best after noise was added to all scores."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar

from flint import arb

from sitr.errors import InvalidParameter
from sitr.mechanisms.choice import Choice, WholeScores, whole_scores
from sitr.noise.coins import Coins, system_coins
from sitr.noise.geometric import geometric
from sitr.noise.laplace import discrete_laplace
from sitr.numbers import Number, ball, inside, least_whole, natural
from sitr.precision import precision


class ScoreNoise(Enum):
    """The noise on a score, with P(y) ∝ e^{−|y|/scale}: on all integers (`LAPLACE`), or from 0 on (`GEOMETRIC`).

    For the same promise, the worse of two candidates wins less often with `GEOMETRIC` noise.
    """

    GEOMETRIC = "geometric"
    LAPLACE = "laplace"


@dataclass(frozen=True, slots=True)
class NoisyMax(Choice):
    """Add noise of scale 2Δ/ε to every integer score, and release the index of the largest, if one unit moves
    every score by at most Δ. The scale is Δ/ε if a unit moves all scores the same way (`monotone`).

    Noise on integers meets ties. They are broken evenly, as if a random order of the candidates had been drawn before
    the data were seen, and the first in it won. Given that order and the noise of all others, i wins if and only if Z_i
    ≥ r − s_i, where r is the largest of s_j + Z_j for those behind i, and of s_j + Z_j + 1 for those before it. No
    neighbour moves r − s_i by more than d = 2Δ, or Δ, and P(Z ≥ m + d) ≥ e^{−d/scale}·P(Z ≥ m) for both kinds of noise:
    so the loss is at most ε. This fails if ties are drawn again, or go to the candidate with the larger true score, and
    the largest noisy score itself would reveal far more.      [DR14, Claim 3.9]

    >>> NoisyMax(epsilon=1).promise()
    PureDP(epsilon=1.0)
    >>> NoisyMax(epsilon=1000).release([3, 50, 20])
    1
    """

    noise: ScoreNoise = ScoreNoise.GEOMETRIC

    grid: ClassVar = Fraction(1)

    def __post_init__(self) -> None:
        Choice.__post_init__(self)
        try:
            object.__setattr__(self, "noise", ScoreNoise(self.noise))  # a name is accepted too
        except ValueError:
            kinds = ", ".join(kind.value for kind in ScoreNoise)
            raise InvalidParameter(
                wanted=f"noise of NoisyMax to be one of {kinds}",
                given=repr(self.noise),
                do="Choose geometric, which has smaller errors.",
            ) from None

    @property
    def scale(self) -> Fraction:
        """2Δ/ε, or Δ/ε."""
        return 1 / self.rate

    def error(self, *, candidates: int, confidence: Number = 0.95) -> int:
        """With this confidence the chosen score is at most this far below the best one.

        A candidate that is g below another wins over it with probability q^g/2, q = e^{−1/scale}, for geometric noise,
        and q^g/2·(1 + g·tanh(1/(2·scale))) for Laplace noise, a tie being half a win. There are k − 1 of them at most.

        >>> NoisyMax(epsilon=1).error(candidates=10), NoisyMax(epsilon=1, noise=ScoreNoise.LAPLACE).error(candidates=10)
        (8, 11)
        """
        k, level = natural(candidates, name="candidates", of="NoisyMax"), inside(confidence)

        def holds(width: int) -> bool:
            return bool((k - 1) * self._overtakes(width + 1) <= ball(1 - level))

        with precision(256):
            return least_whole(holds)

    def release(self, scores: WholeScores, *, coins: Coins | None = None) -> int:
        """The index of the candidate that is chosen."""
        given, tossed = whole_scores(scores, mechanism="NoisyMax"), system_coins() if coins is None else coins
        draw = geometric if self.noise is ScoreNoise.GEOMETRIC else discrete_laplace
        noise = draw(scale=self.scale, size=len(given), coins=tossed)
        noisy = [score + int(y) for score, y in zip(given, noise, strict=True)]
        largest = max(noisy)
        tied = [i for i, score in enumerate(noisy) if score == largest]
        return tied[tossed.below(len(tied))]

    def _overtakes(self, gap: int) -> arb:
        """P(Z' − Z > gap) + P(Z' − Z = gap)/2. The difference of two geometric variables is a discrete Laplace one."""
        half = (-ball(gap / self.scale)).exp() / 2
        return half if self.noise is ScoreNoise.GEOMETRIC else half * (1 + gap * (1 / ball(2 * self.scale)).tanh())
