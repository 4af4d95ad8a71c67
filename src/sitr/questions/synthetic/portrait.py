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
from sitr.questions.synthetic.arrange import drawn_columns, made_possible, possible_joint
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.draw import from_joint, from_sample
from sitr.questions.synthetic.field import Progress, fit
from sitr.questions.synthetic.marginals import Measured, Weights
from sitr.questions.synthetic.plan import Method, SynthesisPlan
from sitr.questions.synthetic.rules import broken
from sitr.questions.synthetic.structure import NO_RULES, Possible, Structure
from sitr.questions.synthetic.weighted_rows import WeightedRows

ROUNDS = 100
"""How many times rows that break a rule are drawn again."""

Model = WeightedRows | Weights


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """Noisy marginals, the model that was fitted to them, and public facts about the rows to draw.

    `model` is a weighted sample of rows, or the joint probabilities of all cells.
    """

    measured: Measured
    model: Model
    schema: pa.Schema
    """The columns of a row, with the derived ones."""
    never: tuple[Expression, ...]
    structure: Structure = NO_RULES

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
        if isinstance(self.model, WeightedRows):
            return self.model.marginal(*columns)
        whole = self.model.reshape(self.plan.sheet.grid.shape)
        others = tuple(place for place in range(len(self.axes)) if place not in columns)
        table: Weights = whole.sum(axis=others)
        return table if list(columns) == sorted(columns) else table.T

    @property
    def missed(self) -> list[tuple[str, ...]]:
        """The names of pairs that the model does not fit as closely as their noise allows."""
        pairs = self.model.missed if isinstance(self.model, WeightedRows) else ()
        return [tuple(self.plan.sheet.names[place] for place in pair) for pair in pairs]

    def draw(self, rows: int, *, coins: Coins) -> pa.Table:
        """Rows in the types of the original columns, without the derived ones, none of which breaks a rule.

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
        possible = self.structure.possible(self.axes)
        codes = self._codes(rows, coins, possible)
        if possible is not None:
            codes = made_possible(codes, possible, coins=coins)
        fields = [self.schema.field(axis.column.name) for axis in self.axes]
        return pa.Table.from_arrays(
            drawn_columns(self.axes, codes, [each.type for each in fields], possible, coins=coins),
            schema=pa.schema(fields),
        )

    def _codes(self, rows: int, coins: Coins, possible: Possible | None) -> Codes:
        if isinstance(self.model, WeightedRows):
            return from_sample(self.model, rows, coins=coins)
        shape = self.plan.sheet.grid.shape
        cells = from_joint(possible_joint(self.model, shape, possible), rows, coins=coins)
        return np.column_stack(np.unravel_index(cells, shape))


def portrait(
    measured: Measured,
    *,
    schema: pa.Schema,
    never: tuple[Expression, ...],
    structure: Structure = NO_RULES,
    progress: Progress | None = None,
) -> Portrait:
    """Fit a model to noisy marginals; `schema` gives the types of the columns."""
    plan = measured.plan
    model: Model = measured.shares[0] if plan.method is Method.JOINT else fit(measured, progress=progress)
    axes = {axis.column.name: axis for axis in plan.sheet.axes}
    fields = []
    for each in schema:
        axis = axes.get(each.name)
        null = axis is None or axis.missing is Rule.CELL or each.nullable
        fields.append(each.with_nullable(null).remove_metadata())
    return Portrait(measured, model, pa.schema(fields), never, structure)
