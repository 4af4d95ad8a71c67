"""Questions that join the protected tables of several budgets: which budgets fit together, and where to ask them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sitr.backends import opening
from sitr.backends.backend import Backend
from sitr.dataset.schema import Table
from sitr.errors import QuestionError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.view import View, protected
from sitr.session.desk import Desk


def checked(at: Desk, others: Sequence[Desk], *, public: Iterable[str]) -> tuple[Desk, ...]:
    """The desks of other tables, if these protect people like this one and have names of their own."""
    taken = {at.table.name.lower(), *(name.lower() for name in public)}
    for table in (other.table for other in others):
        if table.name.lower() in taken:
            raise QuestionError(
                given=f"Two tables of the question have the name {table.name!r}.",
                do="Protect one of them under another name.",
            )
        taken.add(table.name.lower())
        _check_alike(at.table, table)
    return tuple(others)


def _check_alike(own: Table, other: Table) -> None:
    for table in (own, other):
        if table.period is not None:
            raise QuestionError(
                given=f"The table {table.name} has a budget for {table.period.length.each}, and can be joined "
                "with public tables only.",
                do="Protect both tables without periods to join them.",
            )
        if not isinstance(table.unit, Person):
            raise QuestionError(
                given=f"The table {table.name} protects each row by itself, so that its rows have no unit to join by.",
                do="Protect both tables with the column that identifies a person (unit=…), or join public tables only.",
            )
    if own.relation is not other.relation:
        raise QuestionError(
            given=f"The tables {own.name} and {other.name} have different neighbours: "
            f"{own.relation.value} and {other.relation.value}.",
            do="Protect both tables with the same relation.",
        )


def desk(at: Desk, views: Sequence[View], others: Sequence[Desk]) -> Desk:
    """The desk for questions about these views, with the accounts of the other tables that they read."""
    names = tuple(dict.fromkeys(name for view in views for name in protected(view)))
    for view in views:
        if at.table.name not in protected(view):
            raise QuestionError(
                given=f"The question does not read {at.table.name}, whose budget is asked.",
                do=f"Ask the budget of {protected(view)[0]} instead.",
            )
    beside = tuple(other for other in others if other.table.name in names)
    if len(beside) + 1 != len(names):  # a request that was made beside another budget
        raise QuestionError(
            given=f"The question joins {' and '.join(names)}, but not all of their budgets are given.",
            do="Ask all questions of one budget: budget.beside(…).",
        )
    if not beside:
        return at
    sources = {other.table.name: other for other in beside}
    return replace(at, beside=beside, rows=lambda: _with(at.rows(), sources))


def _with(backend: Backend, others: dict[str, Desk]) -> Backend:
    """The backend, which can then read these tables too."""
    return opening.beside(backend, {name: other.backend for name, other in others.items()})
