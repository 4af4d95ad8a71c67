"""A budget for one data set: where questions are asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import UnionType
from typing import Any

from sitr.accounting.filter import Filter
from sitr.backends.backend import Backend
from sitr.dataset.cells import Rule, Step
from sitr.dataset.domain import End
from sitr.dataset.schema import Key, Table
from sitr.errors import QuestionError
from sitr.flavors.arrows import Kept
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.mechanisms.composed import Composed
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.questions.aggregate.bind import bound
from sitr.questions.aggregate.frame import Condition
from sitr.questions.aggregate.nodes import Aggregate, Named, Predicate, Query
from sitr.questions.aggregate.sql import parse
from sitr.questions.histogram.fit import Method as How
from sitr.questions.synthetic.axes import BINS, axes
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.rules import rules
from sitr.questions.synthetic.sheet import sheet
from sitr.session.histogram import HistogramQuestion
from sitr.session.histogram import question as histogram
from sitr.session.public import Source
from sitr.session.question import Question, account_name
from sitr.session.released import Released, Releasing, released
from sitr.session.synthetic import Synthesis


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent on one data set, as the ledger remembers it, and the ways to ask.

    Questions by SQL text and by calls are the same: `budget.sql("SELECT COUNT(*) AS n FROM visits")` and
    `budget.agg(n=sitr.count())`.
    """

    table: Table
    _backend: Backend = field(repr=False, compare=False)
    ledger: Ledger = field(repr=False, compare=False)
    public: Mapping[str, Source] = field(default_factory=dict, repr=False, compare=False)

    def sql(self, text: str) -> Question:
        """A question as SQL; see `sitr.questions.aggregate.sql.ALLOWED`."""
        _wanted(text, str, what="A question as SQL text", do='Write sql("SELECT COUNT(*) AS n FROM …").')
        return self._question(parse(text))

    def where(self, condition: Condition) -> Selection:
        """Only rows for which this holds, such as `sitr.column("days") > 3`."""
        return Selection(self).where(condition)

    def group_by(self, *columns: str) -> Selection:
        """One answer for each value of these columns."""
        return Selection(self).group_by(*columns)

    def agg(self, **aggregates: Aggregate) -> Question:
        """The columns of the answer by name, such as `n=sitr.count(), total=sitr.sum("cost")`."""
        return Selection(self).agg(**aggregates)

    def release(
        self, mechanism: Releasing | Composed, *, column: str, missing: Number = 0, coins: Coins | None = None
    ) -> Released:
        """Charge what a mechanism promises, durably; then give it the numbers of a column, one for each row.

        For data sets of rows in which neighbours replace a row, so that their number is public: mechanisms whose noise
        is fitted to the data are about those. A random promise assumes that the rows are exchangeable, and is accepted
        as the first charge to a budget with a γ only; `Composed` releases several mechanisms, fixed in advance, as one
        charge. NULL and NaN count as `missing`, and what is beyond the bounds as the bounds, so that no row can fail
        the release of a statistic of Sitr's. A function of your own must give a finite number for all rows there could
        be: if it fails, that much is told, which no promise covers.
        """
        return released(self.table, self._backend, self.ledger, mechanism, column=column, missing=missing, coins=coins)

    def synthesize(
        self,
        *,
        columns: Sequence[str] | None = None,
        bins: int | Mapping[str, int] = BINS,
        bounds: Mapping[str, tuple[End, End]] | None = None,
        keys: Mapping[str, Sequence[Key]] | None = None,
        required: Collection[str] = (),
        never: Iterable[Condition] = (),
        rows_per_person: int | None = None,
        method: Method | None = None,
    ) -> Synthesis:
        """Synthetic rows that imitate these columns, all but a person's id if none are named.

        What a column can hold is public, never learned from the rows: the bounds and keys of the description, or given
        here, where they may also be what an earlier answer has released; dates and moments have their bounds here only.
        `bins` cut numbers and moments into cells. `required` columns are never NULL, and rows that fulfil a condition
        of `never` are never drawn.
        """
        cut = axes(self.table, columns=columns, bins=bins, bounds=bounds, keys=keys, required=required)
        return Synthesis(
            sheet(self.table, cut, rows_per_person=rows_per_person),
            self.table,
            method,
            rules(never, self.table, cut),
            self._backend,
            self.ledger,
            self.public,
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
        missing: Rule | Mapping[str, Rule] = Rule.CELL,
        method: How | None = None,
    ) -> HistogramQuestion:
        """Counts of rows in public cells: of one column, or of the product of several.

        Cells are ranges of numbers (`bins` of equal width between `bounds`, or `edges`), of dates (`every` week, …,
        between `bounds`), or categories (`keys`); bounds and keys of the description hold where none are given.
        Several `bins` are a private choice among them, and categories that nobody has listed are shown above a
        threshold; both are paid for. See `sitr.questions.histogram.fit` for methods.
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

    def standing(self) -> Filter:
        """The promise and all charges to it, now."""
        return self.ledger.standing(account_name(self.table))

    @property
    def promise(self) -> Kept:
        """What all answers together keep."""
        return self.standing().promise

    def remaining(self) -> Kept:
        """What is left."""
        return self.standing().remaining()

    def entries(self) -> list[Entry]:
        """All charges, oldest first."""
        return self.ledger.entries(account_name(self.table))

    def _question(self, query: Query) -> Question:
        return Question(bound(query, self.table), self.table, self._backend, self.ledger)


@dataclass(frozen=True, slots=True)
class Selection:
    """A question in the making."""

    budget: Budget
    condition: Predicate | None = None
    keys: tuple[str, ...] = ()

    def where(self, condition: Condition) -> Selection:
        """Only rows for which this holds too."""
        _wanted(condition, Condition, what="A condition", do='Write where(sitr.column("days") > 3).')
        joined = condition if self.condition is None else Condition(self.condition) & condition
        return replace(self, condition=joined.predicate)

    def group_by(self, *columns: str) -> Selection:
        """One answer for each value of these columns too."""
        for column in columns:
            _wanted(column, str, what="The name of a column", do='Write group_by("ward").')
        return replace(self, keys=(*self.keys, *columns))

    def agg(self, **aggregates: Aggregate) -> Question:
        """The columns of the answer by name."""
        for aggregate in aggregates.values():
            _wanted(aggregate, Aggregate, what="An aggregate", do='Write agg(n=sitr.count(), total=sitr.sum("cost")).')
        named = tuple(Named(name, aggregate) for name, aggregate in aggregates.items())
        return self.budget._question(Query(self.budget.table.name, named, self.keys, self.condition))

    def histogram(self, *columns: str, **said: Any) -> HistogramQuestion:
        """Counts of these rows in public cells: see `Budget.histogram`."""
        if self.keys:
            raise QuestionError(
                wanted="A histogram has its cells for groups.",
                given=f"group_by({', '.join(map(repr, self.keys))}) was given.",
                do="Name these columns as columns of the histogram instead.",
            )
        budget = self.budget
        return histogram(budget.table, budget._backend, budget.ledger, columns, where=self.condition, **said)


def _wanted(given: object, kind: type | UnionType, *, what: str, do: str) -> None:
    if not isinstance(given, kind):
        raise QuestionError(wanted=f"{what} was wanted.", given=f"{given!r} was given.", do=do)
