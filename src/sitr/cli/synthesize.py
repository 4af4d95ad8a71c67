"""`sitr synthesize`: charge the price, fit noisy tables and draw synthetic rows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.domain import read_domain
from sitr.cli.grouped import grouped
from sitr.cli.one_off import SourceCommand, Who, opened
from sitr.cli.options import Budget, Json, Ledger, Preview, Price, Source, Unit, UnitRow, new_file, promise
from sitr.cli.papers import Exact, Fresh, Pages, Plot, unwritten, write_each
from sitr.cli.paying import Paying
from sitr.cli.preview import show as show_preview
from sitr.cli.progress import advancing, working
from sitr.cli.question import condition, expression
from sitr.cli.row_files import check_rows_file, companion, write_batches
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from sitr.questions.aggregate.frame import Expr
    from sitr.session.quality import QualityAnswer
    from sitr.session.synthetic import Synthetic

BINS = 64

KIND = SourceCommand
"""The class of the command."""


@grouped
def synthesize(
    source: Source,
    price: Price,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the rows to a .parquet, .csv or .arrow file.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="The number of rows; default the noisy size of the data set.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The columns, as A,B,…; default all except the person's id.")
    ] = None,
    domain: Annotated[
        Path | None, typer.Option(help="A YAML file with public bounds, bins, keys, required or rules, by column.")
    ] = None,
    bins: Annotated[int, typer.Option(help="The number of cells that numbers and dates are cut into.")] = BINS,
    never: Annotated[
        list[str] | None, typer.Option(help="A condition that no row may meet, such as 'age < 15 AND married'.")
    ] = None,
    derived: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=EXPRESSION: a column that is computed and not measured, such as month. Repeatable."),
    ] = None,
    ordered: Annotated[
        list[str] | None, typer.Option(help="'A <= B': A is never more than B, where both have values. Repeatable.")
    ] = None,
    together: Annotated[
        list[str] | None, typer.Option(help="A,B,…: all of these columns are NULL, or none of them. Repeatable.")
    ] = None,
    unit: Unit = None,
    unit_row: UnitRow = False,
    rows_per_person: Annotated[int | None, typer.Option(min=1, help="The most rows of one person that count.")] = None,
    people: Annotated[
        bool, typer.Option("--people", help="Draw the rows of each person together, with a number in place of the id.")
    ] = False,
    constant: Annotated[
        str | None, typer.Option(help="A,B,…: columns that are the same in all rows of a person, with --people.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="The column by which the rows of a person follow each other, with --people.")
    ] = None,
    fit_triples: Annotated[
        bool,
        typer.Option("--fit-triples", help="Measure and fit coarse tables of all triples of columns, too."),
    ] = False,
    quality: Annotated[
        str | None, typer.Option(help="Pay this too, in the same charge, to measure how good the rows are.")
    ] = None,
    holdout: Annotated[
        str | None, typer.Option(help="Compare the rows with this public table, declared by `sitr protect --public`.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="With --holdout or --quality: the column that a model predicts, and whose values are compared."
        ),
    ] = None,
    triples: Annotated[
        bool, typer.Option("--triples", help="With --quality: compare triples of columns, too.")
    ] = False,
    *,
    pages: Pages,
    paying: Paying,
    plot: Plot = None,
    model: Annotated[Path | None, typer.Option(help="Save the model to a .sitr file, for `sitr draw`.")] = None,
    fresh: Fresh = False,
    preview: Preview = False,
    budget: Budget = None,
    ledger: Ledger = None,
    exact: Exact = False,
    as_json: Json = False,
) -> None:
    """Make synthetic rows that imitate a data set.

    Charges the price, counts tables of the rows, adds noise, fits a model and draws rows from it. Only the tables cost
    something: any number of rows is free. The tables are kept, so the same request at the same price fits and draws
    again at no charge, unless --fresh is given.

    Example: sitr synthesize visits.sitr.yaml --price 'zcdp(0.1)' --rows 100000 -o synthetic.parquet
    """
    from sitr.flavors.price import affordable

    paid, looked = affordable(promise(price)), affordable(promise(quality)) if quality is not None else None
    _check(
        output, pages, plot, model, preview=preview, quality=quality, holdout=holdout, target=target, triples=triples
    )
    public = read_domain(domain)
    groups = 1 if unit is not None else None
    who = Who(unit, unit_row, groups, rows_per_person, options=("--rows-per-person",))
    prices = (paid,) if looked is None else (paid, looked)
    at = opened(source, who, *prices, budget=budget, ledger=ledger).paying(**paying.given())
    asked = at.synthesize(
        columns=columns.split(",") if columns is not None else None,
        bins={column.name: bins for column in at.table.columns} | public.bins,
        bounds=public.bounds(at.table),
        keys=public.keys,
        required=public.required,
        edges=public.edges(at.table),
        spikes=public.spikes,
        scales=public.scales,
        never=[condition(text) for text in never or ()],
        derived=public.derived | dict(map(_derived, derived or ())),
        ordered=[*public.ordered, *map(_ordered, ordered or ())],
        together=[*public.together, *(text.split(",") for text in together or ())],
        rows_per_person=rows_per_person,
        people=people,
        constant=constant.split(",") if constant is not None else (),
        order=order,
        fit_triples=fit_triples,
    )
    part = None if quality is None else target
    if preview:
        show_preview(asked.preview(paid, quality=looked, target=part, triples=triples), as_json=as_json, exact=exact)
        return
    if holdout is not None:
        asked.check_holdout(holdout, target=target)
    with advancing("Reading, adding noise and fitting", quiet=as_json) as progress:
        made = asked.release(
            paid, quality=looked, target=part, triples=triples, rows=rows, fresh=fresh, progress=progress
        )
    with working("Drawing rows", quiet=as_json):
        drawn = made.table
    assert output is not None
    wanted = [p for p in (output, companion(output), model, pages.certificate, pages.label, plot) if p is not None]
    found, failed = made.quality, write_each({output: partial(write_batches, made, [drawn])})
    try:
        if holdout is not None:
            found = made.compare(holdout, target=target)
    finally:  # the rows are paid for: whatever happens, they reach the files and the terminal
        asked_for = (
            (model, made.save),
            (pages.certificate, partial(made.certificate, found=found, **pages.said)),
            (pages.label, partial(made.label, **pages.said)),
            (plot, made.plot),
        )
        failed |= write_each({path: write for path, write in asked_for if path is not None})
        _show(
            made, [path for path in wanted if path not in failed and path.exists()], found, as_json=as_json, exact=exact
        )
    if failed:
        raise unwritten(
            failed,
            "What was paid for could not be kept either: free some space before you ask again."
            if made.receipt.kept is None
            else "Repeat the command without --fresh and with other files: that costs nothing.",
        )


def _show(made: Synthetic, written: list[Path], found: QualityAnswer | None, *, as_json: bool, exact: bool) -> None:
    from sitr.report.text.terminal import render, show

    rows = made.table.num_rows
    if as_json:
        from sitr.report.evidence.checksum import with_checksum
        from sitr.report.free_quality import free_content

        quality = None if found is None else found.to_dict()
        free = free_content(made.agreement(), made.validity())
        more = free | {"drawn": rows, "written": list(map(str, written)), "quality": quality}
        say_json(with_checksum(made.to_dict() | more))
        return
    out = console()
    show(render(made.paper), out=out)
    if found is not None:
        show(render(found.beside(made.receipt), exact=exact), out=out)
    elif made.released.plan.quality is not None:
        out.print(said("The quality was paid for and was not measured: it is lost."), soft_wrap=True)
    out.print(said(f"{rows:,} rows drawn. Written: {', '.join(map(str, written)) or said('nothing')}"), soft_wrap=True)
    if made.receipt.kept is not None:
        out.print(
            said(f"Noisy tables kept in {made.receipt.kept}: the same command draws from them again, for free."),
            soft_wrap=True,
        )


def _derived(text: str) -> tuple[str, Expr]:
    name, equals, rule = text.partition("=")
    if not equals:
        raise BadUsage(
            wanted="--derived COLUMN=EXPRESSION",
            given=repr(text),
            do="Write for example --derived 'month=EXTRACT(month FROM day)'; nothing was spent.",
        )
    return name.strip(), expression(rule)


def _ordered(text: str) -> tuple[str, str]:
    lower, sign, upper = text.partition("<=")
    if not sign:
        raise BadUsage(
            wanted="--ordered 'A <= B'",
            given=repr(text),
            do="Write for example --ordered 'admitted <= discharged'; nothing was spent.",
        )
    return lower.strip(), upper.strip()


def _check(
    output: Path | None,
    pages: Pages,
    plot: Path | None,
    model: Path | None,
    *,
    preview: bool,
    quality: str | None,
    holdout: str | None,
    target: str | None,
    triples: bool,
) -> None:
    """Refuse options that do not fit together, and files that cannot be written, before the charge."""
    if output is None and not preview:
        raise BadUsage(
            given="No file is given for the rows.",
            do="Write for example -o synthetic.parquet, or ask for a --preview; nothing was spent.",
        )
    if quality is not None and holdout is not None:
        raise BadUsage(
            wanted="--quality, for a price, or --holdout, for free",
            given="both",
            do="Leave out one of the two; nothing was spent.",
        )
    if target is not None and holdout is None and quality is None:
        raise BadUsage(
            wanted="a public table, or a price, for the comparison by a target",
            given="--target without --holdout or --quality",
            do="Add --holdout or --quality, or leave the target out; nothing was spent.",
        )
    if triples and quality is None:
        raise BadUsage(
            wanted="a price for the comparison of triples",
            given="--triples without --quality",
            do="Add --quality, or leave out --triples, which --holdout does not need; nothing was spent.",
        )
    pages.check()
    if output is not None:
        check_rows_file(output, "--output")
    for path, option, endings in (
        (model, "--model", (".sitr",)),
        (pages.certificate, "--certificate", (".html",)),
        (pages.label, "--label", (".html",)),
        (plot, "--plot", (".svg",)),
    ):
        if path is not None:
            new_file(path, option, endings)
