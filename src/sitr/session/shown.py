"""What everything that a user holds has in common: a paper that is shown everywhere; answers also have a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

from sitr import arguments
from sitr.dataset.publication import Publication, Published
from sitr.errors import FileError, LedgerError, unknown_name
from sitr.language import Digits, Language, choice, speaking, spoken
from sitr.language import digits as used
from sitr.ledger.entry import Sealed
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later, needs
from sitr.numbers import Number
from sitr.report.evidence.checksum import with_checksum
from sitr.report.paper import Paper
from sitr.report.text import terminal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from sitr.report.page import html
else:  # most answers are never shown on a page
    html = Later("sitr.report.page.html")


MOST_CONTENT = 1_000_000
"""The longest release, in octets, that a certificate carries as a whole."""


PAGES = (".html", ".htm")
"""The endings of pages."""


class Displayed(Protocol):
    """Anything with a paper: the same on the terminal, in notebooks and as JSON.

    `repr` says in one line or a few what it is, and `print` shows the whole paper.
    """

    @property
    def paper(self) -> Paper:
        """What is shown."""

    def to_dict(self) -> dict[str, Any]:
        """Everything on the paper, for machines."""
        return with_checksum(self.paper.to_dict())

    def _brief(self) -> str:
        """What it is, in one line or a few."""

    def __repr__(self) -> str:
        return self._brief()

    def __str__(self) -> str:
        return terminal.as_text(terminal.render(self.paper))

    def _repr_html_(self) -> str:
        return html.fragment(self.paper)


class Tabled(Displayed, Protocol):
    """Anything that also has a table, and a page that explains it."""

    @property
    def private(self) -> bool:
        """False only if noise was drawn with test coins."""

    @property
    def table(self) -> pa.Table:
        """The numbers as Arrow; its metadata say whether the noise was private."""

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `<name>_low` and `<name>_high` beside every noisy number."""

    def to_pandas(self, *, intervals: bool = False) -> pd.DataFrame:
        """The table as a pandas frame (needs pandas), or `intervals()`, which adds the ends of 95% intervals.

        `attrs["intervals"]` names the ends that are public bounds and say nothing about the rows.
        """
        needs("pandas", extra="pandas")
        table = self.intervals() if intervals else self.table
        frame = cast("pd.DataFrame", table.to_pandas())
        said = {
            field.name: json.loads((field.metadata or {}).get(b"sitr", b"{}")).get("interval") for field in table.schema
        }
        frame.attrs |= {"intervals": {name: what for name, what in said.items() if what}} if any(said.values()) else {}
        return frame

    def to_polars(self, *, intervals: bool = False) -> pl.DataFrame:
        """The table as a polars frame (needs polars), or `intervals()`, which adds the ends of 95% intervals."""
        needs("polars", extra="polars")
        import polars as pl  # noqa: PLC0415 - an extra

        return cast("pl.DataFrame", pl.from_arrow(self.intervals() if intervals else self.table))

    def __len__(self) -> int:
        """The number of rows of the table."""
        return int(self.table.num_rows)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """A column of the table as a numpy array.

        Dates are datetime64, text is objects, and NULL is None, NaN or NaT, as numpy has it.
        """
        table = self.table
        if column not in table.column_names:
            raise unknown_name(column, table.column_names, lacks="The answer has no column")
        return cast("NDArray[Any]", table[column].to_numpy())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows of the table, each as a dictionary."""
        for batch in self.table.to_batches():
            yield from batch.to_pylist()

    @property
    def publication(self) -> Publication:
        """Who publishes the answer, by the description of its data set."""
        return Publication()

    def certificate(
        self, path: str | Path, *, lang: str | None = None, digits: str | None = None, **publication: Unpack[Published]
    ) -> Path:
        """Write the certificate: one HTML file that explains and defends this answer, with lang="ar" in Arabic.

        With digits="arabic-indic", numbers in Arabic texts are ٠١٢ instead of 012. The page shows the title,
        organisation, contact, purpose, date and caveats that are given here or in the description.
        """
        with chosen(lang, digits):
            return certified(path, self.paper, self.publication.changed(**publication))

    def label(
        self, path: str | Path, *, lang: str | None = None, digits: str | None = None, **publication: Unpack[Published]
    ) -> Path:
        """Write the privacy label: one HTML card with the promise in one number and one sentence."""
        with chosen(lang, digits):
            page(path)
            return written(path, html.label(self.paper, self.publication.changed(**publication)))

    def _stamped(self, table: pa.Table) -> pa.Table:
        stamp = {"sitr": json.dumps({"private": self.private})}
        return table.replace_schema_metadata({**(table.schema.metadata or {}), **stamp})


def once(holder: object, make: Callable[[], Paper]) -> Paper:
    """The paper of an object, made once for each language that is spoken, and for its digits."""
    papers: dict[tuple[Language, Digits], Paper] = vars(holder).setdefault("papers", {})
    if (manner := (spoken(), used())) not in papers:
        papers[manner] = make()
    return papers[manner]


@contextmanager
def chosen(lang: str | None, digits: str | None = None) -> Iterator[None]:
    """Make reports in this language and with these digits; None stands for those that are used already."""
    language = spoken() if lang is None else choice(lang, Language, option="lang")
    with speaking(language, None if digits is None else choice(digits, Digits, option="digits")):
        yield


def written(path: str | Path, content: str) -> Path:
    """The path, after writing this text to it."""
    target = arguments.path(path, of="visits.html")
    try:
        target.write_text(content, encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
        raise unwritable(target) from None
    return target


def unwritable(path: Path) -> FileError:
    """A file that cannot be written."""
    if path.is_dir():
        return FileError(given=f"Cannot write {path}, because it is a folder.", do="Name a file in it.")
    return FileError(
        given=f"Cannot write {path}, because its folder does not exist or is not writable.",
        do="Make the folder, or choose another path.",
    )


def check_writable(path: Path) -> None:
    """Refuse a path to which nothing can be written. A file that is there stays as it is."""
    new = not path.exists()
    try:
        path.open("a").close()
    except OSError:
        raise unwritable(path) from None
    if new:
        path.unlink()


def certified(path: str | Path, paper: Paper, publication: Publication) -> Path:
    """The path, after the page was written to it. First the ledger records its hash, so that it can be verified."""
    page(path)
    receipt = paper.receipt
    assert receipt is not None
    if (far := getattr(receipt.ledger, "certificate", None)) is not None:  # who keeps the ledger vouches for the page
        return written(path, far(receipt.entry.number))
    content = html.page(paper, publication, release=_kept(receipt))
    if receipt.ledger is not None:
        receipt.ledger.seal(receipt.entry.number, Sealed.CERTIFICATE, sha256(content.encode()).hexdigest())
    return written(path, content)


def page(path: object) -> None:
    """Refuse a file that is no page by its name: a browser prints a page as PDF, and programs read JSON."""
    target = arguments.path(path, of="visits.html")
    if target.suffix.lower() not in PAGES:
        raise FileError(
            wanted="a file whose name ends in .html",
            given=f"{target}",
            do="Change the ending; a browser can print the page as PDF, and to_dict() has everything for a .json file.",
        )


def _kept(receipt: Receipt | None) -> str:
    """What was released, as it is kept; empty if it is not kept, was changed since, or is too long for a page."""
    if receipt is None or receipt.kept is None:
        return ""
    try:
        contents = [receipt.kept.read_bytes()] if isinstance(receipt.kept, Path) else _in_ledger(receipt)
    except (OSError, LedgerError):
        return ""
    same = [each for each in contents if len(each) <= MOST_CONTENT and sha256(each).hexdigest() == receipt.sha256]
    return same[0].decode() if same else ""


def _in_ledger(receipt: Receipt) -> list[bytes]:
    """What the ledger itself keeps for the entry."""
    kept = getattr(receipt.ledger, "kept", None)
    return [] if kept is None else [text.encode() for text in kept(receipt.entry.number)]
