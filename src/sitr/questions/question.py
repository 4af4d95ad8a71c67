"""What every kind of question can do. None of it reads rows or spends budget: `sitr.session.ask` does."""

from __future__ import annotations

from typing import Any, Protocol

from sitr.flavors.promise import Promise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.plans.plan import Plan


class Stage(Protocol):
    """One reading of the rows, under a plan that is paid for."""

    def reading(self) -> Any:
        """The description of what a backend computes from the rows."""

    def answer(self, plan: Any, exact: Any, /, *, coins: Coins) -> Any:
        """The release, from exact integers and noise; nothing in it is secret."""


class Question(Stage, Protocol):
    """A checked question about a described data set, as a frozen value; it is also its first stage."""

    def text(self) -> str:
        """The question in one line, for the ledger."""

    def plan(self, price: Promise, /) -> Plan:
        """The measurements with the least error that this price pays for; a `QuestionError` if there are none."""

    def errors(self, plan: Any, /, *, confidence: Number = 0.95) -> dict[str, float]:
        """The error of every column of the answer, before any row is read."""
