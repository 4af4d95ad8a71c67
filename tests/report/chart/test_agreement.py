"""The map has a tile for each table, darker where the score is lower, and names its axes."""

from __future__ import annotations

import re

import pytest

from sitr.questions.synthetic.agreement import Agreement, TableFit
from sitr.questions.synthetic.figures import Figure, Quality
from sitr.report.chart.agreement import heat, quality_heat
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import Words

NAMES = ("age", "ward", "cost")
FITS = Agreement(
    (
        *(TableFit((name,), 0.02, 0.0) for name in NAMES),
        TableFit(("age", "ward"), 0.1, 0.0),
        TableFit(("age", "cost"), 0.4, 0.0),
    )
)


def shades(picture: str) -> list[float]:
    return [float(shade) for shade in re.findall(r'<rect [^>]*fill-opacity="([\d.]+)"', picture)]


@pytest.mark.parametrize("words", [ENGLISH, ARABIC])
def test_tiles_and_axes(words: Words) -> None:
    picture = heat(FITS, NAMES, words=words)
    drawn = shades(picture)
    assert len(drawn) == 7  # three columns, and two pairs, each on both sides of the diagonal; one pair has no table
    assert drawn == [min(drawn), drawn[1], max(drawn), drawn[1], min(drawn), max(drawn), min(drawn)]
    assert min(drawn) < drawn[1] < max(drawn) <= 0.5
    assert all(name in picture for name in NAMES)
    for score in ("99", "95", "80"):
        assert f">{words.numerals(score)}<" in picture.replace("<title", "<")
    assert words.synthetic.heat(FITS.score)[0] in picture


def test_triples_have_a_map_of_their_own() -> None:
    more = Agreement((*FITS.tables, TableFit(NAMES, 0.6, 0.0)))
    assert len(shades(heat(more, NAMES, words=ENGLISH))) == 7 + 6
    assert ">70<" in heat(more, NAMES, words=ENGLISH).replace("<title", "<")


@pytest.mark.parametrize("words", [ENGLISH, ARABIC])
def test_the_quality_has_the_same_maps(words: Words) -> None:
    """Distances of 0.4 and, for the triple, of 0.6 have the scores 80 and 70; without triples there is one map."""
    single = tuple(Figure((name,), 0.02) for name in NAMES)
    found = Quality(None, single, (Figure(("age", "cost"), 0.4),), (), (), triples=(Figure(NAMES, 0.6),))
    picture = quality_heat(found, words=words).replace("<title", "<")
    assert len(shades(picture)) == 5 + 6
    assert all(f">{words.numerals(score)}<" in picture for score in ("99", "80", "70"))
    assert words.numerals("80.0") in picture
    triples = words.synthetic.triple_map().split()[0]
    assert triples in picture
    alone = quality_heat(Quality(None, single, (), (), ()), words=words)
    assert (len(shades(alone)), triples in alone) == (3, False)


def test_many_columns_have_no_numbers() -> None:
    names = tuple(f"column {place}" for place in range(20))
    picture = heat(Agreement(tuple(TableFit((name,), 0.5, 0.0) for name in names)), names, words=ENGLISH)
    assert len(shades(picture)) == 20
    assert ">75<" not in picture.replace("<title", "<")
