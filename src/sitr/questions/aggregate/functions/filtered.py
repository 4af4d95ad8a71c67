"""FILTER: an aggregate of the rows for which a condition is true."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Call, Expression, spelled
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.functions.function import Aggregate, Arguments, BoundAggregate
from sitr.questions.aggregate.operators import Operators
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class Filtered(Operators):
    """Another aggregate, of the kept rows for which a condition is true: only these add anything to its terms."""

    of: Aggregate
    where: Expression

    function: ClassVar[str] = "FILTER"
    forms: ClassVar[tuple[str, ...]] = ("COUNT(*) FILTER (WHERE condition)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Filtered | None:  # noqa: ARG003 - it is no function
        return None

    def sql(self) -> str:
        return f"{self.of.sql()} FILTER (WHERE {spelled(self.where)})"

    def name(self) -> str:
        return self.of.name()

    def bound(self, view: View, /) -> BoundAggregate:
        found, where = self.of.bound(view), view.condition(self.where)
        if isinstance(found.aggregate, Filtered):
            raise QuestionError(given="An aggregate has two filters.", do="Join both conditions with AND.")
        aggregate = Filtered(found.aggregate, where.expression)
        parts = tuple((name, _filtered(part, part.aggregate, where, view)) for name, part in found.parts)
        return replace(_filtered(found, aggregate, where, view), parts=parts)


def _filtered(found: BoundAggregate, aggregate: Aggregate, where: Typed, view: View) -> BoundAggregate:
    terms = tuple(_only(term, where.expression, view) for term in found.terms)
    return replace(found, aggregate=aggregate, terms=terms)


def _only(term: Quantity, where: Expression, view: View) -> Quantity:
    both = where if term.where is None else Call("AND", (where, term.where.expression))
    return replace(term, where=view.condition(both))
