"""A budget for one data set: where questions are asked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sitr.accounting.filter import Filter
from sitr.backends.backend import Backend
from sitr.flavors.arrows import Additive
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.query.frame import Condition
from sitr.query.nodes import Aggregate, Named, Predicate, Query
from sitr.query.rewrite import bound
from sitr.query.schema import Table
from sitr.query.sql import parse
from sitr.session.question import Question, account_name


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent on one data set, as the ledger remembers it, and the ways to ask.

    Questions by SQL text and by calls are the same: `budget.sql("SELECT COUNT(*) AS n FROM visits")` and
    `budget.agg(n=sitr.count())`.
    """

    table: Table
    _backend: Backend = field(repr=False, compare=False)
    ledger: Ledger = field(repr=False, compare=False)

    def sql(self, text: str) -> Question:
        """A question as SQL; see `sitr.query.sql.ALLOWED`."""
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

    def standing(self) -> Filter:
        """The promise and all charges to it, now."""
        return self.ledger.standing(account_name(self.table))

    @property
    def promise(self) -> Additive:
        """What all answers together keep."""
        return self.standing().promise

    def remaining(self) -> Additive:
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
        joined = condition if self.condition is None else Condition(self.condition) & condition
        return replace(self, condition=joined.predicate)

    def group_by(self, *columns: str) -> Selection:
        """One answer for each value of these columns too."""
        return replace(self, keys=(*self.keys, *columns))

    def agg(self, **aggregates: Aggregate) -> Question:
        """The columns of the answer by name."""
        named = tuple(Named(name, aggregate) for name, aggregate in aggregates.items())
        return self.budget._question(Query(self.budget.table.name, named, self.keys, self.condition))
