"""A question under construction, by calls instead of SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sitr.dataclass import dataclass
from sitr.dataset.literals import shown
from sitr.dataset.schema import Bound, Table, adjusted
from sitr.errors import QuestionError
from sitr.namespace import Later
from sitr.numbers import Number
from sitr.questions.aggregate.bias import SHARE as BIAS
from sitr.questions.aggregate.bias import share_of
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.counting import counting
from sitr.questions.aggregate.expressions.expression import Expression
from sitr.questions.aggregate.frame import Expr, Operand, operand
from sitr.questions.aggregate.frame_join import Columns, Rows, matched
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.habits import SELECTION, Whole
from sitr.questions.aggregate.key_domains import Keys, with_keys
from sitr.questions.aggregate.nodes import Named, NamedKey, Query, text
from sitr.questions.aggregate.other import with_other
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.sources import Source as Joined
from sitr.report import summary
from sitr.report.words.words import in_words
from sitr.session.aggregate import AggregateAnswer, AggregateRequest, aggregate_from
from sitr.session.desk import check_kind
from sitr.session.request import Request

if TYPE_CHECKING:
    from sitr.session import histogram, joined
    from sitr.session.histogram import HistogramAnswer
    from sitr.session.in_sql import InSql
else:  # each kind of question loads what it needs when it is asked
    histogram = Later("sitr.session.histogram")
    joined = Later("sitr.session.joined")


@dataclass(frozen=True, slots=True, repr=False)
class Selection(Whole):
    """A question under construction."""

    _hints = SELECTION

    budget: InSql
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
        check_kind(condition, Expr, wanted="a condition", do='Write where(sitr.column("days") > 3).')
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
        check_kind(
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
            check_kind(column, (str, Expr), wanted="the name of a column", do='Write group_by("ward").')
        found = [NamedKey(column if isinstance(column, str) else column.text, operand(column)) for column in columns]
        found += [NamedKey(name, operand(column)) for name, column in named.items()]
        return replace(self, keys=(*self.keys, *found))

    def caps(
        self,
        *,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        max_rows: int | None = None,
        bounds: Mapping[str, tuple[Bound, Bound]] | None = None,
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

    def agg(self, *unnamed: Aggregate | Expr, **aggregates: Aggregate | Expr) -> AggregateRequest:
        """The columns of the answer: aggregates, or arithmetic over them. Those without a name get that of SQL."""
        named = []
        for name, given in (*(("", each) for each in unnamed), *aggregates.items()):
            aggregate = aggregate_from(given)
            if aggregate is None:
                raise QuestionError(
                    wanted="an aggregate",
                    given=given.text if isinstance(given, Expr) else shown(given),
                    do='Write agg(n=sitr.count(), total=sitr.sum("cost")), or agg(sitr.column("cost").mean()).',
                )
            named.append(Named(name or aggregate.name(), aggregate))
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
