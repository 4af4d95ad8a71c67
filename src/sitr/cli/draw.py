"""`sitr draw`: rows from a saved model, without the data and without a charge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.progress import advancing
from sitr.cli.row_files import check_rows_file, companion, files_of, write_batches, write_several
from sitr.cli.terminal import console, say_json
from sitr.report.words.messages import said

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.session.several import SeveralSynthetic
    from sitr.session.synthetic import Synthetic


def draw(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that `sitr synthesize --model` saved.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", "--out", help="Write the rows to a .parquet, .csv or .arrow file.")
    ],
    rows: Annotated[
        int | None, typer.Option(min=0, help="The number of rows; default the noisy size of the data set.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Draw the same rows whenever this number is given; default new rows.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw synthetic rows from a saved model, for free.

    Needs only the file of the model, neither the data nor the ledger. Rows are written as they are drawn, so that there
    may be more of them than fit into the memory. Beside a CSV file, a file FILE.csv.about.json says what it is.

    Example: sitr draw model.sitr --rows 1000000 -o rows.parquet
    """
    from sitr.session import model_file
    from sitr.session.synthetic import load, repeatable

    if model_file.holds_several(model):
        from sitr.session.several import load_together

        found = load_together(model)
        files = files_of(output, [each.table for each in found.crowd.diaries.tables])
        for path in files.values():
            check_rows_file(path, "--output")
        people = found.crowd.size if rows is None else rows
        coins = None if seed is None else repeatable(found.receipt, seed=seed)
        abouts = {path: partial(found.about, name) for name, path in files.items()}
        parts = ({files[name]: rows for name, rows in each.items()} for each in found.batches(people, coins=coins))
        with advancing("Drawing rows", quiet=as_json):
            by_file = write_several(abouts, parts)
        _say(found, sum(by_file.values()), [*by_file], as_json=as_json)
        return
    check_rows_file(output, "--output")
    made = load(model)
    wanted = made.portrait.size if rows is None else rows
    coins = None if seed is None else repeatable(made.receipt, seed=seed)
    with advancing("Drawing rows", quiet=as_json) as progress:
        drawn = write_batches(made, _watched(made.batches(wanted, coins=coins), wanted, progress), output)
    _say(made, drawn, [output], as_json=as_json)


def _say(made: Synthetic | SeveralSynthetic, drawn: int, files: list[Path], *, as_json: bool) -> None:
    from sitr.report.evidence.checksum import with_checksum

    written = [str(path) for file in files for path in (file, companion(file)) if path is not None]
    if as_json:
        say_json(with_checksum(made.to_dict() | {"drawn": drawn, "written": written}))
        return
    console().print(said(f"{drawn:,} rows drawn. Written: {', '.join(written)}"), soft_wrap=True)


def _watched(batches: Iterable[pa.Table], wanted: int, progress: Callable[[float], None] | None) -> Iterator[pa.Table]:
    """The same batches, with progress."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.num_rows
        if progress is not None:
            progress(done / max(1, wanted))
