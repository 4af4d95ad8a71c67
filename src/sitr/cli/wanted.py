"""What is paid for an answer: a price, or the least price for the errors that are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from sitr.cli.options import Items, named, number
from sitr.dataclass import dataclass
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.session.answer import Answer
    from sitr.session.request import Request

Price = Annotated[
    str | None, typer.Option(help="The price, such as 'zcdp(0.05)', 'pure(0.1)' or 'approximate(0.1, 1e-6)'.")
]
Error = Annotated[
    Items,
    typer.Option(help="NAME=ERROR: instead of a price, the largest error of a column, or 1% of its size. Repeatable."),
]
Size = Annotated[Items, typer.Option(help="NAME=SIZE: the public size of which an error is a share. Repeatable.")]
Rows = Annotated[
    int | None, typer.Option(min=1, help="The rows in a group for which the error of a mean or a ratio is wanted.")
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A price, or errors."""

    price: Price = None
    error: Error = None
    size: Size = None
    rows: Rows = None

    def check(self, *, targets: bool) -> None:
        """Refuse both and neither, before anything is opened."""
        if (self.price is None) == (not self.error):
            raise BadUsage(
                wanted="--price PRICE, or --error NAME=ERROR to find the price",
                given="neither" if self.price is None else "both",
                do="Write for example --price 'zcdp(0.05)', or --error n=100.",
            )
        if self.price is not None and (self.size or (self.rows is not None and not targets)):
            raise BadUsage(
                wanted="--size with --error, and --rows with --error or --targets",
                given="--price alone",
                do="Leave them out: they help to find a price.",
            )

    def paid(self, asked: Request[Answer], price: Kept | None) -> Kept:
        """The price, or the one that follows from the errors."""
        if price is not None:
            return price
        errors = named("--error", self.error, lambda _, text: text)
        sizes = named("--size", self.size, lambda _, text: number(text))
        return cast("Kept", asked.price_for(errors, size=sizes, rows=self.rows))
