"""The values that mechanisms released from a column: on a terminal, as a page, as a chart, and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.text import Text

from sitr.accounting.filter import Filter
from sitr.flavors.random import RandomDP
from sitr.ledger.receipt import Receipt
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.questions.statistic.question import StatisticPlan, StatisticRelease
from sitr.report import envelope
from sitr.report.chart import svg
from sitr.report.chart.budget import budget_bar
from sitr.report.figures import about, at_most, visible
from sitr.report.headline import headline
from sitr.report.page import html
from sitr.report.text.terminal import entry, facts, left, promised
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.notation import notation


@dataclass(frozen=True, slots=True)
class EachRow:
    """Whom mechanisms on a column protect: one row, which may be replaced."""

    unit: Row = field(default_factory=Row)
    relation: Relation = Relation.REPLACE_ONE


def shown(value: Any) -> str:
    """A released value in few digits.

    >>> shown(Fraction(7, 2)), shown((Fraction(1, 4), None))
    ('3.5', '0.25; no answer')
    """
    match value:
        case None:
            return "no answer"
        case tuple():
            return "; ".join(map(shown, value))
        case int() | float() | Fraction():
            return about(value, digits=15)
    return visible(str(value))


def to_dict(release: StatisticRelease, receipt: Receipt) -> dict[str, Any]:
    """Everything on the certificate, ready for JSON: the envelope, and

    ==========  ========================================================================================================
    value       the released value, null for no answer, a list for several mechanisms; a fraction has an `exact` text
                and a `float`
    mechanism   as it is written in code
    column      its name; `missing` is the number that replaces missing numbers
    ==========  ========================================================================================================
    """
    return (
        envelope.of_answer("statistic", release.plan, receipt) | _plan(release.plan) | {"value": _plain(release.value)}
    )


def preview_dict(plan: StatisticPlan, standing: Filter) -> dict[str, Any]:
    """The same for a preview, without a value."""
    return envelope.of_preview("statistic", plan, standing) | _plan(plan)


def answer(release: StatisticRelease, receipt: Receipt) -> RenderableType:
    """The value, its promise and its cost."""
    band = () if receipt.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    return Group(*band, Text(shown(release.value), style="bold"), facts(*_answer(release, receipt)))


def preview(plan: StatisticPlan, standing: Filter) -> RenderableType:
    """The price of the mechanism."""
    return Group(Text(visible(plan.text), style="italic"), facts(*_preview(plan, standing)))


def preview_fragment(plan: StatisticPlan, standing: Filter) -> str:
    """The same for a notebook."""
    return html.facts(plan.text, _preview(plan, standing))


def page(release: StatisticRelease, receipt: Receipt) -> str:
    """The certificate as one page that needs no network and no other file."""
    return html.render(
        "statistic.html",
        receipt=receipt,
        plan=release.plan,
        value=shown(release.value),
        facts=_answer(release, receipt),
        bar=Markup(budget_bar(receipt.standing, charge=receipt.entry.price)),
    )


def fragment(release: StatisticRelease, receipt: Receipt) -> str:
    """The value for a notebook, below a warning if it protects nobody."""
    band = () if receipt.private else (("warning", ENGLISH.not_private()),)
    return html.facts(release.plan.text, (*band, ("value", shown(release.value)), *_answer(release, receipt)))


def chart(release: StatisticRelease) -> str:
    """The values as bars; negative bars point to the left."""
    values = [value if isinstance(value, int | float | Fraction) else 0 for value in release.values]
    title, widest = (
        f"Statistics of {visible(release.plan.reading.column)}",
        max([1e-300, *map(abs, map(float, values))]),
    )
    parts = [svg.text(title, x=1, y=16, size=15, weight=650)]
    for row, (measured, value) in enumerate(zip(release.plan.measurements, values, strict=True)):
        top, long = 40 + 30 * row, 49 * abs(float(value)) / widest
        parts.append(svg.text(type(measured.mechanism).__name__, x=1, y=top + 10))
        parts.append(svg.text(shown(release.values[row]), x=99, y=top + 10, anchor="end"))
        parts.append(svg.rect(50 - long if value < 0 else 50, top + 14, long, 10, fill=svg.BLUE))
    return svg.svg(title, shown(release.values), parts, height=46 + 30 * len(values))


# Sentences


def _answer(release: StatisticRelease, receipt: Receipt) -> tuple[tuple[str, str], ...]:
    return (*_sentences(release.plan, receipt.standing), ("charged", notation(receipt.entry.price)), *entry(receipt))


def _preview(plan: StatisticPlan, standing: Filter) -> tuple[tuple[str, str], ...]:
    return (("price", notation(plan.price)), *_sentences(plan, standing), *left(plan, standing))


def _sentences(plan: StatisticPlan, standing: Filter) -> tuple[tuple[str, str], ...]:
    newcomer = "" if isinstance(plan.price, RandomDP) else ENGLISH.newcomer(standing.promise)
    mass = plan.infinite_mass()
    return (
        *promised(headline(plan), EachRow()),
        *([("random", newcomer)] if newcomer else ()),
        *([("outright", _outright(mass))] if mass else ()),
        ("made by", visible(plan.made_by)),
        ("column", f"{visible(plan.reading.column)}; rows without a number count as {about(plan.reading.missing)}"),
        ("protects", "each row, replace-one; the number of rows is public"),
    )


def _outright(mass: float) -> str:
    return (
        f"With probability up to {at_most(mass)}, a part of δ, the loss is unbounded and the answer may protect nobody."
    )


def _plan(plan: StatisticPlan) -> dict[str, Any]:
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
