"""Certificates as one self-contained page, and answers and previews as fragments for a notebook."""

from __future__ import annotations

from collections.abc import Iterable

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.questions.aggregate.fit import AggregatePlan, Shown
from sitr.questions.aggregate.nodes import spell, text
from sitr.questions.aggregate.release import Release
from sitr.report.chart import aggregate as picture
from sitr.report.chart.budget import budget_bar
from sitr.report.chart.svg import BLUE
from sitr.report.envelope import after_paying
from sitr.report.figures import Figures, about, at_most, number, visible
from sitr.report.headline import headline
from sitr.report.rows import rows
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.notation import notation

MOST_ROWS = 1000
"""The most rows that a page shows."""

FIRST_ROWS = 20
"""The most rows that a notebook shows."""

_TEMPLATES = Environment(
    loader=PackageLoader("sitr.report.page"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.globals.update(words=ENGLISH, notation=notation, sql=text, spell=spell, at_most=at_most, BLUE=BLUE)
_TEMPLATES.filters.update(visible=visible, number=number, about=about)


def render(template: str, **values: object) -> str:
    """One of the templates, filled in with these values."""
    return _TEMPLATES.get_template(template).render(**values)


def page(release: Release, receipt: Receipt) -> str:
    """The certificate as one page that needs no network and no other file."""
    return render(
        "certificate.html",
        receipt=receipt,
        before=receipt.before(),
        release=release,
        plan=release.plan,
        headline=headline(release.plan),
        unit=ENGLISH.unit(release.plan.query),
        columns=_columns(release.plan),
        rows=rows(release, most=MOST_ROWS),
        chart=Markup(picture.chart(release)),
        bar=Markup(budget_bar(receipt.standing, charge=receipt.entry.price)),
    )


def fragment(release: Release, receipt: Receipt) -> str:
    """The answer for a notebook: its first rows and a chart."""
    return render(
        "answer.html",
        receipt=receipt,
        release=release,
        plan=release.plan,
        headline=headline(release.plan),
        rows=rows(release, most=FIRST_ROWS),
        chart=Markup(picture.chart(release)),
    )


def preview_fragment(plan: AggregatePlan, budget: Filter) -> str:
    """The preview of a question for a notebook; `budget` is the budget now."""
    return render(
        "preview.html",
        plan=plan,
        headline=headline(plan),
        columns=_columns(plan),
        budget=budget,
        after=after_paying(plan, budget),
        bar=Markup(budget_bar(budget)),
    )


def facts(question: str, facts: Iterable[tuple[str, str]]) -> str:
    """Labelled sentences below a question, for a notebook."""
    return render("facts.html", question=question, facts=facts)


def _columns(plan: AggregatePlan) -> list[tuple[Shown, Figures, str]]:
    """Each column with its figures and the exact size of its noise."""
    return [(column, Figures.of(column), f"{column.noise.symbol} = {column.noise.size}") for column in plan.columns]
