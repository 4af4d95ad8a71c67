"""A group of options is one parameter of a command, and its fields are options of the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from sitr.cli.grouped import grouped

Color = Annotated[str | None, typer.Option(help="A color.")]
Sizes = Annotated[list[int] | None, typer.Option("--size", help="Repeatable.")]


@dataclass(frozen=True, slots=True)
class Look:
    """A group with a field that is no option."""

    color: Color = None
    sizes: Sizes = None
    fixed: str = "fixed"


@grouped
def draw(name: Annotated[str, typer.Argument()], *, look: Look, loud: bool = False) -> None:
    """Draw."""
    typer.echo(f"{name} {look} {loud}")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["tree"], f"tree {Look()} False"),
        (["tree", "--color", "red", "--loud"], f"tree {Look('red')} True"),
        (["tree", "--size", "1", "--size", "2"], f"tree {Look(sizes=[1, 2])} False"),
    ],
)
def test_a_command_is_called_with_its_group(words: list[str], shown: str) -> None:
    app = typer.Typer()
    app.command()(draw)
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0
    assert found.stdout == f"{shown}\n"


def test_fields_that_are_no_options_cannot_be_given() -> None:
    app = typer.Typer()
    app.command()(draw)
    assert CliRunner().invoke(app, ["tree", "--fixed", "x"]).exit_code == 2


def test_the_command_keeps_its_name_and_text() -> None:
    assert (draw.__name__, draw.__doc__) == ("draw", "Draw.")
