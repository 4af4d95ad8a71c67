"""The error of each way to release a statistic, as bars."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sitr.flavors.random import RandomDP
from sitr.questions.statistic.ways import Outcome
from sitr.report.chart.svg import BLUE, GREY, ORANGE, line, placed, svg, text
from sitr.report.figures import error
from sitr.report.sensitivities import Outcomes, promised, ranked
from sitr.report.words.words import Words, in_words

_LEFT, _WIDTH, _ROW, _HEAD = 1.0, 98.0, 44, 46
_AXIS = "95% error on a logarithmic axis: shorter is more accurate"


def chart(outcomes: Outcomes, *, title: str, words: Words | None = None) -> str:
    """A bar for every error, on a logarithmic axis: blue for promises to everybody, orange for promises with a γ."""
    words = in_words(words)
    drawn = ranked(outcomes)
    errors = [float(outcome.error) for outcome in drawn]
    low, high = _quarter(min(errors), down=True), _quarter(max(errors), down=False)
    parts = [
        text(title, x=_LEFT, y=16, size=15, weight=650),
        text(words.label(_AXIS), x=_LEFT, y=34, size=11, opacity=0.75),
    ]
    for place, outcome in enumerate(drawn):
        parts.extend(_bar(outcome, words, share=_share(float(outcome.error), low, high), top=_HEAD + _ROW * place))
    bottom = _HEAD + _ROW * len(drawn)
    parts.extend(_legend(bottom + 12, words))
    listed = "; ".join(f"{outcome.way}: ± {error(outcome.error)}" for outcome in drawn)
    return svg(title, f"{listed}. {words.accounting.public()}", placed(parts, words), height=bottom + 24)


def _quarter(error: float, *, down: bool) -> float:
    """The next quarter of a power of ten; one more below the least error, so that its bar has a length."""
    quarters = 4 * math.log10(error)
    return 10 ** ((math.floor(quarters) - 1 if down else math.ceil(quarters)) / 4)


def _share(error: float, low: float, high: float) -> float:
    return math.log(error / low) / math.log(high / low)


def _bar(outcome: Outcome, words: Words, *, share: float, top: int) -> Iterator[str]:
    colour = ORANGE if isinstance(outcome.promise, RandomDP) else BLUE
    yield text(f"{outcome.way}: ± {error(outcome.error)}", x=_LEFT, y=top + 12, weight=650)
    yield text(words.notation(promised(outcome)), x=_LEFT + _WIDTH, y=top + 12, size=11, anchor="end", opacity=0.75)
    yield line(_LEFT, top + 24, _LEFT + _WIDTH, top + 24, stroke=GREY, more='stroke-width="12" stroke-opacity="0.2"')
    yield line(_LEFT, top + 24, _LEFT + _WIDTH * share, top + 24, stroke=colour, more='stroke-width="12"')


def _legend(y: int, words: Words) -> Iterator[str]:
    for place, (colour, name) in enumerate(((BLUE, "protects everybody"), (ORANGE, "a random newcomer only"))):
        yield line(_LEFT + 40 * place, y - 4, _LEFT + 40 * place + 2, y - 4, stroke=colour, more='stroke-width="10"')
        yield text(words.label(name), x=_LEFT + 40 * place + 3, y=y)
