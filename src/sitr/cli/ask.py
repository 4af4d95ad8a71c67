"""`sitr ask`: charge the price, answer the question and write the files."""

from __future__ import annotations

from sitr.cli.grouped import grouped
from sitr.cli.options import Budget, Description, File, Json, Ledger, OneSql, Spark, use_spark
from sitr.cli.papers import Exact, Fresh, Output, Pages, Plot, publish, writers
from sitr.cli.paying import Paying
from sitr.cli.progress import working
from sitr.cli.question import Beside, Limits, question
from sitr.cli.terminal import console
from sitr.cli.wanted import Wanted
from sitr.report.words.messages import said


@grouped
def ask(
    description: Description,
    sql: OneSql = "",
    output: Output = None,
    *,
    wanted: Wanted,
    limits: Limits,
    paying: Paying,
    pages: Pages,
    file: File = None,
    plot: Plot = None,
    fresh: Fresh = False,
    beside: Beside = None,
    budget: Budget = None,
    ledger: Ledger = None,
    exact: Exact = False,
    spark: Spark = None,
    as_json: Json = False,
) -> None:
    """Pay for an answer and show it.

    Charges the price to the budget, reads the rows, adds noise, keeps the answer beside the ledger, and writes the
    files. With --error, the price is the least one for these errors, and it is shown first. The same question at the
    same price is answered again from there, at no charge, unless --fresh is given. With --file, all its questions are
    one plan with one charge.

    Example: sitr ask visits.sitr.yaml "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward" --price 'zcdp(0.05)'
    -o wards.csv --certificate wards.html
    """
    use_spark(spark)
    files = writers(output, plot, pages)
    asked, paid = question(
        description, sql, wanted, file=file, budget=budget, ledger=ledger, limits=limits, beside=beside, paying=paying
    )
    if wanted.error and not as_json:
        from sitr.flavors.notation import write

        charged = asked.preview(paid).price  # without a δ that the question does not need
        console().print(said(f"The price for these errors is {write(charged)}."), soft_wrap=True)
    with working("Reading and adding noise", quiet=as_json):
        answer = asked.release(paid, fresh=fresh)
    publish(answer, files, as_json=as_json, whole=output is None, exact=exact)
