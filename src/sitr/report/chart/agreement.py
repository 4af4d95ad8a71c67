"""How closely rows follow each noisy table, as a map: columns down and across, darker where they are farther apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Protocol

from sitr.questions.synthetic.agreement import Agreement
from sitr.questions.synthetic.figures import Quality
from sitr.report.chart.svg import LEFT, ORANGE, RIGHT, heading, label, rect, svg, text
from sitr.report.figures import visible
from sitr.report.words.words import Words, in_words

_NAMES, _ROW, _HEAD, _GAP = 30.0, 22, 20, 18
_MOST_NUMBERS = 14
"""With more columns, the tiles are too small for numbers."""
_DARKEST = 0.5
"""The opacity of the darkest tile: numbers on it stay readable."""

Scores = Mapping[tuple[int, int], float]


class Scored(Protocol):
    """A table of some columns, with its score from 0 to 1."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def score(self) -> float: ...


def heat(found: Agreement, names: tuple[str, ...], *, words: Words | None = None) -> str:
    """A map of single columns and pairs; and of triples, where there are any: the mean of all with a pair in them."""
    words = in_words(words)
    tables = [*found.of(1), *found.of(2)], found.of(3)
    return _maps(*tables, names, title=words.synthetic.heat(found.score), words=words)


def quality_heat(found: Quality, *, words: Words | None = None) -> str:
    """The same beside other rows than those of the noisy tables."""
    words = in_words(words)
    names = tuple(dict.fromkeys(name for each in (*found.single, *found.pairs) for name in each.columns))
    tables = [*found.single, *found.pairs], found.triples
    return _maps(*tables, names, title=words.synthetic.quality_heat(found.score), words=words)


def _maps(
    pairs: Sequence[Scored],
    triples: Sequence[Scored],
    names: tuple[str, ...],
    *,
    title: tuple[str, str],
    words: Words,
) -> str:
    place = {name: number for number, name in enumerate(names)}
    maps = [(words.synthetic.pair_map(), _by_pair(pairs, place))]
    if triples:
        maps.append((words.synthetic.triple_map(), _by_pair(triples, place)))
    parts: list[str] = []
    top = 0.0
    for above, scores in maps:
        head, top = heading(above, top=top)
        parts += [*head, *_tiles(scores, names, top=top, words=words)]
        top += _HEAD + _ROW * len(names) + _GAP
    return svg(*title, parts, height=top, direction=words.direction)


def _by_pair(tables: Sequence[Scored], place: Mapping[str, int]) -> dict[tuple[int, int], float]:
    """The mean score of the tables with each pair of columns; a single column is a pair with itself."""
    scores: dict[tuple[int, int], list[float]] = {}
    for each in tables:
        places = sorted(place[name] for name in each.columns)
        for pair in combinations(places, 2) if len(places) > 1 else [(places[0], places[0])]:
            scores.setdefault(pair, []).append(each.score)
    return {pair: sum(listed) / len(listed) for pair, listed in scores.items()}


def _tiles(scores: Scores, names: tuple[str, ...], *, top: float, words: Words) -> Iterator[str]:
    wide = (RIGHT - _NAMES) / len(names)
    worst = max((1 - score for score in scores.values()), default=0.0) or 1.0
    for down, name in enumerate(names):
        y = top + _HEAD + _ROW * down
        shown = words.numerals(str(down + 1))
        yield label(f"{shown}  {visible(name)}", x=LEFT, y=y + 15, room=_NAMES - 2)
        if len(names) <= _MOST_NUMBERS:
            yield text(shown, x=_NAMES + wide * (down + 0.5), y=top + 13, size=11, anchor="middle", opacity=0.8)
        for across in range(len(names)):
            score = scores.get((min(down, across), max(down, across)))
            if score is None:
                continue
            shade = 0.04 + (_DARKEST - 0.04) * (1 - score) / worst
            more = f'fill-opacity="{shade:.3f}"'
            yield rect(_NAMES + wide * across, y, wide * 0.96, _ROW - 2, fill=ORANGE, more=more)
            if len(names) <= _MOST_NUMBERS:
                at = _NAMES + wide * (across + 0.48)
                yield text(words.numerals(f"{100 * score:.0f}"), x=at, y=y + 14, size=11, anchor="middle")
