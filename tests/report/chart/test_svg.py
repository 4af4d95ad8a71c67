"""Strokes are well-formed, harmless and where they were asked to be."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from sitr.report.chart.svg import label, line, pair, polyline, rect, standalone, svg, text, window


def test_words_cannot_act() -> None:
    hostile = "<script>alert('1')</script> & \""
    picture = ET.fromstring(svg(hostile, hostile, [text(hostile, x=1, y=2)], height=10))
    assert [element.tag for element in picture.iter()] == ["svg", "title", "desc", "text"]
    assert {element.text for element in picture} == {hostile}


def test_a_pane_keeps_its_curves_inside_and_their_width() -> None:
    pane = ET.fromstring(window([polyline([(0, 5), (1000, 10)], stroke="#000000")], x=9, y=20, width=89, height=240))
    assert (pane.attrib["viewBox"], pane.attrib["preserveAspectRatio"]) == ("0 0 1000 240", "none")
    assert pane[0].attrib["points"] == "0.0,5.0 1000.0,10.0"
    assert (pane[0].attrib["fill"], pane[0].attrib["vector-effect"]) == ("none", "non-scaling-stroke")


def test_lines_take_the_colour_of_the_page_unless_told_otherwise() -> None:
    assert ET.fromstring(line(0, 1, 2, 3)).attrib["stroke"] == "currentColor"
    blue = ET.fromstring(line(0, 1, 2, 3, stroke="#0072b2")).attrib
    assert blue == {"x1": "0.00%", "y1": "1", "x2": "2.00%", "y2": "3", "stroke": "#0072b2"}


def test_what_is_cut_can_be_read_in_full() -> None:
    long = "A name that is much too long for a place of ten percent"
    drawn = ET.fromstring(label(long, x=1, y=2, room=10))
    assert (drawn.text or "").endswith("…")
    assert [title.text for title in drawn] == [long]
    assert not list(ET.fromstring(label("short", x=1, y=2, room=30)))


def test_the_longer_of_a_pair_is_cut() -> None:
    for left, right in (("x" * 90, "12"), ("x", "1" * 90)):
        shown = [each.partition(">")[2].partition("<")[0] for each in pair(left, right, y=1)]
        assert [word.endswith("…") for word in shown] == [len(left) > 50, len(right) > 50]


def test_a_number_that_has_the_room_it_needs_is_never_cut() -> None:
    for number in (f"{10**power + 7:,}" for power in range(12)):
        assert f">{number}<" in pair("x" * 90, number, y=1)[1]


def test_a_mirrored_chart_has_everything_at_the_same_distance_from_the_other_margin() -> None:
    pane = window([polyline([(0, 5), (1000, 10)], stroke="#000000")], x=9, y=20, width=61, height=240)
    parts = [text("a", x=1, y=2), line(10, 1, 30, 2), rect(20, 3, 50, 4, fill="#000000"), pane]
    words, stroke, bar, flipped = list(ET.fromstring(svg("", "", parts, height=10, direction="rtl")))[2:]
    assert (words.attrib["x"], words.attrib["text-anchor"]) == ("99.00%", "start")  # which is the right end now
    assert (stroke.attrib["x1"], stroke.attrib["x2"]) == ("90.00%", "70.00%")
    assert (bar.attrib["x"], bar.attrib["width"]) == ("30.00%", "50.00%")
    assert (flipped.attrib["x"], flipped[0].attrib["transform"]) == ("30.00%", "matrix(-1 0 0 1 1000 0)")
    assert 'direction="ltr"' in svg("", "", parts, height=10)


def test_a_file_has_styles_that_touch_nothing_else() -> None:
    root = ET.fromstring(standalone(svg("A title", "In words.", [], height=10)))
    assert root.attrib["class"] == "sitr-chart"
    (style,) = (each.text or "" for each in root.iter() if each.tag.endswith("style"))
    assert all(rule.endswith(".sitr-chart") for rule in re.findall(r"([^{}@]+)\{color", style))
    assert "<style" not in svg("A title", "In words.", [], height=10)
