"""The errors of an answer at other prices, beside a preview."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from sitr.accounting.filter import Filter
from sitr.flavors.random import RandomDP
from sitr.plans.plan import Plan
from sitr.plans.prices import all_left
from sitr.report.envelope import promise_dict
from sitr.report.figures import visible
from sitr.report.paper import Facts, Paper, PaperColumn, PaperTable, Role
from sitr.report.words.words import Words

Errors = Callable[[Any, Words], Facts]
"""The error of each column of a plan, in words."""

Contents = Callable[[Any], list[dict[str, Any]]]
"""The error of each column of a plan, for machines."""


def warned(paper: Paper, columns: Sequence[str]) -> Paper:
    """The paper of a preview, with the warning that noise will drown these columns; its JSON has them as `drowned`."""
    said = paper.words.drowned(columns)
    return replace(
        paper, facts=(*paper.facts, ("warning", said)), to_dict=lambda: paper.to_dict() | {"drowned": list(columns)}
    )


def priced(
    paper: Paper,
    plan: Plan,
    standing: Filter,
    *,
    plans: Callable[[], Iterable[Plan]],
    errors: Errors,
    contents: Contents,
) -> Paper:
    """The paper of a preview, with a table of other prices. Its JSON also has

    ================  ==================================================================================================
    prices            the `price`, whether it is `asked` about, and the `errors` of all columns at that price
    ================  ==================================================================================================
    """
    once = cache(lambda: tuple(plans()))
    words = paper.words

    def rows() -> Iterable[tuple[str, ...]]:
        for each in once():
            text = words.notation(each.price)
            if each.price == plan.price:
                text = words.this_price(text)
            elif not isinstance(each.price, RandomDP) and all_left(each.price, standing):
                text = words.whole_rest(text)
            yield (text, *(error for _, error in errors(each, words)))

    def content() -> dict[str, Any]:
        found = [
            {
                "price": promise_dict(each.price),
                "asked": each.price == plan.price,
                "errors": contents(each),
            }
            for each in once()
        ]
        return paper.to_dict() | {"prices": found}

    def table() -> PaperTable | None:
        names = [name for name, _ in errors(plan, words)]
        columns = (
            PaperColumn(words.label("price"), Role.KEY),
            *(PaperColumn(visible(name), Role.NUMBER) for name in names),
        )
        return PaperTable(columns, rows, len(once())) if len(once()) > 1 else None

    return replace(paper, prices=table, to_dict=content)
