"""`sitr verify`: was a certificate altered, and what does a table of probabilities prove?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json, Place, ledger_place
from sitr.cli.papers import Plot
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.report.paper import Facts
    from sitr.report.words.words import Words
    from sitr.session.verify import Verified

EXITS = {"valid": 0, "altered": 1, "unknown entry": 3, "other ledger": 4, "not listed": 5}
"""The exit code of each verdict; 2 means that the file is no certificate, as for all bad input."""


CERTIFICATES = (".html", ".htm")


def verify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A certificate (.html), or a table of probabilities (.csv or .parquet)."),
    ],
    ledger: Annotated[
        Place | None,
        typer.Option(
            parser=ledger_place,
            metavar="LEDGER",
            help="For a certificate: the ledger, a file or postgresql://host/database, or its export (.json).",
        ),
    ] = None,
    head: Annotated[
        Path | None, typer.Option(help="For a certificate: a signed head of the ledger, from sitr ledger export.")
    ] = None,
    claim: Annotated[
        list[str] | None, typer.Option(help="For a table: a claim, such as 'approximate(1, 1e-6)'. Repeatable.")
    ] = None,
    neighbors: Annotated[
        str, typer.Option(help="all, adjacent (inputs in order), hamming, or a CSV file of pairs.")
    ] = "all",
    rounding: Annotated[
        float | None, typer.Option(help="How much each probability may be wrong, relative to itself.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Report ε at this δ.")] = 1e-6,
    epsilon: Annotated[float, typer.Option(help="Report δ at this ε.")] = 1.0,
    order: Annotated[float, typer.Option(help="Report the Rényi divergence of this order.")] = 2.0,
    xi: Annotated[float | None, typer.Option(help="Report ρ at this ξ, too.")] = None,
    uses: Annotated[
        int | None, typer.Option(min=1, help="Report the pair (ξ, ρ) with the least ε after this many uses, too.")
    ] = None,
    population: Annotated[
        Path | None, typer.Option(help="A CSV file of records and their probabilities, for γ and claims random(…).")
    ] = None,
    draws: Annotated[int | None, typer.Option(min=1, help="Draw this many pairs instead of all of them.")] = None,
    priors: Annotated[
        Path | None, typer.Option(help="A table of priors over inputs, for Pufferfish privacy; needs --secrets.")
    ] = None,
    secrets: Annotated[
        Path | None, typer.Option(help="A CSV file of secrets and inputs for which they are true.")
    ] = None,
    aggregate: Annotated[
        Path | None, typer.Option(help="A CSV file of inputs and what a simulator sees, for coupled worlds.")
    ] = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Verify a certificate, or a table of probabilities.

    Certificate: does it belong to an entry of the ledger, and was it altered? Exit codes: 0 valid, 1 altered, 3 unknown
    entry, 4 other ledger, 5 not listed in a head. Table: the tight ε, δ, ρ, μ and others of a mechanism, and whether
    claims hold. Exit codes: 0 kept, 1 broken, 3 undecided. 2 means a file that is neither. No data are read.

    Example: sitr verify wards.html --ledger sitr.db

    Example: sitr verify response.csv --claim 'pure(1)' --plot curves.svg
    """
    if file.suffix.lower() in CERTIFICATES or ledger is not None or head is not None:
        _certificate(file, ledger, head, claim, as_json=as_json)
        return
    from sitr.cli.verify_table import Asked, verify_table

    asked = Asked(
        tuple(claim or ()),
        neighbors,
        rounding,
        delta,
        epsilon,
        order,
        xi,
        uses,
        population,
        draws,
        priors,
        secrets,
        aggregate,
        plot,
    )
    verify_table(file, asked, as_json=as_json)


def _certificate(
    certificate: Path, ledger: Place | None, head: Path | None, claim: list[str] | None, *, as_json: bool
) -> None:
    if (ledger is None and head is None) or claim:
        raise BadUsage(
            wanted="--ledger or --head for a certificate, and --claim for a table of probabilities",
            given=f"{certificate} with {'--claim' if claim else 'neither'}",
            do="Give the ledger that recorded the certificate, or a table in a .csv or .parquet file.",
        )
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words
    from sitr.session.verify import sentence

    found = _found(certificate, ledger, head)
    if as_json:
        say_json(_content(found, certificate, ledger, head))
    else:
        out = console()
        out.print(sentence(found, in_words()), soft_wrap=True)
        if facts := _facts(found, in_words()):
            text.show(text.facts(facts), out=out)
    raise typer.Exit(EXITS[found.verdict.value])


def _found(certificate: Path, ledger: Place | None, head: Path | None) -> Verified:
    from sitr.ledger.export import read_export, read_head
    from sitr.session.verify import verify as verified
    from sitr.session.verify import verify_by_head

    signed = None if head is None else read_head(head)
    if ledger is None:
        assert signed is not None
        return verify_by_head(certificate, signed)
    if isinstance(ledger, Path) and ledger.suffix.lower() == ".json":
        books = read_export(ledger)
        if signed is not None:
            signed.refuse_other(books.hash_at(signed.number), ledger)
        return verified(certificate, books)
    from sitr.ledger.sql import SqlLedger

    kept = SqlLedger(ledger, create=False)
    if signed is not None:
        signed.refuse_other(kept.hash_at(signed.number), ledger)
    return verified(certificate, kept)


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


def _content(found: Verified, certificate: Path, ledger: Place | None, head: Path | None) -> dict[str, object]:
    from sitr.cli.ledger_content import entry_content
    from sitr.report.words.english.english import ENGLISH
    from sitr.session.verify import sentence

    return {
        "certificate": str(certificate),
        "ledger": None if ledger is None else str(ledger),
        "head": None if head is None else str(head),
        "verdict": found.verdict.value,
        "words": sentence(found, ENGLISH),
        "number": found.number,
        "entry": None if found.entry is None else entry_content(found.entry),
        "release": None if found.release is None else "intact" if found.release else "altered",
        "private": found.private,
    }
