"""Synthetic rows as a question: which noisy tables are measured; fitting and drawing come after, and are free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.marginals import Measured, measure
from sitr.questions.synthetic.plan import Method, SynthesisPlan, diary_plan, plan
from sitr.questions.synthetic.quality_plan import PLAIN, Judged, quality_plan
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.synthetic.structure import NO_RULES, Structure

DIGITS = Context(prec=4, rounding=ROUND_CEILING)
"""How the ε of two stages is rounded up."""


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """Which columns to imitate, by which public cells, under which rules; without a `method`, by the best one.

    With a price for their `quality`, this is also measured, in a second stage of the same plan.
    """

    sheet: Sheet
    table: str
    method: Method | None = None
    never: tuple[Expression, ...] = ()
    structure: Structure = NO_RULES
    quality: Kept | None = None
    rows: int | None = None
    """How many rows are drawn for the quality; None for as many as the data set has, by noisy count."""
    diary: Diary | None = None
    """The rows of each person, if these are drawn together."""
    fit_triples: bool = False
    """Whether tables of triples are wanted as well."""
    judged: Judged = PLAIN
    """What the quality has beside columns, pairs, ranges and correlations."""

    def text(self) -> str:
        looked = "" if self.quality is None else " AND MEASURE THE QUALITY"
        people = "" if self.diary is None else "PEOPLE WITH "
        fitted = " AND FIT TRIPLES" if self.fit_triples else ""
        return f"SYNTHESIZE {people}{', '.join(self.sheet.names)} FROM {self.table}{fitted}{looked}"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are counted."""
        return self.sheet.names if self.diary is None else self.diary.steps_sheet().names

    def plan(self, price: Promise, /) -> SynthesisPlan:
        """The tables with the least expected error; and the figures of the quality, which are paid for as well.

        Each price buys the noise of its own stage. Pure and zero-concentrated prices add up. Approximate ones need not:
        see `_together`.
        """
        if self.diary is None:
            tables = plan(self.sheet, price, method=self.method, triples=self.fit_triples, text=self.text())
        else:
            tables = diary_plan(self.diary, price, method=self.method, text=self.text())
        if self.quality is None:
            return tables
        about = f"{'all' if self.rows is None else self.rows} rows, never {self.never!r}"
        about += "" if self.structure == NO_RULES else f", {self.structure!r}"
        alone = self.diary is None
        looked = quality_plan(tables.sheet, self.quality, text=self.text(), looked=self.judged, regression=alone)
        looked = replace(looked, about=about)
        measured = (*tables.measurements, *looked.measurements)
        whole = tables.price + looked.price  # type: ignore[operator] # two flavors are refused
        both = replace(tables, measurements=measured, price=whole, quality=looked)
        return replace(both, price=_together(both, whole)) if isinstance(whole, ApproximateDP) else both

    def reading(self) -> Sheet | Diary:
        return self.sheet if self.diary is None else self.diary

    def answer(self, plan: SynthesisPlan, exact: Codes, /, *, coins: Coins) -> Measured:
        """Noisy tables, which are all that is released about the data."""
        if plan.diary is None or plan.people is None:
            return measure(plan, exact, coins=coins)
        people = measure(plan.people, plan.diary.people(exact), coins=coins)
        return replace(measure(plan, plan.coded(exact), coins=coins), people=people)

    def errors(self, plan: SynthesisPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of each count, by table, for tables that are fixed before any row is read."""
        return {each.name: each.error(confidence=confidence) for each in plan.known()}


def _together(plan: SynthesisPlan, whole: ApproximateDP) -> ApproximateDP:
    """What both stages cost: at the sum of their δ, the least ε that is proved for all measurements, or the sum.

    All mechanisms are fixed before the charge, so that their losses add up, although rows that are drawn in the first
    stage are compared in the second: what is compared is chosen adaptively, but the noise is not [ZDW22, Thm 10]. The
    ε is rounded up to a few digits, so that it is the same on every machine: kept tables are found by their price.
    """
    if not 0.0 < whole.delta < 1.0:
        return whole
    proved = DIGITS.create_decimal(repr(plan.promise().epsilon))  # type: ignore[union-attr] # the flavor of the price
    return ApproximateDP(min(whole.epsilon, float(proved)), whole.delta)
