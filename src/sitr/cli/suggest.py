"""`sitr suggest`: caps and bounds for a question, chosen privately for a price."""

from __future__ import annotations

from typing import Annotated

import typer

from sitr.cli.far import far
from sitr.cli.grouped import grouped
from sitr.cli.options import Budget, Description, Json, Ledger, Preview, Price, promise
from sitr.cli.papers import Exact, Fresh, Output, Pages, Plot, publish, writers
from sitr.cli.paying import Paying
from sitr.cli.preview import show
from sitr.cli.progress import working
from sitr.errors import no_description

Question = Annotated[
    str, typer.Argument(metavar="SQL", help="The question, one SELECT; or a column, whose sum is asked for.")
]
ForPrice = Annotated[
    str | None, typer.Option(help="The price of the question itself; default: ten times the price of the suggestion.")
]


@grouped
def suggest(
    description: Description,
    sql: Question,
    price: Price,
    for_price: ForPrice = None,
    output: Output = None,
    *,
    pages: Pages,
    paying: Paying,
    plot: Plot = None,
    preview: Preview = False,
    fresh: Fresh = False,
    budget: Budget = None,
    ledger: Ledger = None,
    exact: Exact = False,
    as_json: Json = False,
) -> None:
    """Pay for a suggestion: caps and bounds for a question.

    Measures noisy histograms of the groups and rows of people and of the values that are summed. The caps and bounds
    with the least expected error follow from them, with the options to copy.

    Example: sitr suggest visits.sitr.yaml "SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward"
    --price 'zcdp(0.005)'
    """
    files = writers(output, plot, pages)
    there = far(description, budget, ledger)
    if there is None and not description.exists():
        raise no_description(description)
    paid, later = promise(price), None if for_price is None else promise(for_price)
    promised = promise(budget) if budget is not None else None
    from sitr.session.dataset import open as open_description  # only now: much slower than to refuse a price

    whole = open_description(description).budget(promised, ledger=ledger) if there is None else there
    asked = whole.paying(**paying.given()).suggest(sql, price=later)
    if preview:
        show(asked.preview(paid), as_json=as_json, exact=exact)
        return
    with working("Reading and adding noise", quiet=as_json):
        answer = asked.release(paid, fresh=fresh)
    publish(answer, files, as_json=as_json, whole=True, exact=exact)
