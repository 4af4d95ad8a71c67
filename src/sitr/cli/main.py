"""The console script. Slow imports are inside the commands, so that help appears at once."""

from __future__ import annotations

import gc
import sys
import warnings
from io import TextIOWrapper
from typing import Annotated

import typer

from sitr.cli import (
    account,
    ask,
    calibrate,
    compare,
    convert,
    demo,
    dpsgd,
    explain,
    histogram,
    ledger,
    preview,
    protect,
    registry,
    sensitivity,
    show,
    start,
    suggest,
    synthesize,
    verify,
)
from sitr.cli.one_off import SourceCommand
from sitr.cli.terminal import Command, Group, help_alone
from sitr.report.words.messages import said

app = typer.Typer(
    name="sitr",
    cls=Group,
    help="Release statistics from sensitive data, and know what each release costs. To see an example, run: sitr demo. "
    "To begin with your own file, run: sitr start FILE",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # twice as fast, and plain text is safe in every pipe
    context_settings={"help_option_names": ["-h", "--help"]},
)
KINDS: dict[object, type[Command]] = {
    histogram.histogram: histogram.HistogramCommand,
    synthesize.synthesize: SourceCommand,
}
for command in (
    *(demo.demo, start.start, protect.protect, preview.preview, ask.ask, histogram.histogram, synthesize.synthesize),
    *(suggest.suggest, show.show, verify.verify),
    *(compare.compare, account.account, calibrate.calibrate, dpsgd.dpsgd, convert.convert, explain.explain),
    registry.registry,
):
    app.command(cls=KINDS.get(command, Command))(command)
app.add_typer(sensitivity.app, name="sensitivity")
app.add_typer(ledger.app, name="ledger")


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"sitr {version('sitr')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _alone(
    context: typer.Context,
    _shown: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    _lang: Annotated[
        str,
        typer.Option("--lang", metavar="en|ar", help="The language, anywhere on the line; default: that of LANG."),
    ] = "",
    _digits: Annotated[
        str,
        typer.Option(
            "--digits",
            metavar="latin|arabic-indic",
            help="The digits of Arabic texts, anywhere on the line; default: SITR_DIGITS, or else latin.",
        ),
    ] = "",
) -> None:
    help_alone(context)


def main() -> None:
    """Run `sitr`."""
    gc.set_threshold(500_000)  # what imports make lives to the end: looking through it takes a tenth of a preview
    for stream in (sys.stdout, sys.stderr):
        # A paid answer must not be lost to a terminal that cannot print ±. A closed stream is None.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.formatwarning = lambda message, *_, **__: f"{said('Note:')} {said(str(message))}\n"
    _called(sys.argv[1:2])
    app()


def _called(first: list[str]) -> None:
    """Forget all commands but the one that is called: to build them all takes as long as to refuse a misspelled option.

    If the first word names no command, all of them stay, for help and for suggestions.
    """
    commands = [one for one in app.registered_commands if one.callback and [one.callback.__name__] == first]
    groups = [one for one in app.registered_groups if [one.name] == first]
    if commands or groups:
        app.registered_commands, app.registered_groups = commands, groups
