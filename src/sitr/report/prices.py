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

WIDEST = 6
"""With more errors than this, each has a row, and each price a column."""

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

    def marked(each: Plan) -> str:
        text = words.notation(each.price)
        if each.price == plan.price:
            return words.this_price(text)
        all_of_it = not isinstance(each.price, RandomDP) and all_left(each.price, standing)
        return words.whole_rest(text) if all_of_it else text

    def rows() -> Iterable[tuple[str, ...]]:
        for each in once():
            yield (marked(each), *(error for _, error in errors(each, words)))

    def by_error() -> Iterable[tuple[str, ...]]:
        for one in zip(*(errors(each, words) for each in once()), strict=True):
            yield (visible(one[0][0]), *(error for _, error in one))

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
        if len(once()) < 2:
            return None
        names = [visible(name) for name, _ in errors(plan, words)]
        long = len(names) > WIDEST
        corner, heads = ("column", [marked(each) for each in once()]) if long else ("price", names)
        columns = (PaperColumn(words.label(corner), Role.KEY), *(PaperColumn(head, Role.NUMBER) for head in heads))
        return PaperTable(columns, by_error if long else rows, len(names) if long else len(once()))

    return replace(paper, prices=table, to_dict=content)
