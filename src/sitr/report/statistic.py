"""The values that mechanisms released from a column."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.numbers import exact as exact_number
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.statistic.question import StatisticPlan, StatisticRelease, errors_of
from sitr.report.chart.statistic import chart
from sitr.report.figures import CONFIDENCE, Figures, Rounded, legible, visible
from sitr.report.headline import headline
from sitr.report.level import Level
from sitr.report.paper import Facts, Paper, Section, answered, previewed
from sitr.report.words.words import Words, in_words

KIND = "statistic"


@dataclass(frozen=True, slots=True)
class ReplacedRow:
    """Whom mechanisms on a column protect: one row, which may be replaced."""

    unit: Row = field(default_factory=Row)
    relation: Relation = Relation.REPLACE_ONE


def answer(release: StatisticRelease, receipt: Receipt, *, words: Words | None = None) -> Paper:
    """The paper of released values. Its JSON is the envelope, and

    ==========  ========================================================================================================
    value       the released value, null for no answer, a list for several mechanisms; a fraction has an `exact` text
                and a `float`
    mechanism   as it is written in code
    column      its name; `missing` is the number that replaces missing numbers
    ==========  ========================================================================================================
    """
    words = in_words(words)
    own = _own(release.plan, words)
    return answered(
        KIND,
        release.plan,
        headline(release.plan),
        receipt,
        ReplacedRow(),
        words=words,
        own=own,
        content=lambda: _content(release.plan) | {"value": _plain(release.value)},
        sections=lambda: (
            Section("How each number was made", facts=own),
            Section("Assumed public knowledge", items=words.statistic.public(release.plan), level=Level.DATA),
        ),
        title="Privacy certificate",
        card=(("released", words.statistic.released(release)), ("noise", visible(release.plan.made_by))),
        exact=False,
        value=_value(release, words),
        picture=lambda: chart(release, words=words),
    )


def preview(plan: StatisticPlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview: the same without a value."""
    words = in_words(words)
    own = _own(plan, words)
    return previewed(
        KIND, plan, headline(plan), standing, ReplacedRow(), words=words, own=own, content=lambda: _content(plan)
    )


def _value(release: StatisticRelease, words: Words) -> str:
    """The value; with its error, where this is known without the data."""
    say, exact = words.statistic, words.statistic.value(release.value, digits=15)
    try:
        errors = errors_of(release.plan, confidence=CONFIDENCE)
    except Exception:  # noqa: BLE001 - it depends on the data, or a user's own mechanism does not know it
        return Rounded(say.value(release.value), exact=exact)
    pairs = zip(release.values, errors.values(), strict=True)
    return Rounded(words.several(_within(value, exact_number(error), words) for value, error in pairs), exact=exact)


def _within(value: Any, width: Fraction, words: Words) -> str:
    if not isinstance(value, int | float | Fraction):
        return words.statistic.value(value)
    middle = exact_number(value)
    one = Estimate(middle, middle - width, middle + width)
    form = Figures.fitting(width, step=None)
    return words.numerals(f"{form.value(one)} ± {form.error(width)}")


def _own(plan: StatisticPlan, words: Words) -> Facts:
    say, mass = words.statistic, plan.infinite_mass()
    return (
        *((("outright", say.outright(mass)),) if mass else ()),
        ("made by", visible(legible(plan.made_by))),
        ("column", say.column(plan)),
        ("protects", say.protects()),
    )


def _content(plan: StatisticPlan) -> dict[str, Any]:
    return {"mechanism": plan.made_by, "column": plan.reading.column, "missing": plan.reading.missing}


def _plain(value: Any) -> Any:
    match value:
        case Fraction():
            return {"exact": str(value), "float": float(value)}
        case tuple() | list():
            return [_plain(part) for part in value]
        case None | int() | float():
            return value
    return str(value)
