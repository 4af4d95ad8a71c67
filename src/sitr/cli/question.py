"""SQL arguments as questions and conditions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import MaxGroups, MaxInAll, MaxRows, number, promise
from sitr.errors import BadUsage, DescriptionError, FileError, no_description

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.numbers import Number
    from sitr.questions.aggregate.frame import Expr
    from sitr.session.aggregate import AggregateRequest
    from sitr.session.answer import Answer
    from sitr.session.budget import Budget
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
    max_rows: MaxInAll = None
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

    def asked(self, budget: Budget, sql: str) -> AggregateRequest:
        """The question within these limits."""
        return budget.sql(
            sql,
            bias=self.share,
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
            max_rows=self.max_rows,
        )


def question(
    description: Path,
    sql: str,
    price: str,
    *,
    budget: str | None,
    ledger: Path | None,
    limits: Limits,
    file: Path | None = None,
) -> tuple[Request[Answer], Kept]:
    """The checked question and its price, with the budget of the description, or the one given if it names none.

    All questions of a `file` are one batch.
    """
    if not description.exists():
        raise no_description(description)
    several = _several(sql, file)
    paid, promised = promise(price), promise(budget) if budget is not None else None
    from sitr.session.dataset import open as open_description  # only now: much slower than to refuse a price

    opened = open_description(description).budget(promised, ledger=ledger)
    try:
        if several:
            return opened.batch({name: limits.asked(opened, one) for name, one in several.items()}), paid
        return limits.asked(opened, sql), paid
    except DescriptionError as error:  # a SUM without bounds
        do = f"{error.do.removesuffix('.')} (sitr protect … --bounds COLUMN=LOW:HIGH)."
        raise DescriptionError(wanted=error.wanted, given=error.given, do=do, excerpt=error.excerpt).among(
            error.others, instead=error.instead
        ) from None


def _several(sql: str, file: Path | None) -> dict[str, str]:
    """The questions of a file by name; none without a file."""
    if bool(sql) == (file is not None):
        raise BadUsage(
            wanted="one question, or a file of questions with --file",
            given="both" if sql else "neither",
            do="Write the question after the description, or --file questions.sql instead.",
        )
    if file is None:
        return {}
    from sitr.questions.batch.statements import statements

    try:
        found = statements(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as failure:
        reason = getattr(failure, "strerror", None) or "it is not UTF-8 text"
        raise FileError(given=f"Cannot read {file}: {reason}.", do="Check the path; nothing was spent.") from None
    if not found:
        raise BadUsage(given=f"The file {file} has no question.", do="Write SELECT …; SELECT …; into it.")
    return found


def condition(text: str) -> Expr:
    """A condition as it is written after WHERE."""
    from sitr.questions.aggregate.frame import Expr
    from sitr.questions.aggregate.sql import parse_condition

    return Expr(parse_condition(text))
