"""Ways to bound how far one person moves a statistic, compared in a table and a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from rich.console import Group, RenderableType
from rich.text import Text

from sitr.flavors.arrows import Kept
from sitr.flavors.notation import write
from sitr.flavors.random import RandomDP
from sitr.numbers import upward
from sitr.questions.statistic.ways import Impossible, Outcome
from sitr.report.figures import error
from sitr.report.paper import Facts, PaperColumn, PaperTable, Role
from sitr.report.text import terminal
from sitr.report.words.words import Words, in_words

Outcomes = Sequence[Outcome | Impossible]

_SELDOM, _OFTEN = 1e-9, 0.99
"""Refusals rarer than `_SELDOM` are not mentioned; a way that refuses more often than `_OFTEN` is useless."""


def render(outcomes: Outcomes, *, words: Words | None = None) -> RenderableType:
    """For a terminal: the ways that work, the smallest error first, and why the others do not."""
    words = in_words(words)
    say, known = words.accounting, ranked(outcomes)
    rows = [
        (say.way(one.way), words.numerals(f"± {error(one.error)}"), words.notation(promised(one)) + seldom(one, words))
        for one in known
    ]
    random = any(isinstance(outcome.promise, RandomDP) for outcome in known)
    below: Facts = (
        *(("cannot", f"{say.way(way)} — {say.reason(reason)}") for way, reason in impossible(outcomes).items()),
        *((("random", say.random_way()),) if random else ()),
        ("public", say.public()),
    )
    columns = (
        PaperColumn(words.label("way")),
        PaperColumn(words.label("95% error"), Role.NUMBER),
        PaperColumn(words.label("promise")),
    )
    table = terminal.grid(PaperTable(columns, lambda: rows, len(rows)))
    return Group(table, Text(), terminal.facts(below, words=words))


def to_dict(outcomes: Outcomes) -> dict[str, object]:
    """For machines."""
    return {
        "private": False,
        "ways": [
            {
                "way": outcome.way,
                "promise": write(outcome.promise),
                "error": upward(outcome.error),
                "refused": outcome.refused,
            }
            for outcome in ranked(outcomes)
        ],
        "impossible": impossible(outcomes),
    }


def ranked(outcomes: Outcomes) -> list[Outcome]:
    """The ways that work, by error; ways that hardly ever give an answer come last.

    >>> ranked([Impossible("global", "No.")])
    []
    """
    known = (outcome for outcome in outcomes if isinstance(outcome, Outcome))
    return sorted(known, key=lambda found: (useless(found), found.error))


def useless(outcome: Outcome) -> bool:
    """Whether a way hardly ever gives an answer."""
    return outcome.refused > _OFTEN


def seldom(outcome: Outcome, words: Words) -> str:
    """How often a way gives no answer, if that is worth a word."""
    return "" if outcome.refused < _SELDOM else words.accounting.no_answer(outcome.refused, often=_OFTEN)


def impossible(outcomes: Outcomes) -> dict[str, str]:
    """The ways that do not work, and why."""
    return {outcome.way: outcome.reason for outcome in outcomes if isinstance(outcome, Impossible)}


def promised(outcome: Outcome) -> Kept:
    """The promise. Every way here has one that a budget keeps."""
    return cast("Kept", outcome.promise)
