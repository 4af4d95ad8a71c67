"""Pictures of histograms: valid, true to their numbers, and harmless."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sitr.dataset.cells import Categories, Even, Grid
from sitr.dataset.schema import Column, Kind, Table
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Additive
from sitr.flavors.pure import PureDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.noise.coins import TestCoins
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import fit
from sitr.questions.histogram.methods import Buckets, Flat, Method, Unlisted
from sitr.questions.histogram.release import release
from sitr.questions.histogram.tally import Tally
from sitr.report.chart.histogram import MOST_ROWS, chart
from sitr.report.chart.line import MOST_BARS
from sitr.report.chart.svg import BLUE, standalone

X, WARD = Column("x", Kind.REAL), Column("<b>ward</b>", Kind.TEXT)
QUIET, FLAT = PureDP(1e6), Flat()


def made(cells: Grid | Column, counts: dict[Any, Any], price: Additive = QUIET, method: Method = FLAT) -> Histogram:
    table = Table("t", (X, WARD), Row(), Relation.ADD_REMOVE, 1, 1)
    return release(fit(Tally.of(table, cells), price, method=method), counts, coins=TestCoins(2))


def line(bins: int) -> Grid:
    return Grid((Even(X, Fraction(0), Fraction(1), bins),))


def bars(picture: str) -> list[ET.Element]:
    root = ET.fromstring(standalone(picture))
    return [one for one in root.iter() if one.tag.endswith("rect") and one.get("fill") == BLUE]


def test_bars_have_the_heights_of_the_counts() -> None:
    found = bars(chart(made(line(3), {0: 40, 1: 20, 2: 10})))
    heights = [float(bar.get("height", "0")) for bar in found]
    assert heights[0] == pytest.approx(2 * heights[1])
    assert heights[1] == pytest.approx(2 * heights[2])
    assert len(heights) == 3  # rows without a value have no place on the axis
    assert ">(no value)<" in chart(made(line(3), {3: 5}))


def test_many_cells_are_drawn_together_and_it_says_so() -> None:
    picture = chart(made(line(1_000), {0: 7, 4: 3}))
    found = bars(picture)
    assert len(found) <= MOST_BARS
    heights = [float(bar.get("height", "0")) for bar in found]
    assert heights[0] == max(heights) > 0
    assert "neighbouring cells in each bar" in picture


def test_two_columns_are_tiles_the_darker_the_fuller() -> None:
    grid = Grid((Categories(WARD, ("a", "b<i>")), Even(X, Fraction(0), Fraction(1), 2)))
    picture = chart(made(grid, {0: 100, 4: 50}))
    shades = [float(tile.get("fill-opacity", "0")) for tile in bars(picture)]
    assert len(shades) == 9
    assert shades[0] == max(shades) == 1.0
    assert 0.4 < shades[4] < 0.6
    assert "<i>" not in picture


def test_many_categories_are_cut_to_the_largest() -> None:
    grid = Grid((Categories(WARD, tuple(f"k{i}" for i in range(90))),))
    picture = chart(made(grid, {i: i for i in range(90)}))
    assert len(bars(picture)) == MOST_ROWS
    assert "k89" in picture
    assert ">k3<" not in picture
    assert f"the largest {MOST_ROWS} of 91 cells" in picture


@pytest.mark.parametrize(
    "histogram",
    [
        made(line(4), {}),
        made(line(4), {}, PureDP(0.01)),
        made(line(1), {0: 10**12}),
        made(line(64), {3: 5}, PureDP(1.0), Buckets()),
        made(WARD, {}, ApproximateDP(1.0, 1e-6), Unlisted()),
        made(WARD, {(None,): (50, 50)}, ApproximateDP(1.0, 1e-6), Unlisted()),
    ],
    ids=["empty", "noisy", "one", "buckets", "nothing shown", "no value"],
)
def test_every_histogram_has_a_picture(histogram: Histogram) -> None:
    picture = chart(histogram)
    root = ET.fromstring(standalone(picture))
    tags = [child.tag.rpartition("}")[2] for child in root]
    assert tags[:2] == ["title", "desc"]
    assert "nan" not in picture
    assert "inf" not in picture
    assert "<b>" not in picture
