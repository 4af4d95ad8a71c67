"""A certificate: an answer with everything that is needed to defend it, as a value and as a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, cast

from sitr.accounting.filter import Filter
from sitr.dataset.schema import Key
from sitr.errors import BudgetExceeded
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import NAMES, write
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.unit import Person
from sitr.numbers import downward, exact, upward
from sitr.questions.aggregate.fit import Noisy, Plan
from sitr.questions.aggregate.nodes import spell, text
from sitr.questions.aggregate.release import Release
from sitr.report.english import ENGLISH
from sitr.report.figures import CONFIDENCE
from sitr.report.headline import of_answer


@dataclass(frozen=True, slots=True)
class Certificate:
    """A release, whose it is, where it stands in the ledger, and the budget after its charge."""

    release: Release
    dataset: str
    neighbors: str
    entry: int
    at: datetime
    by: str
    version: str
    budget: Filter

    def charge(self) -> Kept:
        """What the price was in the flavor of the budget."""
        return cast("Kept", self.budget.charge(self.release.plan.price))

    def before(self) -> tuple[Kept, Kept]:
        """What had been spent before this charge, rounded up, and what was left, rounded down."""
        return before(self.budget, self.charge())


def before(budget: Filter, charge: Kept) -> tuple[Kept, Kept]:
    """What had been spent of a budget before its last charge, rounded up, and what was left, rounded down.

    A γ is spent by the first charge or never, and open until then.
    """
    promise, spent = budget.promise, budget.spent()
    if not isinstance(promise, RandomDP) or not isinstance(spent, RandomDP):
        return _before(promise, spent, charge)
    paid, left = _before(promise.inner, spent.inner, charge.inner if isinstance(charge, RandomDP) else charge)
    if budget.charges == 1:
        return RandomDP(paid, 0.0), replace(promise, inner=left)
    return replace(spent, inner=paid), replace(promise, inner=left, gamma=0.0, parts=())


def _before(promise: Any, spent: Any, charge: Any) -> tuple[Kept, Kept]:
    paid, left = {}, {}
    for name in (field.name for field in fields(promise)):
        paid[name] = upward(max(Fraction(0), exact(getattr(spent, name)) - exact(getattr(charge, name))))
        left[name] = downward(max(Fraction(0), exact(getattr(promise, name)) - exact(paid[name])))
    return type(promise)(**paid), type(promise)(**left)


def to_dict(certificate: Certificate) -> dict[str, Any]:
    """Everything the page shows, ready for JSON.

    ================  ==================================================================================================
    kind              "certificate"
    dataset           its name; also `neighbors`, `entry`, `at` (ISO 8601), `by`, `version`
    private           False if the coins were for tests: then the numbers protect nobody
    question          as SQL
    protected         `unit` ("person" or "row"), `column`, `relation`
    caps              `max_groups`, `max_rows_per_group` of one unit
    price, promise    what was asked for, and what the mechanisms keep: `notation`, `flavor` and its parameters
    headline          the promise as (ε, δ), see `sitr.report.headline`
    delta             `infinite_mass`: exposed outright; `finite_tail`: degrades gracefully, null where ρ bounds it
    keys              `columns`, `known`, and for unknown ones the `threshold`: `least`, `noise`, `promise`
    columns           `name`, `aggregate`, `noise`, `sensitivity` (`l1`, `l2_squared`, `largest`, in granules),
                      `granularity`, `clamp` (`low`, `high`) or null, `error` at `confidence`, rounded up
    budget            `promise`, `charge`, `before` and `after`, both with `spent` and `remaining`
    rows              `key` (null is NULL) and for each column `value`, `low`, `high`
    words             the sentences of the page
    ================  ==================================================================================================

    A noise has a `mechanism`, a `parameter` ("scale" or "sigma"), its `sensitivity`, both in granules, and its
    `promise`. Numbers that are fractions have an `exact` text beside their nearest `float`.
    """
    release, budget = certificate.release, certificate.budget
    spent_before, left_before = certificate.before()
    return {
        "kind": "certificate",
        "dataset": certificate.dataset,
        "neighbors": certificate.neighbors,
        "entry": certificate.entry,
        "at": certificate.at.isoformat(),
        "by": certificate.by,
        "version": certificate.version,
        "private": release.private,
        **_plan(release.plan),
        "budget": {
            "promise": promise_dict(budget.promise),
            "charge": promise_dict(certificate.charge()),
            "before": {"spent": promise_dict(spent_before), "remaining": promise_dict(left_before)},
            "after": {"spent": promise_dict(budget.spent()), "remaining": promise_dict(budget.remaining())},
        },
        "rows": _rows(release),
    }


def preview_dict(plan: Plan, budget: Filter) -> dict[str, Any]:
    """The same for a plan that was not carried out: kind "preview", no ledger, no rows.

    `budget` is the filter as it stands; `after` is null if it cannot pay.
    """
    after = after_paying(plan, budget)
    return {
        "kind": "preview",
        **_plan(plan),
        "budget": {
            "promise": promise_dict(budget.promise),
            "charge": promise_dict(cast("Kept", budget.charge(plan.price))),
            "before": {"spent": promise_dict(budget.spent()), "remaining": promise_dict(budget.remaining())},
            "after": after and {"spent": promise_dict(after.spent()), "remaining": promise_dict(after.remaining())},
        },
    }


def after_paying(plan: Plan, budget: Filter) -> Filter | None:
    """The budget after this plan, None if it cannot pay."""
    try:
        return budget.consent(plan.price)
    except BudgetExceeded:
        return None


def _plan(plan: Plan) -> dict[str, Any]:
    query, moments, headline = plan.query, isinstance(plan.promise(), ZeroConcentratedDP), of_answer(plan)
    return {
        "question": text(query.query),
        "protected": {
            "unit": "person" if isinstance(query.unit, Person) else "row",
            "column": query.unit.column if isinstance(query.unit, Person) else None,
            "relation": query.relation.value,
        },
        "caps": {"max_groups": query.max_groups, "max_rows_per_group": query.max_rows_per_group},
        "price": promise_dict(plan.price),
        "promise": promise_dict(plan.promise()),
        "headline": headline.to_dict(),
        "delta": {"infinite_mass": plan.infinite_mass(), "finite_tail": None if moments else plan.tail_delta},
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
            "meaning": ENGLISH.meaning(headline, query),
            "odds": ENGLISH.odds(headline, query),
            "reading": ENGLISH.reading(headline),
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


def _column(column: Noisy) -> dict[str, Any]:
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


def _noise(noise: Laplace | Gaussian) -> dict[str, Any]:
    name, size = ("scale", noise.scale) if isinstance(noise, Laplace) else ("sigma", noise.sigma)
    return {
        "mechanism": "discrete Laplace" if isinstance(noise, Laplace) else "discrete Gaussian",
        "parameter": name,
        **_fraction(exact(size)),
        "sensitivity": _fraction(exact(noise.sensitivity)),
        "promise": promise_dict(noise.promise()),
    }


def promise_dict(promise: Kept) -> dict[str, Any]:
    """A promise for machines: `notation`, `flavor` and its parameters; a random one also says in `words` what it is."""
    flavor = next(name for name, kind in NAMES.items() if type(promise) is kind)
    parameters = {field.name: getattr(promise, field.name) for field in fields(promise)}
    if isinstance(promise, RandomDP):
        inner, parts = promise_dict(cast("Kept", promise.inner)), dict(promise.parts)
        parameters |= {"inner": inner, "basis": promise.basis.value, "parts": parts, "words": ENGLISH.newcomer(promise)}
    return {"notation": write(promise), "flavor": flavor, **parameters}


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
