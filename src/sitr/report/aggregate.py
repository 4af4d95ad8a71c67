"""Answers to aggregate questions: the rows with their errors, and everything needed to verify them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction
from typing import Any, cast

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Key
from sitr.flavors.arrows import Kept
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.receipt import Receipt
from sitr.mechanisms.additive import Noise
from sitr.neighbors.unit import Person
from sitr.numbers import exact
from sitr.questions.aggregate.fit import AggregatePlan, NoisyTerm, Shown
from sitr.questions.aggregate.functions.count import Count
from sitr.questions.aggregate.functions.function import End, Estimate
from sitr.questions.aggregate.release import Release
from sitr.report.chart.aggregate import chart
from sitr.report.envelope import promise_dict
from sitr.report.figures import CONFIDENCE, AllDigits, Figures, Rounded, about, at_most, limit, visible
from sitr.report.headline import Headline
from sitr.report.level import Level
from sitr.report.paper import Card, Column, Facts, Paper, Role, Section, Table, answered, previewed
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import Words, in_words

KIND = "answer"

ROWS = 1_000
"""The number of rows for which reports give an error that depends on it."""

BRIEF = 16
"""The number of bars of a chart that fits on a printed page."""

_BLOCK = 200
"""The number of rows that are written at a time."""


def answer(release: Release, receipt: Receipt, *, words: Words | None = None) -> Paper:
    """The paper of an answer. Its JSON is the envelope, and

    ================  ==================================================================================================
    protected         `unit` ("person" or "row"), `column`, `relation`
    caps              `max_groups`, `max_rows_per_group` of one unit
    keys              `columns`, `known`, and for unknown keys the `threshold`: `least`, `noise`, `promise`
    columns           `name`, `aggregate`, the largest `error` at `confidence`, rounded up, or null if it has no limit;
                      `error_at`, the largest `error` where the noisy count is at least `rows`, or null if the count
                      does not matter; and what is `measured` for it: for each measurement its `name`, `noise`,
                      `sensitivity` (`l1`, `l2_squared`, `largest`, in granules), `granularity` and `clamp` (`low`,
                      `high`) or null; a measurement of two columns is paid once
    selection         null, or if noisy numbers selected or sorted the rows, the number of measured `cells`: all
                      intervals of all of them hold together
    rows              `key` (null is NULL) and for each column `value` (null is NULL), `low`, `high` (null is no limit)
    words             the sentences of the page
    ================  ==================================================================================================

    A noise has a `mechanism`, a `parameter` ("scale" or "sigma"), its `sensitivity`, both in granules, and its
    `promise`. Fractions have an `exact` text and the nearest `float`.
    """
    words = in_words(words)
    plan, say = release.plan, words.aggregate
    rows, error = release.rows, _error_sentence(plan, words, cells=len(release.keys))
    digits = words.digits() if rows and any(_rounded(column, release) for column in plan.columns) else ""
    empty = "" if rows else say.none_left(len(release.keys)) if release.keys else say.empty(plan)
    return answered(
        KIND,
        plan,
        receipt,
        plan.query,
        words=words,
        own=(("outright", say.exposure(plan)), ("error", error), *((("digits", digits),) if digits else ())),
        content=lambda found: _content(plan, found, cells=len(release.keys)) | {"rows": _rows(release)},
        sections=lambda found: _sections(plan, found, words),
        title="Privacy certificate",
        card=(
            ("released", say.released(release)),
            ("noise", say.error_of([(column.name, _largest(column, release, words)) for column in plan.columns])),
        ),
        value=empty,
        table=_answers(release, words) if rows else None,
        picture=lambda: chart(release, words=words),
        brief=lambda: chart(release, words=words, most=max(3, BRIEF // len(plan.columns))),
        notes=tuple(filter(None, (error, digits))),
        caps=say.contribution(plan.query),
    )


def preview(plan: AggregatePlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview: its columns instead of the rows."""
    words = in_words(words)
    say = words.aggregate
    own: Facts = (
        ("keys", say.shown_keys(plan)),
        ("caps", say.contribution(plan.query)),
        ("outright", say.exposure(plan)),
        ("error", _error_sentence(plan, words, cells=plan.query.cells)),
    )
    table = _columns(plan, words)
    return previewed(
        KIND,
        plan,
        standing,
        plan.query,
        words=words,
        own=own,
        content=lambda found: _content(plan, found),
        table=table,
    )


