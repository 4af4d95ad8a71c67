"""What an audit found: events with their frequencies and bounds, and what they say about a claim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sitr.audit.empirical import claims
from sitr.flavors.notation import write
from sitr.flavors.promise import Promise


@dataclass(frozen=True, slots=True)
class Seen:
    """The answers in which an event consists, in terms of one feature of them."""

    feature: str
    """Such as "value" or "last bit"."""
    place: int
    """The number of the answer that the feature is about, from 0."""
    order: str
    """"above" or "below" an edge, or "likelier": the values that are likelier on the first input."""
    edge: float | None
    """Where it begins or ends, if it is all values above or below."""
    examples: tuple[float, ...] = ()
    """For other events, the lower ends of the intervals of values in it that were likeliest."""
    parts: int = 0
    """How many intervals of values are in it."""


@dataclass(frozen=True, slots=True)
class Witness:
    """An event, how often it happened on each of two neighbouring inputs, and bounds on its probabilities."""

    event: Seen
    first: int
    second: int
    """How often it happened on the first and on the second input."""
    draws: int
    """Draws on each input."""
    at_least: float
    """Its probability on the first input is at least this."""
    at_most: float
    """Its probability on the second input is at most this."""

    def epsilon(self, *, delta: float = 0.0) -> float:
        """The least ε at this δ that the bounds allow."""
        return float(claims.epsilon(self.at_least, self.at_most, delta=delta)) if self.tells else 0.0

    @property
    def mu(self) -> float:
        """The least μ of Gaussian privacy that the bounds allow."""
        return float(claims.mu(self.at_least, self.at_most)) if self.tells else 0.0

    @property
    def tells(self) -> bool:
        """Whether the two probabilities surely differ."""
        return self.at_least > self.at_most


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an audit. All of its bounds hold together with the stated confidence.

    `broken` is a proof, up to that confidence: the mechanism does not keep its claim. Its absence proves nothing:
    other inputs, other events or more draws may refute the claim.
    """

    claim: Promise
    confidence: float
    draws: int
    """Draws on both inputs together, those for learning included."""
    witnesses: tuple[Witness, ...]
    """The events that were tested; the most promising one is first."""
    curve: tuple[Witness, ...]
    """Nested events, for the curves."""
    divergences: tuple[tuple[float, float], ...] = ()
    """Orders α, and lower bounds on the larger one of D_α(P‖Q) and D_α(Q‖P)."""
    sequential: bool = False
    """Whether the bounds hold at all numbers of draws at once."""
    pair: int = 0
    """Which pair of inputs was audited, if there were several."""

    @property
    def broken(self) -> bool:
        """Whether the claim is refuted."""
        return self.witness is not None or self.refuting_order is not None

    @property
    def witness(self) -> Witness | None:
        """The event that refutes the claim by most; None if none does."""
        refuting = [each for each in self._all if claims.refuted(self.claim, each.at_least, each.at_most)]
        return max(refuting, key=self._beyond, default=None)

    @property
    def refuting_order(self) -> tuple[float, float, float] | None:
        """An order, the bound on the divergence, and what the claim allows, if that refutes the claim."""
        allowed = dict(claims.moments(self.claim))
        found = [(a, low, allowed[a]) for a, low in self.divergences if a in allowed and low > allowed[a]]
        return max(found, key=lambda each: each[1] / each[2], default=None)

    @property
    def closest(self) -> Witness:
        """The event that comes closest to refuting the claim, or refutes it by most."""
        return max(self._all, key=self._beyond)

    @property
    def _all(self) -> tuple[Witness, ...]:
        return (*self.witnesses, *self.curve)

    def _beyond(self, witness: Witness) -> float:
        return float(claims.excess(self.claim, witness.at_least, witness.at_most)) if witness.tells else -math.inf

    def epsilon(self, *, delta: float = 0.0) -> float:
        """A lower bound on ε at this δ."""
        return max(each.epsilon(delta=delta) for each in self._all)

    @property
    def mu(self) -> float:
        """A lower bound on μ of Gaussian privacy."""
        return max(each.mu for each in self._all)

    def renyi(self, order: float) -> float:
        """A lower bound on the Rényi divergence of this order, in the worse direction."""
        events = (
            float(claims.divergence(each.at_least, each.at_most, order=order)) for each in self._all if each.tells
        )
        return max([*events, *(low for a, low in self.divergences if a == order)], default=0.0)

    def delta(self, *, epsilon: float) -> float:
        """A lower bound on the hockey-stick divergence: δ at this ε.

        The larger one of p − e^ε·q and (1 − q) − e^ε·(1 − p), over all events.
        """
        odds = math.exp(epsilon)
        told = [(each.at_least, each.at_most) for each in self._all if each.tells]
        return max([0.0, *(max(p - odds * q, (1 - q) - odds * (1 - p)) * (1 - 1e-12) for p, q in told)])

    def trade_off(self) -> tuple[tuple[float, float], ...]:
        """Corners of a curve that some test reaches: false positives at most, and true positives at least.

        Tests may be mixed at random, so the chords between the corners are reached too; points below them are left out.
        """
        told = [(each.at_most, each.at_least) for each in self._all if each.tells]
        return hull([*told, *((1 - p, 1 - q) for q, p in told)])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        witness = self.witness
        return {
            "verdict": "broken" if self.broken else "consistent",
            "claim": write(self.claim),
            "confidence": self.confidence,
            "draws": self.draws,
            "sequential": self.sequential,
            "pair": self.pair,
            "epsilon": {
                "delta": (delta := claims.failure_of(self.claim)),
                "at_least": _finite(self.epsilon(delta=delta)),
            },
            "mu": {"at_least": _finite(self.mu)},
            "renyi": [{"order": a, "at_least": _finite(self.renyi(a))} for a, _ in self.divergences],
            "hockey_stick": [{"epsilon": e, "at_least": self.delta(epsilon=e)} for e in (0.0, 0.5, 1.0, 2.0, 4.0)],
            "trade_off": [{"false_positives": x, "true_positives": y} for x, y in self.trade_off()],
            "witness": None if witness is None else witness_content(witness),
            "order": None
            if (order := self.refuting_order) is None
            else _named(order, ("order", "at_least", "allowed")),
            "closest": witness_content(self.closest),
        }


