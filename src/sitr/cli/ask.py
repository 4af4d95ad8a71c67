"""`sitr ask`: charge the price, answer the question and write the files."""

from __future__ import annotations

from sitr.cli.options import Budget, Description, Json, Ledger, Price, Sql
from sitr.cli.papers import Certificate, Exact, Output, Plot, Resume, publish, writers
from sitr.cli.progress import working
from sitr.cli.question import question


def ask(
    description: Description,
    sql: Sql,
    price: Price,
    output: Output = None,
    certificate: Certificate = None,
    plot: Plot = None,
    resume: Resume = None,
    budget: Budget = None,
    ledger: Ledger = None,
    exact: Exact = False,
    as_json: Json = False,
) -> None:
    """Pay for an answer and show it.

    Charges the price to the budget, reads the rows, adds noise, keeps the answer beside the ledger, and writes the
    files. With --resume, shows and writes a kept answer again, at no charge.

    Example: sitr ask visits.sitr.yaml "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward" --price 'zcdp(0.05)'
    -o wards.csv --certificate wards.html
    """
    files = writers(output, certificate, plot)
    with working("Reading and adding noise", quiet=as_json):
        asked, paid = question(description, sql, price, budget=budget, ledger=ledger)
        answer = asked.release(paid) if resume is None else asked.resume(resume, paid)
    publish(answer, files, as_json=as_json, whole=output is None, exact=exact)
