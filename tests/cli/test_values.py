"""Text and paths are read as they are written; typer reads the rest, and refuses what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from sitr.cli.terminal import Command

app = typer.Typer()


@app.command(cls=Command)
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    word: Annotated[str, typer.Option()] = "none",
    times: Annotated[int | None, typer.Option(min=1)] = None,
    names: Annotated[list[str] | None, typer.Option("--name")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    typer.echo(repr((file, word, times, names, as_json)))


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (("a b.csv",), (Path("a b.csv"), "none", None, None, False)),
        (("f", "--word", "7"), (Path("f"), "7", None, None, False)),
        (("f", "--word", ""), (Path("f"), "", None, None, False)),
        (("f", "--times", "7", "--json"), (Path("f"), "none", 7, None, True)),
        (("f", "--name", "a", "--name", "ب"), (Path("f"), "none", None, ["a", "ب"], False)),
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
        ((), "Missing FILE."),
        (("f", "--wrd", "x"), "--wrd"),
    ],
)
def test_wrong_values_are_refused(words: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert said in result.output
