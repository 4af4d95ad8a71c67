"""Answers to aggregate questions: the rows with their errors, and everything needed to verify them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Key, Kind
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.receipt import Receipt
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.partition import PartitionSelection
from sitr.namespace import Later
from sitr.neighbors.unit import Person, Unit
from sitr.numbers import exact
from sitr.plans.plan import Measurement
from sitr.questions.aggregate.bias import Amount, Why, clamped_in
from sitr.questions.aggregate.clamping import Clamping, clampings
from sitr.questions.aggregate.expressions.typed import TEMPORAL, calendar
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.function import End, Estimate
from sitr.questions.aggregate.in_total import is_total
from sitr.questions.aggregate.left_out import LeftOut, beyond_groups, left_out, rows_left_out
from sitr.questions.aggregate.other import Rest
from sitr.questions.aggregate.plan import AggregatePlan, NoisyTerm, Shown
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.split import Targets, Weights
from sitr.questions.aggregate.targeted import met
from sitr.questions.aggregate.term import Term
from sitr.report.envelope import promise_dict
from sitr.report.figures import (
    CONFIDENCE,
    AllDigits,
    DateFigures,
    Figures,
    Rounded,
    about,
    at_most,
    limit,
    percent,
    step,
    visible,
)
from sitr.report.forms import forms
from sitr.report.headline import Headline, headline
from sitr.report.level import Level
from sitr.report.paper import Card, Facts, Paper, PaperColumn, PaperTable, Role, Section, answered, previewed
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.measured import ends
from sitr.report.words.words import Words, in_words

if TYPE_CHECKING:
    from sitr.report.chart import aggregate as drawing
else:  # a preview draws nothing
    drawing = Later("sitr.report.chart.aggregate")

KIND = "answer"

ROWS = 1_000
"""The number of rows for which reports give an error that depends on it."""

BRIEF = 16
"""The number of bars of a chart that fits on a printed page."""

NOTABLE = Fraction(1, 50)
"""A share of people above which the report says in words that something was left out of a group."""

WORST = 3
"""The number of groups that are named so."""

_BLOCK = 200
"""The number of rows that are written at a time."""


def answer(release: Release, receipt: Receipt, *, words: Words | None = None, found: Headline | None = None) -> Paper:
    """The paper of an answer. Its JSON is the envelope, and

    ================  ==================================================================================================
    protected         `unit` ("person" or "row"), `column`, `relation`
    caps              `max_groups`, `max_rows_per_group` of one unit, and `max_rows` in all or null
    keys              `columns`, `known`, those that are `selected` by their number of people, whether there is a row
                      for all `other` keys, and for unknown keys the `threshold`: `least`, `noise` (null for the
                      optimal selection, which has neither), the number of `people` with which a key is shown at
                      `confidence`, `promise`
    columns           `name`, `aggregate`, the largest `error` at `confidence`, rounded up, or null if it has no limit,
                      what it is in (`error_in`: "value" or "ranks"), and what is known of the `bias`, which it does not
                      include ("none", "measured" or "not measured"); `error_at`, the largest `error` where the
                      noisy count is at least `rows`, or null if the count does not matter; and what is `measured` for
                      it: for each measurement its `name`, `noise`, `sensitivity` (`l1`, `l2_squared`, `largest`, in
                      granules), `granularity` and `clamp` (`low`, `high`) or null; a measurement of two columns is paid
                      once. A quantile has no noise and no sensitivity, but a `choice`: `rate`, `level`, `offset`,
                      `rows` and `groups` of one unit, its `total` of rows or null, and its `promise`
    shares            null, or how the question divides its price: the share of each column (`weights`), or `targets`:
                      `name`, `target`, `error` and whether it is `met`, for groups of `rows` rows
    selection         null, or if noisy numbers selected or sorted the rows, the number of measured `cells`: all
                      intervals of all of them hold together
    rows              `key` (null is NULL), `other` in a row for all other keys, and for each column `value` (null is
                      NULL), `low`, `high` (null is no limit); dates are text
    bias              whether it is `possible`, the `share` of the price that measures it, and what was `left_out`: for
                      each reason the share of people in each row, in `groups` ("each", or "all" together), and whether
                      it `tells` anything: its interval is not wider than half of all people; `beyond_groups`; and
                      null or the number of `rows` that were left out, `counting_up_to` this many of each unit
    words             the sentences of the page
    ================  ==================================================================================================

    A noise has a `mechanism`, a `parameter` ("scale" or "sigma"), its `sensitivity`, both in granules, and its
    `promise`. Fractions have an `exact` text and the nearest `float`. The headline that was `found` for a batch stands
    for that of one of its answers.
    """
    words, plan = in_words(words), release.plan
    say, found = words.aggregate, found or headline(plan)
    rows, people = release.rows, beyond_groups(release)
    shown = [(column, release.estimates(column, confidence=CONFIDENCE)) for column in plan.columns]
    limited = [(column, [one for one in some if _limited(one)]) for column, some in shown]
    left = left_out(release, rows=())
    rounded = any(_rounded(column, some) for column, some in limited)
    error, bias = _error_sentence(plan, words, cells=len(release.keys)), _bias(plan, people, words)
    digits = words.digits() if rounded else ""
    empty = "" if rows else say.none_left(len(release.keys)) if release.keys else say.empty(plan)
    return answered(
        KIND,
        plan,
        found,
        receipt,
        plan.query,
        words=words,
        own=(
            ("outright", say.exposure(plan)),
            ("error", error),
            ("bias", bias),
            *_split(plan, words),
            *((("digits", digits),) if digits else ()),
        ),
        content=lambda: (
            _content(plan, found, cells=len(release.keys))
            | {"rows": _rows(release), "bias": _bias_content(release, people)}
        ),
        sections=lambda: _sections(plan, found, words, cells=len(release.keys)),
        title="Privacy certificate",
        card=(
            ("released", say.released(release)),
            (
                "noise",
                say.error_of(
                    [(column.name, _largest(column, some, plan, words)) for column, some in shown],
                    unmeasured=plan.query.unmeasured,
                ),
            ),
        ),
        value=empty,
        table=_answers(release, left, words) if rows else None,
        picture=lambda: drawing.chart(release, words=words),
        brief=lambda: drawing.chart(release, words=words, most=max(3, BRIEF // len(plan.columns))),
        notes=tuple(filter(None, (error, bias, digits))),
        caps=say.contribution(plan.query),
    )


def preview(
    plan: AggregatePlan, standing: Filter, *, words: Words | None = None, found: Headline | None = None
) -> Paper:
    """The paper of a preview: its columns instead of the rows.

    Its JSON has no rows and no bias, but `clamping`: for each sum (`column`), `by_row` and `by_person`, each with its
    `sql` and its largest `error`.
    """
    words = in_words(words)
    say, found = words.aggregate, found or headline(plan)
    own: Facts = (
        ("keys", say.shown_keys(plan)),
        ("caps", say.contribution(plan.query)),
        ("outright", say.exposure(plan)),
        ("error", _error_sentence(plan, words, cells=plan.query.cells, before=True)),
        ("bias", _bias_before(plan, words)),
        *(("clamping", say.clamping(each)) for each in clampings(plan)),
        *_split(plan, words),
    )
    table = _columns(plan, words)
    return previewed(
        KIND,
        plan,
        found,
        standing,
        plan.query,
        words=words,
        own=own,
        content=lambda: _content(plan, found) | {"clamping": [_clamping(each) for each in clampings(plan)]},
        table=table,
    )


def errors(plan: AggregatePlan, words: Words) -> Facts:
    """The error of each column, in words."""
    return tuple((_heading(column.name, plan, words), _error(column, plan, words)) for column in plan.columns)


def error_contents(plan: AggregatePlan) -> list[dict[str, Any]]:
    """The error of each column, for machines."""
    return [{"name": column.name, **_error_content(column, plan)} for column in plan.columns]


def _clamping(each: Clamping) -> dict[str, Any]:
    ways = {"by_row": each.rows, "by_person": each.person}
    return {"column": each.column} | {name: {"sql": way.sql, "error": way.error} for name, way in ways.items()}


def _answers(release: Release, left: Sequence[LeftOut], words: Words) -> PaperTable:
    plan = release.plan
    heading, names = words.label("95% interval"), [column.name for column in plan.columns]
    say, query = words.aggregate, plan.query
    pairs = (
        (
            PaperColumn(_heading(name, plan, words), Role.NUMBER),
            PaperColumn(heading, Role.INTERVAL, of=words.interval_of(name), terminal=False),
        )
        for name in names
    )
    keys = (PaperColumn(key.name, Role.KEY) for key in query.keys)
    lost = (
        PaperColumn(say.left_out(each.why, each.of, query, total=each.total), Role.NUMBER, detail=True) for each in left
    )
    return PaperTable(
        (*keys, *(column for pair in pairs for column in pair), *lost),
        lambda: written(release, words),
        len(release.rows),
        notes=lambda: _notes(release, words),
    )


def written(release: Release, words: Words | None = None) -> Iterator[tuple[str, ...]]:
    """The rows as text: the key, part by part, and for each column the number with its error, and its interval.

    They are computed block by block, because most readers see the first rows only.
    """
    words = in_words(words)
    columns, every = release.plan.columns, release.rows
    for first in range(0, len(every), _BLOCK):
        keys = every[first : first + _BLOCK]
        places = range(first, first + len(keys))
        shown = [release.estimates(column, confidence=CONFIDENCE, rows=places) for column in columns]
        cells = [_cells(column, some, words) for column, some in zip(columns, shown, strict=True)]
        lost = [[_percent(share, words) for share in each.shares] for each in left_out(release, rows=places)]
        for key, row, left in zip(
            keys, zip(*cells, strict=True), zip(*lost, strict=True) if lost else _none(keys), strict=True
        ):
            yield (*map(words.aggregate.key, key), *(text for cell in row for text in cell), *left)


def _none(keys: Sequence[object]) -> Iterator[tuple[str, ...]]:
    return (() for _ in keys)


def _percent(share: Amount, words: Words) -> str:
    """A share with its error, or a sentence where the interval is too wide to mean anything."""
    if not share.tells:
        return words.aggregate.too_small()
    return words.numerals(f"{percent(share.value)} ± {percent(share.error)}")


def _cells(column: Shown, shown: Sequence[Estimate], words: Words) -> Iterator[tuple[str, str]]:
    """Each number with its error, and its interval."""
    ranks = column.ranks(confidence=CONFIDENCE)
    said = None if ranks is None else words.ranks.error(ranks)
    exactly = AllDigits() if column.aggregate.kind is None else DateFigures(column.aggregate.kind)
    each = iter(forms(column, [one for one in shown if _limited(one)]))
    for one in shown:
        if not _limited(one):
            value = words.aggregate.key(None) if one.value is None else words.numerals(f"{about(one.value)} ± ∞")
            yield value, words.interval(limit(one.low, math.floor), limit(one.high, math.ceil))
            continue
        figures = next(each)
        (text, interval), (exact, outer) = (
            (f"{form.value(one)} {said or f'± {form.error(one.error)}'}", words.interval(form.low(one), form.high(one)))
            for form in (figures, exactly)
        )
        yield Rounded(words.numerals(text), exact=words.numerals(exact)), Rounded(interval, exact=outer)


def _limited(one: Estimate) -> bool:
    """Whether there is a number with an interval that has two ends."""
    return one.value is not None and one.bounded


def _notes(release: Release, words: Words) -> tuple[str, ...]:
    """Why a number that was released is impossible as a count. This reads noisy numbers only, so it costs nothing."""
    counts = [column for column in release.plan.columns if _is_count(column)]
    negative = any(value is not None and value < 0 for column in counts for value in release.values(column))
    notes = [words.aggregate.negative(release.plan)] if negative else []
    if any(column.aggregate.ranked for column in release.plan.columns):
        intervals = (release.estimates(column, confidence=CONFIDENCE) for column in counts)
        if any(isinstance(one.low, Fraction) and one.low <= 0 for found in intervals for one in found):
            notes.append(words.ranks.empty())
    people = beyond_groups(release)
    if people is not None and _certain(people):
        notes.append(words.aggregate.beyond(people, release.plan.query))
    rows = rows_left_out(release)
    if rows is not None:
        notes.append(words.aggregate.rows_lost(rows, _second_cap(release.plan), release.plan.query))
    return (*notes, *_cut(release, words))


def _certain(people: Amount) -> bool:
    """Whether somebody certainly had rows in more groups than the cap; this is said beside the answer."""
    return people.low > 0


def _is_count(column: Shown) -> bool:
    return isinstance(column.aggregate.aggregate, Count)


def _cut(release: Release, words: Words) -> Iterator[str]:
    """The groups from which most was left out, as far as that is more than the noise: all intervals hold together."""
    sure = 1 - (1 - CONFIDENCE) / max(1, len(release.rows))
    counts = any(column.aggregate.terms == (Term(),) for column in release.plan.columns if _is_count(column))
    for each in left_out(release, confidence=sure):
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


def _bias(plan: AggregatePlan, people: Amount | None, words: Words) -> str:
    """What is known about the bias, in a sentence or two."""
    more = "" if people is None or _certain(people) else f" {words.aggregate.beyond(people, plan.query)}"
    return words.aggregate.bias(plan.query, total=_in_total(plan)) + more


def _bias_before(plan: AggregatePlan, words: Words) -> str:
    """What will be known about the bias, in a sentence or two."""
    said = words.aggregate.bias(plan.query, total=_in_total(plan))
    if plan.lost is None or not isinstance(plan.lost.mechanism, Noise):
        return said
    error = at_most(exact(plan.lost.mechanism.error(confidence=CONFIDENCE)))
    return f"{said} {words.aggregate.rows_lost_error(error)}"


def _second_cap(plan: AggregatePlan) -> int:
    """Up to how many rows of each unit those that are left out are counted."""
    watch = plan.query.watch
    return 0 if watch is None or watch.rows is None else watch.rows.rows


def _heading(name: str, plan: AggregatePlan, words: Words) -> str:
    """The name of a column. If its bias is not measured, this is said wherever its errors are shown."""
    return words.aggregate.unmeasured(name) if plan.query.unmeasured else name


def _in_total(plan: AggregatePlan) -> bool:
    return any(map(is_total, plan.measurements))


def _bias_content(release: Release, people: Amount | None) -> dict[str, Any]:
    watch, rows = release.plan.query.watch, rows_left_out(release)
    return {
        "possible": release.plan.query.leaves_out,
        "share": None if watch is None else float(watch.share),
        "left_out": [
            {
                "why": each.why.value,
                "of": each.of or None,
                "groups": "all" if each.total else "each",
                "shares": [_interval(share) | {"tells": share.tells} for share in each.shares],
            }
            for each in left_out(release)
        ],
        "beyond_groups": people and _interval(people),
        "rows": rows and _interval(rows) | {"counting_up_to": _second_cap(release.plan)},
    }


def _interval(one: Amount) -> dict[str, Any]:
    return {"value": _number(one.value), "low": _number(one.low), "high": _number(one.high)}


def _split(plan: AggregatePlan, words: Words) -> Facts:
    """How the question divides its price, if it says so."""
    match plan.query.split:
        case Weights() as weights:
            return (("shares", words.aggregate.weights(_weighted(plan, weights))),)
        case Targets(rows=rows):
            return (("shares", words.aggregate.targets(met(plan), rows)),)
    return ()


def _weighted(plan: AggregatePlan, weights: Weights) -> list[tuple[str, Fraction]]:
    """The share of each column of what the price has for columns."""
    names = [each.name for each in plan.query.query.aggregates]
    whole = sum(map(weights.of, names), Fraction(len(plan.query.after.hidden)))
    return [(name, weights.of(name) / whole) for name in names]


def _split_content(plan: AggregatePlan) -> dict[str, Any] | None:
    match plan.query.split:
        case Weights() as weights:
            return {"weights": {name: float(share) for name, share in _weighted(plan, weights)}}
        case Targets(rows=rows):
            found = [
                {"name": each.name, "target": float(each.target), "error": float(each.error), "met": each.holds}
                for each in met(plan)
            ]
            return {"targets": found, "rows": rows}
    return None


def _columns(plan: AggregatePlan, words: Words) -> PaperTable:
    headings = (
        PaperColumn(words.label("column"), Role.KEY),
        PaperColumn(words.label("what")),
        PaperColumn(words.label("noise")),
        PaperColumn(words.aggregate.moved(plan.query), Role.NUMBER),
        PaperColumn(words.label("95% error"), Role.NUMBER),
    )
    rows = [
        (
            _heading(column.name, plan, words),
            column.sql,
            words.several(_law(each, words) for each in column.measured),
            words.numerals(words.several(_moved(each, words) for each in column.measured)),
            _error(column, plan, words),
        )
        for column in plan.columns
    ]
    return PaperTable(headings, lambda: rows, len(rows))


def _sections(plan: AggregatePlan, headline: Headline, words: Words, *, cells: int) -> tuple[Section, ...]:
    say, query = words.aggregate, plan.query
    moments = isinstance(plan.price, ZeroConcentratedDP | ApproximateZeroConcentratedDP)
    tail = words.notation(cast("Kept", headline.promise)) if moments else words.numerals(at_most(plan.finite_tail()))
    sizes = [(each.measurement.name, _size(each)) for each in plan.first]
    if plan.beyond is not None:
        sizes.append((say.beyond_groups(query), _exact_size(plan.beyond)))
    if plan.lost is not None:
        sizes.append((say.lost_rows(_second_cap(plan), query), _exact_size(plan.lost)))
    return (
        Section(
            "How the promise could fail",
            level=Level.PROMISE,
            cards=(
                Card(
                    words.label("Exposed outright"), words.numerals(at_most(plan.infinite_mass())), say.exposure(plan)
                ),
                Card(words.label("The finite tail"), tail, say.tail(plan)),
            ),
        ),
        Section(
            "How each number was made",
            cards=tuple(Card(column.name, facts=_made(column, plan, words, cells)) for column in plan.columns),
            notes=(say.shown_keys(plan),),
        ),
        Section("Assumed public knowledge", items=say.public(query), level=Level.DATA),
        Section(
            "How to check this",
            sentences=(say.checking(query),),
            items=say.checks(plan, headline),
            notes=(say.exact_sizes(sizes),),
        ),
    )


def _made(column: Shown, plan: AggregatePlan, words: Words, cells: int) -> Facts:
    measured = [fact for each in column.measured for fact in _measured(each, column, plan, words)]
    return (("computed", visible(column.sql)), *measured, ("95% error", _error(column, plan, words, cells=cells)))


def _measured(each: NoisyTerm, column: Shown, plan: AggregatePlan, words: Words) -> Facts:
    say, choice = words.aggregate, each.choice
    return (
        *((("measured", visible(each.term.name)),) if each.term.name != column.sql else ()),
        *((("clamped to", words.interval(*ends(each.term))),) if each.term.quantised is not None else ()),
        ("granule", words.numerals(step(each.granularity))),
        ("noise", say.in_granules(words.noise(each.noise)) if choice is None else words.ranks.choice(choice)),
        (
            "sensitivity",
            say.sensitivity(each.distance, plan.query)
            if choice is None
            else words.ranks.sensitivity(choice, plan.query),
        ),
    )


def _law(each: NoisyTerm, words: Words) -> str:
    if each.choice is not None:
        return words.ranks.choice(each.choice)
    return words.noise(each.noise, granularity=each.granularity)


def _moved(each: NoisyTerm, words: Words) -> str:
    return words.ranks.moved(each.choice) if each.choice else about(each.distance.largest * each.granularity)


def _size(each: NoisyTerm) -> str:
    return f"λ = {each.choice.rate}" if each.choice else f"{each.noise.symbol} = {each.noise.size}"


def _exact_size(each: Measurement) -> str:
    assert isinstance(each.mechanism, Noise)
    return f"{each.mechanism.symbol} = {each.mechanism.size}"


def _error(column: Shown, plan: AggregatePlan, words: Words, *, cells: int | None = None) -> str:
    """The largest error of a column, before any row is read; where it depends on the number of rows, for how many."""
    sure, draws = plan.sure(CONFIDENCE, cells=cells), plan.other_draws
    if (ranks := column.ranks(confidence=sure)) is not None:
        return words.ranks.error(ranks)
    if not column.depends_on_rows:
        return _plus_minus(column.width(sure, draws=draws), column, words)
    found = column.width(sure, rows=ROWS, draws=draws)
    if isinstance(found, float) or found == column.width(sure, draws=draws):
        return words.aggregate.unlimited()
    return words.aggregate.at_rows(_plus_minus(found, column, words), ROWS)


def _largest(column: Shown, shown: Sequence[Estimate], plan: AggregatePlan, words: Words) -> str:
    """The largest error of a column in an answer."""
    if column.aggregate.ranked or not shown:
        return _error(column, plan, words)
    return _plus_minus(max(one.error for one in shown), column, words)


def _plus_minus(width: End, column: Shown, words: Words) -> str:
    if isinstance(width, float):
        return "± ∞"
    figures = Figures.fitting(width, step=column.aggregate.step)
    short, exact = (words.numerals(f"± {form.error(width)}") for form in (figures, AllDigits()))
    return Rounded(short, exact=exact)


def _error_sentence(plan: AggregatePlan, words: Words, *, cells: int | None, before: bool = False) -> str:
    """What the errors mean: of numbers with noise, of quantiles, or of both; perhaps `before` a release."""
    say, ranked = words.aggregate, [column.aggregate.ranked for column in plan.columns]
    noisy = say.together(cells) if plan.query.after.by_noise else say.error()
    other = say.other_error() if before and plan.other_draws > 1 else ""
    own = () if all(ranked) else (noisy, other)
    return " ".join(filter(None, (*own, words.ranks.meaning() if any(ranked) else "")))


def _rounded(column: Shown, limited: Sequence[Estimate]) -> bool:
    """Whether one of these numbers is shown with fewer digits than it has."""
    return any(isinstance(figures, Figures) and figures.rounds for figures in forms(column, limited))


def _period(unit: Unit) -> dict[str, str] | None:
    """The period that the unit is a part of."""
    period = unit.period if isinstance(unit, Person) else None
    return None if period is None else {"column": period.column, "length": period.length.value, "name": period.name}


def _content(plan: AggregatePlan, headline: Headline, *, cells: int | None = None) -> dict[str, Any]:
    query, words, say = plan.query, ENGLISH, ENGLISH.aggregate
    return {
        "protected": {
            "unit": "person" if isinstance(query.unit, Person) else "row",
            "column": query.unit.column if isinstance(query.unit, Person) else None,
            "relation": query.relation.value,
            "period": _period(query.unit),
        },
        "caps": {
            "max_groups": query.max_groups,
            "max_rows_per_group": query.max_rows_per_group,
            "max_rows": query.max_rows,
        },
        "keys": {
            "columns": [key.name for key in query.keys],
            "known": query.known,
            "selected": [query.keys[place].name for place in query.selected],
            "other": query.other,
            "threshold": plan.threshold
            and {
                **(
                    {"least": None, "noise": None}
                    if isinstance(plan.threshold, PartitionSelection)
                    else {"least": plan.threshold.least, "noise": _noise(plan.threshold.noise)}
                ),
                "people": plan.threshold.error(confidence=CONFIDENCE),
                "promise": promise_dict(plan.threshold.promise()),
            },
        },
        "columns": [_column(column, plan, cells) for column in plan.columns],
        "shares": _split_content(plan),
        "selection": {"cells": plan.query.cells if cells is None else cells} if query.after.by_noise else None,
        "words": {
            "meaning": words.meaning(headline, query),
            "odds": words.odds(headline, query),
            "reading": words.reading(headline),
            "protected": words.protected(query),
            "contribution": say.contribution(query),
            "error": _error_sentence(
                plan, words, cells=plan.query.cells if cells is None else cells, before=cells is None
            ),
            "exposure": say.exposure(plan),
            "tail": say.tail(plan),
            "keys": say.shown_keys(plan),
            "public": list(say.public(query)),
            "checks": list(say.checks(plan, headline)),
        },
    }


def _column(column: Shown, plan: AggregatePlan, cells: int | None) -> dict[str, Any]:
    return {
        "name": column.name,
        "aggregate": column.sql,
        "measured": [_measurement(each) for each in column.measured],
        **_error_content(column, plan, cells=cells),
        "confidence": float(CONFIDENCE),
    }


def _error_content(column: Shown, plan: AggregatePlan, *, cells: int | None = None) -> dict[str, Any]:
    at = {"rows": ROWS, "error": _bounded(plan.expected(column, confidence=CONFIDENCE, rows=ROWS, cells=cells))}
    return {
        "error": _bounded(plan.expected(column, confidence=CONFIDENCE, cells=cells)),
        "error_at": at if column.depends_on_rows else None,
        "error_in": "ranks" if column.aggregate.ranked else "value",
        "bias": "not measured" if plan.query.unmeasured else "measured" if plan.query.leaves_out else "none",
    }


def _measurement(each: NoisyTerm) -> dict[str, Any]:
    term, hidden = each.term, _choice(each.choice) if each.choice is not None else _hidden(each)
    kind = term.of.kind if term.of is not None and term.of.kind in TEMPORAL else None
    clamp = None
    if term.quantised is not None:
        low, high = term.quantised.ends
        clamp = {"low": _value(low, kind), "high": _value(high, kind)}
    return {"name": term.name, **hidden, "granularity": _fraction(each.granularity), "clamp": clamp}


def _hidden(each: NoisyTerm) -> dict[str, Any]:
    far = each.distance
    return {
        "noise": _noise(each.noise),
        "sensitivity": {"l1": far.l1, "l2_squared": far.l2_squared, "largest": far.largest},
    }


def _choice(choice: GroupedQuantile) -> dict[str, Any]:
    return {
        "noise": None,
        "sensitivity": None,
        "choice": {
            "rate": _fraction(exact(choice.rate)),
            "level": _fraction(exact(choice.level)),
            "offset": choice.offset,
            "inward": choice.inward,
            "flip": choice.flip,
            "rows": choice.each,
            "groups": choice.groups,
            "total": choice.total,
            "promise": promise_dict(choice.promise()),
        },
    }


def _noise(noise: Noise) -> dict[str, Any]:
    return {
        "mechanism": noise.law,
        "parameter": noise.parameter,
        **_fraction(noise.size),
        "sensitivity": _fraction(exact(noise.sensitivity)),
        "promise": promise_dict(noise.promise()),
    }


def _rows(release: Release) -> list[dict[str, Any]]:
    columns = [release.estimates(column, confidence=CONFIDENCE) for column in release.plan.columns]
    kinds = [column.aggregate.kind for column in release.plan.columns]
    return [
        {
            "key": [_key(part) for part in key],
            **({"other": True} if Rest.OTHER in key else {}),
            "values": [
                {"value": _value(one.value, kind), "low": _value(one.low, kind), "high": _value(one.high, kind)}
                for one, kind in zip(row, kinds, strict=True)
            ],
        }
        for key, *row in zip(release.rows, *columns, strict=True)
    ]


def _key(part: Key | Rest) -> str | int | bool | None:
    if isinstance(part, Rest):
        return None
    return part.isoformat() if isinstance(part, date) else part


def _fraction(value: Fraction) -> dict[str, Any]:
    return {"exact": str(value), "float": float(value)}


def _value(value: End | None, kind: Kind | None) -> int | float | str | None:
    if kind is None or not isinstance(value, Fraction):
        return _number(value)
    return calendar(value, kind).isoformat()


def _bounded(error: float) -> float | None:
    return error if math.isfinite(error) else None


def _number(value: End | None) -> int | float | None:
    if value is None or isinstance(value, float):
        return None
    return value.numerator if value.denominator == 1 else float(value)
