"""SQL arguments as questions and conditions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sitr.cli.options import promise
from sitr.errors import DescriptionError, no_description

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.questions.aggregate.frame import Expr
    from sitr.session.answer import Answer
    from sitr.session.request import Request


def question(
    description: Path, sql: str, price: str, *, budget: str | None, ledger: Path | None
) -> tuple[Request[Answer], Kept]:
    """The checked question and its price, with the budget of the description, or the one given if it names none."""
    if not description.exists():
        raise no_description(description)
    paid, promised = promise(price), promise(budget) if budget is not None else None
    from sitr.session.dataset import open as open_description  # only now: much slower than to refuse a price

    opened = open_description(description).budget(promised, ledger=ledger)
    try:
        return opened.sql(sql), paid
    except DescriptionError as error:  # a SUM without bounds
        do = f"{error.do.removesuffix('.')} (sitr protect … --bounds COLUMN=LOW:HIGH)."
        raise DescriptionError(wanted=error.wanted, given=error.given, do=do, excerpt=error.excerpt) from None


def condition(text: str) -> Expr:
    """A condition as it is written after WHERE."""
    from sitr.questions.aggregate.frame import Expr
    from sitr.questions.aggregate.sql import parse_condition

    return Expr(parse_condition(text))
