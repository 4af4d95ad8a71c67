"""The protocol of mechanisms, and the checks that they share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.loss.forms.finite import response
from sitr.loss.loss import Loss
from sitr.neighbors.relation import Relation
from sitr.numbers import Number, exact


class Mechanism(Protocol):
    """A way to answer that keeps a promise. Its methods differ in the arguments that they need.

    One with a δ has the attribute `outright` if all of δ is for infinite losses, whatever the data are. Without it, δ
    may be for infinite losses with some data, and for finite ones above ε with others.
    """

    def release(self, *values: Any, **more: Any) -> Any:
        """The answer, with fresh coins; `coins=TestCoins(seed)` are for tests."""

    def error(self, *more: Any, **named: Any) -> Any:
        """How far an answer may be off, or how many people a key needs to be shown, with `confidence=0.95`."""

    def promise(self) -> Promise:
        """The promise to one unit."""

    def loss(self) -> Loss | None:
        """The loss, which says more than any promise; labelled `bound` if it only dominates the true one.

        None where no pair of laws dominates it: a random promise says nothing about a fraction of the data.
        """


def bounding(promise: PureDP | ApproximateDP) -> Loss:
    """The largest loss that a promise allows, for a mechanism that is not known to attain it.      [KOV15, Thm 3.3]

    Where floats cannot represent e^ε, it is the loss of a mechanism that hides nothing.

    >>> bounding(PureDP(1.0)).bound, bounding(PureDP(1e9)).max()
    (True, inf)
    """
    found = promise.worst_loss()
    return replace(found if found is not None else Loss.of(response(0.0, infinite=1.0)), bound=True)


def added(losses: Iterable[Loss | None]) -> Loss | None:
    """The sum of independent losses; None if one of them is not known.      [ZDW22, Thm 10]

    >>> added([bounding(PureDP(1.0)), bounding(PureDP(0.5))]).max(), added([bounding(PureDP(1.0)), None])
    (1.5..., None)
    """
    parts = list(losses)
    known = [loss for loss in parts if loss is not None]
    return Loss.compose(known) if len(known) == len(parts) else None


def common_relation(*mechanisms: Mechanism) -> Relation | None:
    """The neighbours that all of these protect, from the attribute `relation` of mechanisms for neighbours of one kind.

    None if no mechanism has it: each sensitivity then holds for the neighbours for which it was computed.
    """
    found = {getattr(mechanism, "relation", None) for mechanism in mechanisms} - {None}
    if len(found) > 1:
        raise InvalidPromise(
            wanted="parts that protect the same neighbours",
            given="one for tables that add or remove a person, and one for tables that replace a person",
            do="Use one kind of sampling in all parts.",
        )
    return next(iter(found), None)


def whole_shift(sensitivity: Number, *, mechanism: str) -> int:
    """How far whole numbers of granules move: ⌊Δ⌋. Log-concave noise hides a smaller move at least as well.

    >>> whole_shift(2.5, mechanism="Laplace")
    2
    """
    moved = math.floor(exact(sensitivity))
    if moved < 1:
        raise InvalidPromise(
            wanted=f"a sensitivity of at least one granule for {mechanism} noise",
            given=f"{float(exact(sensitivity)):g} granules",
            do="Choose a finer granularity. Numbers that are yet to be rounded move farther: see rounded_sensitivity.",
        )
    return moved
