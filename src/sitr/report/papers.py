"""The paper of each kind of plan and release.

A new kind of question adds one line to each of the two tables here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Plan
from sitr.questions.aggregate.fit import AggregatePlan
from sitr.questions.aggregate.release import Release
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import HistogramPlan
from sitr.questions.statistic.question import StatisticPlan, StatisticRelease
from sitr.questions.synthetic.plan import SynthesisPlan
from sitr.report import aggregate, histogram, statistic, synthetic
from sitr.report.paper import Paper

RELEASED: dict[type, Callable[[Any, Receipt], Paper]] = {
    Release: aggregate.answer,
    Histogram: histogram.answer,
    StatisticRelease: statistic.answer,
}
PLANNED: dict[type, Callable[[Any, Filter], Paper]] = {
    AggregatePlan: aggregate.preview,
    HistogramPlan: histogram.preview,
    StatisticPlan: statistic.preview,
    SynthesisPlan: synthetic.preview,
}


def answer_paper(released: object, receipt: Receipt) -> Paper:
    """The paper of an answer."""
    return RELEASED[type(released)](released, receipt)


def preview_paper(plan: Plan, standing: Filter) -> Paper:
    """The paper of a preview; `standing` is the budget now."""
    return PLANNED[type(plan)](plan, standing)
