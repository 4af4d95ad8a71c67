"""`sitr explain`: a promise in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.report.words.explanation import Language

Written = Annotated[
    str, typer.Argument(metavar="PROMISE", help="A promise such as 'zcdp(0.5)' or 'approximate(1, 1e-6)'.")
]


def explain(
    promise: Written,
    lang: Annotated[str, typer.Option(help="The language: en or ar.")] = "en",
    as_json: Json = False,
) -> None:
    """Explain what a promise means for one person.

    Example: sitr explain 'zcdp(0.5)' --lang ar
    """
    from sitr.flavors.notation import parse, write
    from sitr.report import explain as explained
    from sitr.report.headline import Headline
    from sitr.report.text.terminal import show
    from sitr.report.words.explanation import Language

    language = _language(lang)
    read = parse(promise)
    explanation = explained.explain(read, language=language)
    if as_json:
        say_json({"promise": write(read), **explained.to_dict(explanation), "headline": Headline.of(read).to_dict()})
    elif language is Language.ARABIC:
        # Only the terminal can break lines of right-to-left text correctly.
        console().print(explained.render(explanation), soft_wrap=True)
    else:
        show(explained.render(explanation), out=console())


def _language(name: str) -> Language:
    from sitr.report.words.explanation import Language

    try:
        return Language(name)
    except ValueError:
        raise BadUsage(
            wanted=f"--lang with one of {', '.join(language.value for language in Language)}",
            given=f"{name!r}",
            do="Choose one of those.",
        ) from None
