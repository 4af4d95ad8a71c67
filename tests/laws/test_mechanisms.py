"""What every mechanism must satisfy. A new mechanism is one line in `MECHANISMS`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum
from fractions import Fraction
from functools import partial, reduce
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import sitr.learn
import sitr.mechanisms
from sitr.errors import IncompatiblePromises
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.pufferfish import Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.finite_part import finite_part
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.distributed import DistributedNoise, Shares
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.markov_quilt import MarkovQuilt
from sitr.mechanisms.mechanism import bounding
from sitr.mechanisms.noisy_max import NoisyMax
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.permute_and_flip import PermuteAndFlip
from sitr.mechanisms.prefix_gaussian import PrefixGaussian
from sitr.mechanisms.proposed import ProposeTestRelease
from sitr.mechanisms.quantile import Quantiles
from sitr.mechanisms.random_noise import RandomNoise
from sitr.mechanisms.residual_gaussian import Base, ResidualGaussian
from sitr.mechanisms.response import Response, UnaryResponse
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.mechanisms.sample_and_aggregate import SampleAndAggregate
from sitr.mechanisms.sampled_noise import SampledNoise
from sitr.mechanisms.shared import SharedNoise
from sitr.mechanisms.shuffled import Shuffled
from sitr.mechanisms.smooth import NoiseKind, SmoothNoise
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.sparse_vector import RefinedSparseVector, SparseVector
from sitr.mechanisms.spherical import Spherical
from sitr.mechanisms.subsampled import Subsampled
from sitr.mechanisms.threshold import Threshold
from sitr.mechanisms.tree import Tree
from sitr.mechanisms.wasserstein import Wasserstein
from sitr.neighbors.distance import Distance
from sitr.noise.coins import TestCoins
from sitr.numbers import ball, exact, square_root_upward
from sitr.sensitivity import (
    Chain,
    SecretLaws,
    Visits,
    mean,
    median,
    propose_test_release,
    random,
    sampled,
    smooth,
)
from sitr.sensitivity.proposed import Proposed
from tests.laws import walk

Pair = list[tuple[arb, arb]]


class Knows(Enum):
    """What `loss()` is: None, a bound on the loss of every pair of tables, or the loss of the worst pair."""

    NOTHING = 0
    BOUND = 1
    EXACTLY = 2


# Exact laws of the answers on the two tables that are worst


def shifted(exponent: Callable[[int], Fraction], *, reach: int, shift: int) -> Pair:
    """P(y) ∝ e^{−exponent(y)} on a window, and the same law moved by `shift`."""
    weights = {y: (-ball(exponent(y))).exp() for y in range(-reach - shift, reach + shift + 1)}
    whole = sum(weights.values(), arb(0))
    return [(weights[y] / whole, weights[y - shift] / whole) for y in range(-reach, reach + shift + 1)]


def laplace(mechanism: Laplace) -> Pair:
    """All in one number; the window leaves out less than e^{−150} of the masses, and no larger loss."""
    scale, shift = exact(mechanism.scale), int(mechanism.sensitivity)
    return shifted(lambda y: abs(y) / scale, reach=math.ceil(150 * scale) + shift, shift=shift)


def gaussian(mechanism: Gaussian) -> Pair:
    """All in one number; 25σ leave out less than e^{−300}, also of moments of order 40 around −40·shift."""
    variance, shift = exact(mechanism.sigma) ** 2, int(mechanism.sensitivity)
    reach = math.ceil(25 * exact(mechanism.sigma)) + 40 * shift
    return shifted(lambda y: y * y / (2 * variance), reach=reach, shift=shift)


def threshold(mechanism: Threshold) -> Pair:
    """A unit alone with every one of its keys: nothing is seen, or it is; without it there is nothing to see."""
    q = (-ball(1 / exact(mechanism.noise.scale))).exp()
    hidden = (1 - q ** (mechanism.least - mechanism.each) / (1 + q)) ** mechanism.groups
    return [(hidden, arb(1)), (1 - hidden, arb(0))]


def gaussian_threshold(mechanism: GaussianThreshold) -> Pair:
    """As above, with rounded noise: P(Y ≥ k) = P(Z ≥ (k − ½)/σ)."""
    missing = mechanism.least - mechanism.each
    alone = (ball((missing - Fraction(1, 2)) / exact(mechanism.noise.sigma)) / arb(2).sqrt()).erfc() / 2
    hidden = (1 - alone) ** mechanism.groups
    return [(hidden, arb(1)), (1 - hidden, arb(0))]


def partition(mechanism: PartitionSelection) -> Pair:
    """The same: δ is that of all keys together."""
    delta = ball(mechanism.delta)
    return [(1 - delta, arb(1)), (delta, arb(0))]


FAR = 40
"""A candidate that is chosen with e^{−40} has nearly all of the loss: the others hardly notice that it moves."""


def exponential(mechanism: Exponential) -> Pair:
    """Two candidates: one is far behind, falls back by Δ, and the other gains Δ unless all move the same way."""
    rate = exact(mechanism.epsilon) / ((1 if mechanism.monotone else 2) * exact(mechanism.sensitivity))
    moved = rate * exact(mechanism.sensitivity)
    other = arb(1) if mechanism.monotone else ball(moved).exp()
    p, q = (last / (last + best) for last, best in (((-ball(FAR)).exp(), 1), ((-ball(FAR + moved)).exp(), other)))
    return [(p, q), (1 - p, 1 - q)]


def overtaking(mechanism: PermuteAndFlip | NoisyMax) -> Pair:
    """Two candidates, one behind by one: it wins half of the time in which it draws level, e^{−gap·rate}."""
    times = 1 if mechanism.monotone else 2
    rate = exact(mechanism.epsilon) / (times * exact(mechanism.sensitivity))
    p, q = ((-ball(rate * gap)).exp() / 2 for gap in (1, 1 + times * exact(mechanism.sensitivity)))
    return [(p, q), (1 - p, 1 - q)]


def sparse(mechanism: SparseVector, *, calm: int = 1000) -> Pair:
    """So many values just below the threshold, which one unit raises by Δ, and one that it lowers by Δ: a yes among the
    first, a yes to the last, or none. The longer they stay calm, the surer it is that the threshold was moved."""
    first, second = mechanism.scales
    moved, reach = int(mechanism.sensitivity), math.ceil(150 * first)
    q, s = (-ball(1 / first)).exp(), (-ball(1 / second)).exp()

    def fails(need: int) -> arb:
        """P(ν < need)."""
        return 1 - s**need / (1 + s) if need > 0 else s ** (1 - need) / (1 + s)

    def law(many: int, last: int) -> list[arb]:
        found = [arb(0)] * 3
        for shift in range(-reach, reach + 1):
            mass = (1 - q) / (1 + q) * q ** abs(shift)
            quiet, late = fails(shift - many) ** calm, fails(shift - last)
            for place, share in enumerate((1 - quiet, quiet * (1 - late), quiet * late)):
                found[place] += mass * share
        return found

    return list(zip(law(-1, -1), law(moved - 1, -1 - moved), strict=True))


def quantile(mechanism: Quantiles | GroupedQuantile) -> Pair:
    """The median of 1, 2, 2 among 0, …, 3, and of the same with another 3."""
    # Δ = 1/2, so that ε/(2Δ) = ε.
    rate = exact(mechanism.rate if isinstance(mechanism, GroupedQuantile) else mechanism.epsilon)

    def law(values: tuple[int, ...]) -> list[arb]:
        half = Fraction(len(values), 2)
        ranks = [(sum(v < x for v in values), sum(v <= x for v in values)) for x in range(4)]
        costs = [max(below - half, half - up_to) for below, up_to in ranks]
        weights = [(-ball(rate * cost)).exp() for cost in costs]
        return [weight / sum(weights, arb(0)) for weight in weights]

    return list(zip(law((1, 2, 2)), law((1, 2, 2, 3)), strict=True))


def responded(mechanism: Response) -> Pair:
    """The truth is 0, or 1."""
    rare = (-ball(mechanism.epsilon)).exp()
    whole = 1 + (mechanism.answers - 1) * rare
    return [(1 / whole, rare / whole), (rare / whole, 1 / whole)] + [(rare / whole,) * 2] * (mechanism.answers - 2)


def unary(mechanism: UnaryResponse) -> Pair:
    """The bits of the two answers, of which one is true: 00, 01, 10, 11; the others are alike."""
    if mechanism.symmetric:
        likely = 1 / (1 + (-ball(exact(mechanism.epsilon) / 2)).exp())
        p, q = likely, 1 - likely
    else:
        p, q = arb(1) / 2, 1 / (1 + ball(mechanism.epsilon).exp())
    return [((1 - p) * (1 - q),) * 2, ((1 - p) * q, p * (1 - q)), (p * (1 - q), (1 - p) * q), (p * q,) * 2]


def tree(mechanism: Tree) -> Pair:
    """The first increment moves by Δ: one node on each level."""
    assert isinstance(mechanism.noise, Laplace)
    one = coarse(laplace(mechanism.noise))
    return reduce(both, [one] * mechanism.levels, [(arb(1), arb(1))])


def shuffled(mechanism: Shuffled) -> Pair:
    """How many say 1, if all others have 0, and the one who is replaced has 0, or 1."""
    assert isinstance(mechanism.mechanism, Response)
    (p, q), (r, s), *_ = responded(mechanism.mechanism)
    others = [arb(1)]  # how many of them say 1
    for _ in range(mechanism.people - 1):
        others = [p * stay + r * more for stay, more in zip([*others, arb(0)], [arb(0), *others], strict=True)]
    pairs = zip([*others, arb(0)], [arb(0), *others], strict=True)
    return [(p * stay + r * more, q * stay + s * more) for stay, more in pairs]


# Laws of continuous noise that is rounded, and of what else follows the data


def rounded(tail: Callable[[arb], arb], *, centre: int, scale: Fraction, reach: int, width: int = 1) -> list[arb]:
    """The masses of ⌊centre + scale·Z + ½⌋ with P(Z > z) = tail(z): all below, cells of so many integers, all above."""

    def above(z: arb) -> arb:
        return tail(z) if z > 0 else 1 - tail(-z)

    edges = [above(ball((Fraction(2 * y - 1, 2) - centre) / scale)) for y in range(-reach, reach + 2, width)]
    return [1 - edges[0], *(one - other for one, other in pairwise(edges)), edges[-1]]


def exponential_tail(z: arb) -> arb:
    return (-z).exp() / 2


def rounded_bell(mechanism: RoundedGaussian | PrefixGaussian, *, reach: int = 20) -> Pair:
    """One number that moves by Δ; all beyond the window is one outcome on each side."""
    scale, moved = exact(mechanism.sigma), int(mechanism.sensitivity)
    tail = lambda z: (z / arb(2).sqrt()).erfc() / 2  # noqa: E731
    laws = [rounded(tail, centre=c, scale=scale, reach=moved + reach) for c in (0, moved)]
    return list(zip(*laws, strict=True))


def contrast(mechanism: ResidualGaussian, *, reach: int = 20) -> Pair:
    """The difference of two cells, rounded: noise of variance 2σ², and all rows of a unit are in the first cell."""
    (base,) = mechanism.bases
    moved, scale = int(mechanism.sensitivity), square_root_upward(2 * exact(base.sigma) ** 2)
    tail = lambda z: (z / arb(2).sqrt()).erfc() / 2  # noqa: E731
    laws = [rounded(tail, centre=c, scale=scale, reach=moved + reach) for c in (0, moved)]
    return list(zip(*laws, strict=True))


def spherical(mechanism: Spherical) -> Pair:
    """One number: the law of Laplace."""
    scale, moved = exact(mechanism.scale), int(mechanism.sensitivity)
    laws = [rounded(exponential_tail, centre=c, scale=scale, reach=moved + 20) for c in (0, moved)]
    return list(zip(*laws, strict=True))


def smoothed(mechanism: SmoothNoise) -> Pair:
    """The medians of 0, 0, 6, 6, 6 and of 0, 0, 0, 6, 6: as far apart as the bounds."""
    freedom = mechanism.freedom

    def student(z: arb) -> arb:
        return (freedom / (freedom + z * z)).beta_lower(arb(freedom) / 2, arb(0.5), regularized=True) / 2

    tail = student if mechanism.noise is NoiseKind.STUDENT else exponential_tail
    laws = []
    for sample in ((0, 0, 0, 6, 6), (0, 0, 6, 6, 6)):
        scale = exact(mechanism.sensitivity.scale(sample, mechanism.dilation)) / exact(mechanism.shift)
        laws.append(rounded(tail, centre=mechanism.sensitivity.centre(sample), scale=scale, reach=30))
    return list(zip(*laws, strict=True))


LINE = [i / 100 for i in range(200)]
"""A sample, and with another last person a neighbour of it."""


def newcomer(mechanism: RandomNoise) -> Pair:
    """Means of a typical sample and a neighbour of it: for these the promise inside holds."""
    rule, laws = mechanism.sensitivity, []
    for sample in (LINE, [*LINE[:-1], 1.0]):
        rows = rule.sample(sample)
        scale = exact(rule.scale(rows, dilation=mechanism.dilation, miss=Fraction(0), chosen=None)) / exact(
            mechanism.shift or 0
        )
        wide = math.ceil(scale / 4)
        centre = rule.subject.centre(rows) - rule.subject.centre(rule.sample(LINE))
        laws.append(rounded(exponential_tail, centre=centre, scale=scale, reach=40 * wide, width=wide))
    return list(zip(*laws, strict=True))


def moved_newcomer(mechanism: SampledNoise) -> Pair:
    """As far as the rule says, in granules."""
    noise, grain = mechanism.noise, mechanism.sensitivity.subject.granularity
    moved = int(exact(noise.sensitivity) / grain)
    return coarse(laplace(Laplace(exact(noise.scale) / grain, moved)))


def sparse_counts(mechanism: SparseHistogram) -> Pair:
    """One person goes from a cell with others to another cell with others: two counts move."""
    one = coarse(laplace(Laplace(mechanism.noise.scale, 1)))
    return both(one, one)


def refined(mechanism: RefinedSparseVector) -> Pair:
    """One value just below the threshold, which one unit raises by Δ: nothing, or its number with fresh noise."""
    first, second = mechanism.search.scales
    moved = int(mechanism.search.sensitivity)
    q, s = (-ball(1 / first)).exp(), (-ball(1 / second)).exp()

    def passed(value: int) -> arb:
        """P(value + ν ≥ ρ)."""
        reach = math.ceil(150 * first)
        masses = ((shift, (1 - q) / (1 + q) * q ** abs(shift)) for shift in range(-reach, reach + 1))
        return sum(
            (m * (s**n / (1 + s) if (n := t - value) > 0 else 1 - s ** (1 - n) / (1 + s)) for t, m in masses), arb(0)
        )

    yes = (passed(-1), passed(moved - 1))
    numbers = laplace(Laplace(mechanism.scale, moved))
    return [(1 - yes[0], 1 - yes[1]), *((yes[0] * p, yes[1] * r) for p, r in numbers)]


def refined_signs(mechanism: RefinedSparseVector) -> Pair:
    """The same, of the numbers only whether they are above −1."""
    silent, *numbers = refined(mechanism)
    middle = (len(numbers) - int(mechanism.search.sensitivity)) // 2 + 1
    low, high = (
        (sum((p for p, _ in part), arb(0)), sum((q for _, q in part), arb(0)))
        for part in (numbers[:middle], numbers[middle:])
    )
    return [silent, low, high]


def proposed(mechanism: ProposeTestRelease) -> Pair:
    """Medians of 0, 0, H and of 0, H, H: both are refused alike, or tell everything."""
    high = mechanism.sensitivity.centre([10**9] * 3)
    assert [mechanism.sensitivity.distance(sample) for sample in ((0, 0, high), (0, high, high))] == [0, 0]
    q = (-ball(1 / exact(mechanism.scale))).exp()
    passed = q ** (mechanism.threshold + 1) / (1 + q)
    answers = coarse(laplace(Laplace(mechanism.noise.scale, high)))
    return [(1 - passed, 1 - passed), *((passed * p, passed * r) for p, r in answers)]


def proposed_halves(mechanism: ProposeTestRelease) -> Pair:
    """Refused; nearer to 0; nearer to H, or in the middle."""
    high = mechanism.sensitivity.centre([10**9] * 3)
    refused = proposed(mechanism)[0]
    q = (-ball(1 / exact(mechanism.noise.scale))).exp()
    far = q ** (high // 2 + 1) / (1 + q)  # P(Y > H/2)
    passed = 1 - refused[0]
    return [refused, (passed * (1 - far), passed * far), (passed * far, passed * (1 - far))]


def distributed(mechanism: DistributedNoise) -> Pair:
    """What is left for everybody but the honest parties, who are as few as they may be: Laplace noise, written out as
    the sum of their shares in tests/loss/forms/test_shares.py."""
    return laplace(Laplace(mechanism.size, mechanism.sensitivity))


def distributed_sides(mechanism: DistributedNoise) -> Pair:
    """A total of at most −1, of 0, of 1, and of more, where all parties deliver and none of them colludes."""
    assert mechanism.honest == mechanism.parties
    q = (-ball(1 / exact(mechanism.size))).exp()

    def law(centre: int) -> list[arb]:
        middle = [(1 - q) / (1 + q) * q ** abs(y - centre) for y in (0, 1)]
        below = q ** (centre + 1) / (1 + q)
        return [below, *middle, 1 - below - sum(middle, arb(0))]

    return list(zip(law(0), law(1), strict=True))


def poisson(mechanism: Subsampled) -> Pair:
    """Laplace noise on a sample in which somebody is with probability q."""
    assert isinstance(mechanism.mechanism, Laplace)
    q = ball(mechanism.rate)
    return [((1 - q) * without + q * there, without) for there, without in laplace(mechanism.mechanism)]


def composed(mechanism: Composed) -> Pair:
    return reduce(both, [coarse(laplace(part)) for part in mechanism.parts], [(arb(1), arb(1))])  # type: ignore[arg-type]


def shared(mechanism: SharedNoise) -> Pair:
    """Two tables of equal size share the price; one person moves one count of each by Δ₁."""
    return composed(Composed(tuple(mechanism.noises([1, 1]))))


def repeated(mechanism: Repeated) -> Pair:
    return composed(Composed((mechanism.mechanism,) * mechanism.times))


def secret_values(mechanism: Wasserstein) -> Pair:
    """The answers given one secret, and given the other; values are 0, 1, 2, …"""
    ((_, _, one, other),) = mechanism.secrets.compared
    scale = exact(mechanism.noise.scale)
    reach = math.ceil(150 * scale) + 6
    weights = {y: (-ball(abs(y) / scale)).exp() for y in range(-reach - 6, reach + 7)}
    whole = sum(weights.values(), arb(0))
    given = [
        [sum((ball(p) * weights[y - int(v)] for v, p in law), arb(0)) / whole for law in (one, other)]
        for y in range(-reach, reach + 1)
    ]
    return [(p, q) for p, q in given]


def copied(mechanism: MarkovQuilt) -> Pair:
    """A chain that never moves: the first state is 0, or 1, and so are all."""
    return laplace(Laplace(mechanism.noise.scale, mechanism.length))


def both(first: Pair, second: Pair) -> Pair:
    return coarse([(p * s, q * t) for (p, q), (s, t) in product(first, second)])


@dataclass(frozen=True)
class Case:
    """A mechanism: examples, its worst pair (or a bad one), which parameters of its promise that pair uses up, what
    its `loss` knows of it, how to fit it, and how to draw from an example: an outcome of the pair, or of another one
    that is quicker to draw from."""

    any: st.SearchStrategy[Any]
    worst: Callable[[Any], Pair]
    attained: tuple[str, ...] = ()
    loss: Knows = Knows.NOTHING
    fitting: Callable[[Any, int], Any] | None = None
    prices: st.SearchStrategy[Any] | None = None
    example: Any = None
    draw: Callable[[Any, TestCoins], int] | None = None
    drawn: Callable[[Any], Pair] | None = None


def nearest_whole(mechanism: ResidualGaussian, released: list[Any]) -> int:
    """The only residual, from its grid to the nearest integer."""
    return math.floor(Fraction(int(released[0][0]), 2 ** mechanism.bases[0].places) + Fraction(1, 2))


LITTLE = smooth(median, bounds=(0, 6), granularity=1)
NEWCOMER = random(mean, size=200, gamma=0.2, granularity=0.01)
DRAWN = np.random.default_rng(5)
POPULATION = sampled(mean, population=lambda n: DRAWN.integers(0, 4, n) * 1.0, size=50, gamma=0.05, granularity=1)


def far_apart(high: int) -> Proposed:
    return propose_test_release(median, proposal=1, bounds=(0, high), granularity=1)


scales, shifts, sizes = st.fractions(Fraction(1, 2), 3), st.integers(1, 3), st.floats(1e-9, 1e6)
prices, yes_or_no = st.fractions(Fraction(1, 10), 4), st.booleans()
MECHANISMS = {
    "Laplace": Case(
        any=st.builds(Laplace, scales, shifts),
        worst=laplace,
        attained=("epsilon",),
        loss=Knows.EXACTLY,
        fitting=lambda price, moved: Laplace.fitting(price, sensitivity=moved),
        prices=st.builds(PureDP, sizes),
    ),
    "Gaussian": Case(
        any=st.builds(Gaussian, scales, shifts, single=st.just(True)),
        worst=gaussian,
        attained=("rho",),
        loss=Knows.EXACTLY,
        fitting=lambda price, moved: Gaussian.fitting(price, sensitivity=moved),
        prices=st.builds(ZeroConcentratedDP, sizes),
    ),
    "RoundedGaussian": Case(
        any=st.builds(RoundedGaussian, scales, shifts),
        worst=rounded_bell,
        loss=Knows.BOUND,
        fitting=lambda price, moved: RoundedGaussian.fitting(price, sensitivity=moved),
        prices=st.builds(GaussianDP, sizes),
        example=RoundedGaussian(2, 2),
        drawn=partial(rounded_bell, reach=0),
        draw=lambda mechanism, coins: min(6, max(0, mechanism.release(0, coins=coins) + 3)),
    ),
    "ResidualGaussian": Case(
        any=st.builds(lambda sigma, moved: ResidualGaussian((Base(((2,),), sigma),), moved), scales, shifts),
        worst=contrast,
        loss=Knows.BOUND,
        fitting=lambda price, moved: ResidualGaussian.fitting(
            price, bases=[Base((), 1), Base(((2,), (3, 4)), Fraction(5, 2))], sensitivity=moved
        ),
        prices=st.builds(GaussianDP, sizes),
        example=ResidualGaussian((Base(((2,),), Fraction(3, 2)),), 2),
        drawn=partial(contrast, reach=0),
        draw=lambda mechanism, coins: min(
            6, max(0, nearest_whole(mechanism, mechanism.release([np.zeros(1, np.int64)], coins=coins)) + 3)
        ),
    ),
    "PrefixGaussian": Case(
        any=st.builds(lambda sigma, moved: PrefixGaussian(((1, 0),), sigma, moved), scales, shifts),
        worst=rounded_bell,
        loss=Knows.BOUND,
        fitting=lambda price, moved: PrefixGaussian.fitting(price, axes=[(4, 1), (3, 0)], sensitivity=moved),
        prices=st.builds(GaussianDP, sizes),
        example=PrefixGaussian(((1, 0),), 2, 2),
        drawn=partial(rounded_bell, reach=0),
        draw=lambda mechanism, coins: min(
            6, max(0, math.floor(mechanism.cells(mechanism.release(np.zeros(1, np.int64), coins=coins))[0] + 0.5) + 3)
        ),
    ),
    "Threshold": Case(
        any=st.builds(
            lambda scale, groups, each, more: Threshold(
                Laplace(scale, groups * each), groups, each + 3 * math.ceil(scale) + more, each
            ),
            scales,
            shifts,
            shifts,
            st.integers(3, 20),
        ),
        worst=threshold,
        loss=Knows.BOUND,
        attained=("delta",),
        fitting=lambda price, moved: Threshold.fitting(price, sensitivity=moved, groups=min(moved, 50)),
        prices=st.builds(ApproximateDP, st.floats(1e-9, 100), st.floats(1e-30, 0.9)),
        example=Threshold(Laplace(4, 4), 2, 8, 2),
        draw=lambda mechanism, coins: int(mechanism.release([2, 2], coins=coins) != [None, None]),
    ),
    "GaussianThreshold": Case(
        any=st.builds(
            lambda sigma, groups, each, more: GaussianThreshold(
                RoundedGaussian(sigma, square_root_upward(Fraction(groups * each**2))),
                groups,
                each + math.ceil(more * sigma),
                each,
            ),
            scales,
            shifts,
            shifts,
            st.integers(1, 7),
        ),
        worst=gaussian_threshold,
        loss=Knows.BOUND,
        attained=("delta",),
        fitting=lambda price, moved: GaussianThreshold.fitting(price, sensitivity=moved, groups=min(moved, 50)),
        prices=st.builds(ApproximateZeroConcentratedDP, st.floats(1e-9, 100), st.floats(1e-30, 0.9)),
        example=GaussianThreshold(RoundedGaussian(4, 4), 2, 8, 2),
        draw=lambda mechanism, coins: int(mechanism.release([2, 2], coins=coins) != [None, None]),
    ),
    "PartitionSelection": Case(
        any=st.builds(PartitionSelection, prices, st.fractions(Fraction(1, 10**9), Fraction(1, 2)), shifts),
        worst=partition,
        attained=("delta",),
        loss=Knows.BOUND,
        example=PartitionSelection(1, Fraction(1, 5), 2),
        draw=lambda mechanism, coins: int(any(mechanism.release([1, 1], coins=coins))),
    ),
    "Exponential": Case(
        any=st.builds(Exponential, prices, shifts, yes_or_no),
        worst=exponential,
        attained=("epsilon",),
        loss=Knows.BOUND,
    ),
    "PermuteAndFlip": Case(
        any=st.builds(PermuteAndFlip, prices, shifts, yes_or_no),
        worst=overtaking,
        loss=Knows.BOUND,
        attained=("epsilon",),
        example=PermuteAndFlip(1),
        draw=lambda mechanism, coins: mechanism.release([0, 1], coins=coins),
    ),
    "NoisyMax": Case(
        any=st.builds(NoisyMax, prices, shifts, yes_or_no),
        worst=overtaking,
        loss=Knows.BOUND,
        attained=("epsilon",),
        example=NoisyMax(1),
        draw=lambda mechanism, coins: mechanism.release([0, 1], coins=coins),
    ),
    "SparseVector": Case(
        any=st.builds(SparseVector, st.sampled_from([1, 2, 4]), st.integers(1, 2), st.just(1)),
        worst=sparse,
        loss=Knows.BOUND,
        example=SparseVector(4),
        drawn=partial(sparse, calm=2),
        draw=lambda mechanism, coins: {(True,): 0, (False, True): 0, (False, False, True): 1}.get(
            tuple(mechanism.release([-1, -1, -1], threshold=0, coins=coins)), 2
        ),
    ),
    "Quantiles": Case(
        any=st.builds(Quantiles, prices, st.just((Fraction(1, 2),)), st.just(0), st.just(3)),
        worst=quantile,
        loss=Knows.BOUND,
        example=Quantiles(Fraction(3, 2), (Fraction(1, 2),), 0, 3),
        draw=lambda mechanism, coins: mechanism.release([1, 2, 2], coins=coins)[0],
    ),
    "GroupedQuantile": Case(
        any=st.builds(GroupedQuantile, prices, st.just(Fraction(1, 2)), st.just(0), st.just(3)),
        worst=quantile,
        loss=Knows.BOUND,
        example=GroupedQuantile(Fraction(3, 2), Fraction(1, 2), 0, 3),
        draw=lambda mechanism, coins: mechanism.release([{1: 1, 2: 2}], coins=coins)[0],
    ),
    "Response": Case(
        any=st.builds(Response, prices, st.integers(2, 6)),
        worst=responded,
        attained=("epsilon",),
        loss=Knows.EXACTLY,
        example=Response(1, 4),
        draw=lambda mechanism, coins: mechanism.release(0, coins=coins),
    ),
    "UnaryResponse": Case(
        any=st.builds(UnaryResponse, prices, st.integers(2, 6), yes_or_no),
        worst=unary,
        attained=("epsilon",),
        loss=Knows.EXACTLY,
    ),
    "Tree": Case(
        any=st.builds(Tree, st.builds(Laplace, scales, shifts), st.integers(1, 7)),
        worst=tree,
        attained=("epsilon",),
        loss=Knows.EXACTLY,
        fitting=lambda price, moved: Tree.fitting(price, steps=100, sensitivity=moved),
        prices=st.builds(PureDP, sizes),
    ),
    "Shuffled": Case(
        any=st.builds(Shuffled, st.builds(Response, prices), st.integers(1, 5)),
        worst=shuffled,
        attained=("epsilon",),
        loss=Knows.BOUND,
        example=Shuffled(Response(1), 3),
        draw=lambda mechanism, coins: sum(mechanism.release([0, 0, 0], coins=coins)),
    ),
    "DistributedNoise": Case(
        any=st.builds(
            lambda scale, moved, honest, gone, curious: DistributedNoise(
                Shares.LAPLACE, scale, honest + gone + curious, gone, curious, moved
            ),
            scales,
            shifts,
            st.integers(1, 4),
            st.integers(0, 2),
            st.integers(0, 2),
        ),
        worst=distributed,
        attained=("epsilon",),
        loss=Knows.EXACTLY,
        fitting=lambda price, moved: DistributedNoise.fitting(
            price, parties=5, dropouts=1, colluders=1, sensitivity=moved
        ),
        prices=st.builds(PureDP, sizes),
        example=DistributedNoise(Shares.LAPLACE, 1, 3),
        drawn=distributed_sides,
        draw=lambda mechanism, coins: min(3, max(0, mechanism.release([0, 0, 0], coins=coins) + 1)),
    ),
    "Spherical": Case(
        any=st.builds(Spherical, scales, shifts),
        worst=spherical,
        loss=Knows.BOUND,
        attained=("epsilon",),
        fitting=lambda price, moved: Spherical.fitting(price, sensitivity=moved),
        prices=st.builds(PureDP, sizes),
        example=Spherical(2, 1),
    ),
    "SmoothNoise": Case(
        any=st.builds(
            lambda price: SmoothNoise.fitting(price, sensitivity=LITTLE),
            st.builds(PureDP, st.floats(0.5, 4))
            | st.builds(ApproximateDP, st.floats(0.5, 4), st.sampled_from([1e-6, 1e-3, 0.1])),
        ),
        worst=smoothed,
        loss=Knows.BOUND,
        example=SmoothNoise.fitting(PureDP(1.0), sensitivity=LITTLE),
    ),
    "SampleAndAggregate": Case(
        any=st.builds(
            lambda price: SampleAndAggregate(max, 5, SmoothNoise.fitting(price, sensitivity=LITTLE), 0),
            st.builds(PureDP, st.floats(0.5, 4))
            | st.builds(ApproximateDP, st.floats(0.5, 4), st.sampled_from([1e-6, 0.1])),
        ),
        worst=lambda mechanism: smoothed(mechanism.aggregate),  # five people in five blocks
        loss=Knows.BOUND,
        example=SampleAndAggregate(max, 5, SmoothNoise.fitting(PureDP(1.0), sensitivity=LITTLE), 0),
    ),
    "ProposeTestRelease": Case(
        any=st.builds(
            lambda epsilon, delta: ProposeTestRelease.fitting(
                ApproximateDP(epsilon, delta), sensitivity=far_apart(400)
            ),
            st.floats(0.5, 4),
            st.sampled_from([1e-9, 1e-3, 0.2]),
        ),
        worst=proposed,
        loss=Knows.BOUND,
        attained=("delta",),
        example=ProposeTestRelease.fitting(ApproximateDP(1.0, 0.2), sensitivity=far_apart(9)),
        drawn=proposed_halves,
        draw=lambda mechanism, coins: (
            0 if (said := mechanism.release([0, 0, 9], coins=coins)) is None else 1 if said <= 4 else 2
        ),
    ),
    "RandomNoise": Case(
        any=st.builds(
            lambda price: RandomNoise.fitting(price, sensitivity=NEWCOMER),
            st.builds(ApproximateDP, st.floats(0.5, 4), st.sampled_from([1e-6, 1e-3])),
        ),
        worst=newcomer,
        example=RandomNoise.fitting(ApproximateDP(1.0, 1e-6), sensitivity=NEWCOMER),
    ),
    "SampledNoise": Case(
        any=st.builds(
            lambda price: SampledNoise.fitting(price, sensitivity=POPULATION), st.builds(PureDP, st.floats(0.1, 4))
        ),
        worst=moved_newcomer,
        attained=("epsilon",),
        example=SampledNoise.fitting(PureDP(0.5), sensitivity=POPULATION),
    ),
    "SparseHistogram": Case(
        any=st.builds(
            lambda cells, people, scale: SparseHistogram(cells, people, Laplace(scale, 2)),
            st.integers(2, 30),
            st.integers(50, 500),  # with few people γ is 1, which promises nothing
            scales,
        ),
        worst=sparse_counts,
        attained=("epsilon",),
        example=SparseHistogram(3, 9, Laplace(2, 2)),
    ),
    "RefinedSparseVector": Case(
        any=st.builds(
            lambda epsilon, moved, scale: RefinedSparseVector(SparseVector(epsilon, moved), scale),
            st.sampled_from([1, 2, 4]),
            st.integers(1, 2),
            scales,
        ),
        worst=refined,
        loss=Knows.BOUND,
        example=RefinedSparseVector(SparseVector(4), 1),
        drawn=refined_signs,
        draw=lambda mechanism, coins: (
            0 if (said := mechanism.release([-1], threshold=0, coins=coins)[0]) is None else 1 if said <= -1 else 2
        ),
    ),
    "Subsampled": Case(
        any=st.builds(Subsampled, st.builds(Laplace, scales, shifts), st.fractions(Fraction(1, 100), 1)),
        worst=poisson,
        attained=("epsilon",),
        loss=Knows.EXACTLY,
    ),
    "Wasserstein": Case(
        any=st.builds(
            lambda epsilon, law, moved: Wasserstein(
                SecretLaws({"prior": {"a": {0: law, 1: 1 - law}, "b": {moved: law, moved + 1: 1 - law}}}), epsilon
            ),
            prices,
            st.fractions(0, 1),
            shifts,
        ),
        worst=secret_values,
        attained=("epsilon",),
        example=Wasserstein(SecretLaws({"prior": {"a": {0: 1}, "b": {2: 1}}}), 1),
    ),
    "MarkovQuilt": Case(
        any=st.builds(
            lambda epsilon, length: MarkovQuilt([Chain([0.5, 0.5], [[1, 0], [0, 1]])], length, epsilon, Visits(1)),
            prices,
            shifts,
        ),
        worst=copied,
        attained=("epsilon",),
        example=MarkovQuilt([Chain([0.5, 0.5], [[1, 0], [0, 1]])], 2, 1, Visits(1)),
    ),
    "Composed": Case(
        any=st.builds(
            lambda *parts: Composed(parts), st.builds(Laplace, scales, shifts), st.builds(Laplace, scales, shifts)
        ),
        worst=composed,
        attained=("epsilon",),
        loss=Knows.EXACTLY,
    ),
    "SharedNoise": Case(
        any=st.builds(
            lambda epsilon, moved: SharedNoise(PureDP(epsilon), Distance(l1=moved, l2_squared=moved**2, largest=moved)),
            st.sampled_from([0.5, 1.0, 3.0]),
            shifts,
        ),
        worst=shared,
        attained=("epsilon",),
        loss=Knows.BOUND,
    ),
    "Repeated": Case(
        any=st.builds(Repeated, st.builds(Laplace, scales, shifts), st.integers(1, 3)),
        worst=repeated,
        attained=("epsilon",),
        loss=Knows.EXACTLY,
    ),
}


def test_no_mechanism_is_missing() -> None:
    """Whatever can release something, promises something and errs is a mechanism; in its own folder, even without."""
    found = walk.having(("release", "promise", "error")) | walk.having(("release", "promise"), sitr.mechanisms)
    assert {kind.__name__ for kind in found} == set(MECHANISMS)
    assert set(MECHANISMS) <= set(sitr.mechanisms.__all__)


def those(having: Callable[[Case], object]) -> pytest.MarkDecorator:
    cases = {name: case for name, case in MECHANISMS.items() if having(case)}
    return pytest.mark.parametrize("case", cases.values(), ids=cases)


every_mechanism = those(lambda _: True)
drawn = st.data()


@every_mechanism
@settings(max_examples=30)
@given(drawn)
def test_the_loss_keeps_the_promise_and_no_smaller_one(case, keeps, data):
    """Two-sided, so that a dropped factor fails; the other ways for neighbours to differ are in tests/mechanisms."""
    mechanism = data.draw(case.any)
    promise = mechanism.promise()
    assert keeps(partial(case.worst, mechanism), promise)
    for name in case.attained:
        assert not keeps(partial(case.worst, mechanism), shrunk(promise, name))


def shrunk(promise: Any, name: str) -> Any:
    """A little less of one parameter, inside of a random promise, too."""
    if isinstance(promise, RandomDP):
        return replace(promise, inner=shrunk(promise.inner, name))
    return replace(promise, **{name: getattr(promise, name) * (1 - 1e-6)})


@pytest.mark.filterwarnings("ignore::sitr.errors.WiderThanAsked")  # at an ε just below the largest loss
@those(lambda case: case.loss is not Knows.NOTHING)
@settings(max_examples=10)
@given(drawn)
def test_the_loss_is_that_of_the_pair_or_bounds_it(case, data):
    mechanism = data.draw(case.any)
    loss = mechanism.loss()
    with ctx.workprec(300):
        pair = case.worst(mechanism)
        for epsilon in (0.0, 0.1, 0.4, 1.0, 2.5):
            found = loss.delta(epsilon=epsilon)
            ways = (pair, [(q, p) for p, q in pair])
            sticks = [sum(((p - ball(epsilon).exp() * q).nonnegative_part() for p, q in way), arb(0)) for way in ways]
            truth = max(sticks, key=float)
            assert not truth > ball(found.upper) + ball(2) ** -200
            assert case.loss is Knows.BOUND or not truth < ball(found.lower) - ball(2) ** -200


@every_mechanism
@settings(max_examples=10)
@given(drawn)
def test_only_promises_whose_losses_do_not_add_have_none_and_a_bound_says_so(case, data):
    mechanism = data.draw(case.any)
    loss = mechanism.loss()
    assert (loss is None) == (case.loss is Knows.NOTHING) == isinstance(mechanism.promise(), RandomDP | Pufferfish)
    assert loss is None or loss.bound == (case.loss is Knows.BOUND) == ("bound=True" in repr(loss))
    for whole in (Composed((mechanism, Response(1))), Repeated(mechanism, 3)):
        total = whole.loss()
        assert (total is None) == (loss is None)
        assert total is None or total.bound == loss.bound


@those(lambda case: case.loss is not Knows.NOTHING)
@settings(max_examples=10)
@given(drawn)
def test_the_loss_implies_the_promise(case, data):
    mechanism = data.draw(case.any)
    loss, promise = mechanism.loss(), mechanism.promise()
    match promise:
        case PureDP(epsilon):
            assert loss.max() <= epsilon * (1 + 1e-12)
        case ApproximateDP(epsilon, delta):
            assert loss.delta(epsilon=epsilon * (1 + 1e-11)).upper <= delta * (1 + 1e-9)
        case ZeroConcentratedDP(rho):
            assert all(loss.renyi(order=order).upper <= rho * order * (1 + 1e-3) for order in (1.5, 4.0, 32.0))
        case GaussianDP():
            kept = promise.to_approximate(delta=1e-6)
            assert loss.epsilon(delta=1e-6).upper <= kept.epsilon * (1 + 1e-9)
        case ApproximateZeroConcentratedDP(rho, delta):
            assert loss.infinite_mass() <= delta * (1 + 1e-12)
            finite = finite_part(loss)
            assert finite is not None
            assert finite.rho().upper <= rho * (1 + 1e-2)
        case other:
            raise AssertionError(other)


@those(lambda case: case.loss is Knows.BOUND and "epsilon" in case.attained)
@settings(max_examples=10)
@given(drawn)
def test_a_slightly_smaller_response_would_not_bound_the_pair(case, data):
    mechanism = data.draw(case.any)
    epsilon = mechanism.promise().epsilon
    broken = bounding(PureDP(epsilon * 0.99))
    with ctx.workprec(300):
        truth = sum(
            ((p - ball(epsilon * 0.995).exp() * q).nonnegative_part() for p, q in case.worst(mechanism)), arb(0)
        )
        assert truth > ball(broken.delta(epsilon=epsilon * 0.995).upper)


@those(lambda case: case.draw)
def test_draws_follow_the_first_law_and_not_the_second(case):
    """By chi-square, with 2,000 draws; a correct sampler fails with a probability of 1e-7."""
    coins, runs = TestCoins(17), 2000
    counts = Counter(case.draw(case.example, coins) for _ in range(runs))
    with ctx.workprec(300):
        pair = (case.drawn or case.worst)(case.example)
        laws = [[float(masses[side]) for masses in pair] for side in (0, 1)]
    seen = [counts[outcome] for outcome in range(len(laws[0]))]
    assert sum(seen) == runs
    values = [misfit(seen, law) for law in laws]
    assert values[0] > 1e-7
    assert values[1] < 1e-7


def misfit(seen: list[int], law: list[float]) -> float:
    """The p-value of these counts; what cannot be and was seen is none."""
    if any(count and not p for count, p in zip(seen, law, strict=True)):
        return 0.0
    cells = [(count, p * sum(seen)) for count, p in zip(seen, law, strict=True) if p]
    assert min(expected for _, expected in cells) > 5
    return float(chi2.sf(sum((count - expected) ** 2 / expected for count, expected in cells), len(cells) - 1))


@pytest.mark.sampled(14)
@every_mechanism
@settings(max_examples=30)
@given(drawn)
def test_what_the_promise_covers_is_kept(case, keeps, data):
    mechanism = data.draw(case.any)
    promise = mechanism.promise()
    weaker = [PureDP(1.0), ApproximateDP(1.0, 1e-3), ApproximateDP(0.0, 0.7), ZeroConcentratedDP(0.5)]
    for other in weaker:
        if promise.covers(other):
            assert keeps(partial(case.worst, mechanism), other)


@pytest.mark.sampled(14)
@every_mechanism
@settings(max_examples=30)
@given(drawn, st.integers(1, 30))
def test_repetition_is_the_sum(case, data, times):
    mechanism = data.draw(case.any)
    promise = mechanism.promise()
    if isinstance(mechanism, Wasserstein) and times > 1:
        for several in (Repeated(mechanism, times), Composed((mechanism,) * times)):
            with pytest.raises(IncompatiblePromises, match="a single Pufferfish promise"):
                several.promise()
        return
    together = Repeated(mechanism, times).promise()
    assert together == Composed((mechanism,) * times).promise()
    assert promise * times == type(promise).compose([promise] * times)
    if isinstance(mechanism, Composed | Repeated):  # taken apart, so that sums are rounded up at other places
        assert isinstance(together, PureDP)
        assert together.epsilon == pytest.approx(promise.epsilon * times, rel=1e-14)
    else:
        assert together == promise * times


@pytest.mark.parametrize("name", ["Laplace", "Threshold"])
@given(drawn)
def test_two_releases_keep_the_sum(name, keeps, data):
    """The Gaussian's windows are too wide to multiply; its moments add by independence."""
    case = MECHANISMS[name]
    first, second = (data.draw(st.builds(Laplace, st.just(Fraction(1, 2)), shifts)), data.draw(case.any))
    law = lambda: [(p * s, q * t) for (p, q), (s, t) in product(coarse(laplace(first)), coarse(case.worst(second)))]  # noqa: E731
    assert keeps(law, Composed((first, second)).promise())


