"""How good synthetic rows are, as an answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack, cast, overload

import pyarrow as pa

from sitr.dataset.publication import Published
from sitr.errors import InvalidParameter
from sitr.flavors.promise import Promise
from sitr.ledger.receipt import Receipt
from sitr.loss.loss import Loss
from sitr.numbers import Number
from sitr.questions.synthetic.figures import Quality
from sitr.report import synthetic as report
from sitr.report.paper import Paper
from sitr.report.text import terminal
from sitr.session.chart import Chart
from sitr.session.shown import Tabled, once


@dataclass(frozen=True, repr=False)
class QualityAnswer(Tabled):
    """Figures about synthetic rows, beside a public table for free or beside the data for a price.

    `receipt` is None where nothing was charged.
    """

    released: Quality
    receipt: Receipt | None
    synthetic: Any = field(compare=False)
    """The rows, as they were answered."""

    @property
    def quality(self) -> Quality:
        """The figures."""
        return self.released

    @property
    def paper(self) -> Paper:
        """What is shown of it."""
        return once(self, lambda: self.beside(None))

    def beside(self, shown: Receipt | None) -> Paper:
        """What is shown of it where this receipt is shown too."""
        receipt = None if self.receipt == shown else self.receipt
        return report.quality(self.released, receipt, private=self.private)

    @property
    def table(self) -> pa.Table:
        """One row for each figure, with the half-width of its 95% interval."""
        found = self.released
        kinds = {"single": found.single, "pair": found.pairs, "range": found.ranges, "correlation": found.correlations}
        kinds |= {"triple": found.triples} if found.triples else {}
        kinds |= {"subgroup": found.subgroups} if found.subgroups else {}
        figures = [(kind, figure) for kind, listed in kinds.items() for figure in listed]
        columns = {
            "kind": pa.array([kind for kind, _ in figures], pa.string()),
            "columns": pa.array([list(figure.columns) for _, figure in figures], pa.list_(pa.string())),
            "found": pa.array([figure.found for _, figure in figures], pa.float64()),
            "error_95": pa.array([figure.error for _, figure in figures], pa.float64()),
        }
        return self._stamped(pa.table(columns))

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `found_low` and `found_high`: 95% intervals, because no other errors were kept."""
        if confidence != 0.95:
            raise InvalidParameter(
                wanted="a confidence of 0.95 for figures about synthetic rows",
                given=f"{confidence!r}",
                do="Leave the confidence out.",
            )
        figures = self.table
        found, far = (figures[name].to_numpy() for name in ("found", "error_95"))
        with_low = figures.append_column("found_low", pa.array(found - far))
        return with_low.append_column("found_high", pa.array(found + far))

    @property
    def promise(self) -> Promise | None:
        """What was spent; None for a comparison with a public table."""
        return None if self.released.plan is None else self.released.plan.price

    @property
    def loss(self) -> Loss | None:
        """The privacy loss of the figures; None for a comparison with a public table."""
        return None if self.released.plan is None else self.released.plan.loss()

    @property
    def private(self) -> bool:
        """False only if test coins made the noise of the figures or of the rows."""
        return bool(self.synthetic.private) if self.receipt is None else self.receipt.private

    def certificate(
        self, path: str | Path, *, lang: str | None = None, digits: str | None = None, **publication: Unpack[Published]
    ) -> Path:
        """Write the certificate of the rows, with these figures."""
        return cast("Path", self.synthetic.certificate(path, found=self, lang=lang, digits=digits, **publication))

    def label(
        self, path: str | Path, *, lang: str | None = None, digits: str | None = None, **publication: Unpack[Published]
    ) -> Path:
        """Write the privacy label of the rows."""
        return cast("Path", self.synthetic.label(path, lang=lang, digits=digits, **publication))

    @overload
    def plot(self, *, lang: str | None = None, digits: str | None = None) -> Chart: ...
    @overload
    def plot(self, path: str | Path, *, lang: str | None = None, digits: str | None = None) -> Path: ...
    def plot(
        self, path: str | Path | None = None, *, lang: str | None = None, digits: str | None = None
    ) -> Chart | Path:
        """The pictures of the rows, which a notebook draws; with a path, write them to this SVG file instead."""
        return cast("Chart | Path", self.synthetic.plot(path, lang=lang, digits=digits))

    def _brief(self) -> str:
        (_, compared), *_ = self.paper.facts
        return terminal.as_text(terminal.brief(self.paper, compared))
