"""`sitr explain-query`: what a question reads, bounds, measures and shows, as a tree."""

from __future__ import annotations

from typing import Annotated

import typer

from sitr.cli.grouped import grouped
from sitr.cli.options import Description, Json, Sql, promise
from sitr.cli.question import Beside, Limits
from sitr.cli.terminal import console, say_json

Price = Annotated[
    str | None, typer.Option("--price", help="A price such as 'zcdp(0.05)': also show the noise and each share of it.")
]


@grouped
def explain_query(
    description: Description,
    sql: Sql,
    price: Price = None,
    *,
    limits: Limits,
    beside: Beside = None,
    as_json: Json = False,
) -> None:
    """Show a question as a tree; spend nothing.

    The tree says what is read, how it is bounded, what is measured and what is shown. Reads no rows, needs no budget.

    Example: sitr explain-query visits.sitr.yaml "SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward"
    """
    from sitr.report.explained import drawn
    from sitr.session.dataset import open as open_description

    paid = None if price is None else promise(price)
    found = open_description(description).explain(
        sql,
        paid,
        beside=[open_description(other) for other in beside or ()],
        bias=limits.share,
        bias_rows=limits.bias_rows,
        max_groups=limits.max_groups,
        max_rows_per_group=limits.max_rows_per_group,
        max_rows=limits.max_rows,
    )
    if as_json:
        say_json(found.to_dict())
    else:
        console().print(drawn(found.tree))
