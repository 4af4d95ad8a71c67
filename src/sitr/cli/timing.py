"""`sitr audit --timing`: does the time of an answer tell two inputs apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sitr.cli.progress import advancing
from sitr.cli.terminal import console, say_json
from sitr.errors import BadUsage

if TYPE_CHECKING:
    from sitr.audit.empirical.timing import Timing
    from sitr.report.paper import Facts
    from sitr.report.words.words import Words

TELLS = 3
"""The exit code where the time tells, as for a claim that is refuted."""

DRAWS = 4_000
"""Timed answers on both inputs together, unless the user says otherwise."""


def check_alone(**others: object) -> None:
    """Refuse options that are about answers: a claim says nothing about time."""
    given = [f"--{name}" for name, value in others.items() if value]
    if given:
        raise BadUsage(
            wanted="--timing without options that are about answers",
            given=given[0],
            do=f"Leave out {given[0]}, or audit the answers without --timing.",
        )


def time_of(box: object, inputs: tuple[Any, Any], *, draws: int | None, confidence: float, as_json: bool) -> None:
    """Time the mechanism, print what was found, and exit with 3 if the time tells."""
    from sitr.audit.empirical.timing import timing
    from sitr.numbers import inside
    from sitr.report.text import terminal as text
    from sitr.report.words.words import in_words

    inside(confidence, of="an audit")
    with advancing("Timing answers", quiet=as_json) as told:
        found = timing(box, inputs=inputs, draws=DRAWS if draws is None else draws, progress=told)
    tells = found.tells(confidence=confidence)
    if as_json:
        verdict = "tells" if tells else "no difference found"
        say_json({"verdict": verdict, "confidence": confidence, "inputs": list(inputs), **found.to_dict()})
    else:
        text.show(text.facts(_facts(found, in_words(), confidence=confidence, tells=tells)), out=console())
    raise typer.Exit(TELLS if tells else 0)


def _facts(found: Timing, words: Words, *, confidence: float, tells: bool) -> Facts:
    say = words.audit
    verdict = say.time_tells(confidence, found.second > found.first) if tells else say.time_silent(2 * found.draws)
    return (
        ("verdict", verdict),
        ("event", say.longer(found.seconds)),
        ("happened", say.frequencies(found.first, found.second, found.draws)),
        ("by chance", say.chance(found.p_value)),
        ("limits", say.time_limits()),
    )
