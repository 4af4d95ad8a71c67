"""Synthetic rows as a question with a price: previewed without data, fitted after the charge, drawn without end."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from sitr.accounting.filter import Filter
from sitr.backends.backend import Backend
from sitr.backends.duckdb import open_source
from sitr.dataset.schema import Table
from sitr.errors import LedgerError, NotKept, QuestionError
from sitr.flavors.arrows import Additive
from sitr.flavors.promise import Promise
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.noise.coins import Coins, Keystream, system_coins
from sitr.questions.aggregate.nodes import Predicate
from sitr.questions.synthetic import quality
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Measured, measure
from sitr.questions.synthetic.mixture import Progress
from sitr.questions.synthetic.plan import Method, SynthesisPlan, plan
from sitr.questions.synthetic.portrait import Portrait, portrait
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.synthetic.values import check
from sitr.report import plots, synthetic_chart
from sitr.report import synthetic as report
from sitr.report import text as terminal
from sitr.session.kept import keep, place, read_kept
from sitr.session.public import Source, coded, public_codes
from sitr.session.quality import QualityAnswer
from sitr.session.question import account_name, check_unchanged, checked

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, slots=True)
class Synthesis:
    """Checked: which columns to imitate, by which public cells, under which rules."""

    sheet: Sheet
    table: Table
    method: Method | None
    never: tuple[Predicate, ...]
    _backend: Backend = field(repr=False, compare=False)
    ledger: Ledger = field(repr=False, compare=False)
    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)

    def holdout(self, name: str) -> Codes:
        """The rows of a declared public table, cut into the same cells; `UnknownName` if the name is not declared."""
        return public_codes(self.public, name, self.sheet, self._backend)

    def preview(self, price: Promise) -> SynthesisPreview:
        """What the tables would cost and how noisy they would be. Reads no data and spends nothing."""
        budget = self.ledger.standing(account_name(self.table))
        made = plan(self.sheet, checked(price), method=self.method)
        budget.charge(made.price)
        return SynthesisPreview(made, budget)

    def release(self, price: Promise, *, coins: Coins | None = None, progress: Progress | None = None) -> Synthetic:
        """Charge the price, durably; then read the data; then add the noise; then keep the noisy tables; then fit.

        In this order, always. The tables are kept on disk beside the ledger, so that `resume` can fit them again, for
        free, if this process does not live to see the end.
        """
        tossed = coins if coins is not None else system_coins()
        made = plan(self.sheet, checked(price), method=self.method)
        schema = self._schema()
        question = f"SYNTHESIZE {', '.join(self.sheet.names)} FROM {self.table.name}"
        entry, budget = self.ledger.charge(account_name(self.table), price=made.price, question=question)
        codes = self._backend.codes(self.sheet, salt=tossed.bits(63))
        measured = measure(made, codes, coins=tossed)
        del codes  # from here on nothing is secret
        # Only the keystream itself counts as private: other coins may claim what they like.
        private = type(tossed) is Keystream
        kept = self._kept(made, measured, entry, private=private)
        try:
            fitted = portrait(made, measured, schema=schema, never=self.never, private=private, progress=progress)
        except BaseException as failure:
            if kept is not None:
                failure.add_note(
                    f"The noisy tables were paid for and are kept in {kept}: resume them without a charge."
                )
            raise
        return Synthetic(fitted, self._receipt(entry, budget), self, kept)

    def resume(self, path: str | Path, price: Promise, *, progress: Progress | None = None) -> Synthetic:
        """Fit noisy tables that were paid for and kept on disk: nothing is charged and no data are read.

        This must be the same request, at the same price, as the one whose `release` kept the file.
        """
        made = plan(self.sheet, checked(price), method=self.method)
        found = read_kept(Path(path), made)
        schema, account = self._schema(), account_name(self.table)
        paid = (found.entry, found.question, found.at, self.ledger.standing(account).charge(made.price))
        entries = (e for e in self.ledger.entries(account) if (e.number, e.question, e.at.isoformat(), e.price) == paid)
        if (entry := next(entries, None)) is None:
            raise LedgerError(
                wanted=f"The ledger of {self.table.name} must hold the charge that paid for these tables.",
                given=f"It has no such entry {found.entry}.",
                do="Open the data set with the ledger that was charged. Nothing was spent.",
            )
        fitted = portrait(
            made, found.measured, schema=schema, never=self.never, private=found.private, progress=progress
        )
        return Synthetic(fitted, self._receipt(entry, self.ledger.standing(account)), self, Path(path))

    def _schema(self) -> pa.Schema:
        """The types of the columns, after checking that they are still those described and hold every public value."""
        check_unchanged(self.table, self._backend)
        schema = self._backend.schema()
        for axis in self.sheet.axes:
            check(axis, schema.field(axis.column.name).type)
        return schema

    def _kept(self, made: SynthesisPlan, measured: Measured, entry: Entry, *, private: bool) -> Path | None:
        if (path := place(self.ledger, entry)) is None:
            return None
        try:
            keep(path, made, measured, entry, private=private)
        except OSError as failure:
            warnings.warn(
                f"The noisy tables could not be kept in {path} ({failure.strerror}). Write the rows somewhere before "
                "this process ends.",
                NotKept,
                stacklevel=3,
            )
            return None
        return path

    def _receipt(self, entry: Entry, budget: Filter) -> report.Receipt:
        return report.Receipt(self.table.name, entry.number, entry.at, entry.by, entry.version, budget)


@dataclass(frozen=True, slots=True, repr=False)
class SynthesisPreview:
    """A plan, and the budget before it is paid."""

    plan: SynthesisPlan
    budget: Filter

    @property
    def price(self) -> Promise:
        """What would be charged."""
        return self.plan.price

    def errors(self) -> dict[str, float]:
        """The 95% error of each count, by table: from the noise alone, as far as it is known before data are read."""
        return {name: error for name, _, error in self.plan.errors()}

    def to_dict(self) -> dict[str, object]:
        """For machines."""
        return report.preview_dict(self.plan, self.budget)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(report.preview(self.plan, self.budget))


@dataclass(frozen=True, slots=True, repr=False)
class Synthetic:
    """A fitted imitation of a data set: draw as many rows as wanted, whenever wanted. Only `measure` costs more."""

    portrait: Portrait
    receipt: report.Receipt
    _synthesis: Synthesis
    kept: Path | None = None
    """Where the noisy tables are kept, for `Synthesis.resume`."""

    @property
    def promise(self) -> Additive:
        """What was spent."""
        return self.portrait.plan.price

    @property
    def private(self) -> bool:
        """False only if the noise was drawn with test coins."""
        return self.portrait.private

    def table(self, rows: int | None = None, *, coins: Coins | None = None) -> pa.Table:
        """New rows as Arrow, in the types of the original columns; as many as the data set has, by noisy count.

        Whichever coins draw them, rows are as private as the noisy tables: drawing is work on what was released.
        """
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 0):
            raise QuestionError(
                wanted="The number of rows is a whole number of at least 0.",
                given=f"{rows!r} was given.",
                do="Leave it out for as many as the data set has.",
            )
        tossed = coins if coins is not None else system_coins()
        return self.portrait.draw(self.portrait.size if rows is None else rows, coins=tossed)

    def to_pandas(self, rows: int | None = None) -> pd.DataFrame:
        """New rows as a pandas frame (needs pandas)."""
        return cast("pd.DataFrame", self.table(rows).to_pandas())

    def to_polars(self, rows: int | None = None) -> pl.DataFrame:
        """New rows as a polars frame (needs polars)."""
        import polars as pl  # noqa: PLC0415 - an extra

        return cast("pl.DataFrame", pl.from_arrow(self.table(rows)))

    def compare(self, holdout: str, *, rows: pa.Table | None = None, target: str | None = None) -> QualityAnswer:
        """How far synthetic rows are from a public table with the same columns: free and exact, about public rows only.

        `holdout` is the name under which the steward declared the table, `sitr.protect(…, public={name: …})`. With a
        `target`, a classifier is trained on synthetic rows and tried on the hold-out, beside one trained on half of
        the hold-out (needs scikit-learn).
        """
        real, synthetic = self._synthesis.holdout(holdout), self._codes(rows)
        found = quality.against(self.portrait, synthetic, real, name=holdout)
        if target is None:
            return QualityAnswer(found)
        from sitr.learn.trial import scores  # noqa: PLC0415 - an extra

        names = [*self.portrait.plan.sheet.names]
        return QualityAnswer(replace(found, scores=scores(names, synthetic, real, target=target)))

    def measure(self, price: Promise, *, rows: pa.Table | None = None, coins: Coins | None = None) -> QualityAnswer:
        """How far these rows are from the data themselves: an answer like any other, charged and noisy."""
        tossed = coins if coins is not None else system_coins()
        asked, table = self._synthesis, self._synthesis.table
        made = quality.plan(self.portrait, checked(price))
        check_unchanged(table, asked._backend)
        drawn = self._codes(rows)
        question = f"QUALITY OF SYNTHETIC {', '.join(asked.sheet.names)} FROM {table.name}"
        entry, budget = asked.ledger.charge(account_name(table), price=made.price, question=question)
        codes = asked._backend.codes(asked.sheet, salt=tossed.bits(63))
        found = quality.privately(made, self.portrait, drawn, codes, coins=tossed)
        return QualityAnswer(found, asked._receipt(entry, budget))

    def to_dict(self) -> dict[str, object]:
        """What was done and what it cost, for machines."""
        return report.to_dict(self.portrait, self.receipt)

    def page(self, path: str | Path, *, rows: pa.Table | None = None, found: QualityAnswer | None = None) -> Path:
        """Write a page: the noisy tables beside the synthetic rows, and how good these are if that was measured."""
        target = Path(path)
        judged = None if found is None else (found.quality, found.receipt)
        target.write_text(synthetic_chart.page(self.portrait, self._codes(rows), self.receipt, found=judged), "utf-8")
        return target

    def plot(self, path: str | Path, *, rows: pa.Table | None = None) -> Path:
        """Write the pictures, side by side, as SVG."""
        target = Path(path)
        target.write_text(plots.standalone(synthetic_chart.chart(self.portrait, self._codes(rows))), "utf-8")
        return target

    def _codes(self, rows: pa.Table | None) -> Codes:
        """The cells of public rows, cut as the data were; new ones if none are given."""
        table = self.table() if rows is None else rows
        return coded(open_source(table, types={}), self.portrait.plan.sheet)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(report.answer(self.portrait, self.receipt))
