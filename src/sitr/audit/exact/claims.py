"""Deciding claims about a finite mechanism: kept, broken, or too close to tell, with a witness."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Protocol

from sitr.audit.exact.figure import Figure
from sitr.audit.exact.neighbors import Places
from sitr.audit.exact.rational import sign
from sitr.audit.exact.table import Name, Table
from sitr.errors import InvalidParameter, InvalidPromise, Undecided, quoted
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.concentrated import ConcentratedDP
from sitr.flavors.curve import PointCurve
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.notation import parse, write
from sitr.flavors.profile import PrivacyProfile
from sitr.flavors.promise import Promise
from sitr.flavors.pufferfish import Pufferfish
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.renyi import RenyiDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.loss import Loss
from sitr.numbers import Interval, Number, exact, finite

WIDTHS = (1e-2, 1e-4, 1e-6, 1e-9)
"""The relative widths with which suprema are compared with a claim."""


class Verdict(Enum):
    """What is known about a claim."""

    KEPT = "kept"
    BROKEN = "broken"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class ProbabilisticDP:
    """P(L > ε) ≤ δ in both directions.      [MKAGV08]  It is a claim only: it does not survive post-processing."""

    epsilon: float
    delta: float


Claim = Promise | ProbabilisticDP


class Figures(Protocol):
    """The figures of a mechanism."""

    @property
    def table(self) -> Table: ...
    @property
    def neighbors(self) -> Places: ...
    @property
    def given_secrets(self) -> bool: ...
    def epsilon(self, *, delta: Number = 0) -> Figure: ...
    def delta(self, *, epsilon: Number) -> Figure: ...
    def exceeding(self, *, epsilon: Number) -> Figure: ...
    def excess_sign(self, epsilon: Fraction, delta: Fraction, /) -> int | None: ...
    def renyi(self, *, order: float) -> Figure: ...
    def rho(self, *, xi: Number = 0, relative: float = ..., limit: float | None = ...) -> Figure: ...
    def mean(self) -> Figure: ...
    def subgaussian(self, *, relative: float = ..., limit: float | None = ...) -> Figure: ...
    def mu(self) -> Figure: ...
    def loss(self, first: object, second: object, /) -> Loss: ...


@dataclass(frozen=True, slots=True)
class Part:
    """One inequality of a claim: a figure, and what the claim allows."""

    symbol: str
    figure: Figure
    allowed: float
    verdict: Verdict
    probabilities: tuple[float, float] | None = None
    """P and Q of the outcomes that break the claim, for a claim about events."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A claim, the verdict, and the inequalities that led to it."""

    claim: str
    verdict: Verdict
    parts: tuple[Part, ...]

    @property
    def witness(self) -> Part | None:
        """The inequality that is broken, with the pair of inputs and the outcomes that break it."""
        return next((part for part in self.parts if part.verdict is Verdict.BROKEN), None)

    def to_dict(self) -> dict[str, object]:
        """The decision for machines."""
        return {
            "claim": self.claim,
            "verdict": self.verdict.value,
            "parts": [
                {
                    "figure": part.symbol,
                    "lower": _json(part.figure.lower),
                    "upper": _json(part.figure.upper),
                    "allowed": part.allowed,
                    "verdict": part.verdict.value,
                    "pair": list(part.figure.pair),
                    "outcomes": list(part.figure.outcomes),
                    "probabilities": None if part.probabilities is None else list(part.probabilities),
                }
                for part in self.parts
            ],
        }


def _json(number: float) -> float | None:
    """JSON has no infinity."""
    return number if math.isfinite(number) else None


def read_claim(claim: object, /) -> Claim:
    """A promise, from its notation or as it is; `probabilistic(ε, δ)` too.

    >>> read_claim("probabilistic(1, 1e-6)")
    ProbabilisticDP(epsilon=1.0, delta=1e-06)
    """
    if isinstance(claim, Promise | ProbabilisticDP):
        return claim
    if not isinstance(claim, str):
        raise InvalidParameter(
            wanted="a claim such as pure(1) or approximate(1, 1e-6)", given=quoted(claim), do="Name a flavor."
        )
    if claim.strip().startswith("probabilistic("):
        return _probabilistic(claim)
    return parse(claim)


