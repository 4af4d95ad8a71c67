"""A data set as it is known from its noisy tables: rows can be drawn from it without end, and cost nothing more."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sitr.errors import FewerThanAsked
from sitr.noise.coins import Coins
from sitr.questions.aggregate.nodes import Predicate
from sitr.questions.histogram.projection import MOST_TOTAL
from sitr.questions.synthetic.axes import Axis, Codes
from sitr.questions.synthetic.draw import from_mixture, from_table
from sitr.questions.synthetic.mixture import Mixture, Progress, fit
from sitr.questions.synthetic.plan import Method, SynthesisPlan
from sitr.questions.synthetic.rules import broken
from sitr.questions.synthetic.tables import Measured, Weights

ROUNDS = 100
"""So often rows that break a rule are drawn again."""

Model = Mixture | Weights


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """The noisy tables, the model that was fitted to them, and the public things that rows are made with.

    `model` is a mixture, or the probabilities of all cells together. `private` is False if the coins of the noise were
    not: then the rows protect nobody.
    """

    plan: SynthesisPlan
    measured: Measured
    model: Model
    schema: pa.Schema
    never: tuple[Predicate, ...]
    private: bool

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The columns."""
        return self.plan.sheet.axes

    @property
    def size(self) -> int:
        """The noisy number of rows of the data set, from 0 to 2^53: what counts are compared with must not overflow."""
        return min(MOST_TOTAL, max(0, round(self.measured.total)))

    def marginal(self, *columns: int) -> Weights:
        """The probabilities of one column, or of a pair, as the model has them."""
        if isinstance(self.model, Mixture):
            return self.model.marginal(*columns)
        whole = self.model.reshape([axis.cells for axis in self.axes])
        others = tuple(place for place in range(len(self.axes)) if place not in columns)
        table: Weights = whole.sum(axis=others)
        return table if list(columns) == sorted(columns) else table.T

    @property
    def missed(self) -> list[tuple[str, ...]]:
        """The names of pairs that the model does not follow as closely as their noisy tables would allow."""
        pairs = self.model.missed if isinstance(self.model, Mixture) else ()
        return [tuple(self.axes[place].name for place in pair) for pair in pairs]

    def draw(self, rows: int, *, coins: Coins) -> pa.Table:
        """So many rows, in the types of the original columns; none of them breaks a rule.

        Fewer, with a warning, where the rules forbid nearly all that the model holds.
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
                f"{rows:,} rows were wanted. {rows - missing:,} were found that break none of the rules. "
                "Loosen the rules: they forbid nearly all that the data hold.",
                FewerThanAsked,
                stacklevel=2,
            )
        return pa.concat_tables(pieces).combine_chunks()

    def _rows(self, rows: int, coins: Coins) -> pa.Table:
        columns = self._codes(rows, coins).T
        arrays = [
            axis.column(codes, coins=coins, kind=self.schema.field(axis.name).type)
            for axis, codes in zip(self.axes, columns, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _codes(self, rows: int, coins: Coins) -> Codes:
        if isinstance(self.model, Mixture):
            return from_mixture(self.model, rows, coins=coins)
        shape = [axis.cells for axis in self.axes]
        cells = from_table(self.model, rows, coins=coins)
        return np.column_stack(np.unravel_index(cells, shape))


def portrait(
    plan: SynthesisPlan,
    measured: Measured,
    *,
    schema: pa.Schema,
    never: tuple[Predicate, ...],
    private: bool,
    progress: Progress | None = None,
) -> Portrait:
    """Fit a model to noisy tables; the types and the order of the columns are those of the plan."""
    model: Model = measured.shares[0] if plan.method is Method.JOINT else fit(measured, progress=progress)
    return Portrait(plan, measured, model, stamped(plan, schema, private=private), never, private)


def stamped(plan: SynthesisPlan, schema: pa.Schema, *, private: bool) -> pa.Schema:
    """The fields of the imitated columns, NULL allowed where it has a cell, and a note that the rows are synthetic."""
    fields = [
        pa.field(axis.name, schema.field(axis.name).type, nullable=axis.nulls or schema.field(axis.name).nullable)
        for axis in plan.sheet.axes
    ]
    return pa.schema(fields, metadata={"sitr": json.dumps({"synthetic": True, "private": private})})
