"""Several tables of the same people as one question: one plan, whose parts of the price add up, and one release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa

from sitr.dataclass import dataclass
from sitr.errors import unknown_name
from sitr.flavors.promise import Promise
from sitr.mechanisms.additive import Noise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.plans.plan import Measurement, Plan
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.synthetic.diaries import Diaries, Found, TableDiary
from sitr.questions.synthetic.marginals import Measured, measure
from sitr.questions.synthetic.plan import PEOPLE, Method, SynthesisPlan, shared_plans
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.synthetic.structure import NO_RULES, Structure


@dataclass(frozen=True, slots=True)
class SeveralPlan(Plan):
    """The tables of people, and then those of the steps in each table. Their parts of the price add up."""

    diaries: Diaries
    people: SynthesisPlan
    steps: tuple[SynthesisPlan | None, ...]
    """None for a table with at most one row of each person."""
    everyone: tuple[str, ...] = ()
    """The tables in which every drawn person has a row."""

    def parts(self) -> tuple[tuple[str, SynthesisPlan], ...]:
        """The plans of people, under no name, and of the steps of the tables that have some, by name."""
        named = zip(self.diaries.tables, self.steps, strict=True)
        return ("", self.people), *((table.table, plan) for table, plan in named if plan is not None)

    def known(self) -> list[Measurement]:
        """The tables that are fixed before any row is read."""
        return [each for _, plan in self.parts() for each in plan.known()]

    @property
    def sheet(self) -> Sheet:
        """Whom the promise protects."""
        return self.people.sheet


@dataclass(frozen=True, slots=True, eq=False)
class SeveralMeasured:
    """The noisy tables of people, and of the steps in each table: all that is released."""

    plan: SeveralPlan
    people: Measured
    steps: tuple[Measured | None, ...]

    def every(self) -> list[Measured]:
        """All of them, people first."""
        return [self.people, *(each for each in self.steps if each is not None)]

    def noises(self) -> list[Noise]:
        """All noise that was added; together it costs what was charged."""
        return [noise for each in self.every() for noise in each.noises()]

    def possible(self) -> bool:
        """Whether a release of the plan could have made this: tables from a file pass through here."""
        plans = (self.plan.people, *self.plan.steps)
        found = (self.people, *self.steps)
        if len(plans) != len(found):
            return False
        alike = ((None if each is None else each.plan) == plan for each, plan in zip(found, plans, strict=True))
        return all(alike) and all(each.possible() for each in self.every())

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """Each count of the tables that are fixed in advance, with its interval."""
        return pa.concat_tables([each.intervals(confidence=confidence) for each in self.every()])


@dataclass(frozen=True, slots=True)
class SeveralQuestion:
    """Which columns of which tables to imitate, for people who are in any of them; one entry for each table."""

    diaries: Diaries
    methods: tuple[Method | None, ...]
    never: tuple[tuple[Expression, ...], ...] = ()
    structures: tuple[Structure, ...] = ()
    everyone: tuple[str, ...] = ()
    """The tables in which every drawn person has a row: a public rule."""

    def text(self) -> str:
        listed = (f"{', '.join(each.names)} FROM {each.table}" for each in self.diaries.tables)
        return f"SYNTHESIZE PEOPLE WITH {' AND '.join(listed)}"

    def plan(self, price: Promise, /) -> SeveralPlan:
        """A part of the price for the tables of people, and equal parts of the rest for the steps of each table."""
        text, tables = self.text(), self.diaries.tables
        varying = [(table, method) for table, method in zip(tables, self.methods, strict=True) if table.varying]
        people = PEOPLE if varying else Fraction(1)
        shares = [(self.diaries.people_sheet(), people, None)]
        each = (1 - people) / max(1, len(varying))
        steps = [(table.steps_sheet(), each, method) for table, method in varying]
        first, *rest = shared_plans([*shares, *steps], price, text=text)
        own = {
            table.table: replace(_named(plan, table.table), diary=table)
            for plan, (table, _) in zip(rest, varying, strict=True)
        }
        made = _named(first, "people")
        measured = tuple(measurement for plan in (made, *own.values()) for measurement in plan.measurements)
        steps_of = tuple(own.get(table.table) for table in tables)
        return SeveralPlan(measured, first.price, text, self.diaries, made, steps_of, self.everyone)

    def reading(self) -> tuple[TableDiary, ...]:
        """The rows of each table, with a salt of its own."""
        return self.diaries.tables

    def answer(self, plan: SeveralPlan, exact: Sequence[Found], /, *, coins: Coins) -> SeveralMeasured:
        """Noisy tables, which are all that is released about the data."""
        found = plan.diaries.found(exact)
        people = measure(plan.people, plan.diaries.people(found), coins=coins)
        steps = tuple(
            None if each is None else measure(each, plan.diaries.steps(found, place), coins=coins)
            for place, each in enumerate(plan.steps)
        )
        return SeveralMeasured(plan, people, steps)

    def errors(self, plan: SeveralPlan, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of each count, by table, for tables that are fixed before any row is read."""
        return {each.name: each.error(confidence=confidence) for each in plan.known()}


def several(
    diaries: Diaries,
    *,
    methods: Sequence[Method | None],
    never: Sequence[tuple[Expression, ...]],
    structures: Sequence[Structure] = (),
    everyone: tuple[str, ...] = (),
) -> SeveralQuestion:
    """The question, after checking the tables in which everyone has a row."""
    names = [table.table for table in diaries.tables]
    for name in everyone:
        if name not in names:
            raise unknown_name(name, names, lacks="The request has no table")
    rules = tuple(structures) or (NO_RULES,) * len(diaries.tables)
    return SeveralQuestion(diaries, tuple(methods), tuple(never), rules, everyone)


def _named(plan: SynthesisPlan, name: str) -> SynthesisPlan:
    measured = tuple(replace(each, name=f"{name}: {each.name}") for each in plan.measurements)
    return replace(plan, measurements=measured)
