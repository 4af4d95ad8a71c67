"""Questions with CUBE, ROLLUP or GROUPING SETS, and their answers: tables that add up, shown as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from sitr.dataset.schema import Table
from sitr.errors import QuestionError
from sitr.flavors.promise import Promise
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.tables.grouping import GroupingQuestion, grouping_question
from sitr.session.aggregate import AggregateAnswer, AggregateRequest
from sitr.session.desk import Desk
from sitr.session.tables import TablesAnswer


@dataclass(frozen=True, slots=True, repr=False)
class GroupingAnswer(TablesAnswer, AggregateAnswer):
    """One row for each cell of each grouping; a key is NULL in rows that are for all its values.

    `tables` has every grouping by itself.
    """


@dataclass(frozen=True, slots=True, repr=False)
class GroupingRequest(AggregateRequest):
    """A checked question with several groupings. `having`, `sort`, `limit` and `head` act on released rows."""

    question: GroupingQuestion  # type: ignore[assignment]

    def weights(self, *_: object, **__: object) -> NoReturn:
        """Refused: all columns have equal shares."""
        raise _equal()

    def targets(self, *_: object, **__: object) -> NoReturn:
        """Refused, for the same reason."""
        raise _equal()

    def explain(self, *_: object, **__: object) -> NoReturn:
        """Refused: the preview shows the tables."""
        raise QuestionError(
            given="A question with CUBE, ROLLUP or GROUPING SETS cannot be explained as a tree.",
            do="Use a preview, which lists its tables and their errors.",
        )


def _equal() -> QuestionError:
    return QuestionError(
        given="The columns of CUBE, ROLLUP and GROUPING SETS have no weights or targets.",
        do="Leave them out: all columns have equal shares.",
    )


def requested(
    query: BoundedQuery, table: Table, at: Desk, *, price: Promise | None, given: Mapping[str, object]
) -> GroupingRequest:
    """The request; `given` are options of other questions, which stand against it."""
    if named := [name for name, value in given.items() if value]:
        raise QuestionError(
            given=f"A question with CUBE, ROLLUP or GROUPING SETS cannot have {', '.join(named)}.",
            do="Leave it out, or ask for each grouping in a question of its own.",
        )
    return GroupingRequest(grouping_question(query, table), at, GroupingAnswer, price=price)