def _probabilistic(claim: str) -> ProbabilisticDP:
    try:
        call = ast.parse(claim.strip(), mode="eval").body
        numbers = [ast.literal_eval(one) for one in call.args]  # type: ignore[attr-defined]
        epsilon, delta = (finite(one) for one in numbers)
    except (SyntaxError, ValueError, AttributeError):
        epsilon = delta = None
    if epsilon is None or delta is None or epsilon < 0 or not 0 <= delta <= 1:
        raise InvalidPromise(
            wanted="probabilistic(ε, δ) with ε of at least 0 and δ from 0 to 1",
            given=quoted(claim),
            do="Write for example probabilistic(1, 1e-6).",
        )
    return ProbabilisticDP(float(epsilon), float(delta))


def decided(mechanism: Figures, claim: object, /) -> Decision:
    """Compare a claim with the figures of a mechanism."""
    promise = read_claim(claim)
    written = claim.strip() if isinstance(claim, str) else _written(promise)
    parts = tuple(_parts(mechanism, promise))
    verdicts = {part.verdict for part in parts}
    if Verdict.BROKEN in verdicts:
        verdict = Verdict.BROKEN
    elif Verdict.UNDECIDED in verdicts or (isinstance(promise, ConcentratedDP) and promise.scales_to_groups):
        verdict = Verdict.UNDECIDED  # no table of neighbours says how a promise scales to groups
    else:
        verdict = Verdict.KEPT
    return Decision(written, verdict, parts)


def _written(promise: Claim) -> str:
    if isinstance(promise, ProbabilisticDP):
        return f"probabilistic({promise.epsilon!r}, {promise.delta!r})"
    return write(promise)


def _parts(mechanism: Figures, promise: Claim) -> Iterator[Part]:
    match promise:
        case PureDP() | ApproximateDP() | PrivacyProfile() | ProbabilisticDP():
            yield from _events(mechanism, promise)
        case ZeroConcentratedDP() | ConcentratedDP() | RenyiDP(curve=PointCurve()):
            yield from _moments(mechanism, promise)
        case GaussianDP(mu):
            yield _compared(mechanism, "μ", mechanism.mu(), mu)
        case Pufferfish(epsilon):
            if not mechanism.given_secrets:
                raise InvalidParameter(
                    given="A Pufferfish promise is about secrets and priors, and a table of inputs names none.",
                    do="Use sitr.audit.pufferfish(…), or --priors and --secrets.",
                )
            yield _pure(mechanism, epsilon)
        case RandomDP():
            raise InvalidParameter(
                given="A random promise is about data drawn from a population, and a table of inputs names none.",
                do="Use sitr.audit.population(…), or --population, and state how the records are drawn.",
            )
        case _:
            yield from _each(mechanism, promise)


def _events(mechanism: Figures, promise: Claim) -> Iterator[Part]:
    match promise:
        case PureDP(epsilon):
            yield _pure(mechanism, epsilon)
        case ApproximateDP(epsilon, delta):
            yield _approximate(mechanism, epsilon, delta)
        case PrivacyProfile(points):
            for epsilon, delta in points:
                yield _approximate(mechanism, epsilon, delta)
        case ProbabilisticDP(epsilon, delta):
            yield _compared(mechanism, "P(L > ε)", mechanism.exceeding(epsilon=epsilon), delta)


