"""The paper of each kind of plan and release.

A new kind of question adds one line to each of the two tables here. The classes are named, not imported, so that a
question loads the reports of its own kind only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later
from sitr.plans.plan import Plan
from sitr.report import joined
from sitr.report.paper import Paper
from sitr.report.prices import priced, warned

if TYPE_CHECKING:
    from sitr.ledger.shares import Accounts
    from sitr.report import shares
else:  # most budgets are not divided
    shares = Later("sitr.report.shares")

Others = Sequence[tuple[str, str, Filter]]
"""Data sets, who is protected in them, and their budgets."""

RELEASED = {
    "sitr.questions.aggregate.release.Release": Later("sitr.report.aggregate"),
    "sitr.questions.auto.question.AutoRelease": Later("sitr.report.auto"),
    "sitr.questions.auto.question.ChosenRelease": Later("sitr.report.auto"),
    "sitr.questions.batch.question.BatchRelease": Later("sitr.report.batch"),
    "sitr.questions.histogram.counts.Histogram": Later("sitr.report.histogram"),
    "sitr.questions.statistic.question.StatisticRelease": Later("sitr.report.statistic"),
    "sitr.questions.suggest.question.SuggestionRelease": Later("sitr.report.suggest"),
    "sitr.questions.tables.grouping.GroupedTables": Later("sitr.report.tables"),
    "sitr.questions.tables.publication.PublishedTables": Later("sitr.report.tables"),
}
"""The modules whose `answer` writes the paper of a release."""

PLANNED = {
    "sitr.questions.aggregate.plan.AggregatePlan": Later("sitr.report.aggregate"),
    "sitr.questions.auto.plan.AutoPlan": Later("sitr.report.auto"),
    "sitr.questions.batch.plan.BatchPlan": Later("sitr.report.batch"),
    "sitr.questions.histogram.fit.HistogramPlan": Later("sitr.report.histogram"),
    "sitr.questions.statistic.question.StatisticPlan": Later("sitr.report.statistic"),
    "sitr.questions.suggest.question.SuggestionPlan": Later("sitr.report.suggest"),
    "sitr.questions.synthetic.plan.SynthesisPlan": Later("sitr.report.synthetic"),
    "sitr.questions.synthetic.several.SeveralPlan": Later("sitr.report.several"),
    "sitr.questions.tables.grouping.GroupingPlan": Later("sitr.report.tables"),
    "sitr.questions.tables.plan.TablesPlan": Later("sitr.report.tables"),
}
"""The modules whose `preview` writes the paper of a plan."""

PRICED = {
    "sitr.questions.aggregate.plan.AggregatePlan",
    "sitr.questions.histogram.fit.HistogramPlan",
    "sitr.questions.tables.grouping.GroupingPlan",
    "sitr.questions.tables.plan.TablesPlan",
}
"""The plans whose modules also have `errors` and `error_contents`: previews show these at other prices, too."""


def answer_paper(released: Any, receipt: Receipt) -> Paper:
    """The paper of an answer."""
    paper: Paper = RELEASED[_name(released)].answer(released, receipt)
    paper = shares.answered(paper, receipt) if receipt.entry.share else paper
    return joined.answered(paper, receipt, released.plan)


def can_be_shown(released: object) -> bool:
    """Whether the paper of this answer needs nothing but the answer."""
    return _name(released) in RELEASED


def preview_paper(
    plan: Plan,
    standing: Filter,
    plans: Callable[[], Iterable[Plan]] = tuple,
    *,
    others: Others = (),
    sizes: Mapping[str, float] | None = None,
    share: tuple[Accounts, str] | None = None,
) -> Paper:
    """The paper of a preview; `standing` is the budget now, and `plans` are those at this price and at others.

    `others` are the budgets of other tables that it joins, and `sizes` are the sizes of its columns in an earlier
    answer to the same question. A `share` is the sub-budget that would pay, by its path among the accounts.
    """
    name = _name(plan)
    paper: Paper = PLANNED[name].preview(plan, standing)
    if share is not None:
        accounts, path = share
        standing = accounts.seen_from(path, charges=standing.charges)
        paper = shares.previewed(paper, plan, accounts, path, standing)
    paper = joined.previewed(paper, plan, others)
    if name not in PRICED:
        return paper
    errors, contents = PLANNED[name].errors, PLANNED[name].error_contents
    if small := [each["name"] for each in contents(plan) if _drowns(each, (sizes or {}).get(each["name"]))]:
        paper = warned(paper, small)
    return priced(paper, plan, standing, plans=plans, errors=errors, contents=contents)


def _drowns(error: Mapping[str, Any], size: float | None) -> bool:
    """Whether the error of a column is larger than the number itself was in an earlier answer."""
    found = (error.get("error_at") or error)["error"]
    return size is not None and error.get("error_in") == "value" and (found is None or found > size)


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
