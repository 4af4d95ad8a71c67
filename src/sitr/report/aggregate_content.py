"""The JSON of answers to aggregate questions and of their previews."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from typing import Any

from sitr.dataset.schema import Key, Kind
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.grouped_quantile import GroupedQuantile
from sitr.mechanisms.partition import PartitionSelection
from sitr.neighbors.unit import Person, Unit
from sitr.numbers import exact
from sitr.questions.aggregate.bias import Amount
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.clamping import Clamping, clampings
from sitr.questions.aggregate.expressions.typed import TEMPORAL, calendar
from sitr.questions.aggregate.functions.function import End
from sitr.questions.aggregate.left_out import left_out, rows_left_out
from sitr.questions.aggregate.other import Rest
from sitr.questions.aggregate.plan import AggregatePlan, NoisyTerm, Shown
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.split import Targets, Weights
from sitr.questions.aggregate.targeted import met
from sitr.report.aggregate_bias import second_cap
from sitr.report.column_errors import ROWS, error_sentence
from sitr.report.envelope import promise_dict
from sitr.report.figures import CONFIDENCE
from sitr.report.headline import Headline
from sitr.report.words.english.english import ENGLISH


def error_contents(plan: AggregatePlan) -> list[dict[str, Any]]:
    """The error of each column, for machines."""
    return [{"name": column.name, **_error_content(column, plan)} for column in plan.columns]


def caps_content(query: BoundedQuery) -> dict[str, int | None]:
    """What one unit may add, once for all measurements."""
    names = ("max_groups", "max_rows_per_group", "max_rows")
    return {name: getattr(query, name) for name in names}


def content(plan: AggregatePlan, headline: Headline, *, cells: int | None = None) -> dict[str, Any]:
    """What answers and previews have in common."""
    query, words, say = plan.query, ENGLISH, ENGLISH.aggregate
    return {
        "protected": {
            "unit": "person" if isinstance(query.unit, Person) else "row",
            "column": query.unit.column if isinstance(query.unit, Person) else None,
            "relation": query.relation.value,
            "period": _period(query.unit),
        },
        "caps": caps_content(query),
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
            "error": error_sentence(
                plan, words, cells=plan.query.cells if cells is None else cells, before=cells is None
            ),
            "exposure": say.exposure(plan),
            "tail": say.tail(plan),
            "keys": say.shown_keys(plan),
            "public": list(say.public(query)),
            "checks": list(say.checks(plan, headline)),
        },
    }


def clamping(plan: AggregatePlan) -> dict[str, Any]:
    """The errors of sums that are clamped by row, and by person."""
    return {"clamping": [_clamping(each) for each in clampings(plan)]}


def _clamping(each: Clamping) -> dict[str, Any]:
    ways = {"by_row": each.rows, "by_person": each.person}
    return {"column": each.column} | {name: {"sql": way.sql, "error": way.error} for name, way in ways.items()}


def bias_content(release: Release, people: Amount | None) -> dict[str, Any]:
    """What was left out of an answer."""
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
        "rows": rows and _interval(rows) | {"counting_up_to": second_cap(release.plan)},
    }


def _interval(one: Amount) -> dict[str, Any]:
    return {"value": _number(one.value), "low": _number(one.low), "high": _number(one.high)}


def _split_content(plan: AggregatePlan) -> dict[str, Any] | None:
    match plan.query.split:
        case Weights() as weights:
            return {"weights": {name: float(share) for name, share in weighted(plan, weights)}}
        case Targets(rows=rows):
            found = [
                {"name": each.name, "target": float(each.target), "error": float(each.error), "met": each.holds}
                for each in met(plan)
            ]
            return {"targets": found, "rows": rows}
    return None


def weighted(plan: AggregatePlan, weights: Weights) -> list[tuple[str, Fraction]]:
    """The share of each column of what the price has for columns."""
    names = [each.name for each in plan.query.query.aggregates]
    whole = sum(map(weights.of, names), Fraction(len(plan.query.after.hidden)))
    return [(name, weights.of(name) / whole) for name in names]


def _period(unit: Unit) -> dict[str, str] | None:
    """The period that the unit is a part of."""
    period = unit.period if isinstance(unit, Person) else None
    return None if period is None else {"column": period.column, "length": period.length.value, "name": period.name}


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


def row_contents(release: Release) -> list[dict[str, Any]]:
    """The rows of an answer."""
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
