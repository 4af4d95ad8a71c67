"""Weights of the candidates for a minimum or a maximum: the farther inside the bounds, the more.

All candidates up to the least value cost nothing, so the data do not choose among them, and a choice with equal weights
is half the way from the bound to the values. With K candidates, k = 0, …, K − 1 counted from the bound, the weights are

    w_k = 3K + 10k,   w_0 + … + w_{n−1} = 3Kn + 5n(n − 1).

Weights are public and change no privacy. They grow by a factor of 4.3 from one bound to the other. Steeper ones were
tried: they are better where the bounds are far away from the values, and choose values far inside where there are few.

**What the choice says about the least value.** Let k be the choice, m the place of the least value, and S_n the sum of
the first n weights. Given m, a choice of at most k has a probability of at most S_{k+1}/S_{m+1}, because the candidates
up to m have the full weight. So S_{k+1} ≤ (1 − c)·S_{m+1} happens with a probability of at most 1 − c: with confidence
c, m is at most the largest number with (1 − c)·S_{m+1} < S_{k+1}.
"""

from __future__ import annotations

from sitr.numbers import Number, inside


def weights(number: int, candidates: int) -> int:
    """The sum of the first weights.

    >>> weights(1, 10), weights(2, 10)
    (30, 70)
    """
    return 3 * candidates * number + 5 * number * (number - 1)


def chosen_by(drawn: int, candidates: int) -> int:
    """The k with S_k ≤ drawn < S_{k+1}: a uniform number below S_n chooses k < n in proportion to its weight.

    >>> [chosen_by(drawn, 10) for drawn in (0, 29, 30, 69, 70)]
    [0, 0, 1, 1, 2]
    """
    low, high = 0, candidates
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if weights(middle, candidates) <= drawn else (low, middle)
    return low


def farthest(chosen: int, candidates: int, *, confidence: Number) -> int:
    """The largest m that a choice of k allows with this confidence.

    >>> farthest(0, 101, confidence=0.95), farthest(40, 101, confidence=0.95)
    (15, 100)
    """
    rest, most = 1 - inside(confidence), weights(chosen + 1, candidates)
    low, high = chosen, candidates
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rest * weights(middle + 1, candidates) < most else (low, middle)
    return low
