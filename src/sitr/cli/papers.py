"""Answers on the terminal and in files. They are kept beside the ledger first, so a failed file costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import check_file, new_file
from sitr.cli.progress import working
from sitr.cli.terminal import console, json_text, say_json
from sitr.dataclass import dataclass
from sitr.errors import BadUsage, FileError
from sitr.report.words.messages import said

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.dataset.publication import Published
    from sitr.session.answer import Answer

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the answer to a .csv, .parquet or .json file.")
]
Certificate = Annotated[Path | None, typer.Option(help="Write the certificate to an .html file.")]
Label = Annotated[Path | None, typer.Option(help="Write the privacy label, one card, to an .html file.")]
Title = Annotated[str | None, typer.Option(help="The title of the certificate and the label.")]
Organisation = Annotated[str | None, typer.Option(help="Who publishes the answer.")]
Contact = Annotated[str | None, typer.Option(help="Whom to ask about it.")]
Purpose = Annotated[str | None, typer.Option(help="What the answer is meant for.")]
Caveat = Annotated[list[str] | None, typer.Option(help="What readers should know before they use it. Repeatable.")]
Plot = Annotated[Path | None, typer.Option(help="Write the chart to an .svg file.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Pay for a new answer, even if one is kept.")]
Exact = Annotated[bool, typer.Option("--exact", help="Print all digits instead of those that the noise leaves.")]

Writer = Callable[["Answer", Path], object]
Failures = dict[Path, Exception]


@dataclass(frozen=True, slots=True)
class Pages:
    """The certificate and the label to write, and what they say about the publisher."""

    certificate: Certificate = None
    label: Label = None
    title: Title = None
    organisation: Organisation = None
    contact: Contact = None
    purpose: Purpose = None
    caveat: Caveat = None

    @property
    def said(self) -> Published:
        """What was given; the rest is what the description says."""
        return {
            "title": self.title,
            "organisation": self.organisation,
            "contact": self.contact,
            "purpose": self.purpose,
            "caveats": tuple(self.caveat or ()),
        }

    def check(self) -> None:
        """Refuse text without a page to put it on, and two pages in one file."""
        if self.certificate is not None and self.certificate == self.label:
            raise BadUsage(
                wanted="two files for --certificate and --label",
                given=f"{self.label} for both",
                do="Change one of the names; nothing was spent.",
            )
        if self.certificate is None and self.label is None and any(self.said.values()):
            given = next(name for name, value in self.said.items() if value).removesuffix("s")
            raise BadUsage(
                given=f"--{given} is printed on a certificate or a label, and none was asked for.",
                do="Add --certificate FILE or --label FILE; nothing was spent.",
            )


def writers(output: Path | None, plot: Path | None, pages: Pages) -> dict[Path, Writer]:
    """The function that writes each file. Endings and folders are checked here, before the charge."""
    pages.check()
    found: dict[Path, Writer] = {}
    certificates: dict[str, Writer] = {".html": lambda answer, path: answer.certificate(path, **pages.said)}
    labels: dict[str, Writer] = {".html": lambda answer, path: answer.label(path, **pages.said)}
    for path, option, allowed in (
        (output, "--output", TABLES),
        (pages.certificate, "--certificate", certificates),
        (pages.label, "--label", labels),
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
        console().print(said(f"Written: {plot}"), soft_wrap=True)


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
        again = f"is kept in {kept}: repeat the command without --fresh, at no charge."
        raise unwritten(failed, f"The answer was paid for and {again if kept else 'is above.'}")
    if files and not as_json:
        console().print(said(f"Written: {', '.join(map(str, files))}"), soft_wrap=True)


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
    path.write_text(json_text(answer.to_dict()) + "\n", encoding="utf-8")


TABLES: dict[str, Writer] = {".csv": _intervals, ".parquet": _intervals, ".json": _json}
CHARTS: dict[str, Writer] = {".svg": lambda answer, path: answer.plot(path)}
