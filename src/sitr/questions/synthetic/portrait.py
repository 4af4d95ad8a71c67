"""A model of the data, fitted to noisy marginals: any number of rows can be drawn from it at no further cost."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitr.dataset.cells import Drawable, Rule
from sitr.errors import FewerThanAsked
from sitr.noise.coins import Coins
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.histogram.projection import MOST_TOTAL
from sitr.questions.synthetic.arrange import drawn_columns, made_possible, possible_joint
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.draw import from_joint, from_sample
from sitr.questions.synthetic.field import Progress, fit
from sitr.questions.synthetic.following import potentials
from sitr.questions.synthetic.marginals import Measured, Weights
from sitr.questions.synthetic.people import drawn_people
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
    people: Model | None = None
    """The model of people, if the rows of each person are drawn together: then `model` is that of their steps."""

    @property
    def plan(self) -> SynthesisPlan:
        return self.measured.plan

    @property
    def axes(self) -> tuple[Drawable, ...]:
        return self.plan.sheet.axes

    @property
    def size(self) -> int:
        """The noisy number of rows of the data, between 0 and 2^53 so that computing with it cannot overflow."""
        total = self.measured.total
        if self.measured.people is not None:  # one person moves this number less than the number of rows
            total = self.measured.people.total * self.rows_of_a_person
        return min(MOST_TOTAL, max(0, round(total)))

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

    @property
    def rows_of_a_person(self) -> float:
        """The mean number of rows of a person, in the model."""
        diary = self.plan.diary
        if diary is None or self.people is None:
            return 1.0
        if isinstance(self.people, WeightedRows):
            shares = self.people.marginal(0)
        else:
            shares = self.people.reshape(diary.most_rows, -1).sum(axis=1)
        return float(shares @ np.arange(1, diary.most_rows + 1)) / float(shares.sum())

    def draw(self, rows: int, *, coins: Coins, after: int = 0) -> pa.Table:
        """Rows in the types of the original columns, without the derived ones, none of which breaks a rule.

        There are fewer than requested, with a warning, if the rules forbid almost everything in the model. If the rows
        of each person are drawn together, whole people are drawn, who have about as many rows. They are numbered, from
        the number `after` this one.
        """
        if self.plan.diary is not None:
            return self._numbered_people(self.plan.diary, rows, coins, after)
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

    def _numbered_people(self, diary: Diary, rows: int, coins: Coins, after: int) -> pa.Table:
        """The rows of whole people, none of whom has a row that breaks a rule."""
        wanted = missing = round(rows / self.rows_of_a_person)
        pieces = []
        for _ in range(ROUNDS):
            drawn, whose = self._people(diary, missing, coins)
            if self.never:
                kept = ~np.isin(whose, whose[broken(self.never, drawn)])
                drawn, whose = drawn.filter(pa.array(kept)), whose[kept]
            different, numbers = np.unique(whose, return_inverse=True)
            pieces.append(numbered(diary, drawn, numbers + 1 + after + wanted - missing, schema=self.schema))
            missing -= len(different)
            if missing == 0:
                break
        else:
            warnings.warn(
                f"Only {wanted - missing:,} of {wanted:,} people could be drawn, because the rules forbid almost all "
                "others. Loosen the rules.",
                FewerThanAsked,
                stacklevel=2,
            )
        return pa.concat_tables(pieces).combine_chunks()

    def _rows(self, rows: int, coins: Coins) -> pa.Table:
        possible = self.structure.possible(self.axes)
        codes = self._codes(rows, coins, possible)
        return _valued(self.axes, codes, possible, self.schema, coins)

    def _people(self, diary: Diary, people: int, coins: Coins) -> tuple[pa.Table, Codes]:
        """The rows of this many people, and the person of each row."""
        assert self.people is not None
        whose, codes = drawn_people(diary, self.people, self.model, people, coins=coins)
        return whole_people(diary, whose, codes, schema=self.schema, structure=self.structure, coins=coins), whose

    def _codes(self, rows: int, coins: Coins, possible: Possible | None) -> Codes:
        if isinstance(self.model, WeightedRows):
            return from_sample(self.model, rows, coins=coins)
        shape = self.plan.sheet.grid.shape
        cells = from_joint(possible_joint(self.model, shape, possible), rows, coins=coins)
        return np.column_stack(np.unravel_index(cells, shape))


def whole_people(
    diary: Diary, whose: Codes, codes: Codes, *, schema: pa.Schema, structure: Structure, coins: Coins
) -> pa.Table:
    """Values for the rows of whole people: constant within each, and in their order."""
    drawn = _valued(diary.axes, codes, structure.possible(diary.axes), schema, coins)
    firsts = pa.array(np.searchsorted(whose, whose))
    for place in diary.constant:  # values within a cell differ
        drawn = drawn.set_column(place, drawn.schema.field(place), drawn.column(place).take(firsts))
    return drawn if diary.order is None else _in_order(drawn, whose, diary.order.name, structure)


def numbered(diary: Diary, drawn: pa.Table, numbers: Codes, *, schema: pa.Schema) -> pa.Table:
    """The rows with the numbers of their people in front."""
    field = schema.field(diary.unit.column)
    return drawn.add_column(0, field, pa.array(numbers, pa.int64()).cast(field.type))


def _valued(
    axes: tuple[Drawable, ...], codes: Codes, possible: Possible | None, schema: pa.Schema, coins: Coins
) -> pa.Table:
    """Values for cells, after cells were exchanged so that they can come together."""
    if possible is not None:
        codes = made_possible(codes, possible, coins=coins)
    fields = [schema.field(axis.column.name) for axis in axes]
    return pa.Table.from_arrays(
        drawn_columns(axes, codes, [each.type for each in fields], possible, coins=coins),
        schema=pa.schema(fields),
    )


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
    people = None if measured.people is None else fitted(measured.people)
    schema = types_of(plan.declared, schema)
    return Portrait(measured, fitted(measured, progress=progress), schema, never, structure, people)


def fitted(measured: Measured, *, progress: Progress | None = None) -> Model:
    """The model of the columns of a sheet; of steps, with the terms by which the next row is drawn."""
    plan = measured.plan
    if plan.method is Method.JOINT:
        return measured.shares[0]
    model = fit(measured, progress=progress)
    if plan.diary is None:
        return model
    return replace(model, potentials=potentials(model, given=plan.diary.given, total=measured.total))


def types_of(axes: tuple[Drawable, ...], schema: pa.Schema) -> pa.Schema:
    """The fields of drawn rows: NULL only where a column has a cell for it, or in the original."""
    cut = {axis.column.name: axis for axis in axes}
    fields = []
    for each in schema:
        axis = cut.get(each.name)
        null = axis is None or axis.missing is Rule.CELL or each.nullable
        fields.append(each.with_nullable(null).remove_metadata())
    return pa.schema(fields)


def _in_order(rows: pa.Table, whose: Codes, order: str, structure: Structure) -> pa.Table:
    """The rows of each person in order. Their cells are almost in order, so that only neighbours change places.

    The values of the column change places, and the rest of each row stays; unless the column takes part in a rule about
    a row: then rows change places.
    """
    ranks = pc.rank(rows[order], sort_keys="ascending", tiebreaker="dense").to_numpy()
    sorted_ = pa.array(np.lexsort((ranks, whose)))
    ruled = {name for pair in structure.ordered for name in (pair.lower, pair.upper)}
    ruled |= {name for group in structure.together for name in group}
    if order in ruled:
        return rows.take(sorted_)
    place = rows.schema.get_field_index(order)
    return rows.set_column(place, rows.schema.field(place), rows[order].take(sorted_))
