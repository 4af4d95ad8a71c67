"""How commands speak: answers to standard output, errors to standard error in three lines, and both as JSON if asked.

Exit codes: 0 done; 1 refused or failed; 2 bad input; 130 interrupted.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand

from sitr.errors import BadUsage, FileError, SitrError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 100
"""Of text that goes into a file or a pipe."""

# Typer exports only this child of the class of all its complaints.
_Complaint = cast("type[Exception]", typer.BadParameter.__base__)


_BAD_INPUT = (ValueError, TypeError)
"""Python's kinds of the errors that are about what the user wrote."""


class Command(TyperCommand):
    """A command whose errors are told, never shown as a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        as_json = "--json" in args
        try:
            return super().parse_args(ctx, args)
        except _Complaint as complaint:
            error = BadUsage(
                wanted=f"The command is written {' '.join(ctx.get_usage().split()).removeprefix('Usage: ')}.",
                given=cast("typer.BadParameter", complaint).format_message(),
                do=f"See {ctx.command_path} --help.",
            )
            raise _told(error, as_json=as_json) from None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # whoever read the output has seen enough
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except SitrError as error:
            raise _told(error, as_json=ctx.params["as_json"]) from None
        except OSError as error:
            raise _told(_explained(error), as_json=ctx.params["as_json"]) from None


def help_alone(context: typer.Context) -> None:
    """A group of commands without a command shows its help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def console(*, stderr: bool = False) -> Console:
    """A terminal, or plain text where there is none or where NO_COLOR asks for it. Text is shown as it is."""
    from rich.console import Console

    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDTH
    return made


def table(*headings: str) -> Table:
    """An empty table that looks like those of the reports."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(*headings, box=SIMPLE_HEAD, show_edge=False, pad_edge=False)


def say_json(content: Mapping[str, object], *, stderr: bool = False) -> None:
    """For machines."""
    typer.echo(json_text(content), err=stderr)


def json_text(content: Mapping[str, object]) -> str:
    """In ASCII, so that every terminal, pipe and file carries it unharmed."""
    return json.dumps(content, indent=2, allow_nan=False)


def printable(text: str) -> str:
    r"""Text that cannot act on a terminal.

    >>> printable("ward\x1b[31m")
    'ward�[31m'
    """
    return "".join(character if character.isprintable() else "�" for character in text)


def _told(error: SitrError, *, as_json: bool) -> typer.Exit:
    """Tell an error; what is returned ends the command."""
    name = type(error).__name__
    sentences = {"wanted": error.wanted, "given": error.given, "do": error.do}
    if as_json:
        say_json({"error": name, **sentences}, stderr=True)
    else:
        out = console(stderr=True)
        out.print(re.sub(r"(?<!^)([A-Z])", lambda letter: f" {letter[1].lower()}", name), style="bold red")
        for label, sentence in sentences.items():
            if sentence:
                out.print(f"{label:<8}{printable(sentence)}", soft_wrap=True)
    return typer.Exit(2 if isinstance(error, _BAD_INPUT) else 1)


def _explained(error: OSError) -> SitrError:
    return FileError(
        wanted="A file was to be read or written.",
        given=f"{error.filename}: {error.strerror}." if error.filename else f"{error}.",
        do="Check the path, the rights to it and the space on its disk.",
    )
