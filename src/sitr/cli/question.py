"""SQL arguments as questions and conditions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import MaxGroups, MaxRows, number, promise
from sitr.errors import BadUsage, DescriptionError, no_description

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.numbers import Number
    from sitr.questions.aggregate.frame import Expr
    from sitr.session.answer import Answer
    from sitr.session.request import Request


Bias = Annotated[
    str,
    typer.Option(metavar="SHARE", help="The share of the price that measures what caps and bounds leave out, or off."),
]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one question counts of each person, and whether it measures what is left out."""

    max_groups: MaxGroups = None
    max_rows_per_group: MaxRows = None
    bias: Bias = "0.05"

    @property
    def share(self) -> Number | str:
        """The share of the price for the bias."""
        try:
            return self.bias if self.bias == "off" else number(self.bias)
        except ValueError:
            raise BadUsage(
                given=f"--bias {self.bias} is neither a number nor off.", do="Write for example --bias 0.05."
            ) from None


def question(
    description: Path, sql: str, price: str, *, budget: str | None, ledger: Path | None, limits: Limits
) -> tuple[Request[Answer], Kept]:
    """The checked question and its price, with the budget of the description, or the one given if it names none."""
    if not description.exists():
        raise no_description(description)
    paid, promised = promise(price), promise(budget) if budget is not None else None
    from sitr.session.dataset import open as open_description  # only now: much slower than to refuse a price

    opened = open_description(description).budget(promised, ledger=ledger)
    try:
        groups, rows = limits.max_groups, limits.max_rows_per_group
        return opened.sql(sql, bias=limits.share, max_groups=groups, max_rows_per_group=rows), paid
    except DescriptionError as error:  # a SUM without bounds
        do = f"{error.do.removesuffix('.')} (sitr protect … --bounds COLUMN=LOW:HIGH)."
        raise DescriptionError(wanted=error.wanted, given=error.given, do=do, excerpt=error.excerpt).among(
            error.others, instead=error.instead
        ) from None


def condition(text: str) -> Expr:
    """A condition as it is written after WHERE."""
    from sitr.questions.aggregate.frame import Expr
    from sitr.questions.aggregate.sql import parse_condition

    return Expr(parse_condition(text))
