"""The reports of each kind of plan and release: terminal, page, notebook, chart, JSON.

A new kind of question adds one line to each of the two tables here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Plan
from sitr.questions.aggregate.fit import AggregatePlan
from sitr.questions.aggregate.release import Release
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import HistogramPlan
from sitr.questions.statistic.question import StatisticPlan, StatisticRelease
from sitr.questions.synthetic.plan import SynthesisPlan
from sitr.report import certificate, histogram, statistic, synthetic
from sitr.report.chart import aggregate as aggregate_chart
from sitr.report.chart import histogram as histogram_chart
from sitr.report.chart.svg import standalone
from sitr.report.page import html
from sitr.report.text import terminal


@dataclass(frozen=True, slots=True)
class Papers:
    """How a release is shown."""

    to_dict: Callable[[Any, Receipt], dict[str, Any]]
    on_terminal: Callable[..., RenderableType]
    page: Callable[[Any, Receipt], str]
    fragment: Callable[[Any, Receipt], str]
    picture: Callable[[Any], str]

    def text(self, released: Any, receipt: Receipt) -> str:
        """For `str(…)` and logs."""
        return terminal.as_text(self.on_terminal(released, receipt))

    def chart(self, released: Any) -> str:
        """An SVG file."""
        return standalone(self.picture(released))


@dataclass(frozen=True, slots=True)
class PreviewPapers:
    """How a plan is shown before it is paid."""

    to_dict: Callable[[Any, Filter], dict[str, Any]]
    on_terminal: Callable[[Any, Filter], RenderableType]
    fragment: Callable[[Any, Filter], str]

    def text(self, plan: Plan, standing: Filter) -> str:
        """For `str(…)` and logs."""
        return terminal.as_text(self.on_terminal(plan, standing))


RELEASED: dict[type, Papers] = {
    Release: Papers(certificate.to_dict, terminal.answer, html.page, html.fragment, aggregate_chart.chart),
    Histogram: Papers(histogram.to_dict, histogram.answer, histogram.page, histogram.fragment, histogram_chart.chart),
    StatisticRelease: Papers(statistic.to_dict, statistic.answer, statistic.page, statistic.fragment, statistic.chart),
}
PLANNED: dict[type, PreviewPapers] = {
    AggregatePlan: PreviewPapers(certificate.preview_dict, terminal.preview, html.preview_fragment),
    SynthesisPlan: PreviewPapers(synthetic.preview_dict, synthetic.preview, synthetic.preview_fragment),
    HistogramPlan: PreviewPapers(histogram.preview_dict, histogram.preview, histogram.preview_fragment),
    StatisticPlan: PreviewPapers(statistic.preview_dict, statistic.preview, statistic.preview_fragment),
}


def papers(released: object) -> Papers:
    """The reports of this kind of release."""
    return RELEASED[type(released)]


def preview_papers(plan: Plan) -> PreviewPapers:
    """The reports of this kind of plan."""
    return PLANNED[type(plan)]
