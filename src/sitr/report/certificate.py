"""The JSON of a certificate: an answer with everything needed to verify it."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Key
from sitr.ledger.receipt import Receipt
from sitr.mechanisms.additive import Noise
from sitr.neighbors.unit import Person
from sitr.numbers import exact, upward
from sitr.questions.aggregate.fit import AggregatePlan, Shown
from sitr.questions.aggregate.nodes import spell
from sitr.questions.aggregate.release import Release
from sitr.report import envelope
from sitr.report.envelope import promise_dict
from sitr.report.figures import CONFIDENCE
from sitr.report.headline import headline
from sitr.report.words.english.english import ENGLISH


def to_dict(release: Release, receipt: Receipt) -> dict[str, Any]:
    """Everything that the certificate shows, ready for JSON: the envelope, and

    ================  ==================================================================================================
    protected         `unit` ("person" or "row"), `column`, `relation`
    caps              `max_groups`, `max_rows_per_group` of one unit
    keys              `columns`, `known`, and for unknown keys the `threshold`: `least`, `noise`, `promise`
    columns           `name`, `aggregate`, `noise`, `sensitivity` (`l1`, `l2_squared`, `largest`, in granules),
                      `granularity`, `clamp` (`low`, `high`) or null, `error` at `confidence`, rounded up
    rows              `key` (null is NULL) and for each column `value`, `low`, `high`
    words             the sentences of the page
    ================  ==================================================================================================

    A noise has a `mechanism`, a `parameter` ("scale" or "sigma"), its `sensitivity`, both in granules, and its
    `promise`. Fractions have an `exact` text and the nearest `float`.
    """
    return envelope.of_answer("answer", release.plan, receipt) | _plan(release.plan) | {"rows": _rows(release)}


def preview_dict(plan: AggregatePlan, standing: Filter) -> dict[str, Any]:
    """The same for a preview, without rows."""
    return envelope.of_preview("answer", plan, standing) | _plan(plan)


def _plan(plan: AggregatePlan) -> dict[str, Any]:
    query, found = plan.query, headline(plan)
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
        "columns": [_column(column) for column in plan.columns],
        "words": {
            "meaning": ENGLISH.meaning(found, query),
            "odds": ENGLISH.odds(found, query),
            "reading": ENGLISH.reading(found),
            "protected": ENGLISH.protected(query),
            "contribution": ENGLISH.contribution(query),
            "error": ENGLISH.error(),
            "exposure": ENGLISH.exposure(plan),
            "tail": ENGLISH.tail(plan),
            "keys": ENGLISH.shown_keys(plan),
            "public": list(ENGLISH.public(query)),
            "checks": list(ENGLISH.checks(plan)),
        },
    }


def _column(column: Shown) -> dict[str, Any]:
    quantised = column.term.quantised
    return {
        "name": column.term.name,
        "aggregate": spell(column.term.spelled),
        "noise": _noise(column.noise),
        "sensitivity": {
            "l1": column.distance.l1,
            "l2_squared": column.distance.l2_squared,
            "largest": column.distance.largest,
        },
        "granularity": _fraction(column.granularity),
        "clamp": quantised
        and {
            "low": _number(quantised.lower * quantised.granularity),
            "high": _number(quantised.upper * quantised.granularity),
        },
        "error": upward(column.noise.error(confidence=CONFIDENCE) * column.granularity),
        "confidence": float(CONFIDENCE),
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
    columns = [(column.granularity, column.noise.error(confidence=CONFIDENCE)) for column in release.plan.columns]
    return [
        {
            "key": [_key(part) for part in key],
            "values": [
                {
                    "value": _number(granules * granularity),
                    "low": _number((granules - width) * granularity),
                    "high": _number((granules + width) * granularity),
                }
                for granules, (granularity, width) in zip(row, columns, strict=True)
            ],
        }
        for key, row in zip(release.keys, release.granules, strict=True)
    ]


def _key(part: Key) -> str | int | bool | None:
    return part.isoformat() if isinstance(part, date) else part


def _fraction(value: Fraction) -> dict[str, Any]:
    return {"exact": str(value), "float": float(value)}


def _number(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
