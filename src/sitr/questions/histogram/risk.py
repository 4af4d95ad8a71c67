"""How far a released histogram is from the exact one on average: what nobody can beat, and what ours reach.

The risk is E‖θ̂ − θ‖₁ for the shares θ of k cells among n people, where neighbours replace one person.   [HRW11, Sec. 3]
"""

from __future__ import annotations

from fractions import Fraction

from sitr.numbers import Number, exact, natural, positive


def least_risk(*, cells: int, people: int, epsilon: Number) -> Fraction:
    """(4/27)·(k − 1)/(εn), at most 1: for some data every ε-private histogram is as far off.      [HRW11, Sec. 3]

    >>> float(least_risk(cells=28, people=1000, epsilon=1))
    0.004
    """
    k, n, e = _checked(cells, people, epsilon)
    return min(Fraction(1), Fraction(4, 27) * (k - 1) / (e * n))


def most_risk(*, cells: int, people: int, epsilon: Number) -> Fraction:
    """4k/(εn): noise of mean size 2/(εn) in each of k cells, at most doubled by the projection to a histogram.

    ‖π(z) − θ‖ ≤ ‖π(z) − z‖ + ‖z − θ‖ ≤ 2‖z − θ‖, because θ is itself a histogram, and π(z) the nearest one. Where only
    s cells have people and a random promise pays for leaving the others empty, k is s.      [HRW11, Sec. 5]

    >>> float(most_risk(cells=16, people=1000, epsilon=1))
    0.064
    """
    k, n, e = _checked(cells, people, epsilon)
    return 4 * k / (e * n)


def _checked(cells: int, people: int, epsilon: Number) -> tuple[int, int, Fraction]:
    """Positive numbers."""
    return (
        natural(cells, name="cells", of="The risk of a histogram"),
        natural(people, name="people", of="The risk of a histogram"),
        exact(positive(epsilon, name="epsilon", of="The risk of a histogram")),
    )
