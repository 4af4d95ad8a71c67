"""Several aggregate questions with one charge: `Budget.batch`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from sitr import arguments
from sitr.dataset.schema import Table
from sitr.errors import QuestionError, unknown_name
from sitr.ledger.ledger import Ledger
from sitr.namespace import Later
from sitr.numbers import Number, finite
from sitr.questions.aggregate.nodes import check_name
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.split import Targets
from sitr.questions.batch.question import BatchQuestion, BatchRelease
from sitr.report import batch as report
from sitr.report.paper import Paper
from sitr.report.papers import answer_paper
from sitr.session.aggregate import AggregateAnswer, AggregateRequest
from sitr.session.answer import Answer
from sitr.session.desk import Desk
from sitr.session.request import Request
from sitr.session.shown import once

if TYPE_CHECKING:
    import pyarrow as pa
else:  # a preview has no table
    pa = Later("pyarrow")

MOST_QUESTIONS = 100
"""The most questions of a batch."""


@dataclass(frozen=True, repr=False)
class BatchPart(AggregateAnswer):
    """One answer of a batch. Its promise is that of its own numbers; the charge paid for all answers."""

    name: str = ""
    place: int = 1
    many: int = 1

    @property
    def paper(self) -> Paper:
        """What is shown of it, and that it is a part of a batch."""
        return once(self, lambda: self._said(answer_paper(self.released, self.receipt)))

    def _said(self, paper: Paper) -> Paper:
        return report.part(paper, self.name, self.place, self.many)


@dataclass(frozen=True, repr=False)
class BatchAnswer(Answer):
    """The answers by name or by place, each like an answer to a question that was asked alone.

    `for answer in answers` goes through them in order, and `answers.items()` also gives their names.
    """

    released: BatchRelease

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the questions."""
        return self.released.plan.names

    @cached_property
    def answers(self) -> tuple[AggregateAnswer, ...]:
        """The answers in the order of the questions."""
        asked = [None] * len(self.names) if self.request is None else self.request.requests
        triples = zip(self.released.parts, asked, self.names, strict=True)
        return tuple(
            BatchPart(part, self.receipt, request, name, place, len(self.names))
            for place, (part, request, name) in enumerate(triples, start=1)
        )

    def items(self) -> Iterator[tuple[str, AggregateAnswer]]:
        """The answers with their names."""
        return zip(self.names, self.answers, strict=True)

    def __len__(self) -> int:
        """The number of answers."""
        return len(self.names)

    def __iter__(self) -> Iterator[AggregateAnswer]:  # type: ignore[override]
        return iter(self.answers)

    def __getitem__(self, name: str | int) -> AggregateAnswer:  # type: ignore[override]
        """The answer of this name, or at this place, counted from 0."""
        if isinstance(name, int) and not isinstance(name, bool) and -len(self) <= name < len(self):
            return self.answers[name]
        if name not in self.names:
            raise unknown_name(str(name), self.names, lacks="The batch has no question")
        return self.answers[self.names.index(name)]

    @property
    def table(self) -> pa.Table:
        """All numbers of all answers, one in each row: the question, the key as text, the column and the value."""
        return self._long(("value",), lambda answer, column: (answer.table[column].to_pylist(),))

    def intervals(self, *, confidence: Number = 0.95) -> pa.Table:
        """The table with `value_low` and `value_high`."""

        def ends(answer: AggregateAnswer, column: str) -> tuple[list[Any], ...]:
            found = answer.intervals(confidence=confidence)
            return tuple(found[name].to_pylist() for name in (column, f"{column}_low", f"{column}_high"))

        return self._long(("value", "value_low", "value_high"), ends)

    def _long(self, names: Sequence[str], values: Any) -> pa.Table:
        rows: list[tuple[Any, ...]] = []
        for name, answer in self.items():
            keys = [", ".join(map(str, key)) for key in answer.released.rows]
            for column in answer.released.plan.columns:
                columns = values(answer, column.name)
                rows += [(name, key, column.name, *row) for key, *row in zip(keys, *columns, strict=True)]
        parts = list(zip(*rows, strict=True)) if rows else [()] * (3 + len(names))
        texts, numbers = parts[:3], [list(map(_number, part)) for part in parts[3:]]
        arrays = [*(pa.array(part, pa.string()) for part in texts), *(pa.array(part, pa.float64()) for part in numbers)]
        return self._stamped(pa.table(arrays, names=["question", "key", "column", *names]))

    def errors(self, *, confidence: Number = 0.95) -> dict[str, float]:
        """The largest error of every column, by the names of the question and of the column: "wards.n"."""
        return {
            f"{name}.{column}": error
            for name, answer in self.items()
            for column, error in answer.errors(confidence=confidence).items()
        }


