"""The console script. A command is loaded when it is called, and slow libraries when it needs them."""

from __future__ import annotations

import gc
import sys
import warnings
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated

import typer

from sitr.cli.far import OPTION
from sitr.cli.terminal import Command, Group, help_alone, wrapped
from sitr.report.words.messages import said

COMMANDS = (
    *("demo", "start", "protect", "explain-query", "preview", "ask", "histogram", "publish", "synthesize"),
    *(
        "synthesize-together",
        "draw",
        "dummy",
        "suggest",
        "show",
        "verify",
        "audit",
        "compare",
        "account",
        "calibrate",
        "dpsgd",
        "convert",
        "explain",
    ),
    *("registry", "request", "queue", "approve", "refuse", "serve"),
)
"""Each command is a function in a module, both of the same name; here in the order of the help."""

GROUPS = ("sensitivity", "ledger")
"""Each group of commands is the `app` of a module."""


def application(called: str = "") -> typer.Typer:
    """The command line; with one command only, if that is the one that is called.

    To build them all takes as long as to refuse a misspelled option. If `called` names no command, all of them are
    there, for help and for suggestions.
    """
    app = typer.Typer(
        name="sitr",
        cls=Group,
        help="Release statistics from sensitive data, and know what each release costs. To see an example, run: sitr "
        "demo. To begin with your own file, run: sitr start FILE",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # twice as fast, and plain text is safe in every pipe
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_alone)
    known = called in COMMANDS or called in GROUPS
    for name in (called,) if known else (*COMMANDS, *GROUPS):
        function = name.replace("-", "_")
        module = import_module(f"sitr.cli.{function}")
        if name in GROUPS:
            app.add_typer(module.app, name=name)
        else:
            app.command(cls=getattr(module, "KIND", Command))(getattr(module, function))
    return app


def __getattr__(name: str) -> typer.Typer:
    """`app`: all commands."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return application()


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"sitr {version('sitr')}")
        raise typer.Exit


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
    _server: Annotated[
        str,
        typer.Option(
            OPTION, metavar="URL", help="Ask a data set on this server, by its name. SITR_TOKEN has the token."
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
    warnings.formatwarning = lambda message, *_, **__: wrapped(f"{said('Note:')} {said(str(message))}") + "\n"
    try:
        application(*(sys.argv[3:4] if sys.argv[1:2] == [OPTION] else sys.argv[1:2]))()
    finally:
        if "duckdb" not in sys.modules:  # it complains about objects that are still there at the end
            gc.freeze()  # the interpreter would look through everything twice before it ends
