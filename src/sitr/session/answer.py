"""What a user holds after a release, the same for every kind of question."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.loss.loss import Loss
from sitr.numbers import Number
from sitr.report.chart.svg import standalone
from sitr.report.page import html
from sitr.report.paper import Paper
from sitr.report.papers import answer_paper
from sitr.report.text import terminal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, repr=False)
class Answer:
    """What was released, with its receipt. Everything that is done with it from here on is free."""

    released: Any
    receipt: Receipt
    request: Any = field(compare=False)

    @cached_property
    def paper(self) -> Paper:
        """What is shown of it, the same on the terminal, on the page, in notebooks and as JSON."""
        return answer_paper(self.released, self.receipt)

    @property
    def table(self) -> pa.Table:
        """The answer as Arrow; its metadata say whether the noise was private."""
        return self._stamped(self.released.table())

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `<name>_low` and `<name>_high` beside every number."""
        return self._stamped(self.released.intervals(confidence=confidence))

    def errors(self, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of every column at this confidence."""
        return cast("dict[str, float]", self.request.question.errors(self.released.plan, confidence=confidence))

    @property
    def promise(self) -> Kept:
        """What was spent, in the flavor of the price."""
        return cast("Kept", self.released.plan.price)

    @property
    def loss(self) -> Loss | None:
        """The privacy loss; None if no pair of laws dominates it."""
        return cast("Loss | None", self.released.plan.loss())

    @property
    def private(self) -> bool:
        """False only if the noise was drawn with test coins."""
        return self.receipt.private

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas frame (needs pandas)."""
        return cast("pd.DataFrame", self.table.to_pandas())

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars frame (needs polars)."""
        import polars as pl  # noqa: PLC0415 - an extra

        return cast("pl.DataFrame", pl.from_arrow(self.table))

    def to_dict(self) -> dict[str, Any]:
        """Everything on the certificate, for machines."""
        return self.paper.to_dict()

    def certificate(self, path: str | Path) -> Path:
        """Write the certificate: one HTML file that explains and defends this answer."""
        return written(path, html.page(self.paper))

    def plot(self, path: str | Path) -> Path:
        """Write the chart as SVG."""
        assert self.paper.picture is not None
        return written(path, standalone(self.paper.picture()))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(terminal.render(self.paper))

    def _repr_html_(self) -> str:
        return html.fragment(self.paper)

    def _stamped(self, table: pa.Table) -> pa.Table:
        stamp = {"sitr": json.dumps({"private": self.private})}
        return table.replace_schema_metadata({**(table.schema.metadata or {}), **stamp})


def written(path: str | Path, content: str) -> Path:
    """The path, after writing this text to it."""
    target = Path(path)
    target.write_text(content, encoding="utf-8")
    return target
