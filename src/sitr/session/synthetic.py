"""Synthetic rows: noisy tables are paid for; the model that fits them and the rows drawn from it are free."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Unpack, cast, overload

import pyarrow as pa

from sitr.backends.backend import check_unchanged
from sitr.backends.duckdb import open_source
from sitr.dataset.domain import End
from sitr.dataset.publication import Published
from sitr.dataset.schema import Key
from sitr.errors import NotPrivate, QuestionError
from sitr.flavors.price import Amounts, Price, price_of
from sitr.ledger.receipt import Receipt
from sitr.noise.coins import Coins, TestCoins, system_coins
from sitr.numbers import Number
from sitr.questions.aggregate.frame import Expr
from sitr.questions.synthetic import quality
from sitr.questions.synthetic.axes import Codes, axes
from sitr.questions.synthetic.marginals import Measured
from sitr.questions.synthetic.mixture import Progress
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.portrait import Portrait, portrait
from sitr.questions.synthetic.quality import QualityQuestion, QualityStage
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.questions.synthetic.rules import rules
from sitr.questions.synthetic.sheet import sheet
from sitr.questions.values import check, drawn_type
from sitr.report import synthetic as report
from sitr.report.chart.synthetic import chart
from sitr.report.page import html
from sitr.report.paper import Paper
from sitr.report.text import terminal
from sitr.session.answer import Answer
from sitr.session.ask import ask
from sitr.session.chart import Chart, check_ending, drawn
from sitr.session.desk import Desk
from sitr.session.public import Source, coded, public_codes
from sitr.session.quality import QualityAnswer
from sitr.session.request import Preview, Request
from sitr.session.shown import certified, chosen, once, written


@dataclass(frozen=True, slots=True, repr=False)
class Synthesis(Request["Synthetic"]):
    """A request for synthetic rows."""

    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)

    @property
    def synthetic(self) -> SyntheticQuestion:
        """The question."""
        return cast("SyntheticQuestion", self.question)

    def holdout(self, name: str) -> Codes:
        """The rows of a declared public table, cut into the same cells; `UnknownName` if the name is not declared."""
        return public_codes(self.public, name, self.synthetic.sheet, self.at.backend)

    def check_holdout(self, name: str, *, target: str | None = None) -> None:
        """Refuse a public table, or a target, with which the rows could not be compared; nothing is spent yet."""
        rows = self.holdout(name)
        if target is not None:
            from sitr.learn.trial import check_trial  # noqa: PLC0415 - an extra

            check_trial([*self.synthetic.sheet.names], rows, target=target)

    def preview(  # type: ignore[override]  # rows have no column whose error could be asked for
        self, price: Price | None = None, *, quality: Price | None = None, **amounts: Unpack[Amounts]
    ) -> Preview:
        """What the rows would cost, and how far off the counts would be that they are made from."""
        return Request.preview(self._with(quality), price, **amounts)

    def release(
        self,
        price: Price | None = None,
        *,
        quality: Price | None = None,
        rows: int | None = None,
        coins: Coins | None = None,
        fresh: bool = False,
        progress: Progress | None = None,
        **amounts: Unpack[Amounts],
    ) -> Synthetic:
        """Charge the price, keep the noisy tables, and fit a model to them; kept tables are fitted again for free.

        With a price for the `quality`, both are one charge, and the `table` of the answer, which has this number of
        `rows`, is compared with the data. Each price buys its own noise. Their sum is charged, or less where both are
        approximate: the ε that the loss of all measurements proves at the sum of δ.

        The tables are on disk before the fit. So if anything is interrupted, ask again: the same tables are fitted, and
        the quality, if it was not measured, is lost, because nothing is measured twice for one charge. The quality of
        another number of rows is another question. With `fresh`, everything is charged and measured anew.
        """
        paid = price_of(price, **amounts)
        check_number(rows)
        schema, asked = self._schema(), self._with(quality, rows)
        made: list[Synthetic] = []

        def then(measured: Measured, receipt: Receipt) -> QualityStage:
            made.append(asked._fitted(measured, receipt, schema, rows, progress))
            return QualityStage(made[0].portrait, made[0]._codes(None))

        with _noting(lambda: made[0].receipt if made else None):
            second = None if quality is None else then
            released, receipt = ask(asked.question, paid, at=self.at, coins=coins, fresh=fresh, then=second)
        if made:
            return replace(made[0], released=released, receipt=receipt, drawn=made[0].table)
        return asked._fitted(released, receipt, schema, rows, progress)

    def _with(self, quality: Price | None, rows: int | None = None) -> Synthesis:
        priced = None if quality is None else price_of(quality)
        return replace(self, question=replace(self.synthetic, quality=priced, rows=rows))

    def _fitted(
        self, measured: Measured, receipt: Receipt, schema: pa.Schema, rows: int | None, progress: Progress | None
    ) -> Synthetic:
        with _noting(lambda: receipt):
            fitted = portrait(measured, schema=schema, never=self.synthetic.never, progress=progress)
        return Synthetic(measured, receipt, self, fitted, rows)

    def _schema(self) -> pa.Schema:
        """The types of the columns, after checking that they are still those described and hold every public value."""
        check_unchanged(self.at.backend, self.at.table)
        schema = pa.schema([field.with_type(drawn_type(field.type)) for field in self.at.backend.schema()])
        for axis in self.synthetic.sheet.axes:
            check(axis, schema.field(axis.column.name).type)
        return schema


@dataclass(frozen=True, repr=False, eq=False)
class Synthetic(Answer):
    """A fitted imitation of a data set: draw as many rows as you like, whenever you like. Only `measure` costs more."""

    portrait: Portrait
    rows: int | None = None
    """How many rows the table has; None for as many as the data set, by noisy count."""
    drawn: pa.Table | None = None
    """The rows whose quality was measured."""

    @property
    def paper(self) -> Paper:
        """What is shown of the noisy tables and of the model."""
        return once(self, lambda: report.answer(self.portrait, self.receipt))

    @cached_property
    def table(self) -> pa.Table:
        """Synthetic rows: drawn at the first use, and the same ever after, even if the kept tables are fitted again."""
        with _noting(lambda: self.receipt):  # the rows may be too many for the memory
            return self.draw(self.rows, coins=_repeatable(self.receipt)) if self.drawn is None else self.drawn

    @property
    def quality(self) -> QualityAnswer | None:
        """How far the rows are from the data; None if that was not paid for, or is lost."""
        found = self.released.quality
        if found is None:
            return None
        return QualityAnswer(replace(found, plan=self.released.plan.quality), self.receipt, self)

    def draw(self, rows: int | None = None, *, coins: Coins | None = None) -> pa.Table:
        """New rows as Arrow, in the types of the original columns; as many as the data set has, by noisy count.

        Whichever coins draw them, rows are as private as the noisy tables: drawing is work on what was released.
        """
        check_number(rows)
        tossed = coins if coins is not None else system_coins()
        drawn = self.portrait.draw(self.portrait.size if rows is None else rows, coins=tossed)
        return drawn.replace_schema_metadata({"sitr": json.dumps({"synthetic": True, "private": self.private})})

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The counts of the tables of single columns, or of all columns together, with their intervals."""
        return cast("pa.Table", self.released.intervals(confidence=confidence))

    def compare(self, holdout: str, *, rows: pa.Table | None = None, target: str | None = None) -> QualityAnswer:
        """How far synthetic rows are from a public table with the same columns: free and exact, about public rows only.

        `holdout` is the name under which the steward declared the table, `sitr.protect(…, public={name: …})`. With a
        `target`, a classifier is trained on synthetic rows and tried on the hold-out, beside one trained on half of
        the hold-out (needs scikit-learn).
        """
        real, synthetic = self.request.holdout(holdout), self._codes(rows)
        found = quality.against(self.portrait, synthetic, real, name=holdout)
        if target is not None:
            from sitr.learn.trial import scores  # noqa: PLC0415 - an extra

            names = [*self.portrait.plan.sheet.names]
            found = replace(found, scores=scores(names, synthetic, real, target=target))
        return QualityAnswer(found, None, self)

    def measure(
        self,
        price: Price | None = None,
        *,
        rows: pa.Table | None = None,
        coins: Coins | None = None,
        fresh: bool = False,
        **amounts: Unpack[Amounts],
    ) -> QualityAnswer:
        """How far these rows are from the data themselves: an answer like any other, charged, noisy and kept."""
        question = QualityQuestion(self.portrait, self._codes(rows), self.request.at.table.name)
        found, receipt = ask(question, price_of(price, **amounts), at=self.request.at, coins=coins, fresh=fresh)
        return QualityAnswer(found, replace(receipt, private=receipt.private and self.private), self)

    def certificate(
        self,
        path: str | Path,
        *,
        rows: pa.Table | None = None,
        found: QualityAnswer | None = None,
        lang: str | None = None,
        digits: str | None = None,
        **publication: Unpack[Published],
    ) -> Path:
        """Write a page: the noisy tables beside the synthetic rows, and how good these are if that was measured."""
        shown = self.quality if found is None else found
        with chosen(lang, digits):
            judged = None if shown is None else shown.beside(self.receipt)
            paper = report.answer(self.portrait, self.receipt, rows=self._codes(rows), judged=judged)
            return certified(path, paper, self.publication.changed(**publication))

    def label(
        self,
        path: str | Path,
        *,
        rows: pa.Table | None = None,
        lang: str | None = None,
        digits: str | None = None,
        **publication: Unpack[Published],
    ) -> Path:
        """Write the privacy label of these rows."""
        with chosen(lang, digits):
            paper = report.answer(self.portrait, self.receipt, rows=self._codes(rows))
            return written(path, html.label(paper, self.publication.changed(**publication)))

    @overload
    def plot(self, *, rows: pa.Table | None = None, lang: str | None = None, digits: str | None = None) -> Chart: ...
    @overload
    def plot(
        self, path: str | Path, *, rows: pa.Table | None = None, lang: str | None = None, digits: str | None = None
    ) -> Path: ...
    def plot(
        self,
        path: str | Path | None = None,
        *,
        rows: pa.Table | None = None,
        lang: str | None = None,
        digits: str | None = None,
    ) -> Chart | Path:
        """The pictures, side by side, which a notebook draws; with a path, write them to this SVG file instead."""
        if path is not None:
            check_ending(path)
        with chosen(lang, digits):
            return drawn(chart(self.portrait, self._codes(rows)), path)

    def to_dict(self) -> dict[str, Any]:
        """What was done and what it cost, for machines."""
        return self.paper.to_dict() | {"quality": None if self.quality is None else self.quality.to_dict()}

    def _brief(self) -> str:
        paper, say = self.paper, self.paper.words.summary
        size = self.portrait.size if self.rows is None else self.rows
        made = replace(paper, value=say.synthetic(self.portrait.plan.sheet.names))
        return terminal.as_text(terminal.brief(made, say.answer(self.receipt, size)))

    def __str__(self) -> str:
        parts = [self.paper] if self.quality is None else [self.paper, self.quality.beside(self.receipt)]
        return "\n".join(terminal.as_text(terminal.render(part)) for part in parts)

    def _codes(self, rows: pa.Table | None) -> Codes:
        """The cells of public rows, cut as the data were."""
        return coded(open_source(self.table if rows is None else rows, types={}), self.portrait.plan.sheet)


