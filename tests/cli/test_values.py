"""Text and paths are read as they are written; typer reads the rest, and refuses what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from sitr.cli.options import LedgerHere, Place, ledger_place
from sitr.cli.terminal import Command
from sitr.dataset.database import Address
from sitr.neighbors.relation import Relation

app = typer.Typer()


@app.command(cls=Command)
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    word: Annotated[str, typer.Option()] = "none",
    times: Annotated[int | None, typer.Option(min=1)] = None,
    share: Annotated[float, typer.Option()] = 0.5,
    relation: Annotated[Relation, typer.Option()] = Relation.ADD_REMOVE,
    names: Annotated[list[str] | None, typer.Option("--name")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    typer.echo(repr((file, word, times, share, relation.name, names, as_json)))


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (("a b.csv",), (Path("a b.csv"), "none", None, 0.5, "ADD_REMOVE", None, False)),
        (("f", "--word", "7"), (Path("f"), "7", None, 0.5, "ADD_REMOVE", None, False)),
        (("f", "--word", ""), (Path("f"), "", None, 0.5, "ADD_REMOVE", None, False)),
        (("f", "--times", "7", "--json"), (Path("f"), "none", 7, 0.5, "ADD_REMOVE", None, True)),
        (("f", "--name", "a", "--name", "ب"), (Path("f"), "none", None, 0.5, "ADD_REMOVE", ["a", "ب"], False)),
        (("f", "--share", "1e-6"), (Path("f"), "none", None, 1e-6, "ADD_REMOVE", None, False)),
        (("f", "--relation", "replace-one"), (Path("f"), "none", None, 0.5, "REPLACE_ONE", None, False)),
    ],
)
def test_values_have_the_type_of_their_parameter(words: tuple[str, ...], read: tuple[object, ...]) -> None:
    result = CliRunner().invoke(app, words)
    assert result.stdout.strip() == repr(read)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("f", "--times", "many"), "'--times'"),
        (("f", "--times", "0"), "'--times'"),
        (("f", "--share", "half"), "'--share'"),
        (("f", "--relation", "none"), "'--relation'"),
        ((), "Missing FILE."),
        (("f", "--wrd", "x"), "--wrd"),
    ],
)
def test_wrong_values_are_refused(words: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert said in result.output


places = typer.Typer()


@places.command(cls=Command)
def placed(ledger: LedgerHere, others: Annotated[list[Place], typer.Option("--other", parser=ledger_place)]) -> None:
    typer.echo(repr((ledger, others)))


def test_the_address_of_a_ledger_is_read_without_its_password() -> None:
    words = ("postgresql://noor:geheim@db/x", "--other", "sitr.db", "--other", "postgresql://db/y?password=geheim")
    read = (Address("postgresql://noor@db/x"), [Path("sitr.db"), Address("postgresql://db/y")])
    assert CliRunner().invoke(places, words).stdout.strip() == repr(read)


def test_an_address_that_cannot_be_read_is_not_repeated() -> None:
    refused = CliRunner().invoke(places, ("postgresql://noor:geh#eim@db/x", "--other", "sitr.db"))
    assert refused.exit_code == 1
    assert "PGPASSWORD" in refused.output
    assert "eim" not in refused.output