def witness_content(witness: Witness) -> dict[str, Any]:
    """A witness as plain values."""
    event = witness.event
    return {
        "feature": event.feature,
        "place": event.place,
        "order": event.order,
        "edge": None if event.edge is None else _finite(event.edge),
        "intervals": event.parts,
        "examples": [_finite(each) for each in event.examples],
        "draws": witness.draws,
        "first": witness.first,
        "second": witness.second,
        "at_least": witness.at_least,
        "at_most": witness.at_most,
    }


def hull(points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The upper concave envelope of points in the unit square, with both ends of blind guessing.

    >>> hull([(0.2, 0.6), (0.5, 0.55), (0.6, 0.9)])
    ((0.0, 0.0), (0.2, 0.6), (0.6, 0.9), (1.0, 1.0))
    """
    kept: list[tuple[float, float]] = []
    for x, y in sorted({(0.0, 0.0), (1.0, 1.0), *points}):
        while len(kept) > 1 and _turn(kept[-2], kept[-1], (x, y)) >= 0:
            kept.pop()
        if kept and kept[-1][0] == x:
            kept[-1] = (x, max(y, kept[-1][1]))
        else:
            kept.append((x, y))
    return tuple(kept)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _finite(number: float) -> float | str:
    """A number as JSON can hold it."""
    return number if math.isfinite(number) else str(number)


def _named(values: Sequence[float], names: Sequence[str]) -> Mapping[str, float | str]:
    return {name: _finite(value) for name, value in zip(names, values, strict=True)}
