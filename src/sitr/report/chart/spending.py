"""What a ledger has paid: the share of each budget that is spent, over time; and how often each flavor was charged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from sitr.flavors.arrows import Kept
from sitr.ledger.entry import Account, Entry
from sitr.report.chart.axis import across
from sitr.report.chart.svg import (
    BLUE,
    GREY,
    LEFT,
    ORANGE,
    RIGHT,
    heading,
    label,
    line,
    polyline,
    rect,
    svg,
    text,
    window,
)
from sitr.report.figures import visible
from sitr.report.words.notation import parameters
from sitr.report.words.words import Words, in_words

_START, _HEIGHT, _POINTS = 10.0, 180, 400
_TICKS = (0, 25, 50, 75, 100)
_STROKES = tuple((colour, dashes) for dashes in ("", "7 4", "2 4") for colour in (BLUE, ORANGE))
"""As many accounts are drawn over time, each with a line of its own."""

MOST = 30
"""The most accounts and flavors that have a bar."""

_PALE = 'fill-opacity="0.3"'


@dataclass(frozen=True, slots=True)
class Spending:
    """The charges to one account: when, and the spent share of its scarcest parameter after each."""

    dataset: str
    opened: datetime
    steps: tuple[tuple[datetime, Fraction], ...]

    @property
    def share(self) -> Fraction:
        """The share that is spent now."""
        return self.steps[-1][1] if self.steps else Fraction(0)


def spending(accounts: Sequence[Account], entries: Sequence[Entry]) -> list[Spending]:
    """The spending of each account, those that spent the largest shares first.

    Time never runs backwards here: an entry that a wrong clock dates before an earlier one is drawn at the same time.
    γ does not count: when it is spent, other answers can still be bought.
    """
    ours: dict[str, list[Entry]] = {account.dataset: [] for account in accounts}
    for entry in entries:
        ours[entry.dataset].append(entry)
    found = [Spending(each.dataset, each.opened, tuple(_steps(each, ours[each.dataset]))) for each in accounts]
    return sorted(found, key=lambda each: (-each.share, each.dataset))


def _steps(account: Account, entries: Sequence[Entry]) -> Iterator[tuple[datetime, Fraction]]:
    promised = {name: whole for name, whole in parameters(account.promise).items() if whole and name != "γ"}
    paid, now, prices = dict.fromkeys(promised, Fraction(0)), account.opened, dict[Kept, dict[str, Fraction]]()
    for entry in entries:
        now = max(now, entry.at)
        price = prices.setdefault(entry.price, parameters(entry.price))
        paid = {name: total + price.get(name, 0) for name, total in paid.items()}
        yield now, max((paid[name] / whole for name, whole in promised.items()), default=Fraction(1))


def chart(accounts: Sequence[Account], entries: Sequence[Entry], *, words: Words | None = None) -> str:
    """The picture of a ledger: a line and a bar for each account, and a bar for each flavor."""
    words = in_words(words)
    found = spending(accounts, entries)
    title, note = words.label("Spending over time"), words.label("Share of each budget that is spent")
    parts, top = heading(title, note)
    parts += _lines(found[: len(_STROKES)], top + 8, words)
    more, top = heading(words.label("By account"), top=top + 8 + _HEIGHT + 34)
    parts += more
    for place, each in enumerate(found[:MOST]):
        parts += _bar(visible(each.dataset), _percent(each.share, words), float(each.share), top + 6, _stroke(place))
        top += 38
    more, top = heading(words.label("Charges by flavor"), top=top + 16)
    parts += more
    counted = Counter(words.flavor(entry.price) for entry in entries).most_common(MOST)
    for name, times in counted:
        parts += _bar(name, words.numerals(f"{times:,}"), times / counted[0][1], top + 6, (GREY, ""))
        top += 38
    return svg(title, described(found, words), parts, height=top + 12, direction=words.direction)


def described(found: Sequence[Spending], words: Words) -> str:
    """The picture in words: the share of each budget that is spent."""
    return "; ".join(f"{visible(each.dataset)}: {_percent(each.share, words)}" for each in found[:MOST])


def _stroke(place: int) -> tuple[str, str]:
    return _STROKES[place] if place < len(_STROKES) else (GREY, "")


def _lines(found: Sequence[Spending], top: float, words: Words) -> Iterator[str]:
    """The pane: time to the right, the spent share upwards, in steps."""
    for tick in _TICKS:
        y = top + _HEIGHT * (1 - tick / 100)
        yield line(_START, y, RIGHT, y, more='stroke-opacity="0.2"')
        yield text(words.numerals(f"{tick}%"), x=_START - 1, y=y + 4, size=11, anchor="end", opacity=0.8)
    times = [each.opened for each in found] + [at for each in found for at, _ in each.steps]
    if not times:
        return
    first, last = min(times), max(times)
    whole = (last - first).total_seconds() or 1.0
    drawn = []
    for place, each in enumerate(found):
        points = [(1000 * (each.opened - first).total_seconds() / whole, float(_HEIGHT))]
        for at, share in each.steps[:: max(1, len(each.steps) // _POINTS)] + each.steps[-1:]:
            x = 1000 * (at - first).total_seconds() / whole
            points += [(x, points[-1][1]), (x, _HEIGHT * (1 - float(share)))]
        colour, dashes = _STROKES[place]
        points.append((1000.0, points[-1][1]))
        drawn.append(polyline(points, stroke=colour, more=f'stroke-width="2.5" stroke-dasharray="{dashes or "none"}"'))
    yield window(drawn, x=_START, y=top, width=RIGHT - _START, height=_HEIGHT)
    form = "%Y-%m-%d" if (last - first).days else "%m-%d %H:%M"
    ends = [(_START, first.strftime(form))] + ([(RIGHT, last.strftime(form))] if last > first else [])
    yield from across([(x, words.numerals(at)) for x, at in ends], y=top + _HEIGHT + 18)


def _bar(name: str, value: str, share: float, top: float, stroke: tuple[str, str]) -> Iterator[str]:
    """A name and a number, and a bar below them."""
    colour, dashes = stroke
    more = f'stroke-width="2.5" stroke-dasharray="{dashes or "none"}"'
    yield line(LEFT, top + 8, LEFT + 5, top + 8, stroke=colour, more=more)
    yield label(name, x=LEFT + 7, y=top + 12, room=72)
    yield text(value, x=RIGHT, y=top + 12, anchor="end")
    yield rect(LEFT, top + 18, RIGHT - LEFT, 8, fill=GREY, more=_PALE)
    yield rect(LEFT, top + 18, (RIGHT - LEFT) * min(1.0, share), 8, fill=colour)


def _percent(share: Fraction, words: Words) -> str:
    """A share that is spent, rounded up."""
    return words.numerals(f"{-(-share * 1000 // 1) / 10:g}%")