def check_number(rows: int | None) -> None:
    """Refuse what is no number of rows."""
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
        raise QuestionError(
            wanted="a whole number of rows, at least 0",
            given=f"{rows!r}",
            do="Leave it out for as many as the data set has.",
        )


def _repeatable(receipt: Receipt) -> Coins:
    """Coins that give the same rows again. They need no secret: rows are drawn from what is released already."""
    seed = sha256(f"rows of entry {receipt.entry.number}, {receipt.entry.at.isoformat()}".encode()).hexdigest()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        return TestCoins(int(seed, 16))


@contextmanager
def _noting(paid: Callable[[], Receipt | None]) -> Iterator[None]:
    """Say where the noisy tables are, whatever fails after they were paid for, even by an interrupt."""
    try:
        yield
    except BaseException as failure:
        if (receipt := paid()) is not None and receipt.kept is not None:
            note = f"The noisy tables were paid for and are kept in {receipt.kept}: ask again, at no charge."
            if note not in getattr(failure, "__notes__", ()):
                failure.add_note(note)
        raise


def requested(
    at: Desk,
    public: Mapping[str, Source],
    *,
    columns: Sequence[str] | None,
    bins: int | Mapping[str, int],
    bounds: Mapping[str, tuple[End, End]] | None,
    keys: Mapping[str, Sequence[Key]] | None,
    required: Collection[str],
    never: Iterable[Expr],
    rows_per_person: int | None,
    method: Method | None,
) -> Synthesis:
    """Synthetic rows that imitate these columns: see `Budget.synthesize`."""
    cut = axes(at.table, columns=columns, bins=bins, bounds=bounds, keys=keys, required=required)
    rows = sheet(at.table, cut, rows_per_person=rows_per_person)
    question = SyntheticQuestion(rows, at.table.name, method, rules(never, at.table, cut))
    return Synthesis(question, at, Synthetic, public)
