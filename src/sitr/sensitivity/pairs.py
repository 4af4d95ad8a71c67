"""How far a random newcomer moves a statistic, learned from pairs of the people in the data.

Let h(x, x')/n bound how far a statistic moves when x' takes the place of x. The pair (x, x') of a random newcomer is
not in the data; but the data hold pairs like it, and where it ranks among them is known without knowing the population.

    S = max_t e^{−βt}·h_(r+tc),   t = 0, 1, 2, …,   with a public Λ ≥ h past the end,

where h_(1) ≤ h_(2) ≤ … are the h of some pairs of people, and each person is in at most c of the pairs. If one person
is replaced, at most c of these numbers change, so that h_(k)(X') ≤ h_(k+c)(X), and S(X') ≤ e^β·S(X): that is certain.
And S ≥ h_(r), which the newcomer's pair exceeds with probability at most γ. The rank r, the step c and Λ never depend
on the data.

**All of this assumes that people are exchangeable**, so that their order carries no information: pairs from sorted or
repeated data do not show what a newcomer does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sitr.errors import DescriptionError, InvalidPromise
from sitr.flavors.promise import Promise
from sitr.flavors.random import Basis, RandomDP
from sitr.numbers import Number, ball, downward, exact, inside, least_whole, upward
from sitr.precision import precision
from sitr.sensitivity.decay import largest, outward, reduced

Heights = NDArray[np.float64]
"""Values of h."""

Ranked = Callable[[NDArray[np.int64]], Heights]
"""From ranks k, counted from 1, to h_(k)."""

Shares = tuple[tuple[str, Fraction], ...]
"""The parts of γ, by name."""


class Pairs(Enum):
    """Which pairs of people are compared."""

    DISJOINT = "disjoint"
    EVERY = "every"
    DRAWN = "drawn"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class Ladder:
    """The ranks r, r + c, r + 2c, … among this many values of h, and the parts of γ: how often h_(r) is too small.

    >>> Ladder(values=4, rank=3, step=1, parts=()).height(ordered([5.0, 1.0, 9.0, 2.0]), dilation=0.5)
    5.458...
    """

    values: int
    rank: int
    step: int
    parts: Shares
    basis: Basis = Basis.FINITE_SAMPLE

    def around(self, inner: Promise, /) -> RandomDP:
        """The random promise, if `inner` holds whenever the newcomer moves the statistic by at most S."""
        return around(inner, self.parts, basis=self.basis)

    def height(self, at: Ranked, *, dilation: Number, bound: float | None = None) -> float:
        """S, rounded up, where `at` gives h_(k) for an array of k: see `ordered`.

        An h above the bound counts as the bound. Each h may have a relative error of 2^−40. Numbers below the smallest
        float count as 0: the caller adds a larger constant, which is the same for all data.
        """
        rungs = at(np.arange(self.rank, self.values + 1, self.step, dtype=np.int64))
        if bound is not None:
            rungs = np.append(np.minimum(rungs, bound), bound)
        return outward(largest(rungs, dilation=reduced(dilation)))


def around(inner: Promise, parts: Shares, *, basis: Basis = Basis.FINITE_SAMPLE) -> RandomDP:
    """A promise that holds except for the sum of these parts."""
    gamma = sum((share for _, share in parts), Fraction(0))
    return RandomDP(inner, upward(gamma), basis, tuple((name, downward(share)) for name, share in parts))


def ordered(heights: Heights | list[float]) -> Ranked:
    """h_(k) of these values.

    >>> ordered([5.0, 1.0, 9.0])(np.array([1, 3]))
    array([1., 9.])
    """
    growing = np.sort(np.asarray(heights, dtype=np.float64))
    return lambda ranks: growing[ranks - 1]


def disjoint(size: int, *, gamma: Number, bounded: bool = False) -> Ladder:
    """m = ⌊n/2⌋ pairs (x_i, x_{i+m}), in the order given, one for each person: c = 1.

    Let one person be replaced, let C be the m − 1 pairs that do not change, and h* = h(x, x') for the person who leaves
    and the one who comes. All m pairs are disjoint, so they are exchangeable: h* exceeds r − 1 others, or more, with
    probability at most (m − r + 1)/m. Otherwise h* ≤ C_(r−1) ≤ h_(r), both in X and in X'. (If n is odd, the last
    person is in no pair; then h* is one of m + 1, and exceeds r of them even less often.)

    S(X') ≤ e^β·S(X) can fail only past the end, at h_(m)(X'), where there is no public Λ: if the pair that changed is
    above all others, in X or in X'. Each has probability at most 1/m. So, with r as small as γ allows,

        γ = (m − r + 1)/m + 2/m,   r = m − ⌊γm⌋ + 3;   with a public Λ:  γ = (m − r + 1)/m,  r = m − ⌊γm⌋ + 1.

    >>> disjoint(1000, gamma=0.05)
    Ladder(values=500, rank=478, step=1, parts=(('newcomer', Fraction(23, 500)), ('largest pair', Fraction(1, 250))),
           basis=<Basis.FINITE_SAMPLE: 'finite-sample'>)
    """
    share, beyond = share_of(gamma), 0 if bounded else 2
    m = size // 2
    missed = math.floor(share * m) - beyond
    if missed < 1:
        raise _too_few(size, least=2 * math.ceil((1 + beyond) / share), gamma=gamma)
    parts = [("newcomer", Fraction(missed, m))] + ([] if bounded else [("largest pair", Fraction(2, m))])
    return Ladder(m, m - missed + 1, 1, tuple(parts))


def every(size: int, *, gamma: Number) -> Ladder:
    """All n(n−1)/2 pairs, of which each person is in c = n − 1; a public Λ is needed.

    The n people and the newcomer have N = (n+1)n/2 pairs. The newcomer's pair with the one who leaves is any of these
    with equal probability: it exceeds the r-th smallest with probability at most 1 − r/N. The pairs within X are a
    subset of the N, and so are the pairs within X': the r-th smallest of a subset is at least the r-th smallest of all.

        γ = 1 − r/N,   r = N − ⌊γN⌋.

    >>> every(1000, gamma=0.05).rank, 1000 * 999 // 2
    (475475, 499500)
    """
    share = share_of(gamma)
    there, with_newcomer = math.comb(size, 2), math.comb(size + 1, 2)
    missed = math.floor(share * with_newcomer)
    if with_newcomer - missed > there or size < 2:
        raise _too_few(size, least=max(2, math.ceil(2 / share) - 1), gamma=gamma)
    return Ladder(there, with_newcomer - missed, size - 1, (("newcomer", Fraction(missed, with_newcomer)),))


@precision()
def drawn(size: int, *, gamma: Number, draws: int, miss: Number) -> Ladder:
    """M pairs drawn with coins, with replacement, anew for each release; a public Λ is needed.

    Let z be the q-th smallest h of all N pairs of the people and the newcomer. As in `every`, h* ≤ z except with
    probability γ = 1 − q/N over the data. For any data, fewer than q pairs within X have h < z, a share of at most
    p = (q−1)/(n(n−1)/2). So the coins make h_(r) < z, in X or in X', with probability at most

        2·P(Binomial(M, p) ≥ r) ≤ 2·exp(−M·KL(r/M ‖ p)),   KL(a‖p) = a ln a/p + (1−a) ln (1−a)/(1−p),

    by [Hoe63, Thm 1]. Here r is the least rank that makes this at most `miss`. The bound holds for all data, so `miss`
    is about coins, and belongs to δ and not to γ. The number c of pairs that contain one person is known once they are
    drawn: until then the step is 1.

    >>> drawn(10**6, gamma=0.05, draws=10**6, miss=1e-7).rank
    951261
    """
    whole = every(size, gamma=gamma)
    if exact(miss) <= 0:
        raise InvalidPromise(
            wanted="a probability above 0 of drawing unlucky pairs",
            given=f"miss={miss}",
            do="Choose a small part of delta.",
        )
    p = ball(Fraction(whole.rank - 1, whole.values))
    if not _missed(draws, draws, p) <= ball(miss):
        least = math.ceil(float((2 / ball(miss)).log() / -p.log()) * (1 + 1e-9))
        raise DescriptionError(
            wanted=f"at least {least} pairs for gamma={gamma}",
            given=f"draws={draws}",
            do="Draw more pairs, or choose a larger gamma or delta.",
        )
    first = min(draws, whole.rank * draws // whole.values + 1)
    found = least_whole(lambda rank: rank >= draws or bool(_missed(rank, draws, p) <= ball(miss)), least=first)
    return Ladder(draws, found, 1, whole.parts)


def published(size: int, *, gamma: Number) -> Ladder:
    """s_n = d_δ(X)/n, the (1 − δ)-quantile of h on m = ⌊n/2⌋ disjoint pairs, with nothing else.      [HRW11, Sec. 6]

    By the inequality of Dvoretzky, Kiefer and Wolfowitz P(h* > d_δ) ≤ δ' + 2e^{−2m(δ'−δ)²} for every δ' > δ: γ is this
    bound, with the largest δ. s_n and s_n' differ by a factor of at most e^β only in the limit, if h has a density, and
    γ does not count how often they differ by more. So γ is no bound for a given number of people, and the basis is
    asymptotic. For normal numbers and γ = 0.2, (ε, 10⁻⁹) is broken in 19.4% of draws for n = 2000 and ε = 0.002, but in
    23.3% for n = 20,000 and ε = 0.0002. (The assumption of the proof, h* ≤ min(d_δ, d_δ') and the factor e^β, fails in
    26.1% and 31.1%.) Prefer `disjoint`, which needs no such assumption.

    >>> ladder = published(1000, gamma=0.15)
    >>> ladder.rank, [(name, round(float(share), 4)) for name, share in ladder.parts], ladder.basis.value
    (467, [('quantile', 0.1434), ('estimate', 0.0066)], 'asymptotic')
    """
    share, m = share_of(gamma), size // 2
    quantile = _published_quantile(share, m)
    if quantile is None:
        least = least_whole(lambda people: _published_quantile(share, people // 2) is not None, least=2)
        raise _too_few(size, least=least, gamma=gamma)
    rank, rest = quantile
    parts = (("quantile", share - rest), ("estimate", rest))
    return Ladder(m, rank, m, parts, Basis.ASYMPTOTIC)


def _published_quantile(share: Fraction, m: int) -> tuple[int, Fraction] | None:
    """⌈(1 − δ)m⌉ for the largest δ = δ' − √(ln(2/(γ−δ'))/2m), and γ − δ'; None if no δ is above 1/m."""
    if m < 1:
        return None
    rests = float(share) * np.geomspace(1e-9, 0.9, 1000)
    losses = rests + np.sqrt(np.log(2 / rests) / (2 * m))
    best = int(np.argmin(losses))
    delta = float(share) - float(losses[best])
    if delta * m < 1:
        return None
    return math.ceil((1 - delta) * m), Fraction(float(rests[best]))


@precision()
def _missed(rank: int, draws: int, p: arb) -> arb:
    """2·exp(−M·KL(r/M ‖ p)), or 2 where r/M is not above p."""
    a = ball(Fraction(rank, draws))
    if p == 0 or not a > p:
        return arb(0 if p == 0 and rank else 2)
    rest = (1 - a) * ((1 - a) / (1 - p)).log() if rank < draws else arb(0)
    return 2 * (-draws * (a * (a / p).log() + rest)).exp()


def share_of(gamma: Number) -> Fraction:
    """γ as an exact number between 0 and 1."""
    return inside(gamma, name="gamma", of="a random promise", example=0.05)


def _too_few(size: int, *, least: int, gamma: Number) -> DescriptionError:
    return DescriptionError(
        wanted=f"at least {least} people for gamma={gamma}",
        given=f"size={size}",
        do="Choose a larger gamma, or collect more data.",
    )
