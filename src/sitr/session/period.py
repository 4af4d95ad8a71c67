"""Budgets per period: the unit is one person in one month, quarter or year, and each period has an account of its own.

No budget is renewed for a person, by the calendar or otherwise: the account of a period pays for questions that read
this period's rows alone, and somebody present in several periods pays in each of them. Decision 0049 has the proof.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, cast

from sitr.dataset.schema import Table
from sitr.errors import QuestionError
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.ledger import Ledger
from sitr.ledger.sql import SqlLedger
from sitr.neighbors.period import Period
from sitr.neighbors.unit import Person
from sitr.session.desk import Desk


class Periodic:
    """A budget that has an account for each period, if the unit is a person in a period."""

    __slots__ = ()
    _at: Desk

    def period(self, name: str) -> Self:
        """The budget of one period, whose questions read its rows only: `budget.period("2026-03").sql(…)`.

        Months are written 2026-03, quarters 2026-Q1 and years 2026. The account of a period is opened by its first
        charge, with the promise that every period has.
        """
        at, chosen = self._at, in_period(self._at.table, name)
        account = chosen.account
        made = replace(at, table=chosen, ledger=_ledger(at.ledger, at.account, account), account=account)
        return cast("Self", replace(cast("Any", self), _at=made))


def in_period(table: Table, name: str) -> Table:
    """The table of one period of a data set; `QuestionError` if there is none."""
    if table.period is None or not isinstance(table.unit, Person):
        raise QuestionError(
            given=f"The budget of {table.name} has no periods: it protects each {table.neighbors()}.",
            do="Leave the period out, and select rows with WHERE; nothing was spent.",
        )
    if table.period.name:
        raise QuestionError(
            given=f"This is the budget of {table.called} already.",
            do="Name another period of the whole budget; nothing was spent.",
        )
    return replace(table, unit=replace(table.unit, period=table.period.named(name)))


def _ledger(ledger: Ledger, whole: str, account: str) -> Ledger:
    """The ledger with the account of a period, which its first charge opens on the terms of the `whole`."""
    terms = ledger.account(whole)
    if not isinstance(ledger, SqlLedger):
        ledger.open(account, promise=terms.promise, neighbors=terms.neighbors)
        return ledger
    later = LazyLedger(ledger.where, account, terms.promise, terms.neighbors, of=whole)
    return ledger if later.accounts() else later


def check_named(table: Table, reading: object) -> None:
    """Refuse a question that names no period, or reads another one than its budget pays for."""
    period = table.period
    if period is not None and not period.name:
        raise QuestionError(
            given=f"The budget of {table.name} is for each {table.neighbors()}, and the question does not "
            f"name {period.length.one}.",
            do="Name it with budget.period(…), or --period; nothing was spent.",
        )
    if any(each != period for each in _periods(reading)):
        raise QuestionError(
            given=f"The question reads other rows than those that the budget of {table.called} pays for.",
            do="Make the question with the budget of its period; nothing was spent.",
        )


def _periods(reading: object) -> list[Period | None]:
    """The periods of a reading, or of several."""
    if isinstance(reading, tuple):
        return [period for each in reading for period in _periods(each)]
    unit = getattr(getattr(reading, "query", reading), "unit", None)
    if unit is None:
        unit = getattr(reading, "unit", None)
    return [unit.period] if isinstance(unit, Person) else []
