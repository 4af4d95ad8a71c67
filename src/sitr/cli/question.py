"""SQL arguments as questions and conditions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sitr.cli.options import dataset_budget
from sitr.errors import DescriptionError

if TYPE_CHECKING:
    from sitr.questions.aggregate.frame import Condition
    from sitr.session.answer import Answer
    from sitr.session.request import Request


def question(description: Path, sql: str, *, budget: str | None, ledger: Path | None) -> Request[Answer]:
    """The checked question, with the budget of the description, or the one given here if it names none."""
    opened = dataset_budget(description, budget=budget, ledger=ledger)
    try:
        return opened.sql(sql)
    except DescriptionError as error:  # a SUM without bounds
        do = f"{error.do.removesuffix('.')} (sitr protect … --bounds COLUMN=LOW:HIGH)."
        raise DescriptionError(wanted=error.wanted, given=error.given, do=do) from None


def condition(text: str, *, table: str) -> Condition:
    """A condition as it is written after WHERE."""
    from sitr.questions.aggregate.frame import Condition
    from sitr.questions.aggregate.sql import parse

    name = table.replace('"', '""')
    where = parse(f'SELECT COUNT(*) AS n FROM "{name}" WHERE {text}').where
    assert where is not None
    return Condition(where)
