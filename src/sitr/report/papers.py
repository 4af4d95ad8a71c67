"""The paper of each kind of plan and release.

A new kind of question adds one line to each of the two tables here. The classes are named, not imported, so that a
question loads the reports of its own kind only.
"""

from __future__ import annotations

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later
from sitr.plans.plan import Plan
from sitr.report.paper import Paper

RELEASED = {
    "sitr.questions.aggregate.release.Release": Later("sitr.report.aggregate"),
    "sitr.questions.batch.question.BatchRelease": Later("sitr.report.batch"),
    "sitr.questions.histogram.counts.Histogram": Later("sitr.report.histogram"),
    "sitr.questions.statistic.question.StatisticRelease": Later("sitr.report.statistic"),
}
"""The modules whose `answer` writes the paper of a release."""

PLANNED = {
    "sitr.questions.aggregate.plan.AggregatePlan": Later("sitr.report.aggregate"),
    "sitr.questions.batch.plan.BatchPlan": Later("sitr.report.batch"),
    "sitr.questions.histogram.fit.HistogramPlan": Later("sitr.report.histogram"),
    "sitr.questions.statistic.question.StatisticPlan": Later("sitr.report.statistic"),
    "sitr.questions.synthetic.plan.SynthesisPlan": Later("sitr.report.synthetic"),
}
"""The modules whose `preview` writes the paper of a plan."""


def answer_paper(released: object, receipt: Receipt) -> Paper:
    """The paper of an answer."""
    paper: Paper = RELEASED[_name(released)].answer(released, receipt)
    return paper


def can_be_shown(released: object) -> bool:
    """Whether the paper of this answer needs nothing but the answer."""
    return _name(released) in RELEASED


def preview_paper(plan: Plan, standing: Filter) -> Paper:
    """The paper of a preview; `standing` is the budget now."""
    paper: Paper = PLANNED[_name(plan)].preview(plan, standing)
    return paper


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
