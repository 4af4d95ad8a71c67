"""Pictures: well-formed, accessible, true to the numbers, and nothing in them can act."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sitr
from sitr.accounting.filter import Filter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.aggregate.release import Release
from sitr.report.chart.aggregate import MOST_KEYS, chart
from sitr.report.chart.axis import nice_ticks
from sitr.report.chart.budget import budget_bar
from sitr.report.chart.svg import BLUE, GREY, ORANGE
from sitr.report.figures import CONFIDENCE, Figures

Make = Callable[[str], Release]


def texts(picture: ET.Element) -> list[str]:
    return [element.text or "" for element in picture.iter("text")]


def bars(picture: ET.Element, colour: str) -> list[tuple[float, float]]:
    """Where the bars of a colour begin and how wide they are, in percent."""
    return [
        (float(element.attrib["x"].rstrip("%")), float(element.attrib["width"].rstrip("%")))
        for element in picture.iter("rect")
        if element.attrib["fill"] == colour
    ]


def whiskers(picture: ET.Element) -> list[tuple[float, float]]:
    """The ends of the horizontal lines."""
    lines = [element.attrib for element in picture.iter("line") if element.attrib["y1"] == element.attrib["y2"]]
    return [(float(line["x1"].rstrip("%")), float(line["x2"].rstrip("%"))) for line in lines]


def test_it_is_a_picture_with_title_and_description(answer: Release) -> None:
    picture = ET.fromstring(chart(answer))
    assert picture.attrib["role"] == "img"
    assert [child.tag for child in picture][:2] == ["title", "desc"]
    assert picture[0].text
    assert picture[1].text
    assert float(picture.attrib["height"]) > 0


def test_nothing_in_it_can_act(answer: Release) -> None:
    picture = ET.fromstring(chart(answer))
    assert {element.tag for element in picture.iter()} <= {"svg", "title", "desc", "text", "rect", "line"}
    names = {name for element in picture.iter() for name in element.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name or name == "src"]
    assert "http" not in chart(answer)


def test_a_bar_and_a_whisker_for_every_number(answer: Release) -> None:
    picture = ET.fromstring(chart(answer))
    drawn = min(len(answer.keys), MOST_KEYS) * len(answer.plan.columns)
    assert len(bars(picture, BLUE)) == len(whiskers(picture)) == drawn
    places = [x for ends in whiskers(picture) for x in ends]
    assert all(0 <= x <= 100 for x in places)


def test_lengths_are_true(make: Make) -> None:
    """On one axis, bars are as long as their numbers are large, and whiskers as wide as the error."""
    release = make("known")
    picture = ET.fromstring(chart(release))
    term, count = release.plan.noisy[0], len(release.keys)
    values = [row[0] for row in release.measured]
    lengths = [width for _, width in bars(picture, BLUE)[:count]]
    for value, length in zip(values, lengths, strict=True):
        assert length == pytest.approx(lengths[0] * value / values[0], abs=0.02)
    for low, high in whiskers(picture)[:count]:
        assert high - low == pytest.approx(lengths[0] * 2 * term.noise.error() / values[0], abs=0.03)


def test_negative_bars_end_at_zero(make: Make) -> None:
    picture = ET.fromstring(chart(make("ungrouped")))
    (count_x, count_width), (change_x, change_width) = bars(picture, BLUE)
    (_, change_whisker) = whiskers(picture)
    assert count_x < 2
    assert count_width > 90
    assert change_x + change_width == pytest.approx(99, abs=0.1)  # zero is at the right end
    assert change_whisker[0] < change_x < change_whisker[1] < 99


def value(one: Estimate) -> Fraction:
    assert one.value is not None
    return one.value


def test_many_keys_are_cut_and_it_says_so(make: Make) -> None:
    release = make("many")
    picture = ET.fromstring(chart(release))
    assert "The largest 40 of 200 keys are drawn." in texts(picture)
    widths = [width for _, width in bars(picture, BLUE)]
    assert widths == sorted(widths, reverse=True)
    column = release.plan.columns[0]
    largest = max(release.estimates(column), key=value)
    width = column.width(CONFIDENCE)
    assert isinstance(width, Fraction)
    assert Figures.fitting(width, step=column.aggregate.step).value(largest) in texts(picture)


def test_an_empty_answer_is_a_clear_picture(make: Make) -> None:
    assert "No key reached the threshold of 45." in texts(ET.fromstring(chart(make("empty"))))


def test_keys_are_joined_shortened_and_turned(make: Make) -> None:
    assert "cardiology · 2024-01-01" in texts(ET.fromstring(chart(make("thresholded"))))
    hostile = ET.fromstring(chart(make("hostile")))
    assert {"(no value)", "(empty text)", "جناح القلب", "<script>alert(1)</script>"} <= set(texts(hostile))
    assert max(map(len, texts(hostile))) <= 42
    assert all("unicode-bidi: plaintext" in element.attrib["style"] for element in hostile.iter("text"))


def test_all_zero_still_has_an_axis(make: Make) -> None:
    release = make("one_row")
    assert "0" in texts(ET.fromstring(chart(replace(release, measured=((0,),)))))


@given(st.fractions(-(10**12), 0), st.fractions(Fraction(1, 10**6), 10**12))
def test_ticks_are_inside_even_and_hold_zero(low: Fraction, high: Fraction) -> None:
    ticks = nice_ticks(low, high)
    assert 0 in ticks
    assert all(low <= tick <= high for tick in ticks)
    assert 2 <= len(ticks) <= 6
    assert len({after - before for before, after in pairwise(ticks)}) == 1


def test_the_budget_bar_is_true() -> None:
    budget = Filter(ApproximateDP(4.0, 1e-5)).consent(ApproximateDP(1.0, 1e-6)).consent(ApproximateDP(2.0, 1e-6))
    picture = ET.fromstring(budget_bar(budget, charge=ApproximateDP(2.0, 1e-6)))
    (epsilon, delta, _) = bars(picture, BLUE)  # the third is the legend
    assert (epsilon, delta) == ((0, 25), (0, 10))
    assert bars(picture, ORANGE)[:2] == [(25, 50), (10, 10)]
    assert {"25% left", "80% left", "this answer"} <= set(texts(picture))
    assert len(bars(picture, GREY)) == 3
    plain = ET.fromstring(budget_bar(budget))
    assert bars(plain, BLUE)[:2] == [(0, 75), (0, 20)]
    assert "this answer" not in texts(plain)


def test_what_is_left_is_rounded_down() -> None:
    picture = ET.fromstring(budget_bar(Filter(PureDP(3.0)).consent(PureDP(1.0))))
    assert "66.6% left" in texts(picture)
    assert re.search(r"Spent: ε = 1\. Left: ε = 2\.", ET.tostring(picture, encoding="unicode"))


def test_the_palette_is_told_apart_by_brightness() -> None:
    """Relative luminance of the three colours differs, so that grey print and any eye can tell them apart."""
    shades = sorted(luminance(colour) for colour in (BLUE, ORANGE))
    assert (shades[1] + 0.05) / (shades[0] + 0.05) > 1.5
    for colour in (BLUE, ORANGE, GREY):  # 3:1 on white and on black
        assert 1.05 / (luminance(colour) + 0.05) > 3
        assert (luminance(colour) + 0.05) / 0.05 > 3


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_chart_says_what_the_caps_left_out(tmp_path: Path) -> None:
    people = np.repeat(np.arange(3_000), 4)
    rows = pa.table({"id": people, "ward": np.where(people % 2 == 0, "a", "b")})
    data = sitr.protect(rows, name="visits", unit="id", keys={"ward": ["a", "b"]}, max_groups=1, max_rows_per_group=4)
    budget = data.budget("zcdp(10)", ledger=tmp_path / "sitr.db")

    def drawn(rows_each: int) -> str:
        sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
        picture = budget.sql(sql, max_rows_per_group=rows_each).release("zcdp(1)").plot()
        return " ".join(texts(ET.fromstring(picture.svg)))

    assert drawn(1).count("had rows left out by the caps") == 2
    assert "left out" not in drawn(4)
