"""What caps and bounds left out of an answer, in words."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sitr.mechanisms.additive import Noise
from sitr.numbers import exact
from sitr.questions.aggregate.bias import Amount, Why, clamped_in
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.in_total import is_total
from sitr.questions.aggregate.left_out import beyond_groups, left_out, rows_left_out
from sitr.questions.aggregate.plan import AggregatePlan, Shown
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.term import Term
from sitr.report.figures import CONFIDENCE, at_most
from sitr.report.words.words import Words

NOTABLE = Fraction(1, 50)
"""A share of people above which the report says in words that something was left out of a group."""

WORST = 3
"""The number of groups that are named so."""


def notes_of(release: Release, words: Words) -> tuple[str, ...]:
    """Why a number that was released is impossible as a count. This reads noisy numbers only, so it costs nothing."""
    counts = [column for column in release.plan.columns if _is_count(column)]
    negative = any(value is not None and value < 0 for column in counts for value in release.values(column))
    notes = [words.aggregate.negative(release.plan)] if negative else []
    if any(column.aggregate.ranked for column in release.plan.columns):
        intervals = (release.estimates(column, confidence=CONFIDENCE) for column in counts)
        if any(isinstance(one.low, Fraction) and one.low <= 0 for found in intervals for one in found):
            notes.append(words.ranks.empty())
    return (*notes, *left_out_notes(release, words))


def left_out_notes(release: Release, words: Words) -> tuple[str, ...]:
    """What caps and bounds left out, as far as it was measured and is more than noise."""
    notes = []
    people = beyond_groups(release)
    if people is not None and _certain(people):
        notes.append(words.aggregate.beyond(people, release.plan.query))
    rows = rows_left_out(release)
    if rows is not None:
        notes.append(words.aggregate.rows_lost(rows, second_cap(release.plan), release.plan.query))
    return (*notes, *_cut(release, words))


def bias_of(plan: AggregatePlan, people: Amount | None, words: Words) -> str:
    """What is known about the bias, in a sentence or two."""
    more = "" if people is None or _certain(people) else f" {words.aggregate.beyond(people, plan.query)}"
    return words.aggregate.bias(plan.query, total=_in_total(plan)) + more


def bias_before(plan: AggregatePlan, words: Words) -> str:
    """What will be known about the bias, in a sentence or two."""
    said = words.aggregate.bias(plan.query, total=_in_total(plan))
    if plan.lost is None or not isinstance(plan.lost.mechanism, Noise):
        return said
    error = at_most(exact(plan.lost.mechanism.error(confidence=CONFIDENCE)))
    return f"{said} {words.aggregate.rows_lost_error(error)}"


def _certain(people: Amount) -> bool:
    """Whether somebody certainly had rows in more groups than the cap; this is said beside the answer."""
    return people.low > 0


def _is_count(column: Shown) -> bool:
    return isinstance(column.aggregate.aggregate, Count)


def _cut(release: Release, words: Words) -> Iterator[str]:
    """The groups from which most was left out, as far as that is more than the noise: all intervals hold together."""
    counts = any(column.aggregate.terms == (Term(),) for column in release.plan.columns if _is_count(column))
    for each in left_out(release, confidence=CONFIDENCE, together=max(1, len(release.rows))):
        worst = sorted(zip(release.rows, each.shares, strict=True), key=lambda pair: -pair[1].low)
        for key, share in worst[: 1 if each.total else WORST]:
            if share.low >= NOTABLE:
                shown, query = None if each.total else key, release.plan.query
                if each.why is Why.ROWS:
                    yield words.aggregate.cut(shown, share, query, counts=counts)
                else:
                    moved, ranked = _clamped(each.of, release.plan)
                    yield words.aggregate.clamped(shown, share, each.of, query, moved=moved, ranked=ranked)


def _clamped(of: str, plan: AggregatePlan) -> tuple[list[str], list[str]]:
    """The columns for which values of this expression are clamped: those that this moves, and quantiles of it."""
    found: tuple[list[str], list[str]] = ([], [])
    for column in plan.columns:
        inside = filter(None, map(clamped_in, column.aggregate.terms))
        if any(each.text == of for each in inside):
            found[column.aggregate.ranked].append(column.name)
    return found


def second_cap(plan: AggregatePlan) -> int:
    """Up to how many rows of each unit those that are left out are counted."""
    watch = plan.query.watch
    return 0 if watch is None or watch.rows is None else watch.rows.rows


def _in_total(plan: AggregatePlan) -> bool:
    return any(map(is_total, plan.measurements))
