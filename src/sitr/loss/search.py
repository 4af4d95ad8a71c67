"""One question about a sum of losses, answered with ever finer cells until the proved interval is narrow enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sitr.dataclass import dataclass
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.law import ROUNDING, Law, Laws
from sitr.namespace import Later
from sitr.numbers import Interval

if TYPE_CHECKING:
    from sitr.loss import inversion as _inversion
    from sitr.loss import mesh as _mesh
    from sitr.loss import total as _total
    from sitr.loss.inversion import Tail
    from sitr.loss.mesh import Mesh, Nodes
    from sitr.loss.total import SumOfLaws
else:  # a closed form needs no search
    _inversion, _mesh, _total = Later("sitr.loss.inversion"), Later("sitr.loss.mesh"), Later("sitr.loss.total")

FEW, MANY = 48, 1 << 13
"""The number of cells of a law: at first, and at most. If more are needed, the interval is wider than requested."""

COARSER = 4
"""The second direction starts with cells that are this many times wider."""

ROUNDS = 8
NEGLIGIBLE = 16.0
"""The mass that is cut off at the ends of a law is less than e^{−16} of the answer."""

NOTHING = 1e-305
"""A δ this small is treated as 0."""


class Target(Protocol):
    """A question, and how its answer is read from a tail."""

    def tilt(self, total: SumOfLaws, *, start: float, at_most: float, known: Interval | None = None) -> float:
        """The tilt to use; between two known answers, if the first tilt missed."""

    def log_tail(self, total: SumOfLaws, tilt: float) -> float:
        """Approximately ln of the hockey-stick at the answer."""

    def places(self, mean: float, deviation: float, known: Interval | None) -> tuple[float, float]:
        """The ε between which the answer is searched."""

    def read(self, found: Tail, side: int, within: float) -> float:
        """A bound on the answer from above (1) or from below (−1), within this distance of the best one, as a loss."""

    def error(self, bounds: Interval, scale: float) -> float:
        """How far apart the bounds are, as losses, if ln δ falls by 1 over a length of `scale`."""

    def allowed(self, answer: float, scale: float, relative: float) -> float:
        """How far apart the bounds may be, as losses."""


@dataclass(frozen=True, slots=True)
class EpsilonAt:
    """The least ε ≥ 0 at this δ."""

    delta: float

    def tilt(self, total: SumOfLaws, *, start: float, at_most: float, known: Interval | None = None) -> float:
        if known:
            return _total.tilt_to(total, (known.lower + known.upper) / 2, start=start, at_most=at_most)
        return _total.tilt_for(total, math.log(self.delta), start=start, at_most=at_most)

    def log_tail(self, total: SumOfLaws, tilt: float) -> float:  # noqa: ARG002
        return math.log(self.delta)

    def places(self, mean: float, deviation: float, known: Interval | None) -> tuple[float, float]:
        low, high = mean - 1.2 * deviation, mean + 0.8 * deviation
        return max(0.0, min(low, known.lower) if known else low), max(0.0, max(high, known.upper) if known else high)

    def read(self, found: Tail, side: int, within: float) -> float:
        # δ may have been rounded: the answer holds for every number that prints as it.
        return found.epsilon(self.delta * (1 - side * 4 * ROUNDING), side=side, within=within)

    def error(self, bounds: Interval, scale: float) -> float:  # noqa: ARG002
        return bounds.width

    def allowed(self, answer: float, scale: float, relative: float) -> float:
        return relative * max(answer, scale / 100)


@dataclass(frozen=True, slots=True)
class DeltaAt:
    """The least δ at this ε."""

    epsilon: float

    def tilt(self, total: SumOfLaws, *, start: float, at_most: float, known: Interval | None = None) -> float:  # noqa: ARG002
        return _total.tilt_to(total, self.epsilon, start=start, at_most=at_most)

    def log_tail(self, total: SumOfLaws, tilt: float) -> float:
        return total.cumulants(tilt)[0] - tilt * self.epsilon

    def places(self, mean: float, deviation: float, known: Interval | None) -> tuple[float, float]:  # noqa: ARG002
        return self.epsilon, self.epsilon

    def read(self, found: Tail, side: int, within: float) -> float:  # noqa: ARG002
        return found.delta(self.epsilon, side=side)

    def error(self, bounds: Interval, scale: float) -> float:
        if bounds.upper <= NOTHING:
            return 0.0
        return math.log(bounds.upper / bounds.lower) * scale if bounds.lower > 0.0 else math.inf

    def allowed(self, answer: float, scale: float, relative: float) -> float:  # noqa: ARG002
        return relative * scale


class Hint(NamedTuple):
    """Where and how an answer was found. The other direction is similar; if proved smaller, it does not matter."""

    tilt: float
    log_tail: float
    counts: tuple[int, ...]
    smoothing: float
    finest: float
    log_outside: float
    scale: float
    lower: float = -math.inf


def narrow(question: Target, bounds: Interval, hint: Hint, relative: float) -> bool:
    """Whether an answer is as narrow as requested."""
    return question.error(bounds, hint.scale) <= question.allowed(bounds.upper, hint.scale, relative) * (1 + 1e-6)


def answer(
    laws: Laws, question: Target, *, relative: float, most: float = math.inf, hint: Hint | None = None
) -> tuple[Interval, Hint]:
    """The answer for one direction: a proved interval, as narrow as requested where possible.

    The answer is known to be at most `most`.
    """
    # Gaussian losses need no cells: their transform is known.
    variance = math.fsum(times * law.mu * law.mu for law, times in laws if isinstance(law, GaussianLaw))
    others = [(law, times) for law, times in laws if not isinstance(law, GaussianLaw)]
    cutter = _Cutter(others)
    here = hint or _located(cutter, variance, question, relative)
    bounds, error, reach, known = Interval(0.0, most), math.inf, 1.0, None
    # A few cells often suffice to prove that the other direction is smaller.
    rough = hint is not None and max(here.counts, default=0) > FEW
    for _ in range(ROUNDS):
        counts = tuple(max(16, count // COARSER) for count in here.counts) if rough else here.counts
        over, under = _sides(cutter, variance, here._replace(counts=counts))
        finest = here.smoothing**-0.5 if here.smoothing else math.inf
        # The dominated law never exaggerates its far tail, however wide its cells are.
        guide = over if under.empty else under
        if guide.empty:
            break
        tilt = question.tilt(guide, start=here.tilt, at_most=_steepest(guide, finest), known=known)
        log_tail = min(0.0, question.log_tail(guide, tilt))
        if log_tail < here.log_tail - NEGLIGIBLE / 2:  # too much mass was cut off
            here = here._replace(tilt=tilt, log_tail=log_tail)
            continue
        _, mean, spread = guide.cumulants(tilt)
        deviation = math.sqrt(spread + here.smoothing)
        scale = min(1 / (tilt + 1), deviation)
        within = question.allowed(mean, scale, relative) / 16
        low, high = question.places(mean, reach * max(deviation, 8 * within), known)
        look = partial(
            _inversion.tail, tilt=tilt, low=low, high=high, smoothing=here.smoothing, log_outside=here.log_outside
        )
        upper = question.read(look(over), 1, within)
        # Each round proves an interval of its own, and the truth is in all of them.
        bounds = Interval(bounds.lower, min(bounds.upper, upper))
        if bounds.upper <= here.lower:
            break
        if rough:
            rough = False
            continue
        found = look(under)
        lower = question.read(found, -1, within)
        bounds = Interval(max(bounds.lower, lower), bounds.upper)
        before, error = error, question.error(bounds, scale)
        allowed = question.allowed(bounds.upper, scale, relative)
        here = here._replace(scale=scale)
        if error <= allowed < math.inf or 0.95 * before < error < math.inf:
            break
        # Did the search miss the answer, or are there too few cells, or is there too much smoothing?
        beside = lower == 0.0 or upper == math.inf
        known = bounds if bounds.upper < math.inf else None
        reach *= 3.0 if beside else 1.0
        missing = allowed / error if error < math.inf and not beside else 1 / 4
        sharp = question.read(replace(found, smoothing=0.0), -1, within)
        cells = question.error(Interval(min(sharp, bounds.upper), bounds.upper), scale)
        more = min(8.0, 1.2 / math.sqrt(missing)) if not cells <= 0.5 * allowed < math.inf else 1.0
        here = here._replace(
            tilt=tilt,
            log_tail=log_tail,
            counts=tuple(min(MANY, math.ceil(count * more)) for count in here.counts),
            smoothing=max(here.smoothing * max(1 / 64, missing / 2), here.finest),
            log_outside=here.log_outside - 6.0,
        )
    return bounds, here._replace(lower=bounds.lower)


class _Cutter:
    """Laws and their latest cells, from which the next refinement starts."""

    def __init__(self, laws: Laws) -> None:
        self.laws = [law for law, _ in laws]
        self.times = [times for _, times in laws]
        self.log_times = math.log(sum(self.times)) if laws else 0.0
        self.shapes = _mesh.outlines(self.laws)
        self.meshes: list[Mesh] = []

    def cut(self, here: Hint) -> list[Mesh]:
        """Cut every law into its number of cells; in two steps if many cells are needed and there were none before.

        Cells that end too early are not reused, nor are cells that end much too late: a law has hardly any mass there,
        but the last loss of a wide cell, which dominates it, would get a weight that hides all others.
        """
        ends = _mesh.highest(self.laws, self.shapes, here.log_tail - self.log_times - NEGLIGIBLE)
        old = self.meshes
        if not old or any(not high <= mesh.high <= _farthest(high) for mesh, high in zip(old, ends, strict=True)):
            old = [_mesh.coarse(shape, high=high) for shape, high in zip(self.shapes, ends, strict=True)]
            if max(here.counts, default=0) > 2 * FEW:
                old = self._refined(old, here.tilt, [2 * FEW] * len(old))
        self.meshes = self._refined(old, here.tilt, here.counts)
        return self.meshes

    def _refined(self, meshes: list[Mesh], tilt: float, counts: Sequence[int]) -> list[Mesh]:
        return _mesh.refinements(self.laws, meshes, tilt=tilt, counts=counts)


def _farthest(high: float) -> float:
    """Cells that end before this loss are refined; cells that end later are cut anew."""
    return high + abs(high) + 1e-9


def _sides(cutter: _Cutter, variance: float, here: Hint) -> tuple[SumOfLaws, SumOfLaws]:
    """Sums that bound the truth from above and from below."""
    meshes = cutter.cut(here)
    # μ may be a rounded square root.
    return (
        _sum(_mesh.above, meshes, cutter, variance * (1 + 16 * ROUNDING)),
        _sum(_mesh.below, meshes, cutter, variance * (1 - 16 * ROUNDING)),
    )


def _located(cutter: _Cutter, variance: float, question: Target, relative: float) -> Hint:
    """Where to look, and how many cells to use, estimated from a few cells.

    The cells of a law that is added k times miss the truth by about ½k·Σ mass·(variance that splitting adds)/`scale`.
    If n cells share this error evenly, it is C/n², where C is the cube of the sum of `shares`; the total number of
    cells is least for n ∝ (kC)^{1/3}.
    """
    here = Hint(1.0, -60.0, (FEW,) * len(cutter.laws), 0.0, 0.0, math.log(relative) - 8.0, math.inf)
    for _ in range(ROUNDS):
        meshes = cutter.cut(here)
        total = _sum(_mesh.below, meshes, cutter, variance)
        total = _sum(_mesh.above, meshes, cutter, variance) if total.empty else total
        if total.empty:  # no float can represent these losses
            return here
        _, mean, spread = total.cumulants(here.tilt)
        finest = max(relative * max(mean, math.sqrt(spread) / 100), total.off)
        tilt = question.tilt(total, start=here.tilt, at_most=_steepest(total, 4 / finest))
        near = 0.8 < tilt / here.tilt < 1.25
        here = here._replace(tilt=tilt, log_tail=min(0.0, question.log_tail(total, tilt)))
        if near:
            break
    _, mean, spread = total.cumulants(tilt)
    # Nothing finer than the errors of the losses themselves can be resolved.
    scale = min(1 / (tilt + 1), math.sqrt(spread) + total.off)
    wanted = question.allowed(mean, scale, relative)
    allowed, finest = max(wanted, total.off), max(wanted / 64, total.off / 4) ** 2
    # A variance above 1 would be a bad kernel: its mean is half of its variance.
    smoothing = min(1.0, max(0.3 * allowed * scale, finest))
    if variance > smoothing:
        smoothing = finest = 0.0
    sizes = [
        float(times) ** (1 / 3) * float(mesh.shares(tilt).sum())
        for mesh, times in zip(meshes, cutter.times, strict=True)
    ]
    enough = 1.5 * math.sqrt(sum(sizes) / (allowed * scale))
    counts = tuple(min(MANY, max(16, math.ceil(size * enough))) for size in sizes)
    return here._replace(counts=counts, smoothing=smoothing, finest=finest, scale=scale)


def _sum(side: Callable[[Mesh, Law], Nodes], meshes: list[Mesh], cutter: _Cutter, variance: float) -> SumOfLaws:
    nodes = map(side, meshes, cutter.laws)
    return _total.SumOfLaws(list(zip(nodes, cutter.times, strict=True)), variance)


def _steepest(total: SumOfLaws, at_most: float) -> float:
    """The largest useful tilt: beyond it nothing is resolved, or a comb has no losses."""
    if total.variance > 0.0:
        return math.inf
    return min(at_most, 40 / total.comb.pitch) if total.comb else at_most
