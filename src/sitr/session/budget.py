"""The budget of one data set, and the questions that it can pay for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from sitr.dataclass import dataclass
from sitr.dataset.cells import Rule, Scale, Step
from sitr.dataset.domain import End
from sitr.dataset.schema import Key
from sitr.errors import SitrError
from sitr.ledger.ledger import Ledger
from sitr.mechanisms.composed import Composed
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.frame import Expr, Operand
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.habits import BUDGET, Whole
from sitr.questions.synthetic.axes import BINS
from sitr.report import summary
from sitr.report.paper import Paper
from sitr.report.words.words import in_words
from sitr.session.aggregate import AggregateRequest
from sitr.session.balance import Balance
from sitr.session.desk import Desk, check_kind
from sitr.session.in_sql import InSql
from sitr.session.request import Request
from sitr.session.shown import Displayed

if TYPE_CHECKING:
    from sitr.questions.aggregate.frame_join import Columns
    from sitr.questions.histogram.methods import Method as How
    from sitr.questions.statistic.question import Releasing
    from sitr.questions.synthetic.declared import Map
    from sitr.questions.synthetic.plan import Method
    from sitr.questions.tables.calendar import Levels
    from sitr.questions.tables.measures import Wanted
    from sitr.questions.tables.plan import TablesObjective
    from sitr.session import dummy as dummies
    from sitr.session import joined, selection, statistic, synthesis
    from sitr.session import public as published
    from sitr.session import tables as tabulated
    from sitr.session.dummy import Dummy
    from sitr.session.histogram import HistogramAnswer
    from sitr.session.public import Source
    from sitr.session.selection import Selection
    from sitr.session.statistic import StatisticAnswer
    from sitr.session.synthesis import Synthesis
    from sitr.session.tables import TablesAnswer
else:  # each kind of question loads what it needs when it is asked
    joined = Later("sitr.session.joined")
    published = Later("sitr.session.public")
    dummies = Later("sitr.session.dummy")
    selection = Later("sitr.session.selection")
    statistic = Later("sitr.session.statistic")
    synthesis = Later("sitr.session.synthesis")
    tabulated = Later("sitr.session.tables")


@dataclass(frozen=True, slots=True, repr=False)
class Budget(Whole, InSql, Balance, Displayed):
    """The budget of one data set, recorded in a ledger, with all ways to ask questions.

    SQL text and calls make the same questions: `budget.sql("SELECT COUNT(*) AS n FROM visits")` and
    `budget.agg(n=sitr.count())`.
    """

    _hints = BUDGET

    _at: Desk
    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)
    others: tuple[Desk, ...] = field(default=(), repr=False)
    """Other protected tables that questions in SQL can join; see `beside`."""

    @property
    def paper(self) -> Paper:
        """What is shown of it: what is spent and what is left now."""
        return summary.budget(self.table.called, self.table, self.standing(), in_advance=self.in_advance())

    def _brief(self) -> str:
        name, say = self.table.called, in_words().summary
        try:
            return say.budget(name, self.standing())
        except SitrError as problem:  # the ledger was moved, or is in use
            return say.unreadable(name, problem)

    @property
    def ledger(self) -> Ledger:
        """The ledger that records charges."""
        return self._at.ledger

    def beside(self, *others: Budget) -> Budget:
        """The same budget, whose questions in SQL can also join the protected tables of other budgets.

        `visits.beside(patients).sql("SELECT … FROM visits JOIN patients ON visits.patient_id = patients.patient_id")`
        is charged to both budgets, the same price, both or none. The tables must protect the same people, with
        neighbours that differ in the same way, and a join must equate the columns that identify people.
        """
        do = "Write for example visits.beside(patients), with the budgets of both."
        for other in others:
            check_kind(other, Budget, wanted="the budget of another protected table", do=do)
        desks = (*self.others, *(other._at for other in others))
        for desk in desks if self.public else ():
            published.check_apart(self.public, desk.backend)
        return replace(self, others=joined.checked(self._at, desks, public=self.public))

    def where(self, condition: Expr) -> Selection:
        """Only rows that meet this condition, such as `sitr.column("days") > 3`."""
        return selection.Selection(self).where(condition)

    def join(
        self,
        other: str | Selection,
        *,
        on: Columns = None,
        left_on: Columns = None,
        right_on: Columns = None,
        how: str = "inner",
    ) -> Selection:
        """Rows that match a public table, with its columns beside theirs; see `Selection.join`."""
        return selection.Selection(self).join(other, on=on, left_on=left_on, right_on=right_on, how=how)

    def group_by(self, *columns: Operand, **named: Operand) -> Selection:
        """One answer for each value of these columns or expressions, which may have names."""
        return selection.Selection(self).group_by(*columns, **named)

    def agg(self, *unnamed: Aggregate | Expr, **aggregates: Aggregate | Expr) -> AggregateRequest:
        """The columns of the answer, such as `n=sitr.count(), total=sitr.sum("cost")`; see `Selection.agg`."""
        return selection.Selection(self).agg(*unnamed, **aggregates)

    def statistic(
        self, mechanism: Releasing | Composed, *, column: str, missing: Number = 0
    ) -> Request[StatisticAnswer]:
        """A mechanism applied to the numbers of a column, one for each row. Its price is its promise.

        The unit must be a row, and neighbours must replace a row, so that the number of rows is public: these
        mechanisms fit their noise to the data. A random promise assumes that the rows are exchangeable, and is accepted
        only as the first charge to a budget with a γ. `Composed` releases several mechanisms, fixed in advance, for one
        charge. NULL and NaN count as `missing`, and values outside the bounds as the nearest bound, so that no row can
        make one of Sitr's statistics fail. Your own function must return a finite number for all possible rows: its
        failure would be visible, and no promise covers that.
        """
        return statistic.requested(self._at, mechanism, column=column, missing=missing)

    def release(
        self,
        mechanism: Releasing | Composed,
        *,
        column: str,
        missing: Number = 0,
        coins: Coins | None = None,
        fresh: bool = False,
    ) -> StatisticAnswer:
        """Charge the promise of a mechanism and release its answer, or its kept answer; see `statistic`."""
        request = self.statistic(mechanism, column=column, missing=missing)
        return request.release(statistic.promised(request), coins=coins, fresh=fresh)

    def tables(
        self,
        tables: Iterable[str | Sequence[str]],
        *,
        measures: Sequence[Wanted] = ("count",),
        weights: Mapping[str, Number] | None = None,
        objective: TablesObjective | str = "largest",
        hierarchies: Mapping[str, Levels] | None = None,
        where: Expr | str | None = None,
        rows_per_person: int | None = None,
        whole: bool = False,
        **said: Any,
    ) -> Request[TablesAnswer]:
        """Many tables at once that add up, for one price: `tables([("ward", "sex"), "age"], bins={"age": 10})`.

        Each table is a column, or a list of columns, with public cells: the keys of the description, or `keys`, `bins`,
        `bounds`, `edges`, `every`, `outside` and `missing` by column, as for a histogram. Every measure is tabulated in
        every table: "count", "people" (with `rows_per_person=1`), "sum(cost)" and "mean(cost)".

        `hierarchies` adds coarser levels to a column, from fine to coarse, by which tables can be cut as well:
        `{"district": {"region": {"north": ["a", "b"], "south": ["c"]}}}`. Dates need no list:
        `{"admitted": ["month", "quarter", "year"]}`, with bounds, and with every={"admitted": Step.DAY} for days.

        The noise is divided so that the largest variance of a table's cells, times its weight, is least; with
        objective="sum", their weighted sum. Every margin of counts and sums equals the sum of its parts in all tables.
        Rows without a public cell in one of the columns are left out of all tables.

        `where` keeps only rows that meet a condition, such as `sitr.column("days") > 3`, or "days > 3" as in SQL; rows
        that it drops take no place under the caps of a person.

        With `whole`, counts are whole and never negative, and sums are multiples of their granularity, and all of them
        still add up. This biases numbers, mostly small ones: the answer states by how much each table was moved.
        """
        return tabulated.requested(
            self._at,
            tables,
            measures=measures,
            weights=weights,
            objective=objective,
            hierarchies=hierarchies,
            where=where,
            rows_per_person=rows_per_person,
            whole=whole,
            **said,
        )

    def synthesize(
        self,
        *,
        columns: Sequence[str] | None = None,
        bins: int | Mapping[str, int] = BINS,
        bounds: Mapping[str, tuple[End, End]] | None = None,
        keys: Mapping[str, Sequence[Key]] | None = None,
        required: Collection[str] = (),
        edges: Mapping[str, Sequence[End]] | None = None,
        spikes: Mapping[str, Sequence[End]] | None = None,
        scales: Mapping[str, Scale] | None = None,
        never: Iterable[Expr] = (),
        derived: Mapping[str, Expr | Map] | None = None,
        ordered: Sequence[tuple[str, str]] = (),
        together: Sequence[Collection[str]] = (),
        rows_per_person: int | None = None,
        people: bool = False,
        constant: Collection[str] = (),
        order: str | None = None,
        method: Method | str | None = None,
        fit_triples: bool = False,
    ) -> Synthesis:
        """Synthetic rows that imitate these columns; by default all columns except a person's id.

        The possible values of a column are public and never learned from the rows. They are the bounds and keys of the
        description, or those given here, which may come from an earlier answer. Bounds of dates and times are given
        only here. `bins` is the number of cells for numbers and times; a column with `edges`, such as {"age": [0, 18,
        65, 120]}, is cut at them. `required` columns are never NULL, and rows that meet a condition in `never` are
        never drawn. Values that are known to be frequent, such as 0, get cells of their own as `spikes`. With the scale
        `Scale.LOG`, bins grow with the distance from 0.

        Three kinds of public rules are built in, so that every row follows them. A `derived` column is computed from
        the others and not measured: by an expression, or by a public table such as {"district": {"Irbid": "North"}}. In
        an `ordered` pair, the first column is at most the second. Columns that are NULL `together` are all NULL or none
        is.

        With `people`, the rows of each person are drawn together, up to `rows_per_person`, with a number in place of
        the id. The `constant` columns are the same in all rows of a person. By the column `order`, each row follows
        the one before it; without it, the rows of a person have no order.

        With `fit_triples`, coarse tables of all triples of columns are measured and fitted, too, for a twelfth of
        the same price, unless the noisy number of rows is too small for it. Triples get better, and pairs a little
        worse.
        """
        return synthesis.requested(
            self._at,
            self.public,
            columns=columns,
            bins=bins,
            bounds=bounds,
            keys=keys,
            required=required,
            edges=edges,
            spikes=spikes,
            scales=scales,
            never=never,
            derived=derived,
            ordered=ordered,
            together=together,
            rows_per_person=rows_per_person,
            people=people,
            constant=constant,
            order=order,
            method=method,
            fit_triples=fit_triples,
        )

    def histogram(
        self,
        *columns: str,
        bins: int | Sequence[int] | Mapping[str, int] | None = None,
        bounds: tuple[End, End] | Mapping[str, tuple[End, End]] | None = None,
        edges: Sequence[Number] | Mapping[str, Sequence[Number]] | None = None,
        keys: Sequence[Key] | Mapping[str, Sequence[Key]] | None = None,
        every: Step | Mapping[str, Step] | None = None,
        outside: Rule | Mapping[str, Rule] | None = None,
        missing: Rule | Mapping[str, Rule] | None = None,
        method: How | None = None,
    ) -> Request[HistogramAnswer]:
        """Counts of rows in the public cells of one column, or of the product of several.

        Cells are ranges of numbers (`bins` of equal width between `bounds`, or `edges`), ranges of dates (`every` week,
        …, between `bounds`), or categories (`keys`). Bounds and keys default to those of the description. If several
        `bins` are given, one is chosen privately; categories without public keys are shown above a threshold. Both are
        part of the price. Rows without a value have a cell of their own, unless `missing` is `Rule.DROP`, or keys are
        public and NULL is not among them. See `sitr.questions`.
        """
        return selection.Selection(self).histogram(
            *columns,
            bins=bins,
            bounds=bounds,
            edges=edges,
            keys=keys,
            every=every,
            outside=outside,
            missing=missing,
            method=method,
        )

    def dummy(self, rows: int = 1_000, *, seed: int = 0) -> Dummy[Budget]:
        """Invented rows with the public columns, types, keys and bounds, to develop code with. Free: no data are read.

        `dummy().table` and `dummy().to_pandas()` are the rows; `dummy().budget()` answers questions about them.
        """
        return dummies.Dummy(self.table, rows, seed, lambda at: Budget(at, self.public), self.promise)
