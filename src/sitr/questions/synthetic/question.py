"""Synthetic rows as a question: which noisy tables are measured; fitting and drawing come after, and are free."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sitr.flavors.arrows import Kept
from sitr.flavors.promise import Promise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.nodes import Predicate
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.marginals import Measured, measure
from sitr.questions.synthetic.plan import Method, SynthesisPlan, plan
from sitr.questions.synthetic.quality_plan import quality_plan
from sitr.questions.synthetic.sheet import Sheet


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """Which columns to imitate, by which public cells, under which rules; without a `method`, by the best one.

    With a price for their `quality`, this is also measured, in a second stage of the same plan.
    """

    sheet: Sheet
    table: str
    method: Method | None = None
    never: tuple[Predicate, ...] = ()
    quality: Kept | None = None
    rows: int | None = None
    """How many rows are drawn for the quality; None for as many as the data set has, by noisy count."""

    def text(self) -> str:
        looked = "" if self.quality is None else " AND MEASURE THE QUALITY"
        return f"SYNTHESIZE {', '.join(self.sheet.names)} FROM {self.table}{looked}"

    def plan(self, price: Promise, /) -> SynthesisPlan:
        """The tables with the least expected error; and the figures of the quality, whose price is added."""
        tables = plan(self.sheet, price, method=self.method, text=self.text())
        if self.quality is None:
            return tables
        about = f"{'all' if self.rows is None else self.rows} rows, never {self.never!r}"
        looked = replace(quality_plan(self.sheet, self.quality, text=self.text()), about=about)
        measured = (*tables.measurements, *looked.measurements)
        whole = tables.price + looked.price  # type: ignore[operator] # two flavors are refused
        return replace(tables, measurements=measured, price=whole, quality=looked)

    def reading(self) -> Sheet:
        return self.sheet

    def answer(self, plan: SynthesisPlan, exact: Codes, /, *, coins: Coins) -> Measured:
        """Noisy tables, which are all that is released about the data."""
        return measure(plan, exact, coins=coins)

    def errors(self, plan: SynthesisPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of each count, by table, for tables that are fixed before any row is read."""
        known = plan.measurements[: len(plan.division.alone())]
        return {each.name: each.error(confidence=confidence) for each in known}