def _number(value: Any) -> float | None:
    """A number as a double; a date has none, and is in the table of its own answer."""
    return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True, repr=False)
class Batch(Request[BatchAnswer]):
    """Several checked questions with one plan: previewed together, and released for one charge."""

    requests: tuple[AggregateRequest, ...] = field(default=(), repr=False, compare=False, kw_only=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the questions."""
        return cast("BatchQuestion", self.question).names


def requested(
    questions: Iterable[AggregateRequest] | Mapping[str, AggregateRequest],
    *,
    weights: Sequence[Number] | Mapping[str, Number] | None,
    at: Desk,
) -> tuple[BatchQuestion, tuple[AggregateRequest, ...]]:
    """The questions as one: see `Budget.batch`."""
    named = dict(questions) if isinstance(questions, Mapping) else _numbered(questions)
    if not 1 <= len(named) <= MOST_QUESTIONS:
        raise QuestionError(
            wanted=f"from 1 to {MOST_QUESTIONS} questions in a batch",
            given=f"a batch of {len(named)} questions",
            do="Write for example budget.batch([budget.sql(…), budget.sql(…)]).",
        )
    for name, request in named.items():
        check_name(str(name))
        _check(request, at)
    if isinstance(weights, Mapping) and (unknown := [name for name in weights if name not in named]):
        raise unknown_name(unknown[0], list(named), lacks="The batch has no question")
    if weights is not None and not isinstance(weights, Mapping):
        arguments.several(weights, name="weights", example="[2, 1]")
        if len(list(weights)) != len(named):
            raise QuestionError(
                wanted=f"one weight for each of {len(named)} questions",
                given=f"{len(list(weights))} weights",
                do="Give as many weights as questions, or a dictionary with some of their names.",
            )
    whole = tuple(_weight(name, place, weights) for place, name in enumerate(named))
    asked = tuple(named.values())
    names = tuple(map(str, named))
    return BatchQuestion(names, tuple(request.question.query for request in asked), whole), asked


def _numbered(questions: Iterable[AggregateRequest]) -> dict[str, AggregateRequest]:
    if isinstance(questions, str | AggregateRequest) or not isinstance(questions, Iterable):
        raise QuestionError(
            wanted="a list of questions, or a dictionary with their names",
            given=f"{questions!r}",
            do="Write for example budget.batch([budget.sql(…), budget.sql(…)]).",
        )
    return {str(place): request for place, request in enumerate(questions, start=1)}


def _check(request: object, at: Desk) -> None:
    if not isinstance(request, AggregateRequest):
        raise QuestionError(
            wanted="questions made by budget.sql(…) or budget.agg(…) in a batch",
            given=f"{request!r}",
            do="Write for example budget.batch([budget.sql(…), budget.sql(…)])."
            if isinstance(request, str)
            else "Ask other kinds of questions one by one.",
        )
    if request.question.query.query.sets:
        raise QuestionError(
            given="A question of the batch has CUBE, ROLLUP or GROUPING SETS, which need a price of their own.",
            do="Ask it alone, or list its groupings as questions of their own.",
        )
    if type(request.question) is not AggregateQuestion:
        raise QuestionError(
            given='A question of the batch has caps="auto", which needs a price of its own.',
            do="Ask it alone, or ask for a suggestion first.",
        )
    if isinstance(request.question.query.split, Targets):
        raise QuestionError(
            given="A question of the batch has targets, which need a price of their own.",
            do="Ask it alone, or give its columns weights.",
        )
    if _terms(request.at) != _terms(at):
        raise _other_budget()


def check_beside(requests: Iterable[AggregateRequest], at: Desk) -> None:
    """Refuse questions that join the tables of other budgets than those that are charged for the batch."""
    charged = [_terms(other) for other in at.beside]
    if any(_terms(other) not in charged for request in requests for other in request.at.beside):
        raise _other_budget()


def _terms(at: Desk) -> tuple[Table, str, Ledger]:
    return at.table, at.account, at.ledger


def _other_budget() -> QuestionError:
    return QuestionError(
        given="A question of the batch belongs to another budget.",
        do="Make all questions with the same budget.",
    )


def _weight(name: str, place: int, weights: Sequence[Number] | Mapping[str, Number] | None) -> Fraction:
    """The weight of a question, 1 if none is given."""
    if weights is None:
        return Fraction(1)
    given = weights.get(name, 1) if isinstance(weights, Mapping) else dict(enumerate(weights)).get(place)
    weight = finite(given)
    if weight is None or weight <= 0:
        raise QuestionError(
            wanted="a weight above 0 for each question",
            given=f"the weight {given!r} for {name!r}",
            do="Write for example weights=[2, 1]: the first question then gets two thirds of the price.",
        )
    return weight
