"""Aggregate questions with a place to ask them; their released rows can be selected, sorted and cut for free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.errors import QuestionError
from sitr.flavors.price import Amounts, Price
from sitr.namespace import Later
from sitr.numbers import Number
from sitr.questions.aggregate.bind import shown_after
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Name, aggregates
from sitr.questions.aggregate.frame import Expr
from sitr.questions.aggregate.functions.combined import Combined
from sitr.questions.aggregate.functions.function import Aggregate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.nodes import After, Order
from sitr.questions.aggregate.other import with_other
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.split import Split, targets_of, weights_of
from sitr.session.answer import Answer
from sitr.session.column_errors import ColumnErrors, ranked
from sitr.session.request import Request

if TYPE_CHECKING:
    import pyarrow as pa

    from sitr.session import explained
    from sitr.session.explained import ExplainedQuestion
else:  # most questions are never explained
    explained = Later("sitr.session.explained")


@dataclass(frozen=True, repr=False)
class AggregateAnswer(Answer):
    """Released rows, with intervals for each number alone or for all of them together."""

    released: Release

    def intervals(self, *, confidence: Number = 0.95, simultaneous: bool = False) -> pa.Table:
        """The table with `<name>_low` and `<name>_high` beside every number.

        Each interval holds with this probability; with `simultaneous`, all of them hold together with it. They always
        do where HAVING, ORDER BY or LIMIT selected or sorted the rows by noisy numbers.
        """
        return self._stamped(self.released.intervals(confidence=confidence, simultaneous=simultaneous))

    def errors(self, *, confidence: Number = 0.95) -> ColumnErrors:
        """The largest error of every column in this answer: a dictionary.

        Errors of quantiles, minima and maxima are numbers of ranks, as `errors().units` says.
        """
        return ColumnErrors(self.released.errors(confidence=confidence), ranks=ranked(self.released.plan))


@dataclass(frozen=True, slots=True, repr=False)
class AggregateRequest(Request[AggregateAnswer]):
    """A checked aggregate question.

    `having`, `sort`, `limit` and `head` act on released values and cost nothing; an aggregate that appears only there
    is measured and paid like any other. Where they select or sort by noisy numbers, all intervals hold together.
    """

    question: AggregateQuestion

    def having(self, condition: Expr) -> AggregateRequest:
        """Only released rows that also meet this condition, such as `sitr.column("n") > 9` or `sitr.count() > 9`."""
        if not isinstance(condition, Expr):
            raise QuestionError(wanted="a condition", given=repr(condition), do='Write having(sitr.column("n") > 100).')
        earlier = self._after.having
        joined = condition.expression if earlier is None else Call("AND", (earlier, condition.expression))
        return self._with(replace(self._after, having=joined))

    def sort(
        self,
        by: str | Expr | Operators,
        *more_by: str | Expr | Operators,
        descending: bool | Sequence[bool] = False,
        nulls_last: bool = True,
    ) -> AggregateRequest:
        """The released rows in the order of these columns or aggregates; `descending` is for each, or for all."""
        parts = (by, *more_by)
        for part in parts:
            if not isinstance(part, str | Expr | Operators):
                raise QuestionError(
                    wanted="columns of the answer or aggregates to sort by",
                    given=repr(part),
                    do='Write for example sort("n", descending=True).',
                )
        if not isinstance(descending, bool):
            arguments.several(descending, name="descending", example="[True, False]")
        down = [descending] * len(parts) if isinstance(descending, bool) else list(descending)
        if len(down) != len(parts):
            raise QuestionError(
                wanted=f"descending for each of {len(parts)} columns",
                given=f"{len(down)} values",
                do="Give one value for all, or one for each.",
            )
        order = tuple(
            Order(Name(part) if isinstance(part, str) else part.expression, bool(falling), not nulls_last)
            for part, falling in zip(parts, down, strict=True)
        )
        return self._with(replace(self._after, order=order))

    def limit(self, rows: int, *, offset: int = 0) -> AggregateRequest:
        """At most this many released rows, after the first `offset`."""
        if not all(type(number) is int and number >= 0 for number in (rows, offset)):
            raise QuestionError(
                wanted="whole numbers of rows", given=f"limit({rows!r}, offset={offset!r})", do="Write limit(10)."
            )
        return self._with(replace(self._after, limit=rows, offset=offset))

    def head(self, rows: int = 5) -> AggregateRequest:
        """The first released rows."""
        return self.limit(rows)

    def weights(self, weights: Mapping[str, Number]) -> AggregateRequest:
        """The same question, with the price shared by these weights, such as `{"n": 1, "total": 4}`.

        A column without a weight has the weight 1. Without weights or targets, shares are chosen from the public
        description so that the sum of the errors, each relative to what one person contributes, is small.
        """
        query = self.question.query
        return self._split(weights_of(weights, [each.name for each in query.query.aggregates]))

    def targets(self, targets: Mapping[str, Number], *, rows: int | None = None) -> AggregateRequest:
        """The same question, with shares for which all errors are equally far from these targets.

        The preview says whether a price meets them. The error of a mean or a ratio is that of groups with `rows` rows.
        """
        return self._split(targets_of(targets, [name for name, _ in self.question.query.shown], rows=rows))

    def _split(self, split: Split) -> AggregateRequest:
        return replace(self, question=replace(self.question, query=replace(self.question.query, split=split)))

    def explain(self, price: Price | None = None, **amounts: Unpack[Amounts]) -> ExplainedQuestion:
        """The question as a tree: what is read, how it is bounded, what is measured and what is shown. Free.

        With a price, also the noise of each measurement and its share of the price.
        """
        given = price is not None or bool(amounts) or self.price is not None
        plan = self.question.plan(self._paid(price, amounts)) if given else None
        return explained.ExplainedQuestion(self.question.query, plan)

    @property
    def _after(self) -> After:
        return self.question.query.query.after

    def _with(self, after: After) -> AggregateRequest:
        query = shown_after(self.question.query, after)
        # An aggregate that only HAVING or ORDER BY uses is measured in the row for other keys, too.
        return replace(self, question=replace(self.question, query=with_other(query) if query.other else query))


def aggregate_from(given: object) -> Aggregate | None:
    """An aggregate, or arithmetic over aggregates as one; None if it is neither."""
    if isinstance(given, Expr):
        found = given.expression
        if isinstance(found, Aggregated):
            return found.of  # type: ignore[return-value]
        return Combined(found) if any(True for _ in aggregates(found)) else None
    return given if isinstance(given, Operators) else None  # type: ignore[return-value]
