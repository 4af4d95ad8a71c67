"""Synthetic rows: noisy tables are paid for; the model that fits them and the rows drawn from it are free."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Unpack, cast, overload

import pyarrow as pa
import pyarrow.compute as pc

from sitr import arguments
from sitr.backends.derivation import with_derived
from sitr.backends.duckdb import open_source
from sitr.dataset.publication import Published
from sitr.errors import InvalidUse, NotPrivate, QuestionError
from sitr.flavors.price import Amounts, Price, price_of
from sitr.ledger.receipt import Receipt
from sitr.noise.coins import Coins, TestCoins, system_coins
from sitr.numbers import Number
from sitr.questions.synthetic import quality
from sitr.questions.synthetic.agreement import Agreement, agreement
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.crowd import Crowd
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.quality import QualityQuestion
from sitr.questions.synthetic.quality_plan import judged
from sitr.questions.synthetic.regression import regression
from sitr.questions.synthetic.validity import Checked, validity
from sitr.report import synthetic as report
from sitr.report.chart.synthetic import chart
from sitr.report.evidence.checksum import with_checksum
from sitr.report.page import html
from sitr.report.paper import Paper
from sitr.report.text import terminal
from sitr.session import model_file
from sitr.session.answer import Answer
from sitr.session.ask import ask
from sitr.session.chart import Chart, check_ending, drawn
from sitr.session.model_file import SavedModel
from sitr.session.public import coded
from sitr.session.quality import QualityAnswer
from sitr.session.shown import certified, chosen, once, written

BATCH = 2**18
"""Rows that are drawn at a time where they are written to a file as they are drawn."""


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
        with noting(lambda: self.receipt):  # the rows may be too many for the memory
            return self.draw(self.rows, coins=repeatable(self.receipt)) if self.drawn is None else self.drawn

    @property
    def quality(self) -> QualityAnswer | None:
        """How far the rows are from the data; None if that was not paid for, or is lost."""
        found = self.released.quality
        if found is None:
            return None
        return QualityAnswer(replace(found, plan=self.released.plan.quality), self.receipt, self)

    def draw(self, rows: int | None = None, *, coins: Coins | None = None) -> pa.Table:
        """New rows as Arrow, in the types of the original columns; as many as the data set has, by noisy count.

        If the rows of each person are drawn together, whole people are drawn, with about this many rows.

        Whichever coins draw them, rows are as private as the noisy tables: drawing is work on what was released.
        """
        check_number(rows)
        return self._drawn(rows, coins if coins is not None else system_coins())

    def _drawn(self, rows: int | None, coins: Coins, *, after: int = 0) -> pa.Table:
        """The rows; people are numbered after this number."""
        cells = self.portrait.draw(self.portrait.size if rows is None else rows, coins=coins, after=after)
        drawn = with_derived(cells, self.portrait.structure.derived, self.portrait.schema)
        return drawn.replace_schema_metadata({"sitr": json.dumps({"synthetic": True, "private": self.private})})

    def batches(self, rows: int | None = None, *, coins: Coins | None = None, most: int = BATCH) -> Iterator[pa.Table]:
        """New rows like those of `draw`, at most this many at a time, for files that do not fit into the memory."""
        check_number(rows)
        tossed = coins if coins is not None else system_coins()
        left, people, diary = self.portrait.size if rows is None else rows, 0, self.portrait.plan.diary
        while True:
            yield (drawn := self._drawn(min(most, left), tossed, after=people))
            people += 0 if diary is None else pc.count_distinct(drawn[diary.unit.column]).as_py()
            left -= min(most, left)
            if not left or not drawn.num_rows:
                return

    def save(self, path: str | Path) -> Path:
        """Write the model to a file, from which `sitr.load` and `sitr draw` draw rows, without the data, for free.

        The file holds what was released: noisy tables, the model, public facts about the columns, and the receipt.
        """
        model_file.write(target := arguments.path(path, of="model.sitr"), self._saved())
        return target

    def _saved(self) -> SavedModel:
        """The quality, if it was measured, is in what was released, and not yet in what was fitted."""
        return SavedModel(replace(self.portrait, measured=self.released), self.receipt, self.rows)

    def errors(self, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of each count, by table, for the tables of single columns, or of all columns together."""
        return {each.name: each.error(confidence=confidence) for each in self.portrait.plan.known()}

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The counts of the tables of single columns, or of all columns together, with their intervals."""
        return cast("pa.Table", self.released.intervals(confidence=confidence))

    def compare(self, holdout: str, *, rows: pa.Table | None = None, target: str | None = None) -> QualityAnswer:
        """How far synthetic rows are from a public table with the same columns: free and exact, about public rows only.

        `holdout` is the name under which the steward declared the table, `sitr.protect(…, public={name: …})`. With a
        `target`, a classifier is trained on synthetic rows and tried on the hold-out, beside one trained on half of
        the hold-out; another one tries to tell synthetic rows from those of the hold-out; errors are shown for each
        value of the target; and, unless the rows of each person are drawn together, the coefficients of a linear
        regression of the target on all other columns are compared (needs scikit-learn).
        """
        real, synthetic = self._asked().holdout(holdout), self.codes(rows)
        found = quality.against(self.portrait, synthetic, real, name=holdout)
        if target is not None:
            from sitr.learn.trial import propensity, scores  # noqa: PLC0415 - an extra

            names = [*self.portrait.plan.sheet.names]
            diary = self.portrait.plan.diary
            whose = None if diary is None else (diary.whose(synthetic), diary.whose(real))
            tried = scores(names, synthetic, real, target=target, whose=None if whose is None else whose[1])
            groups = quality.subgroups(self.portrait, synthetic, real, names.index(target))
            told = propensity(synthetic, real, whose=whose)
            lines = () if diary is not None else regression(self.portrait.axes, synthetic, real, names.index(target))
            found = replace(found, scores=tried, propensity=told, subgroups=groups, regression=lines)
        return QualityAnswer(found, None, self)

    def measure(
        self,
        price: Price | None = None,
        *,
        rows: pa.Table | None = None,
        target: str | None = None,
        triples: bool = False,
        coins: Coins | None = None,
        fresh: bool = False,
        **amounts: Unpack[Amounts],
    ) -> QualityAnswer:
        """How far these rows are from the data themselves: an answer like any other, charged, noisy and kept.

        With a `target`, part of the price shows the errors of the other columns among the rows with each of its values,
        and, unless the rows of each person are drawn together, the coefficients of a linear regression of it on all
        other columns. With `triples`, part of it compares all triples of columns, if there are at most 500.
        """
        looked = judged(self.portrait.plan.sheet.names, target, triples=triples)
        question = QualityQuestion(self.portrait, self.codes(rows), self._asked().at.table.name, looked)
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
            checked = self.validity(rows)
            paper = report.answer(self.portrait, self.receipt, rows=self.codes(rows), judged=judged, checked=checked)
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
            paper = report.answer(self.portrait, self.receipt, rows=self.codes(rows))
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
            return drawn(chart(self.portrait, self.codes(rows)), path)

    def to_dict(self) -> dict[str, Any]:
        """What was done and what it cost, for machines."""
        quality = None if self.quality is None else self.quality.to_dict()
        return with_checksum(self.paper.to_dict() | {"quality": quality})

    def validity(self, rows: pa.Table | None = None) -> tuple[Checked, ...]:
        """How many of these rows, or of those of the table, break a type, a bound or a rule: none that Sitr drew."""
        found, derived = self.table if rows is None else rows, self.portrait.structure.derived
        diary = self.portrait.plan.diary
        person = () if diary is None else (diary.unit.column,)
        own = found.select([*person, *(axis.column.name for axis in self.portrait.plan.declared)])
        return validity(self.portrait, found, with_derived(own, derived, self.portrait.schema))

    def agreement(self, rows: pa.Table | None = None) -> Agreement:
        """How closely rows follow the noisy tables that they were made from: free, and with the errors of the noise."""
        return agreement(self.portrait, self.codes(rows))

    def about(self, rows: int, *, schema: pa.Schema) -> dict[str, Any]:
        """What a file of these rows is, for formats that cannot say it themselves."""
        return report.about(self.portrait, self.receipt, rows, schema)

    def _brief(self) -> str:
        paper, say = self.paper, self.paper.words.summary
        size = self.portrait.size if self.rows is None else self.rows
        made = replace(paper, value=say.synthetic(tuple(axis.column.name for axis in self.portrait.plan.declared)))
        return terminal.as_text(terminal.brief(made, say.answer(self.receipt, size)))

    def __str__(self) -> str:
        parts = [self.paper] if self.quality is None else [self.paper, self.quality.beside(self.receipt)]
        return "\n".join(terminal.as_text(terminal.render(part)) for part in parts)

    def _asked(self) -> Any:
        """The request, which knows the data set; a model from a file has none."""
        if self.request is None:
            raise InvalidUse(
                given="A model from a file has no data set to be compared with.",
                do="Repeat the request where the data set is, at no charge, and compare there.",
            )
        return self.request

    def codes(self, rows: pa.Table | None) -> Codes:
        """The cells of public rows, cut as the data were."""
        return coded(open_source(self.table if rows is None else rows, types={}), self.portrait.plan.reading)


def check_number(rows: int | None) -> None:
    """Refuse what is no number of rows."""
    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
        raise QuestionError(
            wanted="a whole number of rows, at least 0",
            given=f"{rows!r}",
            do="Leave it out for as many as the data set has.",
        )


def load(path: str | Path) -> Synthetic:
    """The model of synthetic rows in a file that `save` wrote: draw as many rows as you like, for free.

    The file is checked before it is used, and no code in it is run. It needs neither the data nor the ledger.
    """
    found = model_file.read(arguments.path(path, of="model.sitr"))
    if isinstance(found.portrait, Crowd):
        raise InvalidUse(given=f"{path} holds the models of several tables.", do="Read it with sitr.load_together(…).")
    return Synthetic(found.portrait.measured, found.receipt, None, found.portrait, found.rows)


def repeatable(receipt: Receipt, *, seed: int | None = None) -> Coins:
    """Coins that give the same rows again. They need no secret: rows are drawn from what is released already."""
    which = "" if seed is None else f", {seed}"
    drawn_for = sha256(f"rows of entry {receipt.entry.number}, {receipt.entry.at.isoformat()}{which}".encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivate)
        return TestCoins(int(drawn_for.hexdigest(), 16))


@contextmanager
def noting(paid: Callable[[], Receipt | None]) -> Iterator[None]:
    """Say where the noisy tables are, whatever fails after they were paid for, even by an interrupt."""
    try:
        yield
    except BaseException as failure:
        if (receipt := paid()) is not None and receipt.kept is not None:
            note = f"The noisy tables were paid for and are kept in {receipt.kept}: ask again, at no charge."
            if note not in getattr(failure, "__notes__", ()):
                failure.add_note(note)
        raise
