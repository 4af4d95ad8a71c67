"""From the words of a command line to a question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sitr.cli.options import promise
from sitr.errors import BadUsage, DescriptionError

if TYPE_CHECKING:
    from sitr.questions.aggregate.frame import Condition
    from sitr.session.answer import Answer
    from sitr.session.budget import Budget
    from sitr.session.request import Request


def question(description: Path, sql: str, *, budget: str | None, ledger: Path | None) -> Request[Answer]:
    """The checked question, charged to the budget of the description, or to the one given here if it names none."""
    opened = dataset_budget(description, budget=budget, ledger=ledger)
    try:
        return opened.sql(sql)
    except DescriptionError as error:  # of a SUM without bounds
        do = f"{error.do} The option of sitr protect is --bounds COLUMN=LOW:HIGH."
        raise DescriptionError(wanted=error.wanted, given=error.given, do=do) from None


def dataset_budget(description: Path, *, budget: str | None, ledger: Path | None) -> Budget:
    """The one budget of a described data set, which `Dataset.budget` guards."""
    from sitr.session.dataset import open as open_description

    promised = promise(budget) if budget is not None else None
    dataset = open_description(description)
    named = dataset.described is not None and dataset.described.promise is not None
    if not named and (promised is None or ledger is None):
        raise BadUsage(
            wanted=f"A question is charged to a budget, and {description} names none.",
            given=f"{'--ledger' if ledger is None else '--budget'} is missing.",
            do="Give --budget 'zcdp(0.5)' --ledger sitr.db, the same with each question, or to sitr protect.",
        )
    return dataset.budget(promised, ledger=ledger)


def condition(text: str, *, table: str) -> Condition:
    """What is written after a WHERE."""
    from sitr.questions.aggregate.frame import Condition
    from sitr.questions.aggregate.sql import parse

    name = table.replace('"', '""')
    where = parse(f'SELECT COUNT(*) AS n FROM "{name}" WHERE {text}').where
    assert where is not None
    return Condition(where)
