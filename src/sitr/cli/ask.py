"""`sitr ask`: charge the price, answer the question and write the files."""

from __future__ import annotations

from sitr.cli.grouped import grouped
from sitr.cli.options import Budget, Description, File, Json, Ledger, OneSql, Price
from sitr.cli.papers import Exact, Fresh, Output, Pages, Plot, publish, writers
from sitr.cli.progress import working
from sitr.cli.question import Limits, question


@grouped
def ask(
    description: Description,
    price: Price,
    sql: OneSql = "",
    output: Output = None,
    *,
    limits: Limits,
    pages: Pages,
    file: File = None,
    plot: Plot = None,
    fresh: Fresh = False,
    budget: Budget = None,
    ledger: Ledger = None,
    exact: Exact = False,
    as_json: Json = False,
) -> None:
    """Pay for an answer and show it.

    Charges the price to the budget, reads the rows, adds noise, keeps the answer beside the ledger, and writes the
    files. The same question at the same price is answered again from there, at no charge, unless --fresh is given.
    With --file, all its questions are one plan with one charge.

    Example: sitr ask visits.sitr.yaml "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward" --price 'zcdp(0.05)'
    -o wards.csv --certificate wards.html
    """
    files = writers(output, plot, pages)
    asked, paid = question(description, sql, price, file=file, budget=budget, ledger=ledger, limits=limits)
    with working("Reading and adding noise", quiet=as_json):
        answer = asked.release(paid, fresh=fresh)
    publish(answer, files, as_json=as_json, whole=output is None, exact=exact)
