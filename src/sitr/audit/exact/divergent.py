"""Replacing a pair of laws by a pair whose losses are only −ε, 0 and ε.

The largest loss stays ε, and the mean loss does not fall in either direction. The bound ε(e^ε − 1)/2 on the mean of a
pure promise is proved for such pairs and extends to all others in this way.      [DR16, Sec. 3.2]
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from sitr.errors import InvalidParameter
from sitr.numbers import Number, exact

Law = tuple[Fraction, ...]


def maximally_divergent(p: Iterable[Number], q: Iterable[Number], /) -> tuple[Law, Law]:
    """A pair with losses −ε, 0 and ε for the largest loss ε of (P, Q), of which (P, Q) is a post-processing.

    An outcome of ratio r between 1 and R = e^ε is split in two, of ratios R and 1, and one below 1 into ratios 1 and
    1/R, so that both P and Q keep their mass; R is a fraction, so all of this is exact. Whoever cannot tell the two
    parts of an outcome apart sees the original pair: no divergence of the new pair is smaller. Its largest ratio is R.

    >>> maximally_divergent(("1/2", "1/4", "1/4"), ("1/4", "1/4", "1/2"))
    Traceback (most recent call last):
    sitr.errors.InvalidParameter: Expected a finite number, got '1/2'. Write it as 3, 0.1 or Fraction(1, 3).
    >>> maximally_divergent((0.6, 0.4), (0.4, 0.6))
    ((Fraction(3, 5), Fraction(2, 5)), (Fraction(2, 5), Fraction(3, 5)))
    """
    first, second = (tuple(map(exact, law)) for law in (p, q))
    if len(first) != len(second) or any(sum(law) != 1 or min(law) < 0 for law in (first, second)):
        raise InvalidParameter(
            wanted="two laws on the same outcomes, each with probabilities that add up to exactly 1",
            given=f"sums of {float(sum(first)):.15g} and {float(sum(second)):.15g}",
            do="Correct them; fractions such as Fraction(1, 3) are exact.",
        )
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a or b]
    if not all(a and b for a, b in pairs):
        raise InvalidParameter(
            given="One of the laws has an outcome that the other does not have, so the largest loss is infinite.",
            do="Use a pair with a finite largest loss.",
        )
    largest = max(max(a / b, b / a) for a, b in pairs)
    parts = [part for a, b in pairs for part in _split(a, b, largest)]
    return tuple(a for a, _ in parts), tuple(b for _, b in parts)


def _split(a: Fraction, b: Fraction, largest: Fraction) -> list[tuple[Fraction, Fraction]]:
    """The parts of one outcome: x of ratio R with a − b = (R − 1)·x, and a rest of ratio 1; or the mirror image."""
    if a == b:
        return [(a, b)]
    if a < b:
        return [(y, x) for x, y in _split(b, a, largest)]
    far = (a - b) / (largest - 1)
    rest = b - far
    return [(largest * far, far), *([(rest, rest)] if rest else [])]
