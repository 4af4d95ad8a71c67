"""`sitr explain`: a promise in plain words."""

from __future__ import annotations

from typing import Annotated

import typer

from sitr.cli.options import Json
from sitr.cli.terminal import console, say_json

Written = Annotated[
    str, typer.Argument(metavar="PROMISE", help="A promise such as 'zcdp(0.5)' or 'approximate(1, 1e-6)'.")
]


def explain(
    promise: Written,
    people: Annotated[
        int | None, typer.Option(min=1, help="How many people are in the data, if public: is δ small enough for them?")
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain what a promise means for one person.

    Example: sitr explain 'zcdp(0.5)' --lang ar
    """
    from sitr.flavors.exposure import warn_of_delta
    from sitr.flavors.notation import parse, write
    from sitr.language import Digits, Language, speaking, spoken
    from sitr.report import explain as explained
    from sitr.report.headline import Headline
    from sitr.report.text.terminal import show

    language = spoken()
    read = parse(promise)
    if people is not None:
        warn_of_delta(read, people=people)
    with speaking(language, Digits.LATIN if as_json else None):
        explanation = explained.explain(read, language=language)
    if as_json:
        say_json({"promise": write(read), **explained.to_dict(explanation), "headline": Headline.of(read).to_dict()})
    elif language is Language.ARABIC:
        # Only the terminal can break lines of right-to-left text correctly.
        console().print(explained.render(explanation), soft_wrap=True)
    else:
        show(explained.render(explanation), out=console())