def coarse(pair: Pair) -> Pair:
    """Outcomes of one likelihood ratio are one outcome."""
    classes: dict[object, tuple[arb, arb]] = {}
    for p, q in pair:
        ratio = None if q == 0 else round(float((p / q).log()), 9)
        before = classes.get(ratio, (arb(0), arb(0)))
        classes[ratio] = (before[0] + p, before[1] + q)
    return list(classes.values())


@those(lambda case: case.fitting)
@given(drawn, st.sampled_from([1, 2, 7, 10**6, 10**15]))
def test_what_is_fitted_stays_within_the_price_and_uses_it(case, data, moved):
    price = data.draw(case.prices)
    paid = case.fitting(price, moved).promise()
    assert type(paid) is type(price)
    assert paid.covers(price)
    for field in fields(price):
        asked, got = getattr(price, field.name), getattr(paid, field.name)
        assert got <= asked
        if field.name != "delta":  # a threshold is a whole number: it need not meet δ
            assert got >= asked * (1 - 1e-12)


@every_mechanism
@settings(max_examples=10)
@given(drawn)
def test_mechanisms_are_values(case, data):
    mechanism = data.draw(case.any)
    assert mechanism == replace(mechanism)
    assert hash(mechanism) == hash(replace(mechanism))
    with pytest.raises(AttributeError):
        setattr(mechanism, fields(mechanism)[0].name, 1)


@pytest.mark.parametrize("name", ["Laplace", "Gaussian", "RoundedGaussian", "Threshold", "GaussianThreshold"])
@given(drawn, st.lists(st.integers(-(10**30), 10**30), max_size=5))
def test_every_value_gets_an_answer_of_its_own(name, data, values):
    mechanism = data.draw(MECHANISMS[name].any)
    if name == "Gaussian":
        mechanism = replace(mechanism, single=False)
    answers = mechanism.release(values, coins=TestCoins(7))
    assert len(answers) == len(values)
    # Noise of scale 3 beyond 1000 has a probability below 1e-100.
    assert all(answer is None or abs(answer - value) < 1000 for answer, value in zip(answers, values, strict=True))
    assert answers == mechanism.release(values, coins=TestCoins(7))
