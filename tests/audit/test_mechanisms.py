"""Every mechanism of Sitr is audited, with a small budget: none may be accused, and each twin with a smaller claim is.

A mechanism is one line in `AUDITED`; the walk of the law suites finds those that are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sitr.mechanisms
from sitr.audit.empirical.audit import audit
from sitr.audit.empirical.boxes import Function
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.distributed import DistributedNoise, Shares
from sitr.mechanisms.exponential import Exponential
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.markov_quilt import MarkovQuilt
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
from sitr.mechanisms.smooth import SmoothNoise
from sitr.mechanisms.sparse_histogram import SparseHistogram
from sitr.mechanisms.sparse_vector import RefinedSparseVector, SparseVector
from sitr.mechanisms.spherical import Spherical
from sitr.mechanisms.subsampled import Subsampled
from sitr.mechanisms.threshold import Threshold
from sitr.mechanisms.tree import Tree
from sitr.mechanisms.wasserstein import Wasserstein
from sitr.neighbors.distance import Distance
from sitr.noise.coins import Coins, TestCoins
from sitr.sensitivity import mean, median, propose_test_release, random, sampled, smooth
from sitr.sensitivity.chain import Chain
from sitr.sensitivity.secrets import SecretLaws
from sitr.sensitivity.series import Visits
from tests.laws import walk
from tests.laws.test_mechanisms import MECHANISMS

Answer = Callable[..., Any]


@dataclass(frozen=True)
class Audited:
    """A mechanism, two neighbouring inputs, how it answers, and by which factor less a claim must be to be refuted."""

    mechanism: Any
    inputs: tuple[Any, Any]
    answer: Answer
    draws: int = 40_000
    share: float = 0.5
    """A claim of this share of its parameters is refuted; 0 if this pair is far from the worst one."""


def many(mechanism: Any) -> Answer:
    """Additive noise is drawn for all answers at once."""
    return lambda data, size, coins: mechanism.release(np.full(size, data), coins=coins)


def one(mechanism: Any, read: Callable[[Any], Any] = lambda said: said) -> Answer:
    """One answer after another."""
    return lambda data, coins: read(mechanism.release(data, coins=coins))


def shown(said: Any) -> int:
    return sum(each not in (None, False) for each in said)


def case(mechanism: Any, inputs: tuple[Any, Any], make: Callable[[Any], Answer] = one, **more: Any) -> Audited:
    return Audited(mechanism, inputs, make(mechanism), **more)


def counted(mechanism: Any) -> Answer:
    return one(mechanism, shown)


def residual(mechanism: Any) -> Answer:
    """The only residual, in steps of its grid."""
    return one(mechanism, lambda said: int(said[0][0]))


def prefix(mechanism: Any) -> Answer:
    """The only prefix sum, in steps of its grid."""
    return one(mechanism, lambda said: int(said[0]))


def above(threshold: int) -> Callable[[Any], Answer]:
    return lambda mechanism: lambda data, coins: tuple(mechanism.release(data, threshold=threshold, coins=coins))


def parts(mechanism: Any) -> Answer:
    """The same value to each part."""
    return lambda data, coins: tuple(mechanism.release((data,) * len(mechanism.parts), coins=coins))


LITTLE = smooth(median, bounds=(0, 6), granularity=1)
NEWCOMER = random(mean, size=200, gamma=0.2, granularity=0.01)
DRAWN = np.random.default_rng(5)
POPULATION = sampled(mean, population=lambda n: DRAWN.integers(0, 4, n) * 1.0, size=50, gamma=0.05, granularity=1)
LINE = [i / 100 for i in range(200)]
FEW = 4_000
"""Draws of mechanisms that answer one by one."""

AUDITED = {
    "Laplace": case(Laplace(20, 20), (0, 20), many),
    "Gaussian": case(Gaussian(20, 20), (0, 20), many),
    "RoundedGaussian": case(RoundedGaussian(2, 2), (0, 2), many),
    "ResidualGaussian": case(
        ResidualGaussian((Base(((2,),), 2),), 2), ([np.array([0])], [np.array([2])]), residual, draws=FEW, share=0.3
    ),
    "PrefixGaussian": case(
        PrefixGaussian(((1, 0),), 2, 2), (np.array([0]), np.array([2])), prefix, draws=FEW, share=0.3
    ),
    "Threshold": case(Threshold(Laplace(4, 4), 2, 8, 2), ([2, 2], []), counted, draws=FEW),
    "GaussianThreshold": case(
        GaussianThreshold(RoundedGaussian(4, 4), 2, 8, 2), ([2, 2], []), counted, draws=FEW, share=0.2
    ),
    "PartitionSelection": case(PartitionSelection(1, Fraction(1, 5), 2), ([1, 1], []), counted, draws=FEW),
    "Exponential": case(Exponential(1), ([0, 3], [1, 2]), draws=FEW, share=0.3),
    "PermuteAndFlip": case(PermuteAndFlip(1), ([0, 3], [1, 2]), draws=FEW, share=0.4),
    "NoisyMax": case(NoisyMax(1), ([0, 3], [1, 2]), draws=FEW, share=0.4),
    "SparseVector": case(SparseVector(4), ([-1, -1, -1], [0, 0, -2]), above(0), draws=FEW, share=0.1),
    "RefinedSparseVector": case(
        RefinedSparseVector(SparseVector(2), 1), ([-1, -1, -1], [0, 0, -2]), above(0), draws=FEW, share=0.1
    ),
    "Quantiles": case(Quantiles(2, (Fraction(1, 2),), 0, 3), ([1, 2, 2], [1, 2, 2, 3]), draws=FEW, share=0.1),
    "GroupedQuantile": case(
        GroupedQuantile(2, Fraction(1, 2), 0, 3), ([{1: 1, 2: 2}], [{1: 1, 2: 2, 3: 1}]), draws=FEW, share=0.1
    ),
    "Response": case(Response(1, 4), (0, 1), draws=FEW),
    "UnaryResponse": case(UnaryResponse(1, 3), (0, 1), draws=2_000, share=0.3),
    "Tree": case(Tree(Laplace(1, 1), 3), ([0, 0, 0], [1, 0, 0]), draws=FEW),
    "Shuffled": case(Shuffled(Response(1), 3), ([0, 0, 0], [1, 0, 0]), draws=FEW, share=0.4),
    "DistributedNoise": case(DistributedNoise(Shares.LAPLACE, 1, 2), ([0, 0], [1, 0]), draws=FEW, share=0.4),
    "Spherical": case(Spherical(1, 1), ([0], [1]), draws=FEW, share=0.4),
    "SmoothNoise": case(
        SmoothNoise.fitting(PureDP(1.0), sensitivity=LITTLE), ([0, 0, 0, 6, 6], [0, 0, 6, 6, 6]), draws=2_000, share=0.1
    ),
    "SampleAndAggregate": case(
        SampleAndAggregate(max, 5, SmoothNoise.fitting(PureDP(1.0), sensitivity=LITTLE), 0),
        ([0, 0, 0, 6, 6], [0, 0, 6, 6, 6]),
        draws=4_000,
        share=0.1,
    ),
    "ProposeTestRelease": case(
        ProposeTestRelease.fitting(
            ApproximateDP(1.0, 0.2),
            sensitivity=propose_test_release(median, proposal=1, bounds=(0, 9), granularity=1),
        ),
        ([0, 0, 9], [0, 9, 9]),
        draws=2_000,
        share=0.1,
    ),
    "RandomNoise": case(
        RandomNoise.fitting(ApproximateDP(1.0, 1e-6), sensitivity=NEWCOMER),
        (LINE, [*LINE[:-1], 1.0]),
        draws=800,
        share=0,
    ),
    "SampledNoise": case(
        SampledNoise.fitting(PureDP(0.5), sensitivity=POPULATION),
        ([1.0] * 50, [1.0] * 49 + [3.0]),
        draws=2_000,
        share=0,
    ),
    "SparseHistogram": case(SparseHistogram(3, 90, Laplace(2, 2)), ([40, 40, 10], [39, 41, 10]), draws=FEW, share=0.1),
    "Subsampled": Audited(
        Subsampled(Laplace(1, 1), Fraction(1, 2)),
        ([1, 1], [1, 1, 1]),
        lambda data, coins: Subsampled(Laplace(1, 1), Fraction(1, 2)).release(data, answer=sum, coins=coins),
        draws=2_000,
        share=0.1,
    ),
    "Composed": case(Composed((Laplace(1, 1), Laplace(2, 1))), (0, 1), parts, draws=FEW),
    # Given two secrets, the answers differ by the promised factor at most.
    "Wasserstein": case(Wasserstein(SecretLaws({"prior": {"a": {0: 1}, "b": {2: 1}}}), 1), (0, 2), many),
    "MarkovQuilt": case(
        MarkovQuilt([Chain([0.5, 0.5], [[1, 0], [0, 1]])], 2, 1, Visits(1)), ([0, 0], [1, 1]), draws=FEW, share=0.4
    ),
    "SharedNoise": Audited(
        shared := SharedNoise(PureDP(1.0), Distance(l1=1, l2_squared=1, largest=1)),
        (0, 1),
        lambda data, coins: tuple(each[0] for each in shared.release([[data], [data]], coins=coins)),
        draws=FEW,
    ),
    "Repeated": Audited(
        twice := Repeated(Laplace(1, 1), 2),
        (0, 1),
        lambda data, coins: tuple(twice.release((data, data), coins=coins)),
        draws=FEW,
    ),
}


def test_no_mechanism_is_missing() -> None:
    found = walk.having(("release", "promise", "error")) | walk.having(("release", "promise"), sitr.mechanisms)
    assert {kind.__name__ for kind in found} == set(AUDITED) == set(MECHANISMS)


def claim(mechanism: Any, *, share: float = 1.0) -> Promise:
    """The promise, or less of it; of a random one, the promise inside, which holds for these inputs."""
    promise = mechanism.promise()
    inner: Any = promise.inner if isinstance(promise, RandomDP) else promise
    inner = PureDP(inner.epsilon) if isinstance(inner, Pufferfish) else inner
    names = [each.name for each in fields(inner)]
    return replace(inner, **{name: getattr(inner, name) * share for name in names}) if share < 1 else inner  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", AUDITED)
def test_no_mechanism_is_accused(name: str) -> None:
    audited = AUDITED[name]
    box = Function(audited.answer, coins=_coins(1))
    found = audit(box, inputs=audited.inputs, claim=claim(audited.mechanism), draws=audited.draws, confidence=0.999)
    assert not found.broken, found.to_dict()


@pytest.mark.parametrize("name", [name for name, audited in AUDITED.items() if audited.share > 0])
def test_a_smaller_claim_is_refuted(name: str) -> None:
    """The broken twin: the same noise under a claim that is too good."""
    audited = AUDITED[name]
    box = Function(audited.answer, coins=_coins(2))
    small = claim(audited.mechanism, share=audited.share)
    assert audit(box, inputs=audited.inputs, claim=small, draws=audited.draws, confidence=0.99).broken


def _coins(seed: int) -> Coins:
    return TestCoins(seed)
