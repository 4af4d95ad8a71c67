"""`sitr verify`: does a certificate belong to a ledger, and was it altered?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.terminal import console, say_json

if TYPE_CHECKING:
    from sitr.report.paper import Facts
    from sitr.report.words.words import Words
    from sitr.session.verify import Verified

EXITS = {"valid": 0, "altered": 1, "unknown entry": 3, "other ledger": 4}
"""The exit code of each verdict; 2 means that the file is no certificate, as for all bad input."""


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="A certificate, an .html file.")],
    ledger: Annotated[Path, typer.Option(help="The ledger file, which records what was spent.")],
    as_json: Json = False,
) -> None:
    """Check that a certificate belongs to an entry of a ledger and was not altered.

    Exit codes: 0 valid, 1 altered, 3 unknown entry, 4 other ledger, 2 no certificate. Reads no data.

    Example: sitr verify wards.html --ledger sitr.db
    """
    from sitr.ledger.sql import SqlLedger
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words
    from sitr.session.verify import verify as verified

    found = verified(certificate, SqlLedger(ledger, create=False))
    if as_json:
        say_json(_content(found, certificate, ledger))
    else:
        out = console()
        out.print(_sentence(found, in_words()), soft_wrap=True)
        text.show(text.facts(_facts(found, in_words())), out=out)
    raise typer.Exit(EXITS[found.verdict.value])


def _sentence(found: Verified, words: Words) -> str:
    from sitr.session.verify import Verdict

    say = words.verify
    if found.entry is None:
        unknown = found.verdict is Verdict.UNKNOWN_ENTRY
        return say.unknown(found.number) if unknown else say.other(found.number)
    return say.valid(found.entry) if found.verdict is Verdict.VALID else say.altered(found.entry)


def _facts(found: Verified, words: Words) -> Facts:
    if found.entry is None:
        return ()
    release = () if found.release is None else (("release", words.verify.release(found.release)),)
    test = (("coins", words.not_private()),) if found.private is False else ()
    return (
        ("question", words.question(found.entry.question)),
        ("price", words.notation(found.entry.price)),
        ("charged at", words.numerals(f"{found.entry.at:%Y-%m-%d %H:%M:%S} UTC")),
        ("asked by", found.entry.by),
        *release,
        *test,
    )


def _content(found: Verified, certificate: Path, ledger: Path) -> dict[str, object]:
    from sitr.cli.ledger import entry_content
    from sitr.report.words.english.english import ENGLISH

    return {
        "certificate": str(certificate),
        "ledger": str(ledger),
        "verdict": found.verdict.value,
        "words": _sentence(found, ENGLISH),
        "number": found.number,
        "entry": None if found.entry is None else entry_content(found.entry),
        "release": None if found.release is None else "intact" if found.release else "altered",
        "private": found.private,
    }
