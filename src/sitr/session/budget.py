"""The budget of one data set, and the questions that it can pay for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sitr import arguments
from sitr.accounting.filter import Filter
from sitr.dataclass import dataclass
from sitr.dataset.cells import Rule, Step
from sitr.dataset.database import Address
from sitr.dataset.description import Description
from sitr.dataset.domain import End
from sitr.dataset.schema import Key, Table, adjusted
from sitr.errors import DescriptionError, QuestionError, SitrError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.price import Amounts, Price, price_of
from sitr.flavors.promise import Promise
from sitr.flavors.random import RandomDP
from sitr.ledger import registry
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.ledger.located import located
from sitr.ledger.sql import SqlLedger
from sitr.mechanisms.composed import Composed
from sitr.namespace import Later
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.asked import asked
from sitr.questions.aggregate.bias import SHARE as BIAS
from sitr.questions.aggregate.bias import share_of
from sitr.questions.aggregate.bigquery import Options, rewritten
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.counting import counting
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.frame import Expr, Operand, operand
from sitr.questions.aggregate.frame_join import Columns, Rows, matched
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.key_domains import Keys, with_keys
from sitr.questions.aggregate.nodes import Named, NamedKey, Query, text
from sitr.questions.aggregate.other import with_other
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.relations import Catalog, tables
from sitr.questions.aggregate.sources import Source as Joined
from sitr.questions.aggregate.top_keys import spelled_out
from sitr.questions.aggregate.view import protected
from sitr.questions.synthetic.axes import BINS
from sitr.report import summary
from sitr.report.paper import Paper
from sitr.report.words.words import in_words
from sitr.session.aggregate import AggregateAnswer, AggregateRequest, aggregate_from
from sitr.session.desk import Desk, account_name
from sitr.session.request import Request
from sitr.session.shown import Displayed
from sitr.session.team import Shared

if TYPE_CHECKING:
    from sitr.accounting import anytime
    from sitr.accounting.anytime import Reading
    from sitr.accounting.in_advance import InAdvance
    from sitr.questions.histogram.methods import Method as How
    from sitr.questions.statistic.question import Releasing
    from sitr.questions.suggest import question as suggestions
    from sitr.questions.suggest import spreads
    from sitr.questions.synthetic.plan import Method
    from sitr.questions.tables.ladder import Groups
    from sitr.questions.tables.measures import Wanted
    from sitr.questions.tables.plan import TablesObjective
    from sitr.session import auto, histogram, joined, payable, statistic, synthetic
    from sitr.session import batch as batched
    from sitr.session import dummy as dummies
    from sitr.session import in_advance as fixed
    from sitr.session import public as published
    from sitr.session import suggest as suggesting
    from sitr.session import tables as tabulated
    from sitr.session.batch import Batch
    from sitr.session.dummy import Dummy
    from sitr.session.histogram import HistogramAnswer
    from sitr.session.public import Source
    from sitr.session.statistic import StatisticAnswer
    from sitr.session.suggest import Suggestion
    from sitr.session.synthetic import Synthesis
    from sitr.session.tables import TablesAnswer
else:  # each kind of question loads what it needs when it is asked
    anytime = Later("sitr.accounting.anytime")
    auto = Later("sitr.session.auto")
    batched = Later("sitr.session.batch")
    dummies = Later("sitr.session.dummy")
    fixed = Later("sitr.session.in_advance")
    spreads = Later("sitr.questions.suggest.spreads")
    suggesting = Later("sitr.session.suggest")
    suggestions = Later("sitr.questions.suggest.question")
    histogram = Later("sitr.session.histogram")
    joined = Later("sitr.session.joined")
    payable = Later("sitr.session.payable")
    published = Later("sitr.session.public")
    statistic = Later("sitr.session.statistic")
    synthetic = Later("sitr.session.synthetic")
    tabulated = Later("sitr.session.tables")


@dataclass(frozen=True, slots=True, repr=False)
class Budget(Shared, Displayed):
    """The budget of one data set, recorded in a ledger, with all ways to ask questions.

    SQL text and calls make the same questions: `budget.sql("SELECT COUNT(*) AS n FROM visits")` and
    `budget.agg(n=sitr.count())`.
    """

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
    def table(self) -> Table:
        """What is public about the data set."""
        return self._at.table

    @property
    def ledger(self) -> Ledger:
        """The ledger that records charges."""
        return self._at.ledger

    def sql(
        self,
        text: str,
        *,
        bias: Number | str = BIAS,
        bias_rows: int | None = None,
        caps: str | None = None,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
        bounds: Mapping[str, tuple[Number, Number]] | None = None,
        keys: Keys | None = None,
        other: bool = False,
        weights: Mapping[str, Number] | None = None,
        price: Price | None = None,
    ) -> AggregateRequest:
        """A question in SQL: one SELECT with keys, and aggregates such as COUNT(*), SUM(cost), AVG(cost) or VAR(cost).

        Aggregates can have FILTER (WHERE …) and be computed with: 100.0 * COUNT_IF(days > 3) / COUNT(*). WHERE selects
        rows, GROUP BY lists the keys; HAVING, ORDER BY and LIMIT act on the released rows and are free. Names with
        spaces or signs need double quotes. An error points at the offending part of the text.

        `bias` is the share of the price that measures from how many people caps and bounds leave something out;
        "off" spends nothing on it, and then the answer says that its bias is not measured. `bias_rows`, a second public
        cap, counts the rows that are left out too, up to this many rows of each person. `max_groups`,
        `max_rows_per_group`, `max_rows` (of a person in the whole question), `bounds` and `keys` take the place of
        those of the description, for this question only; like these, they are public and must not be chosen by looking
        at the rows. Keys are a list, or the column of a declared public table that has them:
        `keys={"ward": "wards.ward"}`. With `caps="auto"`, a tenth of the price chooses both caps from the data,
        privately, and the rest answers with them; bounds stay as they are. Where keys are not public, `other` adds one
        row for everything whose key is not shown. `weights`, such as {"n": 1, "total": 4}, say how the price is shared
        by the columns; see `AggregateRequest.weights` and `targets`. `price` is paid if `release` names no other; a
        mistake in the question is shown together with what stands against it.
        """
        _check_type(text, str, wanted="a question as SQL text", do='Write sql("SELECT COUNT(*) AS n FROM …").')
        plain, options = rewritten(text)
        said = options or Options()
        _refuse_other_unit(said, self.table)
        table = adjusted(
            self._at.table,
            max_groups=said.max_groups if max_groups is None else max_groups,
            max_rows_per_group=max_rows_per_group,
            max_rows=said.max_rows if max_rows is None else max_rows,
            bounds=bounds,
        )
        table = with_keys(table, keys, self._catalog(table))
        paid: Promise | None = None if price is None else price_of(price)
        if paid is None and said.epsilon is not None:
            paid = ApproximateDP(said.epsilon, said.delta or 0.0)
        found = asked(
            spelled_out(plain),
            table,
            catalog=self._catalog(table),
            beyond=lambda query: payable.obstacles_of_price(paid, query, (self._at, *self.others)),
        )
        found = with_other(found) if other else found
        question = AggregateQuestion(counting(found.watching(share_of(bias)), bias_rows))
        request = AggregateRequest(question, self._desk(found), AggregateAnswer, price=paid)
        if caps is not None:
            given = {"max_groups": max_groups or said.max_groups, "max_rows_per_group": max_rows_per_group}
            given |= {"max_rows": table.max_rows, "bias_rows": bias_rows}
            request = auto.requested(request, caps, given=given)
        return request if weights is None else request.weights(weights)

    def ask(
        self, text: str, price: Price, *, key: str | None = None, request: int | None = None, **limits: Any
    ) -> AggregateAnswer:
        """Ask a question in SQL and pay for it; `limits` are those of `sql`.

        With a `key` of your own, the question is charged once, however often you repeat it: see `keyed`. With a
        `request`, it is the one that was approved: see `approved`.
        """
        at = self if key is None else self.keyed(key)
        at = at if request is None else at.approved(request)
        return at.sql(text, **limits).release(price)

    def beside(self, *others: Budget) -> Budget:
        """The same budget, whose questions in SQL can also join the protected tables of other budgets.

        `visits.beside(patients).sql("SELECT … FROM visits JOIN patients ON visits.patient_id = patients.patient_id")`
        is charged to both budgets, the same price, both or none. The tables must protect the same people, with
        neighbours that differ in the same way, and a join must equate the columns that identify people.
        """
        do = "Write for example visits.beside(patients), with the budgets of both."
        for other in others:
            _check_type(other, Budget, wanted="the budget of another protected table", do=do)
        desks = (*self.others, *(other._at for other in others))
        for desk in desks if self.public else ():
            published.check_apart(self.public, desk.backend)
        return replace(self, others=joined.checked(self._at, desks, public=self.public))

    def batch(
        self,
        questions: Iterable[AggregateRequest] | Mapping[str, AggregateRequest],
        *,
        weights: Sequence[Number] | Mapping[str, Number] | None = None,
    ) -> Batch:
        """Several questions, made by `sql` or `agg`, with one plan that is fixed in advance and charged once.

        The price is for all of them: each gets a share, equal or by its weight, and what several of them need is
        measured once. An approximate price buys more here than for questions one by one, because the loss of all
        measurements together decides. Names are those of a dictionary, or else "1", "2", …: `answers["1"]`.
        """
        question, asked = batched.requested(questions, weights=weights, at=self._at)
        at = self._desk(*question.queries)
        batched.check_beside(asked, at)
        return batched.Batch(question, at, batched.BatchAnswer, requests=asked)

    def suggest(self, question: str, *, price: Price | None = None, **amounts: Unpack[Amounts]) -> Request[Suggestion]:
        """Caps and bounds for a question in SQL, or for the sum of a column, chosen privately.

        `release(…)` pays for noisy histograms of the groups and rows of people and of the values that are summed; the
        caps and bounds with the least expected error, noise and what they leave out, follow from them. `price` is what
        the question itself will cost, also as `rho=0.05` or `epsilon=1`: ten times the price of the suggestion, unless
        it is given.
        """
        _check_type(question, str, wanted="a question or the name of a column", do='Write suggest("cost").')
        plain, _ = rewritten(suggesting.question_of(question, self.table))
        wide = suggesting.widened(self.table)
        target = asked(plain, wide, catalog=self._catalog(wide)).watching(BIAS)
        later = None if price is None and not amounts else price_of(price, **amounts)
        found = suggestions.SuggestionQuestion(target, spreads.measured(target), later)
        return Request(found, self._desk(target), suggesting.Suggestion)

    def _catalog(self, table: Table) -> Catalog:
        """The tables that a question can name."""
        opened = (self._at.rows, *(other.rows for other in self.others))
        found = published.catalog(table, self.public, *opened) if self.public else Catalog(table)
        return replace(found, beside=tuple(other.table for other in self.others)) if self.others else found

    def _desk(self, *queries: BoundedQuery) -> Desk:
        """The desk, with the public tables and the other protected tables that questions join."""
        alone = not self.others and all(len(protected(query.view)) == 1 for query in queries)
        at = self._at if alone else joined.desk(self._at, [query.view for query in queries], self.others)
        public = {name: self.public[name] for query in queries for name in tables(query.view)}
        return at if not public else replace(at, rows=lambda: published.beside(at.rows(), public), public=public)

    def where(self, condition: Expr) -> Selection:
        """Only rows that meet this condition, such as `sitr.column("days") > 3`."""
        return Selection(self).where(condition)

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
        return Selection(self).join(other, on=on, left_on=left_on, right_on=right_on, how=how)

    def group_by(self, *columns: Operand, **named: Operand) -> Selection:
        """One answer for each value of these columns or expressions, which may have names."""
        return Selection(self).group_by(*columns, **named)

    def agg(self, **aggregates: Aggregate | Expr) -> AggregateRequest:
        """The columns of the answer by name, such as `n=sitr.count(), total=sitr.sum("cost")`."""
        return Selection(self).agg(**aggregates)

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
        hierarchies: Mapping[str, Mapping[str, Groups]] | None = None,
        rows_per_person: int | None = None,
        **said: Any,
    ) -> Request[TablesAnswer]:
        """Many tables at once that add up, for one price: `tables([("ward", "sex"), "age"], bins={"age": 10})`.

        Each table is a column, or a list of columns, with public cells: the keys of the description, or `keys`, `bins`,
        `bounds`, `edges`, `every`, `outside` and `missing` by column, as for a histogram. Every measure is tabulated in
        every table: "count", "people" (with `rows_per_person=1`), "sum(cost)" and "mean(cost)".

        `hierarchies` adds coarser levels to a column, from fine to coarse, by which tables can be cut as well:
        `{"district": {"region": {"north": ["a", "b"], "south": ["c"]}}}`.

        The noise is divided so that the largest variance of a table's cells, times its weight, is least; with
        objective="sum", their weighted sum. Every margin of counts and sums equals the sum of its parts in all tables.
        Rows without a public cell in one of the columns are left out of all tables.
        """
        return tabulated.requested(
            self._at,
            tables,
            measures=measures,
            weights=weights,
            objective=objective,
            hierarchies=hierarchies,
            rows_per_person=rows_per_person,
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
        never: Iterable[Expr] = (),
        rows_per_person: int | None = None,
        method: Method | None = None,
    ) -> Synthesis:
        """Synthetic rows that imitate these columns; by default all columns except a person's id.

        The possible values of a column are public and never learned from the rows. They are the bounds and keys of the
        description, or those given here, which may come from an earlier answer. Bounds of dates and times are given
        only here. `bins` is the number of cells for numbers and times. `required` columns are never NULL, and rows that
        meet a condition in `never` are never drawn.
        """
        return synthetic.requested(
            self._at,
            self.public,
            columns=columns,
            bins=bins,
            bounds=bounds,
            keys=keys,
            required=required,
            never=never,
            rows_per_person=rows_per_person,
            method=method,
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
        return Selection(self).histogram(
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

    def standing(self) -> Filter:
        """The promise and all charges so far, of the data set: also where questions are charged to a sub-budget."""
        return self.ledger.standing(self._at.account)

    def in_advance(self, *, most: int | None = 64) -> InAdvance | None:
        """The tightest total of all charges if their questions and prices had been fixed in advance; None before one.

        It composes the exact losses of kept plans. The budget does not use it: it is no promise for questions that were
        chosen after answers. More different plans than `most` are not added up; None is no limit.
        """
        return fixed.in_advance(self.ledger, self._at.account, most=most)

    def odometer(self) -> Reading | None:
        """What a budget without a cap has recorded, and what that promises at any moment; None if it has a cap."""
        return anytime.reading(self.standing())

    @property
    def promise(self) -> Kept:
        """What is guaranteed for all answers together."""
        return self.standing().promise

    def remaining(self) -> Kept:
        """What is left; of a sub-budget, the most that can be charged to it now."""
        share = self._at.warrant.share
        return self.accounts().left(share) if share else self.standing().remaining()

    def entries(self) -> list[Entry]:
        """All charges, oldest first."""
        return self.ledger.entries(self._at.account)


@dataclass(frozen=True, slots=True, repr=False)
class Selection:
    """A question under construction."""

    budget: Budget
    condition: Expression | None = None
    keys: tuple[NamedKey, ...] = ()
    share: Fraction | None = BIAS
    rows: int | None = None
    """The second cap, up to which rows left out are counted, if the question has one."""
    table: Table | None = None
    """The public description with other caps, bounds or keys, if the question has any."""
    rest: bool = False
    """Whether there is one more row for everything whose key is not shown."""
    source: Joined | None = None
    """What the table was joined with, if anything."""

    @property
    def _rows(self) -> Joined:
        return self.budget.table.name if self.source is None else self.source

    def __repr__(self) -> str:
        rows = text(Query(self._rows, (), self.keys, self.condition))
        return in_words().summary.selection(summary.in_one_line(rows))

    def where(self, condition: Expr) -> Selection:
        """Only rows that also meet this condition."""
        _check_type(condition, Expr, wanted="a condition", do='Write where(sitr.column("days") > 3).')
        joined = condition if self.condition is None else Expr(self.condition) & condition
        return replace(self, condition=joined.expression)

    def join(
        self,
        other: str | Selection,
        *,
        on: Columns = None,
        left_on: Columns = None,
        right_on: Columns = None,
        how: str = "inner",
    ) -> Selection:
        """Rows that match others, by equal values of `on`, or of `left_on` here and `right_on` there.

        `other` is the name of a public table. With `how="inner"` or "left", its columns are beside those of the table.
        With "semi" or "anti", rows are kept that match some of its rows, or none, as in IN (SELECT …). Then `other` may
        also be rows of the same budget, and rows are kept of people who have such a row, or of all other people:
        `budget.join(budget.where(sitr.column("ward") == "A"), on="patient_id", how="semi")`.
        """
        _check_type(
            other,
            (str, Selection),
            wanted="a public table or rows of this budget",
            do='Write join("wards", on="ward").',
        )
        if isinstance(other, str):
            rows = Rows(other)
        elif other.keys or other.budget != self.budget:
            raise QuestionError(
                given="The rows to join with have groups, or belong to another budget.",
                do="Leave group_by out there; tables of several budgets can be joined in SQL, see Budget.beside.",
            )
        else:
            rows = Rows(other._rows, other.condition)
        return replace(self, source=matched(self._rows, rows, on=on, left_on=left_on, right_on=right_on, how=how))

    def group_by(self, *columns: Operand, **named: Operand) -> Selection:
        """One answer for each value of these, in addition to earlier ones; an expression may have a name."""
        for column in (*columns, *named.values()):
            _check_type(column, (str, Expr), wanted="the name of a column", do='Write group_by("ward").')
        found = [NamedKey(column if isinstance(column, str) else column.text, operand(column)) for column in columns]
        found += [NamedKey(name, operand(column)) for name, column in named.items()]
        return replace(self, keys=(*self.keys, *found))

    def caps(
        self,
        *,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
        bounds: Mapping[str, tuple[Number, Number]] | None = None,
        keys: Keys | None = None,
    ) -> Selection:
        """Other caps, bounds and keys than those of the description, for this question; see `Budget.sql`."""
        caps = {"max_groups": max_groups, "max_rows_per_group": max_rows_per_group, "max_rows": max_rows}
        table = adjusted(self.table or self.budget.table, bounds=bounds, **caps)
        return replace(self, table=with_keys(table, keys, self.budget._catalog(table)))

    def other(self) -> Selection:
        """One more row for everything whose key is not shown; see `Budget.sql`."""
        return replace(self, rest=True)

    def bias(self, share: Number | str = BIAS, *, rows: int | None = None) -> Selection:
        """Spend this share of the price on measuring what caps and bounds leave out, or nothing: "off".

        With `rows`, a second public cap, rows that are left out are counted too, up to this many of each person.
        """
        return replace(self, share=share_of(share), rows=rows)

    def agg(self, **aggregates: Aggregate | Expr) -> AggregateRequest:
        """The columns of the answer by name: aggregates, or arithmetic over them."""
        named = []
        for name, given in aggregates.items():
            aggregate = aggregate_from(given)
            if aggregate is None:
                raise QuestionError(
                    wanted="an aggregate", given=f"{given!r}", do='Write agg(n=sitr.count(), total=sitr.sum("cost")).'
                )
            named.append(Named(name, aggregate))
        table = self.table or self.budget.table
        catalog = Catalog(table) if self.source is None else self.budget._catalog(table)
        query = bound(Query(self._rows, tuple(named), self.keys, self.condition), table, catalog=catalog)
        query = with_other(query) if self.rest else query
        at = self.budget._at if self.source is None else self.budget._desk(query)
        query = counting(query.watching(self.share), self.rows)
        return AggregateRequest(AggregateQuestion(query), at, AggregateAnswer)

    def histogram(self, *columns: str, **said: Any) -> Request[HistogramAnswer]:
        """Counts of these rows in public cells: see `Budget.histogram`."""
        if self.keys:
            raise QuestionError(
                wanted="a histogram without groups, because its cells are the groups",
                given=f"group_by({', '.join(repr(key.name) for key in self.keys)})",
                do="Name these columns as columns of the histogram instead.",
            )
        if self.source is not None:
            raise QuestionError(
                given="A histogram cannot be made of joined rows.",
                do="Group by the same columns instead: group_by(…).agg(n=sitr.count()).",
            )
        return histogram.requested(self.budget._at, columns, where=self.condition, **said)


def opened(table: Table, promise: Kept, ledger: str | Path | Address | Ledger, *, source: str, second: bool) -> Ledger:
    """The ledger, with an account of this data set on these terms."""
    allowed(table.relation, promise)
    if not isinstance(ledger, str | Address) and not hasattr(ledger, "charge"):
        arguments.path(ledger, of="sitr.db")
    account, neighbors = account_name(table), table.neighbors()
    if not isinstance(ledger, str | Path | Address | SqlLedger):
        ledger.open(account, promise=promise, neighbors=neighbors)
        return ledger
    place = ledger.place if isinstance(ledger, SqlLedger) else located(ledger, patience=0.0).place
    if not second:  # before a file is made
        registry.refuse_second(source or registry.account_source(place, account), place, account)
    keeper = ledger if isinstance(ledger, SqlLedger) else SqlLedger(ledger)
    keeper.open(account, promise=promise, neighbors=neighbors, source=source, second=second)
    return keeper


def reopened(table: Table, fixed: Description) -> Ledger:
    """The ledger that a description names, which must still have the account of this data set."""
    assert fixed.promise is not None
    assert fixed.ledger is not None
    promise, neighbors = allowed(table.relation, fixed.promise), table.neighbors()
    keeper = SqlLedger(fixed.ledger, create=False)
    keeper.open(account_name(table), promise=promise, neighbors=neighbors, create=False)
    return keeper


def allowed(relation: Relation, promise: Kept) -> Kept:
    """The promise, if a budget can keep it for neighbours that differ like this."""
    if isinstance(promise, RandomDP) and relation is not Relation.REPLACE_ONE:
        raise DescriptionError(
            wanted="neighbours that replace one person, because a budget with a γ is about a random newcomer",
            given=f"{relation.value} neighbours",
            do="Protect the data set with relation=sitr.Relation.REPLACE_ONE (--relation replace-one).",
        )
    return promise


def _refuse_other_unit(said: Options, table: Table) -> None:
    """Whoever asks does not choose who is protected."""
    unit = table.unit.column if isinstance(table.unit, Person) else None
    if said.unit is not None and (unit is None or said.unit.lower() != unit.lower()):
        raise QuestionError(
            given=f"The question names {said.unit!r} as the privacy unit, but this data set protects each "
            f"{table.neighbors()}.",
            do="Leave privacy_unit_column out: the description says who is protected.",
        )


def _check_type(given: object, kind: type | tuple[type, ...], *, wanted: str, do: str) -> None:
    if not isinstance(given, kind):
        raise QuestionError(wanted=wanted, given=f"{given!r}", do=do)
