"""Certificates as one self-contained page, and answers and previews as fragments for a notebook."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sitr.accounting.filter import Filter
from sitr.mechanisms.laplace import Laplace
from sitr.numbers import exact
from sitr.questions.aggregate.fit import Noisy, Plan
from sitr.questions.aggregate.nodes import spell, text
from sitr.questions.aggregate.release import Release
from sitr.report import plots
from sitr.report.certificate import Certificate, after_paying
from sitr.report.english import ENGLISH
from sitr.report.figures import Figures, about, at_most, number, visible
from sitr.report.headline import of_answer
from sitr.report.rows import rows
from sitr.report.words import notation

MOST_ROWS = 1000
"""How many rows a page shows; beyond it, the rest is in the data."""

FIRST_ROWS = 20
"""How many rows a notebook shows."""

_TEMPLATES = Environment(
    loader=PackageLoader("sitr.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.globals.update(words=ENGLISH, notation=notation, sql=text, spell=spell, at_most=at_most, plots=plots)
_TEMPLATES.filters.update(visible=visible, number=number, about=about)


def render(template: str, **values: object) -> str:
    """One of the templates with these values in it."""
    return _TEMPLATES.get_template(template).render(**values)


def page(certificate: Certificate) -> str:
    """The certificate as a page that opens anywhere, without a network, for years."""
    release = certificate.release
    spent_before, left_before = certificate.before()
    return render(
        "certificate.html",
        certificate=certificate,
        release=release,
        plan=release.plan,
        headline=of_answer(release.plan),
        unit=ENGLISH.unit(release.plan.query),
        columns=_columns(release.plan),
        rows=rows(release, most=MOST_ROWS),
        chart=Markup(plots.chart(release)),
        bar=Markup(plots.budget_bar(certificate.budget, charge=certificate.charge())),
        spent_before=spent_before,
        left_before=left_before,
    )


def fragment(release: Release) -> str:
    """The answer for a notebook: its first rows and the picture."""
    return render(
        "answer.html",
        release=release,
        plan=release.plan,
        headline=of_answer(release.plan),
        rows=rows(release, most=FIRST_ROWS),
        chart=Markup(plots.chart(release)),
    )


def preview_fragment(plan: Plan, budget: Filter) -> str:
    """The price of a question for a notebook; `budget` is the filter as it stands."""
    return render(
        "preview.html",
        plan=plan,
        headline=of_answer(plan),
        columns=_columns(plan),
        budget=budget,
        after=after_paying(plan, budget),
        bar=Markup(plots.budget_bar(budget)),
    )


def rendered(template: str, **content: object) -> str:
    """A template of another report, filled in."""
    return _TEMPLATES.get_template(template).render(**content)


def _columns(plan: Plan) -> list[tuple[Noisy, Figures, str]]:
    """Each column with how it is written and the exact size of its noise."""
    return [(column, Figures.of(column), _exact_size(column)) for column in plan.columns]


def _exact_size(column: Noisy) -> str:
    noise = column.noise
    return f"scale = {exact(noise.scale)}" if isinstance(noise, Laplace) else f"σ = {exact(noise.sigma)}"
