"""SUM_PER_PERSON: the sum of people's totals, each clamped once."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from sitr.dataclass import dataclass
from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name, spelled
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.term import Term, granules_of
from sitr.questions.aggregate.view import View


@dataclass(frozen=True, slots=True)
class PersonSum(Operators):
    """The sum over all people of one total each: all values of the person in the group, clamped to two public numbers.

    Every row counts, so that no cap on rows leaves anything out. One person moves a group by at most the larger of the
    two numbers, where SUM allows as many rows as the cap, each with the largest value.

    >>> PersonSum(Name("cost"), Literal(0), Literal(5000)).sql()
    'SUM_PER_PERSON(cost, 0, 5000)'
    """

    of: Expression
    low: Literal
    high: Literal

    function: ClassVar[str] = "SUM_PER_PERSON"
    forms: ClassVar[tuple[str, ...]] = ("SUM_PER_PERSON(column, low, high)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> PersonSum | None:
        match arguments:
            case Arguments((of, Literal() as low, Literal() as high), star=False, distinct=False):
                return cls(of, low, high)
        return None

    def sql(self) -> str:
        return f"{self.function}({', '.join(map(spelled, (self.of, self.low, self.high)))})"

    def name(self) -> str:
        return f"sum_{self.of.name}" if isinstance(self.of, Name) else "sum"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        if of.kind not in NUMERIC:
            raise QuestionError(
                given=f"{self.function} needs numbers, but {of.text} has type {of.kind.value}.",
                do="Count it, or choose another column.",
            )
        ends = view.typed(Call("CLAMP", (self.of, self.low, self.high))).parts[1:]  # checks both
        total = replace(of, what="CLAMP", parts=(of, *ends), low=ends[0].low, high=ends[1].low)
        to = granules_of(total, function=self.function, table=view.name)
        whole = to.granularity.denominator == 1 and of.kind is Kind.INTEGER
        found = PersonSum(of.expression, self.low, self.high)
        return BoundAggregate(found, (Term(of, to, total=True),), whole=whole, step=to.granularity)
