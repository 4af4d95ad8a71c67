"""Bars over a true axis: areas are counts, whatever the widths of cells."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest

from sitr.dataset.cells import Dates, Edges, Even, Step
from sitr.report.chart.histogram import chart
from sitr.report.chart.line import MOST_BARS, Bars
from sitr.report.chart.svg import BLUE
from tests.report.chart.pictures import AGE, COST, DAY, counted, teeth, uneven


def drawn(source: str) -> list[tuple[float, float]]:
    """The widths and the heights of bars."""
    bars = [each.attrib for each in ET.fromstring(source).iter("rect") if each.attrib["fill"] == BLUE]
    return [(float(bar["width"].rstrip("%")), float(bar["height"])) for bar in bars]


def said(source: str) -> str:
    return " ".join(each.text or "" for each in ET.fromstring(source).iter("text"))


def test_whole_numbers_in_uneven_cells_have_no_teeth() -> None:
    """Ten people of every age: cells of four ages have more people than cells of three, but no higher bars."""
    histogram = teeth()
    assert len(set(histogram.counts[:30])) > 1
    heights = [height for _, height in drawn(chart(histogram))]
    assert heights == pytest.approx([heights[0]] * 30)
    assert "Cells differ in width, so heights are counts for every 3 of age." in said(chart(histogram))


def test_areas_are_counts() -> None:
    source = chart(uneven())
    areas = [width * height for width, height in drawn(source)]
    counts = uneven().counts[:3].tolist()
    for area, count in zip(areas, counts, strict=True):
        assert area / areas[1] == pytest.approx(count / counts[1], rel=0.03)
    words = said(source).split()
    assert all(edge in words for edge in ("0", "18", "65", "120"))


def test_equal_cells_show_plain_counts() -> None:
    histogram = counted(Even(COST, Fraction(0), Fraction(1), 3), {0: 40, 1: 20, 2: 10})
    bars = Bars.of(histogram)
    assert bars.unit is None
    assert [bar.count for bar in bars.bars] == [40.0, 20.0, 10.0]
    assert "width" not in said(chart(histogram))


def test_cells_without_a_whole_number_are_left_out_and_it_says_so() -> None:
    histogram = counted(Even(AGE, Fraction(0), Fraction(3), 6), {0: 5, 2: 7, 4: 9})
    bars, half = Bars.of(histogram), Fraction(1, 2)
    assert [(bar.low, bar.high) for bar in bars.bars] == [(age - half, age + half) for age in range(4)]
    assert bars.hollow == 2  # half of the cells, but the last one holds 3
    assert "2 cells without a whole number are not drawn." in said(chart(histogram))


def test_an_axis_without_any_whole_number_has_a_picture() -> None:
    assert Bars.of(counted(Even(AGE, Fraction(1, 10), Fraction(9, 10), 2), {})).hollow == 0


def test_whiskers_shrink_with_their_bars() -> None:
    wide, narrow = Bars.of(counted(Edges(COST, (Fraction(0), Fraction(9), Fraction(10))), {0: 900, 1: 100})).bars
    assert wide.count == narrow.count == 100.0
    assert wide.ends is not None
    assert narrow.ends is not None
    assert wide.ends == pytest.approx((100.0, 100.0), rel=0.02)


def test_months_are_equal_but_a_part_of_a_month_is_not() -> None:
    whole = Dates(DAY, date(2024, 1, 1), date(2024, 12, 31), Step.MONTH)
    part = Dates(DAY, date(2024, 1, 25), date(2024, 12, 31), Step.MONTH)
    assert Bars.of(counted(whole, {})).unit is None
    assert Bars.of(counted(part, {})).unit == 1  # a day


def test_neighbours_that_share_a_bar_lose_nothing() -> None:
    cells = 3 * MOST_BARS + 1
    bars = Bars.of(counted(Even(COST, Fraction(0), Fraction(cells), cells), dict.fromkeys(range(cells), 2)))
    assert bars.together == 4
    assert len(bars.bars) <= MOST_BARS
    assert bars.unit == 4
    assert [bar.count for bar in bars.bars] == [8.0] * len(bars.bars)  # the last one holds fewer cells
