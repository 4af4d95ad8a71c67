"""Names at the ends of curves keep their distance, their order, and their curves."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.report.chart.ends import GAP, End, apart, names


@given(st.lists(st.floats(-50.0, 300.0), min_size=1, max_size=13).map(sorted))
def test_names_are_a_gap_apart_and_inside(places: list[float]) -> None:
    moved = apart(places, top=0.0, bottom=240.0)
    assert all(after - before >= GAP - 1e-9 for before, after in pairwise(moved))
    assert moved[0] >= -1e-9
    assert moved[-1] <= 240.0 + 1e-9


@given(st.lists(st.floats(0.0, 240.0), min_size=1, max_size=10).map(sorted))
def test_names_that_touch_balance_around_their_curves(places: list[float]) -> None:
    """The sum of squared moves is least: a group of names is as far above its curves as below them."""
    moved = apart(places, top=-1e6, bottom=1e6)
    starts = [0, *(i for i, (a, b) in enumerate(pairwise(moved), 1) if b - a > GAP + 1e-9), len(moved)]
    for start, end in pairwise(starts):
        assert sum(moved[start:end]) == pytest.approx(sum(places[start:end]), abs=1e-6)


def test_names_that_do_not_touch_stay_where_they_are() -> None:
    assert apart([10.0, 50.0, 90.0], top=0.0, bottom=100.0) == [10.0, 50.0, 90.0]


def test_every_name_has_a_line_from_its_curve() -> None:
    ends = [End(50.0, y, name, f"{name}, in full", "#123456", bold=y == 30.0) for name, y in (("b", 31.0), ("a", 30.0))]
    drawn = ET.fromstring(f"<svg>{''.join(names(ends, x=60.0, room=30.0, top=0.0, bottom=100.0))}</svg>")
    lines, texts = list(drawn.iter("line")), list(drawn.iter("text"))
    assert [text.text for text in texts] == ["a", "b"]
    assert [text.attrib["font-weight"] for text in texts] == ["650", "400"]
    assert [title.text for title in drawn.iter("title")] == ["a, in full", "b, in full"]
    for line, text, y in zip(lines, texts, (30.0, 31.0), strict=True):
        assert (line.attrib["x1"], float(line.attrib["y1"]), line.attrib["stroke"]) == ("50.00%", y, "#123456")
        assert float(line.attrib["y2"]) == pytest.approx(float(text.attrib["y"]) - 4)
