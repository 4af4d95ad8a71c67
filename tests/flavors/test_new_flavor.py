"""A flavor that Sitr does not have, defined in this one file: everything that is generic over flavors works with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from sitr.accounting.calibrate import calibrate
from sitr.accounting.compare import compare, infinite_mass
from sitr.accounting.filter import Filter
from sitr.accounting.odometer import Odometer
from sitr.accounting.schedule import Part, Schedule
from sitr.accounting.schedule_file import read_schedule
from sitr.accounting.theorems.theorem import Total
from sitr.cli.convert import converted
from sitr.errors import BudgetExceeded, IncompatiblePromises, InvalidPromise, InvalidUse
from sitr.flavors import notation
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import express, kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.meaning import RELATIVE, above, ratio
from sitr.flavors.notation import parse, register, write
from sitr.flavors.price import buys_noise
from sitr.flavors.promise import Adding, Obstacle, Promise, count
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss import gaussian
from sitr.loss.loss import Loss
from sitr.mechanisms.composed import Composed, Repeated
from sitr.mechanisms.laplace import Laplace
from sitr.numbers import Interval
from sitr.report.headline import Headline
from sitr.report.words.explanation import symbols


@dataclass(frozen=True, slots=True)
class ProbabilisticDP(Adding):
    """The loss exceeds ε with probability at most δ: P(L > ε) ≤ δ, in both directions.      [MKAGV08]"""

    notation = "probabilistic(ε, δ)"
    obstacle = Obstacle("It bounds no quantile of the loss", "state it as ProbabilisticDP only if its loss is known")
    probabilities = frozenset({"delta"})

    epsilon: float
    delta: float

    @classmethod
    def of(cls, loss: Loss, /, *, epsilon: float, relative: float = RELATIVE) -> ProbabilisticDP:
        found = loss.exceeding(epsilon=math.nextafter(epsilon, 0.0), relative=relative).upper
        return cls(epsilon, min(1.0, above(found, what="P(L > ε)", do="Choose a larger ε.")))

    def excess(self, loss: Loss, /, *, relative: float = RELATIVE) -> Interval:
        return ratio(loss.exceeding(epsilon=self.epsilon, relative=relative), math.nextafter(self.delta, 0.0))

    def for_group(self, size: int, /) -> ProbabilisticDP:
        if count(size, what="The size of a group") > 1:
            raise IncompatiblePromises(given="No bound for groups is known.", do="Convert it to (ε, δ) first.")
        return self

    def implies(self, other: Promise, /) -> bool:
        if isinstance(other, ApproximateDP):
            return self.to_approximate(delta=self.delta).covers(other)
        return other.follows_from(self)

    def infinite_mass(self) -> float:
        return self.delta

    def loss_quantile(self, *, delta: float) -> float | None:
        return self.epsilon if delta >= self.delta else None

    def to_approximate(self, *, delta: float) -> ApproximateDP:
        """(ε, δ), because δ(ε) ≤ P(L > ε); only at a δ of at least this one."""
        if delta < self.delta:
            raise IncompatiblePromises(given=f"{self!r} bounds nothing at {delta}.", do="Choose a larger δ.")
        return ApproximateDP(self.epsilon, delta)

    @classmethod
    def implied_by(cls, promise: Promise, /, *, delta: float | None = None) -> ProbabilisticDP | None:
        """Every promise that bounds a quantile of the loss, at this δ; a largest loss is one at δ = 0."""
        if promise.closed is not None:
            return None
        if delta is None:
            largest = promise.largest_loss()
            return None if largest is None else cls(largest, 0.0)
        quantile = promise.loss_quantile(delta=delta)
        return None if quantile is None else cls(quantile, delta)


@dataclass(frozen=True)
class Noise:
    """A mechanism of which nothing but this promise is known."""

    stated: Promise

    def release(self, *values: Any, **more: Any) -> Any:
        raise NotImplementedError

    def error(self, *more: Any, **named: Any) -> Any:
        raise NotImplementedError

    def promise(self) -> Promise:
        return self.stated

    def loss(self) -> None:
        return None


PROMISE = ProbabilisticDP(1.0, 1e-6)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    before = dict(notation.NAMES)
    register(ProbabilisticDP)
    yield
    notation.NAMES.clear()
    notation.NAMES.update(before)


def test_it_is_read_and_written():
    assert isinstance(PROMISE, Promise)
    assert write(PROMISE) == "probabilistic(epsilon=1.0, delta=1e-06)"
    assert parse(write(PROMISE)) == parse("probabilistic(1, 1e-6)") == PROMISE
    assert parse("random(probabilistic(1, 1e-6), 0.05)") == RandomDP(PROMISE, 0.05)
    with pytest.raises(InvalidPromise, match="delta of ProbabilisticDP"):
        parse("probabilistic(1, 2)")
    with pytest.raises(InvalidPromise, match=r"probabilistic\(ε, δ\)"):
        parse("probable(1)")


def test_parameters_add_and_are_shared():
    assert PROMISE + ProbabilisticDP(0.5, 2e-6) == ProbabilisticDP(1.5, 3e-6)
    assert PROMISE * 10 == ProbabilisticDP(10.0, 1e-5)
    assert PROMISE.share(Fraction(1, 4)) * 4 == PROMISE
    with pytest.raises(IncompatiblePromises, match="ProbabilisticDP"):
        PROMISE + PureDP(1.0)  # type: ignore[operator]


def test_what_it_means_of_a_loss():
    """P(L > 1) is 0.3085 for a Gaussian loss with μ = 1: L is normal with mean ½ and variance 1."""
    tight = ProbabilisticDP.of(gaussian(sigma=1), epsilon=1.0)
    assert tight.delta == pytest.approx(0.30853754, rel=1e-3)
    assert ProbabilisticDP(1.0, 0.31).kept_by(gaussian(sigma=1))
    assert not ProbabilisticDP(1.0, 0.30).kept_by(gaussian(sigma=1))


def test_conversions_from_it_and_to_it():
    assert express(PROMISE, ApproximateDP, delta=1e-6) == ApproximateDP(1.0, 1e-6)
    assert converted(PROMISE, "approximate", delta=1e-5) == ApproximateDP(1.0, 1e-5)
    assert express(PureDP(0.5), ProbabilisticDP) == ProbabilisticDP(0.5, 0.0)
    assert express(GaussianDP(0.0), ProbabilisticDP) == ProbabilisticDP(0.0, 0.0)
    moved = express(ZeroConcentratedDP(0.05), ProbabilisticDP, delta=1e-6)
    assert moved == ProbabilisticDP(ZeroConcentratedDP(0.05).loss_quantile(delta=1e-6), 1e-6)
    for promise in (ApproximateDP(1.0, 1e-6), ZeroConcentratedDP(0.05), RandomDP(PureDP(1.0), 0.1)):
        with pytest.raises(IncompatiblePromises, match="ProbabilisticDP"):
            express(promise, ProbabilisticDP)
    with pytest.raises(IncompatiblePromises, match="no moment"):
        express(PROMISE, notation.NAMES["renyi"])


def test_what_covers_it_and_what_it_covers():
    assert PureDP(0.5).covers(ProbabilisticDP(0.5, 0.0))
    assert not PureDP(0.6).covers(ProbabilisticDP(0.5, 0.0))
    assert PROMISE.covers(ApproximateDP(1.0, 1e-6))
    assert not ApproximateDP(1.0, 1e-6).covers(PROMISE)  # δ(ε) ≤ δ allows P(L > ε) > δ
    assert PROMISE.covers(RandomDP(PROMISE, 0.1))


def test_a_composed_mechanism_of_such_parts():
    both = Composed((Noise(PROMISE), Repeated(Noise(ProbabilisticDP(0.25, 1e-7)), 2)))
    whole: Promise = both.promise()
    assert whole == ProbabilisticDP(1.5, 1.2e-6)
    assert both.promise(delta=1e-5) == ApproximateDP(1.5, 1e-5)
    assert both.loss() is None


def test_filters_and_odometers_add_it():
    budget = Filter(PROMISE).consent(ProbabilisticDP(0.75, 5e-7)).consent(PureDP(0.25))
    assert budget.remaining() == ProbabilisticDP(0.0, 5e-7)
    with pytest.raises(BudgetExceeded, match=r"probabilistic\(epsilon=0\.1"):
        budget.consent(PureDP(0.1))
    assert Odometer(ProbabilisticDP(0.0, 0.0)).record(PROMISE).record(PROMISE).total() == PROMISE * 2
    assert not kept(PROMISE)  # ledgers keep budgets in three flavors of Sitr only


def test_theorems_that_need_no_more_than_an_epsilon_and_a_delta_compare_it():
    schedule = read_schedule([{"probabilistic": {"epsilon": 0.1, "delta": "1e-9"}, "times": 10}])
    assert schedule == Schedule((Part((ProbabilisticDP(0.1, 1e-9),), times=10),))
    rows = {row.theorem.name: row.outcome for row in compare(schedule, delta=1e-6).rows}
    basic = rows["basic"]
    assert isinstance(basic, Total)
    assert basic.upper == pytest.approx(1.0)
    assert isinstance(rows["advanced"], Total)
    assert rows["renyi"] == "step 1: it bounds no moment of the loss"
    assert infinite_mass(schedule) == pytest.approx(1e-8)  # a loss above ε may be infinite


def test_a_mechanism_is_calibrated_to_it():
    scale = calibrate(lambda scale: Laplace(scale=scale), ProbabilisticDP(0.5, 1e-3))
    assert ProbabilisticDP(0.5, 1e-3).kept_by(Laplace(scale=scale).loss())
    assert scale == pytest.approx(2.0, rel=0.01)  # the largest loss, 1/scale, has a probability above 1/10


def test_reports_show_it():
    assert symbols(PROMISE) == "ε = 1, δ = 10⁻⁶"
    assert Headline.of(PROMISE).epsilon == 1.0


@dataclass(frozen=True, slots=True)
class Weak(PureDP):
    """It passes for pure, and says that it costs nothing."""

    notation = "weak(ε)"

    def largest_loss(self) -> float:
        return 0.0


@dataclass(frozen=True, slots=True)
class Impostor(Adding):
    notation = "pure(ε)"
    epsilon: float


@dataclass(frozen=True, slots=True)
class Alias(Adding):
    notation = "gdp(μ)"
    mu: float


def test_no_flavor_can_pass_for_another():
    for kind in (Weak, Impostor, Alias):
        with pytest.raises(InvalidUse, match=kind.__name__):
            register(kind)
    register(ProbabilisticDP)  # the same flavor again changes nothing
    assert parse("pure(1)") == PureDP(1.0)
    assert not kept(Weak(50.0))
    assert not kept(RandomDP(Weak(50.0), 0.1))
    assert not buys_noise(Weak(50.0))


def test_whoever_says_nothing_may_expose_everybody():
    assert Promise.infinite_mass(Impostor(1.0)) == 1.0  # type: ignore[abstract]
    assert RandomDP(ApproximateDP(1.0, 1e-3), 0.1).infinite_mass() == 1e-3
