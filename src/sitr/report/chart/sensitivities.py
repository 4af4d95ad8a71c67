"""The error of each way to release a statistic, as bars; ways that give no answer have an empty bar."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sitr.flavors.random import RandomDP
from sitr.questions.statistic.ways import Outcome
from sitr.report.chart.axis import Logarithmic
from sitr.report.chart.svg import BLUE, LEFT, ORANGE, RIGHT, heading, label, line, paragraph, svg
from sitr.report.figures import error
from sitr.report.sensitivities import Outcomes, impossible, promised, ranked, seldom, useless
from sitr.report.words.words import Words, in_words

_WIDTH = RIGHT - LEFT
_THICK = 12


def chart(outcomes: Outcomes, *, title: str, words: Words | None = None) -> str:
    """A bar for every error, on a logarithmic axis: blue for promises to everybody, orange for promises with a γ.

    A way that does not work, or hardly ever gives an answer, has an empty bar, and the reason below it.
    """
    words = in_words(words)
    drawn = ranked(outcomes)
    refused = {
        words.accounting.way(way): words.accounting.reason(reason) for way, reason in impossible(outcomes).items()
    }
    scale = _scale([float(outcome.error) for outcome in drawn if not useless(outcome)])
    parts, top = heading(title, words.accounting.error_axis())
    for outcome in drawn:
        bar, top = _bar(outcome, scale, top=top, words=words)
        parts += bar
    for way, reason in refused.items():
        bar, top = _row(way, reason, None, BLUE, top=top)
        parts += bar
    parts += _legend(top + 14, words)
    works = [f"{_head(outcome, words)}{seldom(outcome, words)}" for outcome in drawn]
    listed = words.several([*works, *(f"{way}: {reason}" for way, reason in refused.items())])
    return svg(title, f"{listed}. {words.accounting.public()}", parts, height=top + 24, direction=words.direction)


def _scale(errors: Sequence[float]) -> Logarithmic:
    """From one quarter of a power of ten to another; one more below the least error, so that its bar has a length."""
    quarters = [4 * math.log10(error) for error in errors if error > 0.0] or [0.0]
    return Logarithmic((math.floor(min(quarters)) - 1) / 4, math.ceil(max(quarters)) / 4)


def _bar(outcome: Outcome, scale: Logarithmic, *, top: float, words: Words) -> tuple[list[str], float]:
    colour = ORANGE if isinstance(outcome.promise, RandomDP) else BLUE
    share = None if useless(outcome) else max(0.0, scale.share(float(outcome.error)))
    return _row(
        _head(outcome, words), words.notation(promised(outcome)) + seldom(outcome, words), share, colour, top=top
    )


def _head(outcome: Outcome, words: Words) -> str:
    """The name of a way, and its error."""
    return f"{words.accounting.way(outcome.way)}: {words.formula(f'± {error(outcome.error)}')}"


def _row(head: str, below: str, share: float | None, colour: str, *, top: float) -> tuple[list[str], float]:
    """A name, a bar, or the frame of an empty one, and a text below it; and where they end."""
    y = top + 26
    lines, height = paragraph(below, y=y + 20, opacity=0.75, most=6)
    ground = 'stroke-opacity="0.15"'
    parts = [label(head, x=LEFT, y=top + 14, room=_WIDTH, weight=650)]
    if share is None:
        parts += [
            line(LEFT, y + side, RIGHT, y + side, more='stroke-dasharray="4 4" stroke-opacity="0.6"')
            for side in (-_THICK // 2, _THICK // 2)
        ]
    else:
        parts += [
            line(LEFT, y, RIGHT, y, more=f'stroke-width="{_THICK}" {ground}'),
            line(LEFT, y, LEFT + _WIDTH * share, y, stroke=colour, more=f'stroke-width="{_THICK}"'),
        ]
    return [*parts, *lines], y + 16 + height


def _legend(y: float, words: Words) -> list[str]:
    parts = []
    for place, (colour, name) in enumerate(((BLUE, "protects everybody"), (ORANGE, "a random newcomer only"))):
        x = LEFT + 45 * place
        parts.append(line(x, y - 4, x + 2, y - 4, stroke=colour, more='stroke-width="10"'))
        parts.append(label(words.label(name), x=x + 3.5, y=y, room=41 if place == 0 else 50, size=11))
    return parts
