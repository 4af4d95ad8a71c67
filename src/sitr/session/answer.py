"""What a user holds after a release, the same for every kind of question."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from sitr.dataset.publication import Publication
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.loss.loss import Loss
from sitr.numbers import Number
from sitr.questions.aggregate.habits import ANSWER, Hinted
from sitr.report.paper import Paper
from sitr.report.papers import answer_paper
from sitr.report.text import terminal
from sitr.session.chart import Chart, drawn
from sitr.session.shown import Tabled, chosen, once

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Answer(Hinted, Tabled):
    """What was released, with its receipt. Everything that is done with it from here on is free."""

    _hints = ANSWER

    released: Any
    receipt: Receipt
    request: Any = field(compare=False)

    @property
    def paper(self) -> Paper:
        """What is shown of it, the same on the terminal, on the page, in notebooks and as JSON."""
        return once(self, lambda: answer_paper(self.released, self.receipt))

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

    @property
    def publication(self) -> Publication:
        """Who publishes the answer, by the description of its data set."""
        return Publication() if self.request is None else cast("Publication", self.request.at.publication)

    @overload
    def plot(self, *, lang: str | None = None, digits: str | None = None) -> Chart: ...
    @overload
    def plot(self, path: str | Path, *, lang: str | None = None, digits: str | None = None) -> Path: ...
    def plot(
        self, path: str | Path | None = None, *, lang: str | None = None, digits: str | None = None
    ) -> Chart | Path:
        """The chart, which a notebook draws; with a path, write it to this SVG file instead."""
        with chosen(lang, digits):
            assert self.paper.picture is not None
            return drawn(self.paper.picture(), path)

    def _brief(self) -> str:
        size = None if self.paper.table is None else self.paper.table.size
        line = self.paper.words.summary.answer(self.receipt, size)
        return terminal.as_text(terminal.brief(self.paper, line))