def _answers(release: Release, words: Words) -> Table:
    plan = release.plan
    heading, names = words.label("95% interval"), [column.name for column in plan.columns]
    pairs = (
        (Column(name, Role.NUMBER), Column(heading, Role.INTERVAL, of=words.interval_of(name), terminal=False))
        for name in names
    )
    keys = (Column(key.name, Role.KEY) for key in plan.query.keys)
    return Table(
        (*keys, *(column for pair in pairs for column in pair)),
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
        for key, *row in zip(keys, *cells, strict=True):
            yield (*map(words.aggregate.key, key), *(text for cell in row for text in cell))


def _cells(column: Shown, shown: Sequence[Estimate], words: Words) -> Iterator[tuple[str, str]]:
    """Each number with its error, and its interval."""
    each = iter(Figures.each([one for one in shown if _limited(one)], step=column.aggregate.step))
    for one in shown:
        if not _limited(one):
            value = words.aggregate.key(None) if one.value is None else f"{about(one.value)} ± ∞"
            yield value, words.interval(limit(one.low, math.floor), limit(one.high, math.ceil))
            continue
        figures = next(each)
        (text, interval), (exact, ends) = (
            (f"{form.value(one)} ± {form.error(one.error)}", words.interval(form.low(one), form.high(one)))
            for form in (figures, AllDigits())
        )
        yield Rounded(text, exact=exact), Rounded(interval, exact=ends)


def _limited(one: Estimate) -> bool:
    """Whether there is a number with an interval that has two ends."""
    return one.value is not None and one.bounded


def _notes(release: Release, words: Words) -> tuple[str, ...]:
    """Why a number that was released is impossible as a count. This reads noisy numbers only, so it costs nothing."""
    counts = [column for column in release.plan.columns if isinstance(column.aggregate.aggregate, Count)]
    negative = any(value is not None and value < 0 for column in counts for value in release.values(column))
    return (words.aggregate.negative(release.plan),) if negative else ()


def _columns(plan: AggregatePlan, words: Words) -> Table:
    headings = (
        Column(words.label("column"), Role.KEY),
        Column(words.label("what")),
        Column(words.label("noise")),
        Column(words.aggregate.moved(plan.query), Role.NUMBER),
        Column(words.label("95% error"), Role.NUMBER),
    )
    rows = [
        (
            column.name,
            column.sql,
            "; ".join(words.noise(each.noise, granularity=each.granularity) for each in column.measured),
            "; ".join(about(each.distance.largest * each.granularity) for each in column.measured),
            _error(column, plan, words),
        )
        for column in plan.columns
    ]
    return Table(headings, lambda: rows, len(rows))


def _sections(plan: AggregatePlan, headline: Headline, words: Words) -> tuple[Section, ...]:
    say, query = words.aggregate, plan.query
    moments = isinstance(plan.price, ZeroConcentratedDP)
    tail = words.notation(cast("Kept", headline.promise)) if moments else at_most(plan.finite_tail())
    sizes = [(each.term.name, f"{each.noise.symbol} = {each.noise.size}") for each in plan.noisy]
    return (
        Section(
            "How the promise could fail",
            level=Level.PROMISE,
            cards=(
                Card(words.label("Exposed outright"), at_most(plan.infinite_mass()), say.exposure(plan)),
                Card(words.label("The finite tail"), tail, say.tail(plan)),
            ),
        ),
        Section(
            "How each number was made",
            cards=tuple(Card(column.name, facts=_made(column, plan, words)) for column in plan.columns),
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


def _made(column: Shown, plan: AggregatePlan, words: Words) -> Facts:
    measured = [fact for each in column.measured for fact in _measured(each, column, plan, words)]
    return (("computed", visible(column.sql)), *measured, ("95% error", _error(column, plan, words)))


def _measured(each: NoisyTerm, column: Shown, plan: AggregatePlan, words: Words) -> Facts:
    clamp, say = each.term.quantised, words.aggregate
    ends = [about(end * each.granularity) for end in (clamp.lower, clamp.upper)] if clamp else []
    return (
        *((("measured", visible(each.term.name)),) if each.term.name != column.sql else ()),
        *((("clamped to", words.interval(*ends)),) if ends else ()),
        ("granule", about(each.granularity)),
        ("noise", say.in_granules(words.noise(each.noise))),
        ("sensitivity", say.sensitivity(each.distance, plan.query)),
    )


def _error(column: Shown, plan: AggregatePlan, words: Words) -> str:
    """The largest error of a column, before any row is read; of a stated number of rows, where it depends on that."""
    sure = plan.together(CONFIDENCE, cells=plan.query.cells or 1)
    if not column.depends_on_rows:
        return _plus_minus(column.width(sure), column)
    found = column.width(sure, rows=ROWS)
    if isinstance(found, float) or found == column.width(sure):
        return words.aggregate.unlimited()
    return words.aggregate.at_rows(_plus_minus(found, column), ROWS)


def _largest(column: Shown, release: Release, words: Words) -> str:
    """The largest error of a column in an answer."""
    errors = [one.error for one in release.estimates(column, confidence=CONFIDENCE)]
    if not errors:
        return _error(column, release.plan, words)
    return _plus_minus(max(errors), column)


def _plus_minus(width: End, column: Shown) -> str:
    if isinstance(width, float):
        return "± ∞"
    figures = Figures.fitting(width, step=column.aggregate.step)
    return Rounded(f"± {figures.error(width)}", exact=f"± {AllDigits().error(width)}")


def _error_sentence(plan: AggregatePlan, words: Words, *, cells: int | None) -> str:
    return words.aggregate.together(cells) if plan.query.after.by_noise else words.aggregate.error()


def _rounded(column: Shown, release: Release) -> bool:
    step, shown = column.aggregate.step, release.estimates(column, confidence=CONFIDENCE)
    each = Figures.each([one for one in shown if _limited(one)], step=step)
    return any(figures.rounds(step) for figures in each)


def _content(plan: AggregatePlan, headline: Headline, *, cells: int | None = None) -> dict[str, Any]:
    query, words, say = plan.query, ENGLISH, ENGLISH.aggregate
    return {
        "protected": {
            "unit": "person" if isinstance(query.unit, Person) else "row",
            "column": query.unit.column if isinstance(query.unit, Person) else None,
            "relation": query.relation.value,
        },
        "caps": {"max_groups": query.max_groups, "max_rows_per_group": query.max_rows_per_group},
        "keys": {
            "columns": [key.name for key in query.keys],
            "known": query.known,
            "threshold": plan.threshold
            and {
                "least": plan.threshold.least,
                "noise": _noise(plan.threshold.noise),
                "promise": promise_dict(plan.threshold.promise()),
            },
        },
        "columns": [_column(column, plan) for column in plan.columns],
        "selection": {"cells": plan.query.cells if cells is None else cells} if query.after.by_noise else None,
        "words": {
            "meaning": words.meaning(headline, query),
            "odds": words.odds(headline, query),
            "reading": words.reading(headline),
            "protected": words.protected(query),
            "contribution": say.contribution(query),
            "error": _error_sentence(plan, words, cells=plan.query.cells if cells is None else cells),
            "exposure": say.exposure(plan),
            "tail": say.tail(plan),
            "keys": say.shown_keys(plan),
            "public": list(say.public(query)),
            "checks": list(say.checks(plan, headline)),
        },
    }


def _column(column: Shown, plan: AggregatePlan) -> dict[str, Any]:
    sure = plan.together(CONFIDENCE, cells=plan.query.cells or 1)
    at = {"rows": ROWS, "error": _bounded(column.error(confidence=sure, rows=ROWS))}
    return {
        "name": column.name,
        "aggregate": column.sql,
        "measured": [_measurement(each) for each in column.measured],
        "error": _bounded(column.error(confidence=sure)),
        "error_at": at if column.depends_on_rows else None,
        "confidence": float(CONFIDENCE),
    }


def _measurement(each: NoisyTerm) -> dict[str, Any]:
    quantised = each.term.quantised
    return {
        "name": each.term.name,
        "noise": _noise(each.noise),
        "sensitivity": {
            "l1": each.distance.l1,
            "l2_squared": each.distance.l2_squared,
            "largest": each.distance.largest,
        },
        "granularity": _fraction(each.granularity),
        "clamp": quantised
        and {
            "low": _number(quantised.lower * quantised.granularity),
            "high": _number(quantised.upper * quantised.granularity),
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
    return [
        {
            "key": [_key(part) for part in key],
            "values": [
                {"value": _number(one.value), "low": _number(one.low), "high": _number(one.high)} for one in row
            ],
        }
        for key, *row in zip(release.rows, *columns, strict=True)
    ]


def _key(part: Key) -> str | int | bool | None:
    return part.isoformat() if isinstance(part, date) else part


def _fraction(value: Fraction) -> dict[str, Any]:
    return {"exact": str(value), "float": float(value)}


def _bounded(error: float) -> float | None:
    return error if math.isfinite(error) else None


def _number(value: End | None) -> int | float | None:
    if value is None or isinstance(value, float):
        return None
    return value.numerator if value.denominator == 1 else float(value)
