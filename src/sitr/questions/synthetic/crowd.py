"""People with rows in several tables: models of people and of their rows in each table, and whole people drawn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from sitr.dataclass import dataclass
from sitr.dataset.cells import Rule
from sitr.errors import FewerThanAsked
from sitr.noise.coins import Coins
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.histogram.projection import MOST_TOTAL
from sitr.questions.synthetic.agreement import Agreement, fits
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.diaries import Diaries, Found
from sitr.questions.synthetic.field import Progress
from sitr.questions.synthetic.people import drawn, rows_of
from sitr.questions.synthetic.portrait import ROUNDS, Model, Portrait, fitted, numbered, types_of, whole_people
from sitr.questions.synthetic.rules import broken
from sitr.questions.synthetic.several import SeveralMeasured, SeveralPlan
from sitr.questions.synthetic.structure import Structure, Truths

Rows = dict[str, pa.Table]
"""The rows of each table, by its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Noisy tables, the models that were fitted to them, and public facts about the rows to draw, for each table."""

    measured: SeveralMeasured
    people: Model
    steps: tuple[Model | None, ...]
    schemas: tuple[pa.Schema, ...]
    """The columns of a row of each table, with the derived ones."""
    never: tuple[tuple[Expression, ...], ...]
    structures: tuple[Structure, ...]

    @property
    def plan(self) -> SeveralPlan:
        return self.measured.plan

    @property
    def diaries(self) -> Diaries:
        return self.plan.diaries

    @property
    def size(self) -> int:
        """The noisy number of people, between 0 and 2^53."""
        return min(MOST_TOTAL, max(0, round(self.measured.people.total)))

    @property
    def missed(self) -> list[tuple[str, ...]]:
        """The names of pairs that a model does not fit as closely as their noise allows."""
        found = []
        for (_, plan), model in zip(self.plan.parts(), self._models(), strict=True):
            found += [tuple(plan.sheet.names[place] for place in pair) for pair in getattr(model, "missed", ())]
        return found

    def _models(self) -> list[Model]:
        return [self.people, *(model for model in self.steps if model is not None)]

    def draw(self, people: int, *, coins: Coins, after: int = 0) -> Rows:
        """The rows of this many people in each table, numbered from the number `after` this one, without derived ones.

        There are fewer people than requested, with a warning, if the rules forbid almost everybody in the models.
        """
        missing, pieces = people, []
        for _ in range(ROUNDS):
            rows, who = self._drawn(missing, coins)
            kept = np.setdiff1d(who, self._breaking(rows))
            pieces.append(self._numbered(rows, kept, after + people - missing))
            missing -= len(kept)
            if missing == 0:
                break
        else:
            warnings.warn(
                f"Only {people - missing:,} of {people:,} people could be drawn, because the rules forbid almost all "
                "others. Loosen the rules.",
                FewerThanAsked,
                stacklevel=2,
            )
        names = [table.table for table in self.diaries.tables]
        return {
            name: pa.concat_tables([piece[place] for piece in pieces]).combine_chunks()
            for place, name in enumerate(names)
        }

    def _drawn(self, people: int, coins: Coins) -> tuple[list[tuple[pa.Table, Codes]], Codes]:
        """For each table, rows and the person of each; and who was drawn: fewer than requested, if some are nobody."""
        who = self._people(people, coins)
        made = []
        for place, (table, model) in enumerate(zip(self.diaries.tables, self.steps, strict=True)):
            own = who[:, self.diaries.columns_of(place)]
            kept = 1 + len(table.constant)
            first = {table.varying.index(column): own[:, kept + i] for i, column in enumerate(table.carried)}
            whose, codes = rows_of(
                table, model, who[:, list(table.known)], own[:, 0], own[:, 1:kept], coins=coins, first=first
            )
            values = partial(whole_people, schema=self.schemas[place], structure=self.structures[place], coins=coins)
            made.append((values(table, whose, codes), whose))
        return made, np.arange(len(who))

    def _people(self, count: int, coins: Coins) -> Codes:
        """Rows of the model of people, drawn again where they are nobody's: a person is in a table, with its columns.

        Who has no row in a table has no values there either.
        """
        shape = self.plan.people.sheet.grid.shape
        pieces, missing = [np.empty((0, len(shape)), dtype=np.int64)], count
        for _ in range(ROUNDS):
            found = drawn(self.people, shape, missing, coins=coins)
            somebody = np.zeros(len(found), dtype=np.bool_)
            whole = np.ones(len(found), dtype=np.bool_)
            for place, table in enumerate(self.diaries.tables):
                columns = self.diaries.columns_of(place)
                outside, inside = found[:, columns.start] == 0, found[:, columns.start] > 0
                found[outside, columns] = table.nobody()
                somebody |= inside
                whole &= inside | (table.table not in self.plan.everyone)
                for column, axis in enumerate(table.kept, start=columns.start + 1):
                    if table.axes[axis].missing is not Rule.CELL:
                        whole &= outside | (found[:, column] < shape[column] - 1)
            pieces.append(found[somebody & whole])
            missing -= len(pieces[-1])
            if missing == 0:
                break
        return np.concatenate(pieces)

    def _breaking(self, rows: list[tuple[pa.Table, Codes]]) -> Codes:
        """The people with a row that meets a condition that none may meet."""
        found = [np.empty(0, dtype=np.int64)]
        for never, (table, whose) in zip(self.never, rows, strict=True):
            if never:
                found.append(whose[broken(never, table)])
        return np.concatenate(found)

    def _numbered(self, rows: list[tuple[pa.Table, Codes]], kept: Codes, after: int) -> list[pa.Table]:
        """The rows of these people, numbered one after another."""
        made = []
        for table, schema, (values, whose) in zip(self.diaries.tables, self.schemas, rows, strict=True):
            mine: Truths = np.isin(whose, kept)
            numbers = np.searchsorted(kept, whose[mine]) + 1 + after
            made.append(numbered(table, values.filter(pa.array(mine)), numbers, schema=schema))
        return made

    def codes(self, read: list[Found]) -> dict[str, Codes]:
        """The cells of rows: of people under no name, and of steps by table."""
        found = self.diaries.found(read)
        steps = {
            table.table: self.diaries.steps(found, place)
            for place, table in enumerate(self.diaries.tables)
            if table.varying
        }
        return {"": self.diaries.people(found), **steps}

    def agreement(self, codes: Mapping[str, Codes]) -> dict[str, Agreement]:
        """How closely rows follow the noisy tables, by the same names."""
        measured = zip(self.plan.parts(), self.measured.every(), strict=True)
        return {name: Agreement(fits(each, codes[name])) for (name, _), each in measured}

    def portraits(self) -> dict[str, Portrait]:
        """The models by the same names, to be shown in pictures."""
        parts = zip(self.plan.parts(), self.measured.every(), self._models(), strict=True)
        return {name: Portrait(each, model, pa.schema([]), ()) for (name, _), each, model in parts}

    def possible(self) -> bool:
        """Whether a release could have made this: models of the cells of the plan, for each table."""
        several = (len(self.diaries.tables), len(self.steps), len(self.schemas), len(self.never), len(self.structures))
        if len(set(several)) > 1 or not self.measured.possible():
            return False
        for table, schema, structure in zip(self.diaries.tables, self.schemas, self.structures, strict=True):
            derived = {each.column.name for each in structure.derived}
            if {table.unit.column, *table.names, *derived} != set(schema.names):
                return False
        return [each is None for each in self.steps] == [each is None for each in self.plan.steps]


def crowd(
    measured: SeveralMeasured,
    *,
    schemas: tuple[pa.Schema, ...],
    never: tuple[tuple[Expression, ...], ...],
    structures: tuple[Structure, ...],
    progress: Progress | None = None,
) -> Crowd:
    """Fit models to the noisy tables; each of `schemas` gives the types of the columns of a table."""
    parts = len(measured.every())

    def part(number: int) -> Progress | None:
        return None if progress is None else lambda share: progress((number + share) / parts)

    counter: Iterator[int] = iter(range(1, parts))
    people = fitted(measured.people, progress=part(0))
    steps = tuple(None if each is None else fitted(each, progress=part(next(counter))) for each in measured.steps)
    tables = measured.plan.diaries.tables
    types = tuple(types_of(table.axes, schema) for table, schema in zip(tables, schemas, strict=True))
    return Crowd(measured, people, steps, types, never, structures)
