"""`sitr publish`: many tables that add up, from a publication file, for one charge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.far import far
from sitr.cli.options import Json, promise
from sitr.cli.papers import Fresh
from sitr.cli.progress import working
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage
from sitr.report.words.messages import said

if TYPE_CHECKING:
    from sitr.flavors.arrows import Kept
    from sitr.session.publication_file import PublicationFile

PublicationPath = Annotated[
    Path, typer.Argument(metavar="PUBLICATION", help="A YAML file with the tables, their price and the files to write.")
]
OwnPrice = Annotated[str | None, typer.Option("--price", help="The price, if the file names none or another one.")]


Whole = Annotated[bool, typer.Option("--whole", help="Round to whole numbers that are not negative and still add up.")]

Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        help="Write one more file beside PUBLICATION: csv, sdmx (SDMX-CSV 2.0), parquet, xlsx, json (JSON-stat) or "
        "html. Repeatable.",
    ),
]


def publish(
    publication: PublicationPath,
    price: OwnPrice = None,
    whole: Whole = False,
    formats: Formats = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Pay for the tables of a publication and write its files.

    Charges the price, reads the rows, adds noise, and writes tables whose margins are the sums of their parts, with
    quality marks, and the certificate. See the errors first with: sitr preview PUBLICATION

    Example: sitr publish publication.yaml
    """
    from sitr.report.text import terminal as text
    from sitr.session import publication_file

    found = publication_file.read(publication)
    found = found.rounding() if whole else found
    paid, page, asked = priced(found, price), found.certificate(), found.request(far(Path(found.described)))
    outputs = found.outputs(asked, formats=formats or ())
    with working("Reading and adding noise", quiet=as_json):
        answer = asked.release(paid, fresh=fresh)
    link = "" if page is None else page.name
    files = [answer.save(each, certificate=link) for each in outputs]
    if page is not None:
        files.append(answer.certificate(page))
    if as_json:
        say_json(answer.to_dict())
        return
    out = console()
    text.show(text.render(answer.paper), out=out)
    for each in files:
        out.print(said(f"Wrote {each}."), soft_wrap=True)


def priced(found: PublicationFile, price: str | None) -> Kept:
    """The price of the option, or else of the file."""
    paid = found.price if price is None else promise(price)
    if paid is None:
        raise BadUsage(
            given="The publication names no price.", do="Add --price 'zcdp(0.1)', or write it into the file."
        )
    return paid
