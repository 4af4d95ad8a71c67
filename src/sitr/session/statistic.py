"""The answer of a mechanism applied to a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sitr.flavors.promise import Promise
from sitr.mechanisms.composed import Composed
from sitr.numbers import Number
from sitr.questions.statistic.question import Releasing, StatisticQuestion, check_size, statistic_question
from sitr.session.answer import Answer
from sitr.session.desk import Desk
from sitr.session.request import Request


@dataclass(frozen=True, slots=True, repr=False)
class StatisticAnswer(Answer):
    """One value, or one for each part of a composition."""

    @property
    def value(self) -> Any:
        """The released value, None if the mechanism refused; for a composition, the values of its parts."""
        return self.released.value


def requested(at: Desk, mechanism: Releasing | Composed, *, column: str, missing: Number) -> Request[StatisticAnswer]:
    """A mechanism applied to a column: see `Budget.statistic`."""
    question = statistic_question(at.table, mechanism, column=column, missing=missing)
    check_size(question, at.backend.size())
    return Request(question, at, StatisticAnswer)


def promised(request: Request[StatisticAnswer]) -> Promise:
    """The price of a statistic, which is what its mechanism promises."""
    assert isinstance(request.question, StatisticQuestion)
    return request.question.promise()
