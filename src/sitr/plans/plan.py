"""A plan: everything that will be measured, with which noise, for which price.

A plan separates what is *measured* from what is *shown*. Each measurement is a public description of some numbers and
the mechanism that hides them; the columns of an answer are functions of the measured numbers. Promise, loss, errors,
text and JSON are views of the plan.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import cast

from sitr.dataclass import dataclass
from sitr.errors import IncompatiblePromises, InvalidPromise, unknown_name
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.mechanisms.composed import Composed, concentrated, outside
from sitr.mechanisms.mechanism import Mechanism
from sitr.neighbors.distance import Distance
from sitr.numbers import Number, downward, exact, upward

FAINT = 1e-9
"""Below this ε, no Gaussian noise is fitted beside other mechanisms: the sum of such small losses takes minutes, for
answers that no noise makes useful."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Some numbers computed from the rows, and the mechanism that hides them.

    Values are clamped and quantised before they are measured: the mechanism sees integers, each of which is worth
    `granularity` in the unit of the column.
    """

    name: str
    mechanism: Mechanism
    distance: Distance | None = None
    """How far one person moves the numbers; None where the mechanism finds out from the data."""
    granularity: Fraction = Fraction(1)

    def error(self, *, confidence: Number = 0.95) -> float:
        """Half the width of the interval around each measured number that contains the exact one, rounded up."""
        return upward(self.mechanism.error(confidence=confidence) * self.granularity)


@dataclass(frozen=True, slots=True)
class Plan:
    """All measurements that answer a question, and the price that pays for them.

    Later measurements may depend on the answers to earlier ones (choose bins, then count), but their mechanisms are
    fixed here, so that there is one charge for all of them. `price` is what will be charged: it may be less than the
    price that was offered, if this noise does not need all of it.
    """

    measurements: tuple[Measurement, ...]
    price: Kept
    text: str
    """The question in one line, for the ledger."""

    def __getitem__(self, name: str) -> Measurement:
        for each in self.measurements:
            if each.name == name:
                return each
        raise unknown_name(name, [each.name for each in self.measurements], lacks="The plan has no measurement")

    def alike(self) -> tuple[Plan, ...]:
        """Other plans with the same measurements, which only show them in another way: they are paid for together.

        What each of them releases has a method `under` that gives the release of another one, without the rows.
        """
        return ()

    @property
    def mechanism(self) -> Composed:
        """All mechanisms as one."""
        return Composed(tuple(each.mechanism for each in self.measurements))

    def loss(self) -> Loss | None:
        """The privacy loss of all measurements together; None if no pair of laws dominates one of them."""
        return self.mechanism.loss()

    def promise(self) -> Kept:
        """The promise of all measurements together, in the flavor of the price; for an approximate price, at its δ."""
        if isinstance(self.price, ApproximateDP):
            return self._approximate(self.price)
        if isinstance(self.price, ZeroConcentratedDP):
            return concentrated(self.mechanism)
        if isinstance(self.price, ApproximateZeroConcentratedDP):
            return outside(self.mechanism)
        return cast("Kept", self.mechanism.promise())

    def infinite_mass(self) -> float:
        """P(L = +∞): the probability that somebody's presence or absence is revealed outright, at most."""
        masses = (exact(_infinite_mass(each.mechanism)) for each in self.measurements)
        return upward(min(Fraction(1), sum(masses, Fraction(0))))

    def finite_tail(self) -> float:
        """The part of δ for losses that are finite but larger than ε; 0 without a δ, and where ε bounds them all.

        Where it depends on the data whether a mechanism's δ is for finite or for infinite losses, that δ is part of
        this and of `infinite_mass`.
        """
        if not isinstance(self.price, ApproximateDP):
            return 0.0
        mechanisms = [each.mechanism for each in self.measurements]
        bounds = [promise.epsilon for each in mechanisms if (promise := _bounded(each)) is not None]
        if len(bounds) == len(mechanisms) and sum(map(exact, bounds), Fraction(0)) <= exact(self.price.epsilon):
            return 0.0
        masses = (exact(_infinite_mass(each)) for each in mechanisms if not _either(each))
        return downward(max(Fraction(0), exact(self.price.delta) - sum(masses, Fraction(0))))

    @property
    def solving(self) -> float:
        """The seconds that a solver may take after the noise, at most: public, and part of an answer's deadline."""
        return 0.0

    @property
    def shared_delta(self) -> bool:
        """Whether the same part of δ is for infinite losses with some data, and for finite ones with others."""
        return any(_either(each.mechanism) for each in self.measurements)

    def check(self) -> None:
        """Refuse to charge less than the measurements cost, which happens only if there is a bug in a fit."""
        if not self._kept():
            raise InvalidPromise(
                wanted=f"noise that keeps {self.price!r}",
                given=f"a plan that keeps {self.promise()!r} only",
                do="Nothing was spent. Please report this: it is a bug in Sitr.",
            )

    def _kept(self) -> bool:
        if isinstance(self.price, ApproximateDP) and self.price.delta > 0:
            if self._added(self.price):
                return True
            loss = self.loss()
            if loss is not None and self.price.proved_by(loss):
                return True  # the search for the least ε would take longer
        return self.promise().covers(self.price)

    def _added(self, price: ApproximateDP) -> bool:
        """Whether the promises, simply added up, keep the price: this needs no loss.      [DR14, Thm 3.16]"""
        every = [each.mechanism.promise() for each in self.measurements]
        promises = [promise for promise in every if isinstance(promise, PureDP | ApproximateDP)]
        if len(promises) < len(every):
            return False
        epsilon = sum((exact(promise.epsilon) for promise in promises), Fraction(0))
        delta = sum((exact(getattr(promise, "delta", 0.0)) for promise in promises), Fraction(0))
        return epsilon <= exact(price.epsilon) and delta <= exact(price.delta)

    def _approximate(self, price: ApproximateDP) -> ApproximateDP:
        """The least ε that is known at this δ: from the loss, or from the promises where these say more."""
        delta, found = price.delta, []
        faint = price.epsilon < FAINT and self._added(price)
        if delta > 0 and not faint and (loss := self.loss()) is not None:
            with suppress(IncompatiblePromises):  # no ε is proved
                found.append(ApproximateDP.of(loss, delta=delta))
            if price.proved_by(loss):  # this proof is often a little tighter
                found.append(price)
        try:
            promises = self.mechanism.promise(delta=delta) if delta > 0 else self.mechanism.promise()
        except InvalidPromise:
            if not found:
                raise
        else:
            found.append(ApproximateDP(promises.epsilon, getattr(promises, "delta", 0.0)))  # type: ignore[union-attr]
        return min(found, key=lambda promise: promise.epsilon)


def _bounded(mechanism: Mechanism) -> PureDP | ApproximateDP | None:
    """Its promise, if ε bounds every loss of it that is finite."""
    promise = mechanism.promise()
    if isinstance(promise, ApproximateDP):
        return promise if promise.delta == 0 or getattr(mechanism, "outright", False) else None
    return promise if isinstance(promise, PureDP) else None


def _either(mechanism: Mechanism) -> bool:
    """Whether it depends on the data if its δ is for infinite losses or for finite ones above ε."""
    approximate = isinstance(mechanism.promise(), ApproximateDP)
    return approximate and not getattr(mechanism, "outright", False) and _infinite_mass(mechanism) > 0.0


def _infinite_mass(mechanism: Mechanism) -> float:
    """All of δ where the law of the loss is unknown, and 0 for promises without a δ. A γ does not count."""
    promise = mechanism.promise()
    inner = promise.inner if isinstance(promise, RandomDP) else promise
    allowed = inner.infinite_mass()
    loss = mechanism.loss() if allowed else None
    return allowed if loss is None else min(allowed, loss.infinite_mass())
