"""What reports add where protected tables are joined: the rows that can meet, whom the promise protects, who pays.

The JSON has one more key then, `join`: `most_rows` of each person and table that can be matched, and in `beside`, for
each other data set, `dataset`, `neighbors`, `entry`, `at` (both null in a preview) and `budget`, as in the envelope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Plan
from sitr.questions.aggregate.view import View, meeting, protected
from sitr.report.envelope import after_paying, budget_dict
from sitr.report.level import Level
from sitr.report.paper import Facts, Paper, Section


def answered(paper: Paper, receipt: Receipt, plan: Plan) -> Paper:
    """The paper of an answer, with what is to be said about a join."""
    if (view := joined(plan)) is None:
        return paper
    beside = [
        {
            "dataset": paid.dataset,
            "neighbors": paid.neighbors,
            "entry": paid.entry.number,
            "at": paid.entry.at.isoformat(),
            "budget": budget_dict(paid.entry.price, paid.before(), paid.standing),
        }
        for paid in receipt.beside
    ]
    said = tuple(map(paper.words.joins.paid, receipt.beside))
    charged: Facts = tuple(("also charged", sentence) for sentence in said)
    sections = paper.sections
    more = Section("The join", sentences=_sentences(paper, view), items=said, level=Level.BUDGET)
    return replace(
        paper,
        facts=(*_join(paper, view), *paper.facts, *charged),
        card=(*paper.card, *charged),
        sections=lambda: (*sections(), more),
        to_dict=_with(paper, view, beside),
    )


def previewed(paper: Paper, plan: Plan, others: Sequence[tuple[str, str, Filter]]) -> Paper:
    """The paper of a preview; `others` are the other data sets, who is protected in them, and their budgets now."""
    if (view := joined(plan)) is None:
        return paper
    beside = [
        {
            "dataset": dataset,
            "neighbors": neighbors,
            "entry": None,
            "at": None,
            "budget": budget_dict(now.charge(plan.price), now, after_paying(plan, now)),
        }
        for dataset, neighbors, now in others
    ]
    would = paper.words.joins.would_pay
    charged: Facts = tuple(
        ("also charged", would(dataset, plan.price, now, after_paying(plan, now))) for dataset, _, now in others
    )
    return replace(paper, facts=(*paper.facts, *_join(paper, view), *charged), to_dict=_with(paper, view, beside))


def joined(plan: Plan) -> View | None:
    """The view of a plan that joins protected tables; None for all other plans."""
    view = getattr(getattr(plan, "query", None), "view", None)
    return view if isinstance(view, View) and meeting(view) else None


def _join(paper: Paper, view: View) -> Facts:
    return (("join", " ".join(_sentences(paper, view))),)


def _sentences(paper: Paper, view: View) -> tuple[str, ...]:
    names, say = protected(view), paper.words.joins
    return (*([say.protected(names)] if len(names) > 1 else ()), say.met(meeting(view)))


def _with(paper: Paper, view: View, beside: list[dict[str, Any]]) -> Any:
    before = paper.to_dict
    return lambda: before() | {"join": {"most_rows": meeting(view), "beside": beside}}
