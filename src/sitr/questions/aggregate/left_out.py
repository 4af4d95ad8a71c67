"""What caps and bounds left out of an answer: shares of people, with intervals, from noisy numbers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sitr.mechanisms.additive import Noise
from sitr.numbers import Number, exact
from sitr.questions.aggregate.bias import Amount, Why
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.term import Term


@dataclass(frozen=True, slots=True)
class LeftOut:
    """For each row of the answer, the share of people from whom something was left out; of rows, if these are units."""

    why: Why
    of: str
    """The expression whose values were clamped; empty for rows."""
    shares: tuple[Amount, ...]


def left_out(
    release: Release, *, confidence: Number = Fraction(95, 100), rows: Sequence[int] | None = None
) -> list[LeftOut]:
    """What was measured about rows and values that were left out, for all rows of the answer or some of them.

    Each share lies in its interval with probability `confidence`: both numbers of the quotient lie in theirs, each with
    half of the remaining probability of failure.
    """
    watch = release.plan.query.watch
    if watch is None:
        return []
    measured = [*([(Why.ROWS, "", watch.cut)] if watch.cut is not None else [])]
    measured += [(Why.BOUNDS, of, term) for of, term in watch.clamped]
    everybody = list(_estimates(release, watch.everybody, confidence, rows))
    return [
        LeftOut(why, of, tuple(map(_share, _estimates(release, term, confidence, rows), everybody)))
        for why, of, term in measured
    ]


def beyond_groups(release: Release, *, confidence: Number = Fraction(95, 100)) -> Amount | None:
    """The number of people who had rows in more groups than the cap; None if it was not measured."""
    measured = release.plan.beyond
    if measured is None or release.beyond is None:
        return None
    assert isinstance(measured.mechanism, Noise)
    width = measured.mechanism.error(confidence=confidence)
    return _between(Fraction(release.beyond), Fraction(width))


def _estimates(release: Release, term: Term, confidence: Number, rows: Sequence[int] | None) -> Iterator[Amount]:
    place = release.plan.query.terms.index(term)
    noisy = release.plan.noisy[place]
    sure = 1 - (1 - exact(confidence)) / 2
    widths = {draws: noisy.width(sure, draws=draws) for draws in {1, release.plan.other_draws}}
    for cell in release.places if rows is None else [release.places[row] for row in rows]:
        yield _between(Fraction(release.measured[cell][place]), widths[release.draws(cell)])


def _between(value: Fraction, width: Fraction) -> Amount:
    """A number of people, which is never negative."""
    return Amount(max(value, Fraction(0)), max(value - width, Fraction(0)), max(value + width, Fraction(0)))


def _share(part: Amount, whole: Amount) -> Amount:
    """A quotient between 0 and 1; everything is possible where there may be nobody."""
    value = min(part.value / whole.value, Fraction(1)) if whole.value > 0 else Fraction(0)
    low = min(part.low / whole.high, Fraction(1)) if whole.high > 0 else Fraction(0)
    high = min(part.high / whole.low, Fraction(1)) if whole.low > 0 else Fraction(1)
    return Amount(min(max(value, low), high), low, high)
