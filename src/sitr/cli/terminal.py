"""What commands print: answers to standard output, errors to standard error, both as JSON with `--json`.

Exit codes: 0 done; 1 refused or failed; 2 bad input; 130 interrupted.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast

import typer
from typer.core import TyperCommand, TyperGroup

from sitr.cli.far import asking, taken
from sitr.cli.options import listed
from sitr.cli.values import read_lightly
from sitr.errors import CAN_BE_ASKED, BadUsage, FileError, InvalidUse, SitrError, cells, printable
from sitr.language import Digits, Language, choice, preferred, preferred_digits, speaking
from sitr.report.words.messages import error_text, question_text, said

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

Chosen = TypeVar("Chosen", bound=Enum)

WIDTH = 100
"""The width of text that goes to a file or a pipe."""

# The base class of all usage errors. Typer exports only this subclass of it.
_UsageError = cast("type[Exception]", typer.BadParameter.__base__)

_BAD_INPUT = (ValueError, TypeError)
"""Errors about what the user wrote are also of one of these Python types."""


class Group(TyperGroup):
    """A group of commands. The outermost one chooses the language: `--lang`, anywhere on the line, or the locale.

    `--digits` or an environment variable chooses the digits of Arabic texts in the same way, and `--server` a server.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        return read_lightly(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.parent is None:
            try:
                language, args = _chosen("--lang", Language, args, preferred)
                ctx.with_resource(speaking(language))
                digits, args = _chosen("--digits", Digits, args, preferred_digits)
                ctx.with_resource(speaking(language, digits))
                server, args = taken(args)
                ctx.with_resource(asking(server))
            except SitrError as error:
                raise _reported(error, as_json="--json" in args) from None
        as_json = "--json" in args
        try:
            return super().parse_args(ctx, args)
        except _UsageError as problem:
            raise _reported(_usage(problem, ctx), as_json=as_json) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except _UsageError as problem:
            raise _reported(_usage(problem, ctx), as_json="--json" in args) from None

    def get_help(self, ctx: Any) -> str:
        return _help(self, super().get_help, ctx)


EITHER = {"sql": "file", "price": "error"}
"""Of these two, a command that has both needs one."""

NOTHING: tuple[object, ...] = (None, "", [], ())
"""What an argument or an option is if it is not given."""


def _spelled(parameter: Any) -> str:
    return str(parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar)


class Command(TyperCommand):
    """A command that prints its errors as sentences, never as a traceback."""

    def get_params(self, ctx: Any) -> list[Any]:
        return read_lightly(super().get_params(ctx))

    def get_help(self, ctx: Any) -> str:
        return _help(self, super().get_help, ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        as_json, words = "--json" in args, list(args)
        try:
            left = super().parse_args(ctx, args)
            missing = self.missing(ctx, ctx.params)
        except SitrError as error:  # the address of a ledger that cannot be read
            raise _reported(error, as_json=as_json) from None
        except _UsageError as problem:
            if type(problem).__name__ != "MissingParameter":  # which names only the first one
                raise _reported(_usage(problem, ctx), as_json=as_json) from None
            given, _, _ = self.make_parser(ctx).parse_args(args=words)
            missing = self.missing(ctx, given)
        if missing:
            raise _reported(_wrong_use(f"Missing {listed(missing)}.", ctx), as_json=as_json)
        return left

    def missing(self, ctx: Any, given: Mapping[str, Any]) -> list[str]:
        """The required arguments and options that are not given."""
        known = {str(each.name): each for each in self.get_params(ctx)}
        found = []
        for name, each in known.items():
            other = known.get(EITHER.get(name, ""))
            if other is None and each.required and given.get(name) in NOTHING:
                found.append(_spelled(each))
            elif other is not None and given.get(name) in NOTHING and given.get(str(other.name)) in NOTHING:
                found.append(f"{_spelled(each)} (or {_spelled(other)})")
        return found

    def invoke(self, ctx: Any) -> Any:
        try:
            with _noted():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader has closed the pipe; click exits quietly
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except SitrError as error:
            raise _reported(error, as_json=ctx.params["as_json"]) from None
        except OSError as error:
            raise _reported(_explained(error), as_json=ctx.params["as_json"]) from None


def help_alone(context: typer.Context) -> None:
    """Show the help of a group of commands that is called without a command."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def console(*, stderr: bool = False) -> Console:
    """A terminal, or plain text if there is none or NO_COLOR is set. Text is printed as it is, without markup."""
    from rich.console import Console

    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDTH
    return made


def table(*headings: str) -> Table:
    """An empty table in the style of the reports."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in headings:
        made.add_column(heading, overflow="fold")  # what is cut cannot be copied
    return made


def say(text: RenderableType, content: Mapping[str, object], *, as_json: bool) -> None:
    """Print a result as text, or its content as JSON."""
    from sitr.report.text.terminal import show

    if as_json:
        say_json(content)
    else:
        show(text, out=console())


def say_json(content: Mapping[str, object], *, stderr: bool = False) -> None:
    """Print JSON in UTF-8, as its standard says, whatever the encoding of the terminal is."""
    typer.echo(json_text(content).encode("utf-8"), err=stderr)


def json_text(content: Mapping[str, object]) -> str:
    """JSON with every script as it is; only what UTF-8 cannot hold, such as a broken file name, is escaped."""
    text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _chosen(
    option: str, kind: type[Chosen], args: list[str], default: Callable[[], Chosen]
) -> tuple[Chosen, list[str]]:
    """What this option chooses anywhere among the arguments, or the default, and the other arguments."""
    found: str | None = None
    left, rest = iter(args), list[str]()
    for each in left:
        name, equals, value = each.partition("=")
        if each == "--":  # what follows are values
            rest += [each, *left]
        elif name == option:
            found = value if equals else next(left, "")
        else:
            rest.append(each)
    try:
        return default() if found is None else choice(found, kind, option=option), rest
    except InvalidUse as error:
        raise BadUsage(wanted=error.wanted, given=error.given, do=error.do) from None


def _usage(problem: Exception, ctx: Any) -> BadUsage:
    """The error of the library that reads command lines, as one of ours."""
    message = cast("typer.BadParameter", problem).format_message()
    return _wrong_use(message, ctx)


def _wrong_use(message: str, ctx: Any) -> BadUsage:
    return BadUsage(
        given=message if message.endswith((".", "?")) else f"{message}.",
        do=f"Run {ctx.command_path} --help to see how to use it.",
    )


def _help(command: Any, written: Callable[[Any], str], ctx: Any) -> str:
    """The help of a command in the language that is spoken."""
    every = [each for each in (command, *command.params, *getattr(command, "commands", {}).values()) if each.help]
    english = [each.help for each in every]
    for each in every:
        each.help = said(inspect.cleandoc(each.help))
    commands = [each for each in getattr(command, "commands", {}).values() if each.help]
    for each in commands:  # the whole first sentence: click would cut it where the line ends
        each.short_help = " ".join(each.help.split("\n\n")[0].split())
    text = written(ctx)
    for each, plain in zip(every, english, strict=True):  # the next help may be in another language
        each.help = plain
    for each in commands:
        each.short_help = None
    for heading in ("Usage:", "Options:", "Arguments:", "Commands:"):
        text = re.sub(rf"^{heading}", said(heading), text, flags=re.MULTILINE)
    for phrase in ("[OPTIONS]", "COMMAND [ARGS]...", "Show this message and exit."):
        text = text.replace(phrase, said(phrase))
    text = re.sub(r"<[a-z][A-Za-z \[\]]*>", lambda found: _kind(found[0]).ljust(len(found[0])), text)
    text = re.sub(r"\[default:(\s+)([^\]]*)\]", _default, text)
    text = re.sub(r"\[required\]$", lambda found: said(found[0]), text, flags=re.MULTILINE)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def _kind(value: str) -> str:
    """The kind of a value, as typer names it; of an option that may be repeated, the kind of each value.

    >>> _kind("<list[str]>"), _kind("<list[Path]>"), _kind("<float>")
    ('<str>', '<path>', '<float>')
    """
    repeated = re.fullmatch(r"<list\[(\w+)\]>", value)
    return said(f"<{repeated[1].lower()}>" if repeated else value)


def _default(found: re.Match[str]) -> str:
    """A default in the language that is spoken; the line may break before it."""
    space, value = found.groups()
    return said(f"[default: {value}]").replace(f" {value}", f"{space}{value}", 1)


def wrapped(text: str) -> str:
    """A text, broken between words where standard error is a terminal that is too narrow for it.

    A longer word than a line stays whole, and so do lines that go to a file or a pipe.
    """
    if not getattr(sys.stderr, "isatty", bool)():  # a closed stream is None
        return text
    width = shutil.get_terminal_size().columns
    lines: list[str] = []
    for word in text.split(" "):
        if lines and cells(lines[-1]) + 1 + cells(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(lines)


@contextmanager
def _noted() -> Iterator[None]:
    """Print what a failure, even an interrupt, notes about paid answers: where they are kept."""
    try:
        yield
    except BaseException as failure:
        for note in getattr(failure, "__notes__", ()):
            typer.echo(wrapped(said(note)), err=True)
        raise


def _reported(error: SitrError, *, as_json: bool) -> typer.Exit:
    """Print an error, and return the exit that ends the command."""
    if as_json:
        others = [_fields(other) for other in error.others]
        say_json({**_fields(error), "others": others, "instead": error.instead}, stderr=True)
    else:
        # Without rich, which takes longer to import than most errors to find, but in colour where rich would use it.
        color = False if os.environ.get("NO_COLOR") else True if os.environ.get("FORCE_COLOR") else None
        lines: list[str] = []
        for each in (error, *error.others):
            head = said("error:")
            lines.append(wrapped(f"{head} {printable(error_text(each))}").replace(head, _red(head), 1))
            if each.excerpt is not None:
                text, carets = each.excerpt.drawn(head=said(f"line {each.excerpt.line}:"))
                lines += [text, _red(carets)]
        if error.instead is not None:
            lines += [said(CAN_BE_ASKED), printable(question_text(error.instead))]
        typer.echo("\n".join(lines), err=True, color=color)
    return typer.Exit(2 if isinstance(error, _BAD_INPUT) else 1)


def _fields(error: SitrError) -> dict[str, object]:
    """An error as JSON."""
    fields = {"wanted": error.wanted, "given": error.given, "do": error.do}
    return {"error": type(error).__name__, **fields, "excerpt": asdict(error.excerpt) if error.excerpt else None}


def _red(text: str) -> str:
    return f"\x1b[1;31m{text}\x1b[0m"


def _explained(error: OSError) -> SitrError:
    return FileError(
        given=f"Cannot use the file {error.filename}: {error.strerror}." if error.filename else f"{error}.",
        do="Check its path, its permissions and the free space on its disk.",
    )
