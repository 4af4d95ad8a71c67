"""The interval of a noisy number that is only seen because it passed a threshold.

Let N = n + Y be seen if N ≥ T, and S(y) = P(Y ≥ y). Numbers that just passed had luck: with n far below T, N is near T
whatever n is, and N ± the usual width would mostly miss. What is seen has the law of N given N ≥ T, so, for each n,

    P(N ≥ k | seen) = S(k − n)/S(T − n),     P(N ≤ k | seen) = 1 − S(k + 1 − n)/S(T − n).

The interval holds every n ≥ 1 for which both are at least α/2 at the number k that is seen. Given that it is seen, each
of the two fails with a probability of at most α/2 at the exact n, so the interval holds with probability 1 − α. (A key
that nobody has is never seen, so n ≥ 1.) Where noise is wide, a number that just passed is so little above T that even
n = k would rarely be seen with less: then the interval still reaches up to k, so that it holds what is shown.

If Y is log-concave, as Laplace and Gaussian noise are, the likelihood ratio of N given N ≥ T for n and n + 1 grows with
N. So the first probability grows with n and the second falls: the interval has no gaps, and its ends are found by
bisection. An n is left out only where Arb proves it.
"""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from sitr.numbers import Number, ball, inside

Tail = Callable[[int], arb]
"""y ↦ P(Y ≥ y) for y ≥ 1, for symmetric noise."""


def passed_ends(number: int, least: int, tail: Tail, *, width: int, confidence: Number) -> tuple[int, int]:
    """The least and the largest n that may have passed with this number; `width` is about that of the noise alone."""
    half = ball((1 - inside(confidence)) / 2)

    def survival(y: int) -> arb:
        return tail(y) if y >= 1 else 1 - tail(1 - y)

    def too_small(n: int) -> bool:
        return bool(survival(number - n) < half * survival(least - n))

    def too_large(n: int) -> bool:
        # P(T ≤ N ≤ k) = P(Y ≤ k − n) − P(Y < T − n) = S(n − k) − S(n + 1 − T) does not cancel where n > k
        return bool(survival(n - number) - survival(n + 1 - least) < half * survival(least - n))

    low = _first(lambda n: not too_small(n), 1, number, start=number - width)
    high = number + 1
    step = max(1, width)
    while not too_large(high):
        high, step = high + step, 2 * step
    return low, max(number, _first(too_large, number, high, start=high) - 1)


def _first(holds: Callable[[int], bool], low: int, high: int, *, start: int) -> int:
    """The first number from low to high for which a condition holds that, once true, stays true; or `high`."""
    if low < start < high and not holds(start - 1):
        low = start
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