def _moments(mechanism: Figures, promise: Claim) -> Iterator[Part]:
    match promise:
        case ZeroConcentratedDP() if promise.rho == 0.0:
            yield _pure(mechanism, promise.xi)
        case ZeroConcentratedDP():
            yield _narrowed("ρ", partial(mechanism.rho, xi=promise.xi, limit=promise.rho), promise.rho)
        case ConcentratedDP():
            yield _compared(mechanism, "μ", mechanism.mean(), promise.mu)
            yield _narrowed("τ", partial(mechanism.subgaussian, limit=promise.tau), promise.tau)
        case RenyiDP():
            for order in promise.orders:
                yield _compared(mechanism, f"D_{order:g}", mechanism.renyi(order=order), promise.curve(order))


def _pure(mechanism: Figures, epsilon: float) -> Part:
    figure = mechanism.epsilon()
    if figure.odds is None:
        return _compared(mechanism, "ε", figure, epsilon)
    more = sign(figure.odds, Fraction(1), exact(epsilon))
    return _part(mechanism, "ε", figure, epsilon, Verdict.BROKEN if more > 0 else Verdict.KEPT)


def _approximate(mechanism: Figures, epsilon: float, delta: float) -> Part:
    if delta == 0.0:
        return _pure(mechanism, epsilon)
    figure = mechanism.delta(epsilon=epsilon)
    found = _verdict(figure, delta)
    if found is Verdict.UNDECIDED:
        more = mechanism.excess_sign(exact(epsilon), exact(delta))
        found = found if more is None else Verdict.BROKEN if more > 0 else Verdict.KEPT
    return _part(mechanism, "δ", figure, delta, found)


def _compared(mechanism: Figures, symbol: str, figure: Figure, allowed: float) -> Part:
    return _part(mechanism, symbol, figure, allowed, _verdict(figure, allowed))


def _narrowed(symbol: str, look: Callable[..., Figure], allowed: float) -> Part:
    part: Part | None = None
    for relative in WIDTHS:
        figure = look(relative=relative)
        part = Part(symbol, figure, allowed, _verdict(figure, allowed))
        if part.verdict is not Verdict.UNDECIDED:
            break
    assert part is not None
    return part


def _verdict(figure: Figure, allowed: float) -> Verdict:
    """A bound is compared as the number that it is, and as the decimal that it prints as."""
    goal = exact(allowed)
    if figure.exact is not None:
        return Verdict.KEPT if figure.exact <= goal else Verdict.BROKEN
    if math.isfinite(figure.upper) and max(Fraction(figure.upper), exact(figure.upper)) <= goal:
        return Verdict.KEPT
    if math.isinf(figure.lower) or min(Fraction(figure.lower), exact(figure.lower)) > goal:
        return Verdict.BROKEN
    return Verdict.UNDECIDED


def _part(mechanism: Figures, symbol: str, figure: Figure, allowed: float, verdict: Verdict) -> Part:
    """With the probabilities of the event that breaks the claim."""
    if verdict is not Verdict.BROKEN or not figure.outcomes or symbol.startswith("D_"):
        return Part(symbol, figure, allowed, verdict)
    table = mechanism.table
    columns = [table.outcomes.index(outcome) for outcome in figure.outcomes]
    p, q = (math.fsum(table.values[table.place(name), columns].tolist()) for name in figure.pair)
    return Part(symbol, figure, allowed, verdict, (p, q))


def _each(mechanism: Figures, promise: Promise) -> Iterator[Part]:
    """Any other flavor, by the losses of all pairs: what the flavor itself means by keeping a promise."""
    table = mechanism.table
    for first, second in mechanism.neighbors.tolist():
        pair: tuple[Name, Name] = (table.inputs[first], table.inputs[second])
        try:
            kept = promise.kept_by(mechanism.loss(*pair))
            verdict = Verdict.KEPT if kept else Verdict.BROKEN
        except Undecided:
            verdict = Verdict.UNDECIDED
        found = Interval(0.0, 1.0) if verdict is Verdict.KEPT else Interval(1.0, math.inf)
        if verdict is not Verdict.KEPT:
            yield Part("used", Figure(found, pair), 1.0, verdict)
