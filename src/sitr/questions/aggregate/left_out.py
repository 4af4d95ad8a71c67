"""What caps and bounds left out of an answer: shares of people, with intervals, from noisy numbers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.summed import Summand, least_width
from sitr.numbers import Number, exact
from sitr.questions.aggregate.bias import Amount, Watch, Why
from sitr.questions.aggregate.in_total import is_total
from sitr.questions.aggregate.plan import NoisyTerm
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.term import Term


@dataclass(frozen=True, slots=True)
class LeftOut:
    """For each row of the answer, the share of people from whom something was left out; of rows, if these are units."""

    why: Why
    of: str
    """The expression whose values were clamped; empty for rows."""
    shares: tuple[Amount, ...]
    total: bool = False
    """Whether the share is that of all groups together, and so the same in every row."""


def left_out(
    release: Release, *, confidence: Number = Fraction(95, 100), rows: Sequence[int] | None = None, together: int = 1
) -> list[LeftOut]:
    """What was measured about rows and values that were left out, for all rows of the answer or some of them.

    Each share lies in its interval with probability `confidence`: both numbers of the quotient lie in theirs, each with
    half of the remaining probability of failure. With `together`, this many shares do at once. All cells do if a noisy
    number that is in the shares may have chosen the rows: the largest of many noisy numbers of people is mostly too
    large.
    """
    confidence = 1 - (1 - exact(confidence)) / max(together, _compared(release))
    watch = release.plan.query.watch
    if watch is None:
        return []
    measured = [*([(Why.ROWS, "", watch.cut)] if watch.cut is not None else [])]
    measured += [(Why.BOUNDS, of, term) for of, term in watch.clamped]
    found = []
    for why, of, term in measured:
        total = is_total(_noisy(release, term).measurement)
        whole = _whole(release, term, watch, confidence, total=total)
        if whole is not None:
            many = len(release.places if rows is None else rows)
            found.append(LeftOut(why, of, (whole,) * many, total=True))
        else:
            found.append(LeftOut(why, of, tuple(_shares(release, term, watch, confidence, rows))))
    return found


def _compared(release: Release) -> int:
    """Among how many cells noise of the shares may have chosen the rows of the answer; 1 if it did not."""
    query = release.plan.query
    chosen = query.after.by_noise and query.watch is not None and set(query.watch.terms) & set(query.shown_terms)
    return len(release.keys) if chosen else 1


def _shares(
    release: Release, term: Term, watch: Watch, confidence: Number, rows: Sequence[int] | None
) -> Iterator[Amount]:
    pairs = (_estimates(release, each, confidence, rows) for each in (term, watch.everybody))
    return map(_share, *pairs)


def _whole(release: Release, term: Term, watch: Watch, confidence: Number, *, total: bool) -> Amount | None:
    """The share of all groups together, where it was measured or no group by itself says anything; None elsewhere.

    Noisy numbers of groups add up to noisy numbers of all of them, which costs nothing. Noise decides which of both is
    shown; an interval that is shown and misses misses anyway, so either does so with at most the stated probability.
    """
    if not release.measured or (not total and (len(release.measured) == 1 or not release.plan.query.known)):
        return None
    if not total and any(share.tells for share in _shares(release, term, watch, confidence, None)):
        return None
    level = 1 - (1 - exact(confidence)) / 2
    return _share(*(_sum(release, each, level) for each in (term, watch.everybody)))


def beyond_groups(release: Release, *, confidence: Number = Fraction(95, 100)) -> Amount | None:
    """The number of people who had rows in more groups than the cap; None if it was not measured."""
    measured = release.plan.beyond
    if measured is None or release.beyond is None:
        return None
    assert isinstance(measured.mechanism, Noise)
    width = measured.mechanism.error(confidence=confidence)
    return _between(Fraction(release.beyond), Fraction(width))


def rows_left_out(release: Release, *, confidence: Number = Fraction(95, 100)) -> Amount | None:
    """The number of rows that the caps left out, up to a second cap; None if it was not measured."""
    measured = release.plan.lost
    if measured is None or release.lost is None:
        return None
    assert isinstance(measured.mechanism, Noise)
    return _between(Fraction(release.lost), Fraction(measured.mechanism.error(confidence=confidence)))


def _noisy(release: Release, term: Term) -> NoisyTerm:
    return release.plan.noisy[release.plan.query.terms.index(term)]


def _sum(release: Release, term: Term, level: Number) -> Amount:
    """A number of all groups together: measured so, or the sum over all cells that were measured."""
    place, noisy = release.plan.query.terms.index(term), _noisy(release, term)
    if is_total(noisy.measurement):
        return _between(Fraction(release.measured[0][place]), noisy.width(level))
    width = least_width((Summand(noisy.noise, len(release.measured)),), confidence=level)
    return _between(Fraction(sum(row[place] for row in release.measured)), exact(width))


def _estimates(release: Release, term: Term, confidence: Number, rows: Sequence[int] | None) -> Iterator[Amount]:
    place = release.plan.query.terms.index(term)
    noisy, sure = _noisy(release, term), 1 - (1 - exact(confidence)) / 2
    widths = {draws: noisy.width(sure, draws=draws) for draws in {1, release.plan.other_draws}}
    for cell in release.places if rows is None else [release.places[row] for row in rows]:
        yield _between(Fraction(release.measured[cell][place]), widths[release.draws(cell)])


def _between(value: Fraction, width: Fraction) -> Amount:
    """A number of people or rows is never negative. A negative noisy number does not make its interval narrower."""
    shown = max(value, Fraction(0))
    return Amount(shown, max(value - width, Fraction(0)), shown + width)


def _share(part: Amount, whole: Amount) -> Amount:
    """A quotient between 0 and 1; everything is possible where there may be nobody."""
    value = min(part.value / whole.value, Fraction(1)) if whole.value > 0 else Fraction(0)
    low = min(part.low / whole.high, Fraction(1)) if whole.high > 0 else Fraction(0)
    high = min(part.high / whole.low, Fraction(1)) if whole.low > 0 else Fraction(1)
    return Amount(min(max(value, low), high), low, high)
