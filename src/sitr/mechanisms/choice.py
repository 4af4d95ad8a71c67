"""The common part of mechanisms that choose one of several candidates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Rational
from typing import TYPE_CHECKING, ClassVar

from sitr.dataclass import dataclass
from sitr.errors import InvalidParameter
from sitr.flavors.pure import PureDP
from sitr.loss.loss import Loss
from sitr.mechanisms.granularity import movement
from sitr.mechanisms.mechanism import bounding
from sitr.namespace import Later
from sitr.numbers import Number, exact, flag, positive, upward

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    WholeScores = Sequence[int] | NDArray[np.integer]
else:
    np = Later("numpy")
    WholeScores = object

Scores = Sequence[int | Fraction] | WholeScores


@dataclass(frozen=True, slots=True)
class Choice:
    """A mechanism that keeps PureDP(ε) and chooses one candidate by its score.

    One unit moves every score by at most Δ = `sensitivity`. `monotone`: it moves all scores the same way.
    """

    epsilon: Number
    sensitivity: Number = 1
    monotone: bool = False

    grid: ClassVar[Fraction | None] = None
    """Scores are multiples of this; None if they can be any fractions."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(self, "epsilon", positive(self.epsilon, name="epsilon", of=name))
        object.__setattr__(self, "sensitivity", movement(self.sensitivity, self.grid, mechanism=name))
        flag(self.monotone, name="monotone", of=name)

    def promise(self) -> PureDP:
        """ε."""
        return PureDP(upward(exact(self.epsilon)))

    def loss(self) -> Loss:
        """A bound: the response that every PureDP(ε) allows.      [KOV15, Thm 3.3]"""
        return bounding(self.promise())

    @property
    def rate(self) -> Fraction:
        """ε/(2Δ): one unit may raise one score by Δ and lower the others. ε/Δ where all scores move the same way."""
        return exact(self.epsilon) / (exact(self.sensitivity) * (1 if self.monotone else 2))


def rational_scores(scores: Scores, *, mechanism: str) -> list[int | Fraction]:
    """One exact score for each candidate. Messages never quote a score, because scores are computed from secrets.

    Integers stay integers: Python computes with them much faster than with fractions.

    >>> rational_scores([3, Fraction(1, 2)], mechanism="Exponential")
    [3, Fraction(1, 2)]
    """
    _check(scores, kind=Rational, wanted="a row of integers or fractions", mechanism=mechanism)
    return [int(score) if isinstance(score, Integral) else exact(score) for score in scores]


def whole_scores(scores: WholeScores, *, mechanism: str) -> list[int]:
    """The same for mechanisms that add integer noise."""
    _check(scores, kind=Integral, wanted="a row of integers", mechanism=mechanism)
    return [int(score) for score in scores]


def _check(scores: Scores, *, kind: type, wanted: str, mechanism: str) -> None:
    if len(scores) == 0 or not all(isinstance(score, kind) for score in scores):
        raise InvalidParameter(
            wanted=f"{wanted}, one for each candidate of {mechanism}",
            given="something else" if len(scores) else "an empty row",
            do="Compute scores in whole numbers: floats round, and one unit could then move them too far.",
        )


def whole(number: object) -> bool:
    """Whether it is an integer, of Python or of numpy. Type checkers do not accept an `int` as an `Integral`.

    >>> whole(3), whole(3.0)
    (True, False)
    """
    return isinstance(number, Integral)
