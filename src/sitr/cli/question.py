"""SQL arguments as questions and conditions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sitr.cli.far import far
from sitr.cli.options import (
    Items,
    Keys,
    MaxGroups,
    MaxInAll,
    MaxRows,
    Place,
    bounds_of,
    keys_option,
    named,
    number,
    promise,
)
from sitr.cli.paying import BUDGET, Paying
from sitr.cli.wanted import Wanted
from sitr.dataclass import dataclass
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

Caps = Annotated[
    str | None,
    typer.Option(metavar="auto", help="auto: choose the caps from the data, privately, for a tenth of the price."),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="NAME=WEIGHT,…", help="How the price is shared by the columns, such as n=1,total=4."),
]
Targets = Annotated[
    str | None,
    typer.Option(metavar="NAME=ERROR,…", help="Share the price so that all errors are equally far from these."),
]

BiasRows = Annotated[
    int | None,
    typer.Option(metavar="N", help="Count the rows that caps leave out too, up to N rows of each person."),
]
Other = Annotated[bool, typer.Option("--other", help="Add a row for everything whose key is not public and not shown.")]
Beside = Annotated[
    list[Path] | None,
    typer.Option(
        "--with",
        metavar="DESCRIPTION",
        help="The description of another protected table to join; its budget is charged too. Repeatable.",
    ),
]
Bounds = Annotated[
    Items, typer.Option(help="COLUMN=LOW:HIGH: values beyond count as the nearest bound, in this question. Repeatable.")
]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one question counts of each person, which keys it has, and whether it measures what is left out."""

    max_groups: MaxGroups = None
    max_rows_per_group: MaxRows = None
    max_rows: MaxInAll = None
    bounds: Bounds = None
    caps: Caps = None
    bias: Bias = "0.05"
    bias_rows: BiasRows = None
    keys: Keys = None
    other: Other = False
    weights: Weights = None
    targets: Targets = None

    @property
    def share(self) -> Number | str:
        """The share of the price for the bias."""
        try:
            return self.bias if self.bias == "off" else number(self.bias)
        except ValueError:
            raise BadUsage(
                given=f"--bias {self.bias} is neither a number nor off.", do="Write for example --bias 0.05."
            ) from None

    def asked(self, budget: Budget, sql: str, price: Kept | None = None) -> AggregateRequest:
        """The question within these limits; a mistake is shown together with what stands against the price."""
        kinds = {column.name: column.kind for column in budget.table.columns}
        return budget.sql(
            sql,
            price=price,
            bias=self.share,
            bias_rows=self.bias_rows,
            caps=self.caps,
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
            max_rows=self.max_rows,
            keys=keys_option(self.keys, kinds),
            other=self.other,
            bounds=named("--bounds", self.bounds, lambda name, text: bounds_of(text, kinds.get(name))),
        )

    def divided(self, asked: AggregateRequest, rows: int | None) -> AggregateRequest:
        """The question, with the price shared as these options say."""
        if self.weights is not None:
            return asked.weights(_numbers("--weights", self.weights))
        return asked if self.targets is None else asked.targets(_numbers("--targets", self.targets), rows=rows)

    def check(self, *, several: bool) -> None:
        """Refuse shares that contradict each other, and shares of the columns of several questions."""
        if self.weights is not None and self.targets is not None:
            raise BadUsage(wanted="--weights or --targets", given="both", do="Leave one of them out.")
        if several and (self.weights or self.targets) is not None:
            raise BadUsage(
                wanted="--weights or --targets with one question",
                given="a file of questions",
                do="Leave them out, or ask one by one.",
            )


def _numbers(option: str, text: str) -> dict[str, Number]:
    return named(option, text.split(","), lambda _, written: number(written))


def question(
    description: Path,
    sql: str,
    wanted: Wanted,
    *,
    budget: str | None,
    ledger: Place | None,
    limits: Limits,
    file: Path | None = None,
    beside: Beside = None,
    paying: Paying = BUDGET,
) -> tuple[Request[Answer], Kept]:
    """The checked question and its price, with the budget of the description, or the one given if it names none.

    All questions of a `file` are one batch. `beside` are the descriptions of other protected tables to join.
    """
    wanted.check(targets=limits.targets is not None)
    there = far(description, budget, ledger, beside)
    for each in () if there is not None else (description, *(beside or ())):
        if not each.exists():
            raise no_description(each)
    several = _several(sql, file)
    limits.check(several=bool(several))
    price, promised = (None if text is None else promise(text) for text in (wanted.price, budget))
    from sitr.session.dataset import open as open_description  # only now: much slower than to refuse a price

    opened = open_description(description).budget(promised, ledger=ledger) if there is None else there
    if paying != BUDGET:
        opened = opened.paying(**paying.given())
    if beside:
        opened = opened.beside(*(open_description(other).budget() for other in beside))
    try:
        asked: Request[Any]
        if several:
            asked = opened.batch({name: limits.asked(opened, one) for name, one in several.items()})
        else:
            asked = limits.divided(limits.asked(opened, sql, price), wanted.rows)
    except DescriptionError as error:  # a SUM without bounds
        do = f"{error.do} Write --bounds COLUMN=LOW:HIGH here, or with sitr protect for all questions."
        better = DescriptionError(wanted=error.wanted, given=error.given, do=do, excerpt=error.excerpt)
        raise better.among(error.others, instead=error.instead) from None
    return asked, wanted.paid(asked, price)


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


def expression(text: str) -> Expr:
    """An expression on one row, as it is written after SELECT."""
    from sitr.questions.aggregate.frame import Expr
    from sitr.questions.aggregate.sql import parse_expression

    return Expr(parse_expression(text))


def condition(text: str) -> Expr:
    """A condition as it is written after WHERE."""
    from sitr.questions.aggregate.frame import Expr
    from sitr.questions.aggregate.sql import parse_condition

    return Expr(parse_condition(text))
