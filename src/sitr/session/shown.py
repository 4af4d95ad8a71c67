"""What previews and answers have in common: a paper that is shown everywhere, and a table."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

import pyarrow as pa

from sitr.dataset.publication import Publication, Published
from sitr.ledger.entry import Sealed
from sitr.ledger.receipt import Receipt
from sitr.namespace import needs
from sitr.report.page import html
from sitr.report.paper import Paper
from sitr.report.text import terminal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


MOST_CONTENT = 1_000_000
"""The longest release, in octets, that a certificate carries as a whole."""


class Shown(Protocol):
    """Anything with a paper: the same on the terminal, in notebooks and as JSON."""

    @property
    def paper(self) -> Paper:
        """What is shown."""

    def to_dict(self) -> dict[str, Any]:
        """Everything on the paper, for machines."""
        return self.paper.to_dict()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(terminal.render(self.paper))

    def _repr_html_(self) -> str:
        return html.fragment(self.paper)


class Tabled(Shown, Protocol):
    """Anything that also has a table, and a page that explains it."""

    @property
    def private(self) -> bool:
        """False only if noise was drawn with test coins."""

    @property
    def table(self) -> pa.Table:
        """The numbers as Arrow; its metadata say whether the noise was private."""

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas frame (needs pandas)."""
        needs("pandas", extra="pandas")
        return cast("pd.DataFrame", self.table.to_pandas())

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars frame (needs polars)."""
        needs("polars", extra="polars")
        import polars as pl  # noqa: PLC0415 - an extra

        return cast("pl.DataFrame", pl.from_arrow(self.table))

    @property
    def publication(self) -> Publication:
        """Who publishes the answer, by the description of its data set."""
        return Publication()

    def certificate(self, path: str | Path, **publication: Unpack[Published]) -> Path:
        """Write the certificate: one HTML file that explains and defends this answer.

        It shows the title, organisation, contact, purpose, date and caveats that are given here or in the description.
        """
        return certified(path, self.paper, self.publication.changed(**publication))

    def label(self, path: str | Path, **publication: Unpack[Published]) -> Path:
        """Write the privacy label: one HTML card with the promise in one number and one sentence."""
        return written(path, html.label(self.paper, self.publication.changed(**publication)))

    def _stamped(self, table: pa.Table) -> pa.Table:
        stamp = {"sitr": json.dumps({"private": self.private})}
        return table.replace_schema_metadata({**(table.schema.metadata or {}), **stamp})


def written(path: str | Path, content: str) -> Path:
    """The path, after writing this text to it."""
    target = Path(path)
    target.write_text(content, encoding="utf-8")
    return target


def certified(path: str | Path, paper: Paper, publication: Publication) -> Path:
    """The path, after the page was written to it. First the ledger records its hash, so that it can be verified."""
    page, receipt = html.page(paper, publication, release=_kept(paper.receipt)), paper.receipt
    assert receipt is not None
    if receipt.ledger is not None:
        receipt.ledger.seal(receipt.entry.number, Sealed.CERTIFICATE, sha256(page.encode()).hexdigest())
    return written(path, page)


def _kept(receipt: Receipt | None) -> str:
    """What was released, as it is kept; empty if it is not kept, was changed since, or is too long for a page."""
    if receipt is None or receipt.kept is None:
        return ""
    try:
        content = receipt.kept.read_bytes()
    except OSError:
        return ""
    same = len(content) <= MOST_CONTENT and sha256(content).hexdigest() == receipt.sha256
    return content.decode() if same else ""
