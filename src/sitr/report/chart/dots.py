"""A thousand data sets as dots; of a random promise, a fraction γ of them may get no protection at all."""

from __future__ import annotations

import math
from fractions import Fraction

from sitr.report.chart.svg import BLUE, ORANGE, svg
from sitr.report.words.words import Words, in_words

DOTS, _ACROSS, _SIZE = 1_000, 50, 12


def bare(gamma: Fraction) -> int:
    """How many of all dots may be bare: γ of them, rounded up.

    >>> bare(Fraction(0)), bare(Fraction("0.0101")), bare(Fraction(2))
    (0, 11, 1000)
    """
    return min(DOTS, math.ceil(gamma * DOTS))


def chart(gamma: Fraction, *, words: Words | None = None) -> str:
    """A dot for each data set: those that may be bare stand out."""
    words = in_words(words)
    count, parts = bare(gamma), []
    for place in range(DOTS):
        x, y = 1 + 98 * (place % _ACROSS + 0.5) / _ACROSS, _SIZE * (place // _ACROSS + 0.5)
        empty = place * 617 % DOTS < count  # spread evenly: 617 and 1000 have no common factor
        look = f'fill="{ORANGE}"' if empty else f'fill="{BLUE}" fill-opacity="0.35"'
        parts.append(f'<circle cx="{x:.2f}%" cy="{y:g}" r="4" {look}/>')
    said = words.server.bare(count, DOTS)
    return svg(said, "", parts, height=_SIZE * DOTS / _ACROSS + 4)
