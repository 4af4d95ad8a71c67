"""The page of a ledger: the picture of what was spent, and every budget in a table."""

from __future__ import annotations

from collections.abc import Sequence

from sitr.accounting.filter import Filter
from sitr.ledger.entry import Account, Entry
from sitr.report.chart.spending import chart
from sitr.report.figures import visible
from sitr.report.page.html import written
from sitr.report.words.words import Words, in_words


def spending_page(
    name: str, standings: Sequence[tuple[Account, Filter]], entries: Sequence[Entry], *, words: Words | None = None
) -> str:
    """One page that needs no network and no other file. It names accounts and sums, and no questions."""
    words = in_words(words)
    rows = [
        (
            visible(account.dataset),
            words.protects(account.neighbors),
            words.notation(budget.promise),
            words.notation(budget.spent()),
            words.notation(budget.remaining(), left=True),
        )
        for account, budget in standings
    ]
    picture = chart([account for account, _ in standings], entries, words=words)
    headings = list(map(words.label, ("data set", "protects each", "promise", "spent", "left")))
    return written("spending.html", words=words, name=visible(name), picture=picture, headings=headings, rows=rows)
