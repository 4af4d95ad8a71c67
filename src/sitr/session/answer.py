"""What a user holds after a release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from sitr.flavors.arrows import Kept
from sitr.numbers import Number
from sitr.report import certificate as report
from sitr.report import html, plots
from sitr.report import text as terminal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """A released table with its errors, its promise and its papers."""

    record: report.Certificate

    @property
    def table(self) -> pa.Table:
        """The answer as Arrow: keys first, then the numbers."""
        return self.record.release.table()

    @property
    def promise(self) -> Kept:
        """What was spent."""
        return self.record.release.plan.price

    @property
    def private(self) -> bool:
        """False only if the answer was drawn with test coins."""
        return self.record.release.private

    def errors(self, *, confidence: Number = 0.95) -> dict[str, float]:
        """The half-width of each column's interval."""
        return {column.term.name: column.error(confidence=confidence) for column in self.record.release.plan.columns}

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `<name>_low` and `<name>_high` beside every number."""
        return self.record.release.intervals(confidence=confidence)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas frame (needs pandas)."""
        return cast("pd.DataFrame", self.table.to_pandas())

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars frame (needs polars)."""
        import polars as pl  # noqa: PLC0415 - an extra

        return cast("pl.DataFrame", pl.from_arrow(self.table))

    def to_dict(self) -> dict[str, object]:
        """Everything on the certificate, for machines."""
        return report.to_dict(self.record)

    def certificate(self, path: str | Path) -> Path:
        """Write the certificate: one HTML file that explains and defends this answer."""
        return _written(path, html.page(self.record))

    def plot(self, path: str | Path) -> Path:
        """Write the chart as SVG."""
        return _written(path, plots.standalone(plots.chart(self.record.release)))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(terminal.answer(self.record))

    def _repr_html_(self) -> str:
        return html.fragment(self.record.release)


def _written(path: str | Path, content: str) -> Path:
    target = Path(path)
    target.write_text(content, encoding="utf-8")
    return target
