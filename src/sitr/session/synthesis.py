"""Requests for synthetic rows: what is charged, and what happens between the charge and the fitted model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack, cast

import pyarrow as pa

from sitr import arguments
from sitr.backends.backend import check_unchanged
from sitr.dataset.cells import Scale
from sitr.dataset.domain import End
from sitr.dataset.schema import Key
from sitr.errors import QuestionError, quoted
from sitr.flavors.price import Amounts, Price, price_of
from sitr.ledger.receipt import Receipt
from sitr.noise.coins import Coins
from sitr.numbers import flag
from sitr.questions.aggregate.frame import Expr
from sitr.questions.synthetic.axes import Codes, axes
from sitr.questions.synthetic.declared import Map, derived_names, structure
from sitr.questions.synthetic.diary import check_rules, diary
from sitr.questions.synthetic.field import Progress
from sitr.questions.synthetic.marginals import Measured
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.portrait import portrait
from sitr.questions.synthetic.quality import QualityStage
from sitr.questions.synthetic.quality_plan import judged
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.questions.synthetic.rules import rules
from sitr.questions.synthetic.sheet import sheet
from sitr.questions.values import check, drawn_type
from sitr.session.ask import ask
from sitr.session.desk import Desk
from sitr.session.public import Source, public_codes
from sitr.session.rehearsal import check_derived
from sitr.session.request import Preview, Request
from sitr.session.synthetic import Synthetic, check_number, noting


@dataclass(frozen=True, slots=True, repr=False)
class Synthesis(Request[Synthetic]):
    """A request for synthetic rows."""

    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)
    columns: tuple[str, ...] = ()
    """The names of the columns of a row, with the derived ones, in their order."""

    @property
    def synthetic(self) -> SyntheticQuestion:
        """The question."""
        return cast("SyntheticQuestion", self.question)

    def holdout(self, name: str) -> Codes:
        """The rows of a declared public table, cut into the same cells; `UnknownName` if the name is not declared."""
        return public_codes(self.public, name, self.synthetic.reading(), self.at.backend)

    def check_holdout(self, name: str, *, target: str | None = None) -> None:
        """Refuse a public table, or a target, with which the rows could not be compared; nothing is spent yet."""
        rows = self.holdout(name)
        if target is not None:
            from sitr.learn.trial import check_trial  # noqa: PLC0415 - an extra

            diary = self.synthetic.diary
            check_trial(
                [*self.synthetic.names], rows, target=target, whose=None if diary is None else diary.whose(rows)
            )

    def preview(  # type: ignore[override]  # rows have no column whose error could be asked for
        self,
        price: Price | None = None,
        *,
        quality: Price | None = None,
        target: str | None = None,
        triples: bool = False,
        **amounts: Unpack[Amounts],
    ) -> Preview:
        """What the rows would cost, and how far off the counts would be that they are made from."""
        return Request.preview(self._with(quality, None, target, triples=triples), price, **amounts)

    def release(
        self,
        price: Price | None = None,
        *,
        quality: Price | None = None,
        target: str | None = None,
        triples: bool = False,
        rows: int | None = None,
        coins: Coins | None = None,
        fresh: bool = False,
        progress: Progress | None = None,
        **amounts: Unpack[Amounts],
    ) -> Synthetic:
        """Charge the price, keep the noisy tables, and fit a model to them; kept tables are fitted again for free.

        With a price for the `quality`, both are one charge, and the `table` of the answer, which has this number of
        `rows`, is compared with the data. Each price buys its own noise. Their sum is charged, or less where both are
        approximate: the ε that the loss of all measurements proves at the sum of δ. With a `target` or with `triples`,
        the quality has more figures: see `Synthetic.measure`.

        The tables are on disk before the fit. So if anything is interrupted, ask again: the same tables are fitted, and
        the quality, if it was not measured, is lost, because nothing is measured twice for one charge. The quality of
        another number of rows is another question. With `fresh`, everything is charged and measured anew.
        """
        paid = price_of(price, **amounts)
        check_number(rows)
        schema, asked = self.drawn_schema(), self._with(quality, rows, target, triples=triples)
        made: list[Synthetic] = []

        def then(measured: Measured, receipt: Receipt) -> QualityStage:
            made.append(asked._fitted(measured, receipt, schema, rows, progress))
            return QualityStage(made[0].portrait, made[0].codes(None))

        with noting(lambda: made[0].receipt if made else None):
            second = None if quality is None else then
            released, receipt = ask(asked.question, paid, at=self.at, coins=coins, fresh=fresh, then=second)
        if made:
            return replace(made[0], released=released, receipt=receipt, drawn=made[0].table)
        return asked._fitted(released, receipt, schema, rows, progress)

    def _with(self, quality: Price | None, rows: int | None, target: str | None, *, triples: bool) -> Synthesis:
        priced = None if quality is None else price_of(quality)
        if priced is None and (target is not None or triples):
            raise QuestionError(
                wanted="a price for the quality, of which a target or triples are a part",
                given="none",
                do="Give quality=, or leave the target and the triples out.",
            )
        looked = judged(self.synthetic.names, target, triples=triples)
        return replace(self, question=replace(self.synthetic, quality=priced, rows=rows, judged=looked))

    def _fitted(
        self, measured: Measured, receipt: Receipt, schema: pa.Schema, rows: int | None, progress: Progress | None
    ) -> Synthetic:
        with noting(lambda: receipt):
            fitted = portrait(
                measured,
                schema=schema,
                never=self.synthetic.never,
                structure=self.synthetic.structure,
                progress=progress,
            )
        return Synthetic(measured, receipt, self, fitted, rows)

    def drawn_schema(self) -> pa.Schema:
        """The types of the columns, after checking that they are still those described and hold every public value."""
        check_unchanged(self.at.backend, self.at.table)
        there = self.at.backend.schema()
        types = {name: drawn_type(there.field(name).type) for name in self.columns}
        if (diary := self.synthetic.diary) is not None:
            types[diary.unit.column] = _number_type(types[diary.unit.column])
        schema = pa.schema([there.field(name).with_type(types[name]) for name in self.columns])
        for axis in self.synthetic.sheet.axes:
            check(axis, schema.field(axis.column.name).type)
        check_derived(self.synthetic.structure, self.synthetic.sheet.axes, schema)
        return schema


def _number_type(kind: pa.DataType) -> pa.DataType:
    """The type of the numbers of people: text where ids are text."""
    texts = (pa.types.is_string, pa.types.is_large_string)
    return kind if any(holds(kind) for holds in texts) else pa.int64()


def requested(
    at: Desk,
    public: Mapping[str, Source],
    *,
    columns: Sequence[str] | None,
    bins: int | Mapping[str, int],
    bounds: Mapping[str, tuple[End, End]] | None,
    keys: Mapping[str, Sequence[Key]] | None,
    required: Collection[str],
    edges: Mapping[str, Sequence[End]] | None,
    spikes: Mapping[str, Sequence[End]] | None,
    scales: Mapping[str, Scale] | None,
    never: Iterable[Expr],
    derived: Mapping[str, Expr | Map] | None,
    ordered: Sequence[tuple[str, str]],
    together: Sequence[Collection[str]],
    rows_per_person: int | None,
    people: bool,
    constant: Collection[str],
    order: str | None,
    method: Method | str | None,
    fit_triples: bool,
) -> Synthesis:
    """Synthetic rows that imitate these columns: see `Budget.synthesize`."""
    computed = derived_names(at.table, derived)
    cut = axes(
        at.table,
        columns=columns,
        bins=bins,
        bounds=bounds,
        keys=keys,
        required=required,
        derived=computed,
        edges=edges,
        spikes=spikes,
        scales=scales,
    )
    rules_built_in = structure(at.table, cut, derived=derived, ordered=ordered, together=together)
    rows = sheet(at.table, cut, rows_per_person=rows_per_person)
    question = SyntheticQuestion(rows, at.table.name, _method(method), rules(never, at.table, cut), rules_built_in)
    person: tuple[str, ...] = ()
    flag(people, name="people", of="synthesize")
    flag(fit_triples, name="fit_triples", of="synthesize")
    if people or constant or order is not None:
        arguments.several(constant, name="constant", example='["sex", "birth_year"]')
        found = diary(at.table, rows, constant=tuple(constant), order=order)
        check_rules(found, rules_built_in)
        question, person = replace(question, diary=found), (found.unit.column,)
    if fit_triples:
        if person:
            raise QuestionError(
                given="Tables of triples are not measured where the rows of each person are drawn together.",
                do="Leave out fit_triples (--fit-triples), or people, constant and order; nothing was spent.",
            )
        question = replace(question, fit_triples=True)
    listed = [column.name for column in at.table.columns] if columns is None else [*columns]
    names = [name for name in dict.fromkeys([*person, *listed, *computed]) if name in {*person, *rows.names, *computed}]
    return Synthesis(question, at, Synthetic, public, tuple(names))


def _method(given: Method | str | None) -> Method | None:
    """The method, which may be written as its name. Any other would fail after the charge."""
    try:
        return None if given is None else Method(given)
    except ValueError:
        raise QuestionError(
            wanted='"joint" or "marginals" as the method', given=quoted(given), do="Leave it out, or write one of them."
        ) from None
