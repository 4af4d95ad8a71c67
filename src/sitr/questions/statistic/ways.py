"""A comparison of all ways to release one statistic of one sample: the promise and the error of each.

Nothing here is private, because the errors are computed from the sample. Use public or made-up data, to choose a way
before private data are touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from sitr.errors import SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.proposed import ProposeTestRelease
from sitr.mechanisms.random_noise import RandomNoise
from sitr.mechanisms.sampled_noise import SampledNoise
from sitr.mechanisms.smooth import NoiseKind, SmoothNoise
from sitr.noise.coins import Coins
from sitr.noise.uniform import uniform
from sitr.numbers import Number, exact
from sitr.sensitivity import Pairs, propose_test_release, random, sampled, smooth
from sitr.sensitivity.sample import Granules, Quantiser
from sitr.sensitivity.statistic import Statistic

CONFIDENCE = Fraction(95, 100)
"""The probability that an answer is within its error."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The promise of one way, and the error within which its answer lies in 95% of cases."""

    way: str
    promise: Promise
    error: Fraction
    refused: float = 0.0
    """How often there is no answer at all."""


@dataclass(frozen=True, slots=True)
class Impossible:
    """A way that does not work for this statistic, or for this number of people."""

    way: str
    reason: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A statistic within public bounds, and the requested promises."""

    statistic: Statistic
    bounds: tuple[Number, Number]
    granularity: Number | None
    price: ApproximateDP
    gamma: Number
    proposal: Number | None = None
    """For propose-test-release; by default a hundredth of the global sensitivity."""

    @property
    def grid(self) -> Quantiser:
        return Quantiser.of(self.bounds, granularity=self.granularity)


def outcomes(setting: Setting, values: Any, *, coins: Coins | None = None) -> Iterator[Outcome | Impossible]:
    """Each way in turn: bounds alone, smooth sensitivity, propose-test-release, and random promises.

    For the sensitivity sampler, the population that is drawn from is the sample itself.

    >>> from sitr.sensitivity import median
    >>> setting = Setting(median, (0, 100), None, ApproximateDP(1.0, 1e-6), 0.05)
    >>> by_way = {outcome.way: outcome for outcome in outcomes(setting, np.arange(2001) / 20)}
    >>> float(by_way["global"].error), float(by_way["smooth, Laplace"].error)
    (299.5..., 2.19...)
    """
    people = len(setting.grid.granules(values))
    ways: tuple[tuple[str, Callable[[], Outcome]], ...] = (
        ("global", lambda: _global(setting, values)),
        ("smooth, Laplace", lambda: _smooth(setting, values, NoiseKind.LAPLACE)),
        ("smooth, Gaussian", lambda: _smooth(setting, values, NoiseKind.GAUSSIAN)),
        ("smooth, Student", lambda: _smooth(setting, values, NoiseKind.STUDENT)),
        ("propose-test-release", lambda: _proposed(setting, values)),
        ("random, disjoint pairs", lambda: _random(setting, values, Pairs.DISJOINT, people)),
        ("random, all pairs", lambda: _random(setting, values, Pairs.EVERY, people)),
        ("random, sampler", lambda: _sampled(setting, values, people, coins)),
    )
    for way, found in ways:
        try:
            yield found()
        except SitrError as error:
            yield Impossible(way, f"{error.wanted} {error.given}")


def _global(setting: Setting, values: Any) -> Outcome:
    """Laplace noise for the farthest that anybody could move any sample of this size."""
    grid, statistic = setting.grid, setting.statistic
    sample = grid.granules(values)
    grain = grid.granularity**statistic.power
    moved = max(1, ceil(_farthest(setting, sample))) * grain
    noise = Laplace.fitting(PureDP(setting.price.epsilon), sensitivity=moved, granularity=grain)
    rest = Fraction(0) if statistic.whole else grain / 2
    return Outcome("global", noise.promise(), exact(noise.error(confidence=CONFIDENCE)) + rest)


def _farthest(setting: Setting, sample: Granules) -> Fraction:
    """The global sensitivity, in granules: the local one after everybody may have been replaced."""
    return setting.statistic.local(sample, setting.grid.low, setting.grid.high, distance=len(sample))


def _smooth(setting: Setting, values: Any, kind: NoiseKind) -> Outcome:
    price = PureDP(setting.price.epsilon) if kind is NoiseKind.STUDENT else setting.price
    rule = smooth(setting.statistic, bounds=setting.bounds, granularity=setting.granularity)
    mechanism = SmoothNoise.fitting(price, sensitivity=rule, noise=kind)
    error = mechanism.error(values, confidence=CONFIDENCE)
    return Outcome(f"smooth, {kind.value.capitalize()}", mechanism.promise(), error)


def _proposed(setting: Setting, values: Any) -> Outcome:
    proposal = setting.proposal
    if proposal is None:
        farthest = _farthest(setting, setting.grid.granules(values))
        proposal = farthest * setting.grid.granularity**setting.statistic.power / 100
    rule = propose_test_release(
        setting.statistic, proposal=proposal, bounds=setting.bounds, granularity=setting.granularity
    )
    mechanism = ProposeTestRelease.fitting(setting.price, sensitivity=rule)
    error = mechanism.error(confidence=CONFIDENCE)
    return Outcome("propose-test-release", mechanism.promise(), error, mechanism.refusal(values))


def _random(setting: Setting, values: Any, pairs: Pairs, people: int) -> Outcome:
    rule = random(
        setting.statistic,
        size=people,
        gamma=setting.gamma,
        pairs=pairs,
        bounds=setting.bounds,
        granularity=setting.granularity,
    )
    mechanism = RandomNoise.fitting(setting.price, sensitivity=rule)
    name = "disjoint pairs" if pairs is Pairs.DISJOINT else "all pairs"
    return Outcome(f"random, {name}", mechanism.promise(), mechanism.error(values, confidence=CONFIDENCE))


def _sampled(setting: Setting, values: Any, people: int, coins: Coins | None) -> Outcome:
    everybody = np.asarray(values)

    def again(count: int) -> Any:
        return everybody[uniform(bound=people, size=count, coins=coins).astype(np.int64)]

    rule = sampled(
        setting.statistic,
        population=again,
        size=people,
        gamma=setting.gamma,
        bounds=setting.bounds,
        granularity=setting.granularity,
    )
    mechanism = SampledNoise.fitting(PureDP(setting.price.epsilon), sensitivity=rule)
    return Outcome("random, sampler", mechanism.promise(), mechanism.error(confidence=CONFIDENCE))
