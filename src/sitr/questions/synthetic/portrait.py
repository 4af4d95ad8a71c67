"""A model of the data, fitted to noisy marginals: any number of rows can be drawn from it at no further cost."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sitr.dataset.cells import Drawable, Rule
from sitr.errors import FewerThanAsked
from sitr.noise.coins import Coins
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.histogram.projection import MOST_TOTAL
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.draw import from_joint, from_mixture
from sitr.questions.synthetic.marginals import Measured, Weights
from sitr.questions.synthetic.mixture import Mixture, Progress, fit
from sitr.questions.synthetic.plan import Method, SynthesisPlan
from sitr.questions.synthetic.rules import broken
from sitr.questions.values import draw_values

ROUNDS = 100
"""How many times rows that break a rule are drawn again."""

Model = Mixture | Weights


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """Noisy marginals, the model that was fitted to them, and public facts about the rows to draw.

    `model` is a mixture, or the joint probabilities of all cells.
    """

    measured: Measured
    model: Model
    schema: pa.Schema
    never: tuple[Expression, ...]

    @property
    def plan(self) -> SynthesisPlan:
        return self.measured.plan

    @property
    def axes(self) -> tuple[Drawable, ...]:
        return self.plan.sheet.axes

    @property
    def size(self) -> int:
        """The noisy number of rows of the data, between 0 and 2^53 so that computing with it cannot overflow."""
        return min(MOST_TOTAL, max(0, round(self.measured.total)))

    def marginal(self, *columns: int) -> Weights:
        """The probabilities of the cells of one column, or of a pair, in the model."""
        if isinstance(self.model, Mixture):
            return self.model.marginal(*columns)
        whole = self.model.reshape(self.plan.sheet.grid.shape)
        others = tuple(place for place in range(len(self.axes)) if place not in columns)
        table: Weights = whole.sum(axis=others)
        return table if list(columns) == sorted(columns) else table.T

    @property
    def missed(self) -> list[tuple[str, ...]]:
        """The names of pairs that the model does not fit as closely as their noise allows."""
        pairs = self.model.missed if isinstance(self.model, Mixture) else ()
        return [tuple(self.plan.sheet.names[place] for place in pair) for pair in pairs]

    def draw(self, rows: int, *, coins: Coins) -> pa.Table:
        """Rows in the types of the original columns, none of which breaks a rule.

        There are fewer than requested, with a warning, if the rules forbid almost everything in the model.
        """
        pieces, missing = [self._rows(0, coins)], rows
        for _ in range(ROUNDS):
            drawn = self._rows(missing, coins)
            if self.never:
                drawn = drawn.filter(pa.array(~broken(self.never, drawn)))
            pieces.append(drawn)
            missing -= drawn.num_rows
            if missing == 0:
                break
        else:
            warnings.warn(
                f"Only {rows - missing:,} of {rows:,} rows could be drawn, because the rules forbid almost all others. "
                "Loosen the rules.",
                FewerThanAsked,
                stacklevel=2,
            )
        return pa.concat_tables(pieces).combine_chunks()

    def _rows(self, rows: int, coins: Coins) -> pa.Table:
        columns = self._codes(rows, coins).T
        arrays = [
            draw_values(axis, codes, coins=coins, kind=self.schema.field(axis.column.name).type)
            for axis, codes in zip(self.axes, columns, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _codes(self, rows: int, coins: Coins) -> Codes:
        if isinstance(self.model, Mixture):
            return from_mixture(self.model, rows, coins=coins)
        cells = from_joint(self.model, rows, coins=coins)
        return np.column_stack(np.unravel_index(cells, self.plan.sheet.grid.shape))


def portrait(
    measured: Measured, *, schema: pa.Schema, never: tuple[Expression, ...], progress: Progress | None = None
) -> Portrait:
    """Fit a model to noisy marginals; `schema` gives the types of the columns."""
    plan = measured.plan
    model: Model = measured.shares[0] if plan.method is Method.JOINT else fit(measured, progress=progress)
    fields = [
        field.with_nullable(axis.missing is Rule.CELL or field.nullable).remove_metadata()
        for axis, field in zip(plan.sheet.axes, map(schema.field, plan.sheet.names), strict=True)
    ]
    return Portrait(measured, model, pa.schema(fields), never)
