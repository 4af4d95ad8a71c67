"""Answers on the terminal and in files. They are kept beside the ledger first, so a failed file costs nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import check_file, new_file
from sitr.cli.progress import working
from sitr.cli.terminal import console, json_text, say_json
from sitr.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.session.answer import Answer

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the answer to a .csv, .parquet or .json file.")
]
Certificate = Annotated[Path | None, typer.Option(help="Write the certificate to an .html file.")]
Plot = Annotated[Path | None, typer.Option(help="Write the chart to an .svg file.")]
Resume = Annotated[Path | None, typer.Option(metavar="FILE", help="Show a kept answer again, at no charge.")]
Exact = Annotated[bool, typer.Option("--exact", help="Print all digits instead of those that the noise leaves.")]

Writer = Callable[["Answer", Path], object]
Failures = dict[Path, Exception]


def writers(output: Path | None, certificate: Path | None, plot: Path | None) -> dict[Path, Writer]:
    """The function that writes each file. Endings and folders are checked here, before the charge."""
    found: dict[Path, Writer] = {}
    for path, option, allowed in (
        (output, "--output", TABLES),
        (certificate, "--certificate", PAGES),
        (plot, "--plot", CHARTS),
    ):
        if path is not None:
            new_file(path, option, tuple(allowed))
            found[path] = allowed[path.suffix]
    return found


def check_plot(plot: Path | None) -> None:
    """Refuse a chart that cannot be written, before a minute is spent on drawing it."""
    if plot is not None:
        check_file(plot, "--plot", tuple(CHARTS))


def draw(plot: Path | None, picture: Callable[[], str], *, as_json: bool) -> None:
    """Write a chart, if a file is given."""
    from sitr.report.chart.svg import standalone

    if plot is None:
        return
    with working("Drawing", quiet=as_json):
        drawn = standalone(picture())
    plot.write_text(drawn, encoding="utf-8")
    if not as_json:
        console().print(f"Written: {plot}", soft_wrap=True)


def publish(answer: Answer, files: Mapping[Path, Writer], *, as_json: bool, whole: bool, exact: bool = False) -> None:
    """Write the files, then show the answer, then report files that could not be written.

    The terminal shows only the first rows, or the `whole` answer if no file has it; `exact` numbers have all digits.
    """
    failed = write_each({path: partial(write, answer) for path, write in files.items()})
    kept = answer.receipt.kept
    if as_json or (failed and kept is None):
        say_json(answer.to_dict())
    else:
        show(answer, whole=whole, exact=exact)
    if failed:
        again = f"is kept in {kept}: repeat the command with --resume {shlex.quote(str(kept))}, at no charge."
        raise unwritten(failed, f"The answer was paid for and {again if kept else 'is above.'}")
    if files and not as_json:
        console().print(f"Written: {', '.join(map(str, files))}", soft_wrap=True)


def write_each(writers: Mapping[Path, Callable[[Path], object]]) -> Failures:
    """Write every file and return the failures. No partial file is left."""
    failed: Failures = {}
    for path, write in writers.items():
        try:
            write(path)
        except Exception as error:  # noqa: BLE001 - the other files and the answer come first
            failed[path] = error
            with suppress(OSError):
                path.unlink(missing_ok=True)
    return failed


def unwritten(failed: Failures, do: str) -> FileError:
    """The error for files that could not be written."""
    reasons = (f"{path} ({getattr(error, 'strerror', None) or type(error).__name__})" for path, error in failed.items())
    return FileError(given=f"Could not write {', '.join(reasons)}.", do=do)


def show(answer: Answer, *, whole: bool, exact: bool = False) -> None:
    """Print the answer; without `whole`, only the first rows; `exact` numbers have all digits."""
    from sitr.report.text import terminal as text

    most = None if whole else text.MOST_ROWS
    text.show(text.render(answer.paper, most=most, exact=exact), out=console())


def write_rows(rows: pa.Table, path: Path) -> None:
    """Write a table in the format that the ending of the file names."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    match path.suffix:
        case ".parquet":
            parquet.write_table(rows, path)
        case ".arrow":
            feather.write_feather(rows, path)
        case _:  # CSV has no categories
            kinds = [
                field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in rows.schema
            ]
            csv.write_csv(rows.cast(pa.schema(list(zip(rows.schema.names, kinds, strict=True)))), path)


def _intervals(answer: Answer, path: Path) -> None:
    write_rows(answer.intervals(), path)


def _json(answer: Answer, path: Path) -> None:
    path.write_text(json_text(answer.to_dict()) + "\n", encoding="ascii")


TABLES: dict[str, Writer] = {".csv": _intervals, ".parquet": _intervals, ".json": _json}
PAGES: dict[str, Writer] = {".html": lambda answer, path: answer.certificate(path)}
CHARTS: dict[str, Writer] = {".svg": lambda answer, path: answer.plot(path)}
