"""Ways to bound how far one person moves a statistic, compared in a table, a dictionary and a chart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitr.flavors.notation import write
from sitr.flavors.random import RandomDP
from sitr.numbers import upward
from sitr.questions.statistic.ways import Impossible, Outcome
from sitr.report.chart.svg import BLUE, GREY, ORANGE, line, svg, text
from sitr.report.comparison import RANDOM
from sitr.report.figures import at_most, chance, visible
from sitr.report.words.notation import notation

Outcomes = Sequence[Outcome | Impossible]

PUBLIC = (
    "Everything here was computed from the data without noise, so it protects nobody. Choose a way on public or "
    "made-up data, then use it on private data."
)
_SELDOM, _OFTEN = 1e-9, 0.99
"""Refusals rarer than `_SELDOM` are not mentioned; a way that refuses more often than `_OFTEN` is useless."""

_LEFT, _WIDTH, _ROW, _HEAD = 1.0, 98.0, 44, 46


def render(outcomes: Outcomes) -> RenderableType:
    """For a terminal: the ways that work, the smallest error first, and why the others do not."""
    ways = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    ways.add_column("way", no_wrap=True)
    ways.add_column("95% error", justify="right", no_wrap=True)
    ways.add_column("promise")
    below = Table.grid(padding=(0, 2))
    below.add_column(style="dim", no_wrap=True)
    below.add_column()
    for outcome in ranked(outcomes):
        often = "" if outcome.refused < _SELDOM else f"; no answer: {_seldom(outcome.refused)}"
        ways.add_row(*map(Text, (outcome.way, f"± {at_most(outcome.error, digits=3)}", promised(outcome) + often)))
    for way, reason in _impossible(outcomes).items():
        below.add_row("cannot", Text(f"{way} — {visible(reason)}"))
    if any(isinstance(outcome.promise, RandomDP) for outcome in ranked(outcomes)):
        below.add_row("random", Text(f"For a way with γ, {RANDOM}"))
    below.add_row("public", Text(PUBLIC))
    return Group(ways, Text(), below)


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
        "impossible": _impossible(outcomes),
    }


def chart(outcomes: Outcomes, *, title: str) -> str:
    """A bar for every error, on a logarithmic axis: blue for promises to everybody, orange for promises with a γ."""
    drawn = ranked(outcomes)
    errors = [float(outcome.error) for outcome in drawn]
    low, high = _quarter(min(errors), down=True), _quarter(max(errors), down=False)
    parts = [text(title, x=_LEFT, y=16, size=15, weight=650), text(_AXIS, x=_LEFT, y=34, size=11, opacity=0.75)]
    for place, outcome in enumerate(drawn):
        parts.extend(_bar(outcome, share=_share(float(outcome.error), low, high), top=_HEAD + _ROW * place))
    bottom = _HEAD + _ROW * len(drawn)
    parts.extend(_legend(bottom + 12))
    listed = "; ".join(f"{outcome.way}: ± {at_most(outcome.error, digits=3)}" for outcome in drawn)
    return svg(title, f"{listed}. {PUBLIC}", parts, height=bottom + 24)


_AXIS = "95% error on a logarithmic axis: shorter is more accurate"


def ranked(outcomes: Outcomes) -> list[Outcome]:
    """The ways that work, by error; ways that hardly ever give an answer come last.

    >>> ranked([Impossible("global", "No.")])
    []
    """
    known = (outcome for outcome in outcomes if isinstance(outcome, Outcome))
    return sorted(known, key=lambda found: (found.refused > _OFTEN, found.error))


def _impossible(outcomes: Outcomes) -> dict[str, str]:
    return {outcome.way: outcome.reason for outcome in outcomes if isinstance(outcome, Impossible)}


def promised(outcome: Outcome) -> str:
    """The promise in symbols."""
    return notation(outcome.promise)  # type: ignore[arg-type]  # every way here has one that a budget keeps


def _seldom(probability: float) -> str:
    if probability > _OFTEN:
        return "nearly always"
    return f"{at_most(probability, digits=2)} of the time" if probability > 0.01 else chance(probability)


def _quarter(error: float, *, down: bool) -> float:
    """The next quarter of a power of ten; one more below the least error, so that its bar has a length."""
    quarters = 4 * math.log10(error)
    return 10 ** ((math.floor(quarters) - 1 if down else math.ceil(quarters)) / 4)


def _share(error: float, low: float, high: float) -> float:
    return math.log(error / low) / math.log(high / low)


def _bar(outcome: Outcome, *, share: float, top: int) -> Iterator[str]:
    colour = ORANGE if isinstance(outcome.promise, RandomDP) else BLUE
    words = f"{outcome.way}: ± {at_most(outcome.error, digits=3)}"
    yield text(words, x=_LEFT, y=top + 12, weight=650)
    yield text(promised(outcome), x=_LEFT + _WIDTH, y=top + 12, size=11, anchor="end", opacity=0.75)
    yield line(_LEFT, top + 24, _LEFT + _WIDTH, top + 24, stroke=GREY, more='stroke-width="12" stroke-opacity="0.2"')
    yield line(_LEFT, top + 24, _LEFT + _WIDTH * share, top + 24, stroke=colour, more='stroke-width="12"')


def _legend(y: int) -> Iterator[str]:
    for place, (colour, words) in enumerate(((BLUE, "protects everybody"), (ORANGE, "a random newcomer only"))):
        yield line(_LEFT + 40 * place, y - 4, _LEFT + 40 * place + 2, y - 4, stroke=colour, more='stroke-width="10"')
        yield text(words, x=_LEFT + 40 * place + 3, y=y)
