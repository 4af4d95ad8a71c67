"""What is spent and what is left of a budget, as bars."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.flavors.uncapped import UNREACHABLE
from sitr.report.chart.svg import BLUE, GREY, ORANGE, label, rect, svg, text
from sitr.report.figures import about
from sitr.report.words.notation import parameters
from sitr.report.words.words import Words, in_words

_PALE = 'fill-opacity="0.3"'


def budget_bar(budget: Filter, *, charge: Kept | None = None, words: Words | None = None) -> str:
    """What is spent and what is left of a budget: a bar for each parameter of its promise.

    A `charge` that is already included in what is spent gets its own colour. The first charge closes γ, whatever is
    left of it.
    """
    words = in_words(words)
    parts: list[str] = []
    top = 0
    for symbol, promised, spent, last in _parameters(budget, charge):
        share, before = spent / promised, max(Fraction(0), spent - last) / promised
        closed = symbol == "γ" and budget.charges
        left = words.label("closed") if closed else words.left(_percent(1 - share))
        parts += [
            text(words.numerals(f"{symbol} = {about(promised)}"), x=0, y=top + 12, size=12),
            text(left, x=100, y=top + 12, size=12, anchor="end"),
            rect(0, top + 18, 100, 12, fill=GREY, more=_PALE),
            rect(0, top + 18, float(100 * before), 12, fill=BLUE),
            rect(float(100 * before), top + 18, float(100 * (share - before)), 12, fill=ORANGE),
        ]
        top += 44
    spent_parts = [(BLUE, "spent")] if charge is None else [(BLUE, "spent before"), (ORANGE, "this answer")]
    for place, (colour, name) in enumerate([*spent_parts, (GREY, "left")]):
        parts.append(rect(34 * place, top, 2, 10, fill=colour, more=_PALE if colour == GREY else ""))
        parts.append(label(words.label(name), x=34 * place + 3.5, y=top + 10, room=30))
    title = words.label("The budget: spent and left")
    return svg(title, words.budget(budget, charge), parts, height=top + 16, direction=words.direction)


def _parameters(budget: Filter, charge: Kept | None) -> Iterator[tuple[str, Fraction, Fraction, Fraction]]:
    """Symbol, promised, spent and last charged, for every parameter whose promise is above zero and has a cap."""
    spent = parameters(budget.spent())
    last = parameters(charge) if charge is not None else {}
    for symbol, promised in parameters(budget.promise).items():
        if 0 < promised < UNREACHABLE:
            yield symbol, promised, spent[symbol], last.get(symbol, Fraction(0))


def _percent(share: Fraction) -> str:
    """A share that is left, rounded down."""
    return f"{math.floor(max(Fraction(0), share) * 1000) / 10:g}%"
