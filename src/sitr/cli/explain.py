"""`sitr explain`: a promise in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.report.explanation import Language

Written = Annotated[str, typer.Argument(metavar="PROMISE", help="Such as 'zcdp(0.5)' or 'approximate(1, 1e-6)'.")]


def explain(
    promise: Written,
    lang: Annotated[str, typer.Option(help="The language: en or ar.")] = "en",
    as_json: Json = False,
) -> None:
    """Say what a promise means for one person, and what it does not.

    Example: sitr explain 'zcdp(0.5)' --lang ar
    """
    from sitr.flavors.notation import parse, write
    from sitr.report import explain as explained
    from sitr.report.explanation import Language
    from sitr.report.headline import Headline
    from sitr.report.text import show

    language = _language(lang)
    read = parse(promise)
    explanation = explained.explain(read, language=language)
    if as_json:
        say_json({"promise": write(read), **explained.to_dict(explanation), "headline": Headline.of(read).to_dict()})
    elif language is Language.ARABIC:
        # Lines from right to left are broken by the terminal, which alone knows how they run.
        console().print(explained.render(explanation), soft_wrap=True)
    else:
        show(explained.render(explanation), out=console())


def _language(name: str) -> Language:
    from sitr.report.explanation import Language

    try:
        return Language(name)
    except ValueError:
        raise BadUsage(
            wanted=f"--lang is one of {', '.join(language.value for language in Language)}.",
            given=f"{name!r} was given.",
            do="Choose one of them.",
        ) from None
