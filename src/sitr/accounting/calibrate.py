"""The parameter with which a mechanism just keeps a promise, by one bracketing search for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, overload

from sitr.accounting.distance import distance, standing_out
from sitr.errors import InvalidPromise, SitrError
from sitr.flavors.meaning import BROKEN
from sitr.flavors.promise import Promise
from sitr.loss.loss import Loss
from sitr.mechanisms.mechanism import Mechanism
from sitr.numbers import Interval, Number

CLOSE = 1e-3
"""How far the answer may be from the best parameter, relative to it."""

COARSE, FINEST = 0.01, 1e-6
"""The widths of intervals: rough ones guide the search. A case that the finest cannot decide counts as not kept."""

INSIDE = 0.65
"""The assumed place of the truth in an interval: upper bounds are the tighter ones. It only guides the search."""

REACH = 40 * math.log(2)
"""From the start, parameters are tried up to 2⁴⁰ times larger and smaller."""

ROUNDS = 100

ROUNDED = 1e-5
"""The smallest relative step that six digits can represent."""


@overload
def calibrate(
    build: Callable[[float], Mechanism | Loss], target: Promise, *, start: Number = 1.0, whole: Literal[False] = False
) -> float: ...
@overload
def calibrate(
    build: Callable[[int], Mechanism | Loss], target: Promise, *, start: int = 1, whole: Literal[True]
) -> int: ...
def calibrate(
    build: Callable[[int], Mechanism | Loss] | Callable[[float], Mechanism | Loss],
    target: Promise,
    *,
    start: Number = 1,
    whole: bool = False,
) -> float:
    """The largest or least parameter for which the mechanism or loss `build(parameter)` provably keeps the target.

    The loss must rise or fall with the parameter; the search, which begins at `start`, finds out which. The result is
    proved to keep the target, and within a thousandth of the best parameter; with `whole` it is the best whole number
    up to 1000, and beyond within a thousandth of it. A parameter that `build` refuses, such as a rate above 1, counts
    as not kept.

    >>> from sitr import ApproximateDP, Gaussian, Laplace, PureDP, Repeated
    >>> calibrate(lambda scale: Repeated(Laplace(scale=scale), 10), PureDP(0.5))
    20.0...
    >>> calibrate(lambda times: Repeated(Gaussian(sigma=20), times), ApproximateDP(1.0, 1e-6), whole=True)
    22
    """
    fits = isinstance(start, int if whole else Number) and not isinstance(start, bool)
    if not fits or not 0 < start < math.inf:
        raise InvalidPromise(
            wanted=f"a {'whole ' if whole else ''}number above 0 as the start",
            given=f"start={start!r}",
            do="Give a parameter that the mechanism accepts, if possible near the answer.",
        )
    first = int(start) if whole else float(start)
    function = _Excess(build, target)  # type: ignore[arg-type]  # whole numbers are given where they are wanted
    other, sign = _turn(function, first, whole=whole)
    search = _Search(function, whole, sign)
    search.look(first)
    search.look(other)
    for _ in range(ROUNDS):
        if search.done():
            break
        search.look(search.next())
    if search.safe == -math.inf:
        raise search.hopeless()
    return search.parameter(search.safe)


@dataclass(frozen=True, slots=True)
class _Excess:
    """How far parameters are from the target."""

    build: Callable[[float], Mechanism | Loss]
    target: Promise
    known: dict[tuple[float, float], Interval] = field(default_factory=dict)

    def __call__(self, parameter: float, *, relative: float = COARSE) -> Interval:
        asked = parameter, relative
        if asked not in self.known:
            self.known[asked] = distance(self.build(parameter), self.target, relative=relative)
        return self.known[asked]

    def hopeless(self, *parameters: float) -> InvalidPromise:
        """The error names the parts that exceed the target at the parameter where the fewest do."""
        parts = {one: standing_out(self.build(one), self.target) for one in parameters}
        safest = min(parts, key=lambda one: parts[one].count(" and "))
        return InvalidPromise(
            wanted=f"a parameter that keeps {self.target!r}",
            given=f"none: not even {safest:g} keeps it. {parts[safest]}".rstrip(". "),
            do="Choose a weaker target, or change what does not depend on this parameter.",
        )

    def needless(self, parameter: float) -> InvalidPromise:
        return InvalidPromise(
            wanted=f"a parameter that does not keep {self.target!r}",
            given=f"none up to {parameter:g}",
            do="Any parameter will do: choose a useful one, or a stronger target.",
        )


_FACTORS = (0.9, *(2.0**power for n in range(6) for power in (-(2**n), 2**n)))
"""Downward first, where no rate exceeds 1."""


def _turn(function: _Excess, start: float, *, whole: bool) -> tuple[float, int]:
    """Another parameter, and 1 if the loss rises between the two or −1 if it falls."""
    begin, tried = function(start), [start]
    for factor in _FACTORS:
        other = round(start * factor) if whole else start * factor
        if other < 1 and whole:
            continue
        try:
            found = function(other)
        except (SitrError, ValueError):
            continue
        tried.append(other)
        if found.lower > begin.upper or found.upper < begin.lower:
            return other, 1 if (found.lower > begin.upper) == (other > start) else -1
    raise function.needless(tried[-1]) if begin.upper < 0.0 else function.hopeless(start, *tried[-2:])


@dataclass(slots=True)
class _Search:
    """The results so far. Places are logarithms of parameters, or their negatives, so that the loss rises with them."""

    function: _Excess
    whole: bool
    sign: int
    seen: dict[float, Interval] = field(default_factory=dict)
    tried: dict[float, float] = field(default_factory=dict)
    """The exact parameter that was tried at each place: a proof for it does not hold for its neighbours."""
    refused: float = -math.inf
    """A place below all others for which there is no mechanism."""
    relative: float = COARSE
    undecided: float = math.inf
    """The width of the last interval that did not decide."""

    def parameter(self, place: float) -> float:
        """The parameter that was tried there, or else one of six digits, which are enough and easy to read."""
        if place in self.tried:
            return self.tried[place]
        value = math.exp(self.sign * place)
        return max(1, round(value)) if self.whole else float(f"{value:.6g}")

    @property
    def safe(self) -> float:
        """The last place that is proved to keep the target."""
        return max((place for place, found in self.seen.items() if found.upper < 0.0), default=-math.inf)

    @property
    def beyond(self) -> float:
        """The first place that does not."""
        return min((place for place, found in self.seen.items() if found.lower > 0.0), default=math.inf)

    def look(self, parameter: float) -> None:
        """Learn from one more parameter."""
        place = self.sign * math.log(parameter)
        try:
            found = self.function(parameter, relative=self.relative)
        except (SitrError, ValueError):
            if place < min(self.seen):
                self.refused = place
                return
            found = BROKEN
        inside = found.lower <= 0.0 <= found.upper
        # Finer intervals do not help where the last one was hardly narrower than the one before.
        hidden = inside and (self.relative <= FINEST or found.upper == math.inf or found.width > 0.9 * self.undecided)
        self.seen[place], self.tried[place] = BROKEN if hidden else found, parameter
        if inside:
            self.undecided = found.width
        if hidden:
            return
        if inside and self.relative < COARSE:
            self.relative = max(FINEST, self.relative / 2)
        elif inside or abs(found.upper) < COARSE:
            self.relative = min(self.relative, max(FINEST, min(1e-3, self.slope() * self.close(place) / 2)))

    def nearest(self) -> list[tuple[float, float]]:
        """Places with their approximate excess, the nearest to the target first."""
        numbers = [(place, found) for place, found in self.seen.items() if math.isfinite(found.width)]
        numbers.sort(key=lambda item: max(abs(item[1].lower), abs(item[1].upper)))
        return [(place, found.lower + INSIDE * found.width) for place, found in numbers]

    def slope(self) -> float:
        """How steeply the excess rises around the target, from places that are not too close; NaN if unknown."""
        for place, value in (known := self.nearest())[1:]:
            if abs(place - known[0][0]) > 10 * CLOSE:
                return (value - known[0][1]) / (place - known[0][0])
        return math.nan

    def close(self, place: float) -> float:
        """How close to the best the answer must be."""
        return max(CLOSE, 1 / self.parameter(place)) if self.whole else CLOSE

    def done(self) -> bool:
        """Whether the safe place is close enough to one that is not safe, or to the target itself."""
        safe, beyond = self.safe, self.beyond
        if safe == -math.inf:
            return False
        if self.whole and self.parameter(safe) < 1 / CLOSE:
            first = self.sign < 0 and self.parameter(safe) == 1
            return first or (beyond < math.inf and abs(self.parameter(beyond) - self.parameter(safe)) <= 1)
        return beyond - safe <= CLOSE or -self.seen[safe].lower <= self.slope() * CLOSE

    def next(self) -> float:
        """The next parameter: where a line through the known values meets the target, or else where it may be."""
        safe, beyond, lowest, highest = self.safe, self.beyond, min(self.seen), max(self.seen)
        far, guess = max(math.log(2), highest - lowest), self._guess()
        if safe == -math.inf and beyond < math.inf:
            guess = self._below(lowest, far, guess if guess < beyond else math.nan)
        elif beyond == math.inf and safe > -math.inf:
            if far > REACH:
                raise self.function.needless(self.parameter(highest))
            guess = min(guess, highest + 4 * math.log(2)) if guess > safe else highest + far
        elif not safe < guess < beyond:
            guess = (safe + beyond) / 2 if beyond - safe < math.inf else lowest - far
        return self._between(self.parameter(guess))

    def _guess(self) -> float:
        """A place where the whole interval should be below 0, by no more than half of the tolerance."""
        if not (slope := self.slope()) > 0.0:
            return math.nan
        place, value = self.nearest()[0]
        return place - value / slope - min(self.close(place) / 2, max(ROUNDED, 2 * self.seen[place].width / slope))

    def _below(self, lowest: float, far: float, guess: float) -> float:
        """The next place while none is known to be safe."""
        ended = self.whole and self.sign > 0 and self.parameter(lowest) == 1
        if far > REACH or ended or lowest - self.refused <= CLOSE:
            raise self.hopeless()
        if self.refused > -math.inf:
            return (self.refused + lowest) / 2
        return lowest - far if math.isnan(guess) else max(guess, lowest - 8 * math.log(2))

    def hopeless(self) -> InvalidPromise:
        """The error for the safest parameter whose loss is a number."""
        return self.function.hopeless(self.parameter(min([place for place, _ in self.nearest()] or self.seen)))

    def _between(self, parameter: float) -> float:
        """Whole numbers that are decided are not tried again."""
        if not self.whole:
            return parameter
        ends = [
            self.parameter(place) + side * self.sign
            for place, side in ((self.safe, 1), (self.beyond, -1))
            if math.isfinite(place)
        ]
        return min(max(parameter, min(ends)), max(ends)) if len(ends) == 2 else parameter
