"""Figures of one pair of rows of fractions: exact numbers, or Arb balls of numbers that are no fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from sitr.audit.exact.table import Row
from sitr.errors import Undecided
from sitr.precision import precision

BITS = 256
MOST_BITS = 1 << 16

Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """A set of outcomes with its probabilities under P and Q."""

    places: Places
    p: Fraction
    q: Fraction


def largest_ratio(p: Row, q: Row) -> tuple[Fraction | None, Places]:
    """max P/Q and the outcomes that attain it; None for infinity, with all outcomes that Q does not have."""
    exposed = tuple(place for place, (a, b) in enumerate(zip(p.numerators, q.numerators, strict=True)) if a and not b)
    if exposed:
        return None, exposed
    ratios = [(Fraction(a, b), place) for place, (a, b) in _both(p, q)]
    best = max(ratio for ratio, _ in ratios)
    scale = Fraction(q.denominator, p.denominator)
    return best * scale, tuple(place for ratio, place in ratios if ratio == best)


def _both(p: Row, q: Row) -> list[tuple[int, tuple[int, int]]]:
    return [(place, (a, b)) for place, (a, b) in enumerate(zip(p.numerators, q.numerators, strict=True)) if a]


def event(p: Row, q: Row, holds: Callable[[int, int], bool]) -> Event:
    """The outcomes for which this holds of the numerators."""
    places = tuple(place for place, (a, b) in _both(p, q) if holds(a, b))
    return Event(
        places,
        Fraction(sum(p.numerators[place] for place in places), p.denominator),
        Fraction(sum(q.numerators[place] for place in places), q.denominator),
    )


def above(p: Row, q: Row, epsilon: Fraction) -> Event:
    """The outcomes with P > e^ε·Q. For ε ≠ 0, e^ε is no fraction, so enough bits always decide."""
    low, high = _bounds(epsilon)
    scale = Fraction(q.denominator, p.denominator)

    def holds(a: int, b: int) -> bool:
        if not b:
            return True
        ratio = Fraction(a, b) * scale
        if epsilon == 0:
            return ratio > 1
        if low < ratio < high:
            return sign(ratio, Fraction(1), epsilon) > 0
        return ratio >= high

    return event(p, q, holds)


def _bounds(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    with precision(128):
        found = arb(_q(epsilon)).exp()
        return _fraction(found.lower()), _fraction(found.upper())


def _fraction(point: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in point.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _q(number: Fraction) -> fmpq:
    return fmpq(number.numerator, number.denominator)


def sign(more: Fraction, times: Fraction, epsilon: Fraction) -> int:
    """The sign of a − e^ε·b, exactly: for b ≠ 0 ≠ ε it is not 0, because e^ε is no fraction.

    >>> sign(Fraction(3), Fraction(1), Fraction(1)), sign(Fraction(1), Fraction(1), Fraction(0))
    (1, 0)
    """
    if epsilon == 0 or times == 0:
        difference = more - times if epsilon == 0 else more
        return (difference > 0) - (difference < 0)
    bits = BITS
    while bits <= MOST_BITS:
        with precision(bits):
            found = arb(_q(more)) - arb(_q(epsilon)).exp() * arb(_q(times))
            if found > 0:
                return 1
            if found < 0:
                return -1
        bits *= 4
    raise Undecided(
        given=f"Two numbers agree to {MOST_BITS} bits, and which of them is larger could not be decided.",
        do="Write the probabilities with fewer digits.",
    )


def hockey_stick(found: Event, epsilon: Fraction) -> arb:
    """P(S) − e^ε·Q(S)."""
    with precision(BITS):
        return arb(_q(found.p)) - arb(_q(epsilon)).exp() * arb(_q(found.q))


def odds_at(p: Row, q: Row, delta: Fraction) -> tuple[Fraction | None, Event]:
    """The least t ≥ 1 with Σ(P − tQ)₊ ≤ δ, exactly, and the event of its polygon; None for infinity."""
    scale = Fraction(q.denominator, p.denominator)
    pairs = _both(p, q)
    exposed = [place for place, (_, b) in pairs if not b]
    ordered = sorted(((Fraction(a, b) * scale, place) for place, (a, b) in pairs if b), reverse=True)
    places = list(exposed)
    top, bottom = sum(p.numerators[place] for place in exposed), 0
    goal = delta * p.denominator
    if top > goal:
        return None, _event(places, p, q)
    for ratio, place in [*ordered, (Fraction(1), -1)]:
        # Up to this ratio the sum is A − tB with what was gathered so far.
        excess = top - goal - max(ratio, Fraction(1)) / scale * bottom
        if excess > 0 or ratio <= 1 or place < 0:
            break
        places.append(place)
        top, bottom = top + p.numerators[place], bottom + q.numerators[place]
    if top - goal - bottom / scale <= 0:
        return Fraction(1), _event(places, p, q)
    return (top - goal) / bottom * scale, _event(places, p, q)


def _event(places: Sequence[int], p: Row, q: Row) -> Event:
    kept = set(places)
    return Event(
        tuple(sorted(kept)),
        Fraction(sum(p.numerators[place] for place in kept), p.denominator),
        Fraction(sum(q.numerators[place] for place in kept), q.denominator),
    )


def quantile_odds(p: Row, q: Row, delta: Fraction) -> tuple[Fraction | None, Places]:
    """The least t ≥ 1 with P(P/Q > t) ≤ δ, exactly, and the outcomes with that ratio; None for infinity."""
    scale = Fraction(q.denominator, p.denominator)
    pairs = _both(p, q)
    exposed = tuple(place for place, (_, b) in pairs if not b)
    mass = Fraction(sum(p.numerators[place] for place in exposed), p.denominator)
    if mass > delta:
        return None, exposed
    ratios: dict[Fraction, list[int]] = {}
    for place, (a, b) in pairs:
        if b:
            ratios.setdefault(Fraction(a, b) * scale, []).append(place)
    for ratio in sorted(ratios, reverse=True):
        mass += Fraction(sum(p.numerators[place] for place in ratios[ratio]), p.denominator)
        if mass > delta or ratio <= 1:
            return max(ratio, Fraction(1)), tuple(ratios[ratio])
    return Fraction(1), ()


def log_moment(p: Row, q: Row, tilt: Fraction) -> arb:
    """ln E[e^{λL}] for λ > 0 without infinite losses."""
    with precision(BITS):
        power, total = arb(_q(tilt)), arb(0)
        for _, (a, b) in _both(p, q):
            mass = arb(a) / p.denominator
            total += mass * ((mass / (arb(b) / q.denominator)).log() * power).exp()
        return total.log()


def mean(p: Row, q: Row) -> arb:
    """E[L] without infinite losses."""
    with precision(BITS):
        total = arb(0)
        for _, (a, b) in _both(p, q):
            mass = arb(a) / p.denominator
            total += mass * (mass / (arb(b) / q.denominator)).log()
        return total
