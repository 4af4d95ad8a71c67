"""What reports add where protected tables are joined: the rows that can meet, whom the promise protects, who pays.

The JSON has one more key then, `join`: `most_rows` of each person and table that can be matched (null where people are
matched, and no rows), and in `beside`, for each other data set, `dataset`, `neighbors`, `entry`, `at` (both null in a
preview) and `budget`, as in the envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Plan
from sitr.questions.aggregate.view import TableRows, View, meeting, protected
from sitr.report.envelope import after_paying, budget_dict
from sitr.report.level import Level
from sitr.report.paper import Facts, Paper, Section


def answered(paper: Paper, receipt: Receipt, plan: Plan, *, said_of: tuple[str, ...] = ()) -> Paper:
    """The paper of an answer, with what is to be said about a join, or `said_of` other answers from several tables."""
    views = joined(plan)
    if not views and not receipt.beside:
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
    sentences = said_of or _sentences(paper, views)
    more = Section("The join", sentences=sentences, items=said, level=Level.BUDGET)
    if not views:
        more = Section("Several budgets", sentences=sentences, items=said, level=Level.BUDGET)
    return replace(
        paper,
        facts=(*_join(paper, views), *paper.facts, *charged),
        card=(*paper.card, *charged),
        sections=lambda: (*sections(), more),
        to_dict=_with(paper, views, beside),
    )


def previewed(paper: Paper, plan: Plan, others: Sequence[tuple[str, str, Filter]]) -> Paper:
    """The paper of a preview; `others` are the other data sets, who is protected in them, and their budgets now."""
    views = joined(plan)
    if not views and not others:
        return paper
    beside = [
        {
            "dataset": dataset,
            "neighbors": neighbors,
            "entry": None,
            "at": None,
            "budget": budget_dict(_charge(now, plan), now, after_paying(plan, now)),
        }
        for dataset, neighbors, now in others
    ]
    would = paper.words.joins.would_pay
    charged: Facts = tuple(
        ("also charged", would(dataset, _charge(now, plan), now, after_paying(plan, now))) for dataset, _, now in others
    )
    return replace(paper, facts=(*paper.facts, *_join(paper, views), *charged), to_dict=_with(paper, views, beside))


def _charge(now: Filter, plan: Plan) -> Kept:
    return cast("Kept", now.charge(plan.price))


def joined(plan: Plan) -> tuple[View, ...]:
    """The views of a plan that join protected tables; none for most plans."""
    queries = getattr(plan, "queries", None) or (getattr(plan, "query", None),)
    views = (getattr(query, "view", None) for query in queries)
    made = (view for view in views if isinstance(view, View) and not isinstance(view.rows, TableRows))
    return tuple(view for view in made if meeting(view))


def _join(paper: Paper, views: tuple[View, ...]) -> Facts:
    return (("join", " ".join(_sentences(paper, views))),) if views else ()


def _sentences(paper: Paper, views: tuple[View, ...]) -> tuple[str, ...]:
    names, say = tuple(dict.fromkeys(name for view in views for name in protected(view))), paper.words.joins
    return (*([say.protected(names)] if len(names) > 1 else ()), *([say.met(_most(views))] if views else ()))


def _most(views: tuple[View, ...]) -> int:
    return max(map(meeting, views), default=0)


def _with(paper: Paper, views: tuple[View, ...], beside: list[dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    before = paper.to_dict
    return lambda: before() | {"join": {"most_rows": _most(views) if views else None, "beside": beside}}
