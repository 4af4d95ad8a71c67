"""`sitr synthesize`: charge the price, fit the tables, draw rows that are nobody's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sitr.cli.domain import read_domain
from sitr.cli.one_off import Who, opened
from sitr.cli.options import Budget, Json, Ledger, new_file, promise
from sitr.cli.papers import Certificate, Plot, unwritten, write_each
from sitr.cli.progress import advancing, working
from sitr.cli.question import condition
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.session.request import Preview
    from sitr.session.synthetic import QualityAnswer, Synthesis, Synthetic

TABLES = (".parquet", ".csv", ".arrow")
BINS = 64


def synthesize(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="The file that `sitr protect` wrote, or a Parquet file.")
    ],
    price: Annotated[str, typer.Option(help="What to pay, such as 'zcdp(0.1)' or 'approximate(1, 1e-9)'.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the rows to a .parquet, .csv or .arrow file.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="How many; else as many as the data set has, by noisy count.")
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Which columns, as A,B,…; else all but the person's id.")] = None,
    domain: Annotated[
        Path | None, typer.Option(help="A YAML file with bounds, bins, keys or required for each COLUMN; all public.")
    ] = None,
    bins: Annotated[int, typer.Option(help="Into how many cells numbers and dates are cut.")] = BINS,
    never: Annotated[
        list[str] | None, typer.Option(help="A condition that no row may fulfil, such as 'age < 15 AND married'.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Of a file without description: the column of persons.")] = None,
    unit_row: Annotated[bool, typer.Option("--unit-row", help="The same: protect each row by itself.")] = False,
    rows_per_person: Annotated[int | None, typer.Option(help="How many rows of one person count.")] = None,
    quality: Annotated[
        str | None, typer.Option(help="Pay this too, in the same charge, to measure how good the rows are.")
    ] = None,
    holdout: Annotated[
        str | None, typer.Option(help="Compare the rows with this public table, declared by `sitr protect --public`.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="With --holdout: the column that a model learns to tell.")] = None,
    certificate: Certificate = None,
    plot: Plot = None,
    resume: Annotated[
        Path | None, typer.Option(help="Fit noisy tables that were paid for and kept; the same request, no charge.")
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Show price and errors; spend nothing.")] = False,
    budget: Budget = None,
    ledger: Ledger = None,
    as_json: Json = False,
) -> None:
    """Make synthetic rows that imitate a data set.

    The price is charged, durably; then tables of the rows are counted, noise is added, a model is fitted, and rows are
    drawn from it. Only the tables cost something: as many rows as wanted are free.

    Example: sitr synthesize visits.sitr.yaml --price 'zcdp(0.1)' --rows 100000 -o synthetic.parquet
    """
    from sitr.questions.synthetic.price import affordable

    paid, looked = affordable(promise(price)), affordable(promise(quality)) if quality is not None else None
    _check(output, certificate, plot, rows=rows, preview=preview, quality=quality, holdout=holdout, target=target)
    public = read_domain(domain)
    groups = 1 if unit is not None else None
    who = Who(unit, unit_row, groups, rows_per_person, "--rows-per-person 3")
    prices = (paid,) if looked is None else (paid, looked)
    at = opened(source, who, *prices, budget=budget, ledger=ledger)
    asked = at.synthesize(
        columns=columns.split(",") if columns is not None else None,
        bins={column.name: bins for column in at.table.columns} | public.bins,
        bounds=public.bounds(at.table),
        keys=public.keys,
        required=public.required,
        never=[condition(text, table=at.table.name) for text in never or ()],
        rows_per_person=rows_per_person,
    )
    if preview:
        _show_preview(asked.preview(paid, quality=looked), as_json=as_json)
        return
    if holdout is not None:
        _check_holdout(asked, holdout, target)
    with advancing("Reading, adding noise and fitting", quiet=as_json) as progress:
        make = asked.release if resume is None else partial(asked.resume, resume)
        made = _made(partial(make, paid, quality=looked, rows=rows, progress=progress))
    with working("Drawing rows", quiet=as_json):
        drawn = _drawn(made)
    assert output is not None
    wanted = [path for path in (output, certificate, plot) if path is not None]
    found, failed = made.quality, write_each({output: partial(_write, drawn)})
    try:
        if holdout is not None:
            found = made.compare(holdout, target=target)
    finally:  # the rows are paid for: whatever happens, they reach the files and the terminal
        pictures = {} if certificate is None else {certificate: partial(made.certificate, found=found)}
        failed |= write_each(pictures | ({} if plot is None else {plot: made.plot}))
        _tell(made, [path for path in wanted if path not in failed], found, as_json=as_json)
    if failed:
        raise unwritten(
            failed,
            "What was paid for could not be kept either: free some space before you ask again."
            if made.receipt.kept is None
            else f"Repeat the command with --resume {made.receipt.kept} and other files: that costs nothing.",
        )


def _check_holdout(asked: Synthesis, holdout: str, target: str | None) -> None:
    """A table that is not declared or does not fit, and a target that is not in it, are refused before the charge."""
    rows = asked.holdout(holdout)
    if target is not None:
        from sitr.learn.trial import check_trial

        check_trial([*asked.synthetic.sheet.names], rows, target=target)


def _made(make: Callable[[], Synthetic]) -> Synthetic:
    try:
        return make()
    except BaseException as failure:  # an interrupted fit too: what was paid for is kept, and it is said where
        for note in getattr(failure, "__notes__", ()):
            console(stderr=True).print(note, soft_wrap=True)
        raise


def _drawn(made: Synthetic) -> pa.Table:
    try:
        return made.table
    except BaseException:  # too many rows for the memory, or an interrupt: the tables that were paid for are kept
        if made.receipt.kept is not None:
            note = f"The noisy tables are kept in {made.receipt.kept}: --resume draws other --rows from them, for free."
            console(stderr=True).print(note, soft_wrap=True)
        raise


def _tell(made: Synthetic, written: list[Path], found: QualityAnswer | None, *, as_json: bool) -> None:
    from sitr.report import synthetic
    from sitr.report.text import terminal as text

    rows = made.table.num_rows
    if as_json:
        told: dict[str, Any] = made.to_dict() | {"drawn": rows, "written": list(map(str, written))}
        say_json(told | {"quality": None if found is None else found.to_dict()})
        return
    out = console()
    text.show(synthetic.answer(made.portrait, made.receipt), out=out)
    if found is not None:
        text.show(found.on_terminal(beside=made.receipt), out=out)
    elif made.released.plan.quality is not None:
        out.print("The quality was paid for and could not be measured: it is lost.", soft_wrap=True)
    out.print(f"{rows:,} rows drawn. Written: {', '.join(map(str, written)) or 'nothing'}", soft_wrap=True)
    if made.receipt.kept is not None:
        out.print(
            f"Noisy tables kept in {made.receipt.kept}: --resume draws from them again, for free.", soft_wrap=True
        )


def _show_preview(found: Preview, *, as_json: bool) -> None:
    from sitr.report.papers import preview_papers
    from sitr.report.text import terminal as text

    if as_json:
        say_json(found.to_dict())
    else:
        text.show(preview_papers(found.plan).on_terminal(found.plan, found.standing), out=console())


def _check(
    output: Path | None,
    certificate: Path | None,
    plot: Path | None,
    *,
    rows: int | None,
    preview: bool,
    quality: str | None,
    holdout: str | None,
    target: str | None,
) -> None:
    """All that can be known is checked now, before the charge."""
    if rows is not None and rows < 0:
        raise BadUsage(
            wanted="a number of rows of at least 0",
            given=f"--rows {rows}",
            do="Leave it out for as many as the data set has; nothing was spent.",
        )
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
    if target is not None and holdout is None:
        raise BadUsage(
            wanted="a public table on which a model is tested",
            given="--target without --holdout",
            do="Name the table with --holdout, or leave the target out; nothing was spent.",
        )
    for path, option, endings in (
        (output, "--output", TABLES),
        (certificate, "--certificate", (".html",)),
        (plot, "--plot", (".svg",)),
    ):
        if path is not None:
            new_file(path, option, endings)


def _write(rows: pa.Table, path: Path) -> None:
    match path.suffix:
        case ".parquet":
            from pyarrow.parquet import write_table

            write_table(rows, path)
        case ".csv":
            import pyarrow as pa
            from pyarrow.csv import write_csv

            plain = [
                pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in rows.schema
            ]
            write_csv(rows.cast(pa.schema(plain)), path)
        case _:
            from pyarrow.feather import write_feather

            write_feather(rows, path)
