"""What mechanisms that choose one of several candidates share: how steeply chances fall with a score, and checks."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Rational

import numpy as np
from numpy.typing import NDArray

from sitr.errors import InvalidParameter
from sitr.numbers import Number, exact

WholeScores = Sequence[int] | NDArray[np.integer]
Scores = Sequence[int | Fraction] | WholeScores


def steepness(epsilon: Number, sensitivity: Number, *, monotone: bool) -> Fraction:
    """ε/(2Δ): one unit may raise one score by Δ and lower the others. ε/Δ where all scores move the same way.

    >>> steepness(1, 2, monotone=False), steepness(1, 2, monotone=True)
    (Fraction(1, 4), Fraction(1, 2))
    """
    return exact(epsilon) / (exact(sensitivity) * (1 if monotone else 2))


def rational_scores(scores: Scores, *, mechanism: str) -> list[int | Fraction]:
    """One exact score for each candidate. A message never repeats one: they are made from somebody's secrets.

    Integers stay integers: Python computes with them much faster than with fractions.

    >>> rational_scores([3, Fraction(1, 2)], mechanism="Exponential")
    [3, Fraction(1, 2)]
    """
    _check(scores, kind=Rational, wanted="a row of integers or fractions", mechanism=mechanism)
    return [int(score) if isinstance(score, Integral) else exact(score) for score in scores]


def whole_scores(scores: WholeScores, *, mechanism: str) -> list[int]:
    """The same for mechanisms that add noise, which is made of integers."""
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
    """Whether it is an integer, of Python or of numpy.

    >>> whole(3), whole(3.0)
    (True, False)
    """
    return isinstance(number, Integral)
