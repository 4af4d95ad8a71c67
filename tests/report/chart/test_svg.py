"""Strokes are well-formed, harmless and where they were asked to be."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from sitr.report.chart.svg import BLUE, line, mirrored, placed, polyline, rect, svg, text, window
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH


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


def test_a_mirror_keeps_sizes_and_turns_places_and_anchors_around() -> None:
    bar = ET.fromstring(mirrored(rect(10, 3, 30, 12, fill=BLUE))).attrib
    assert (bar["x"], bar["width"], bar["y"], bar["height"]) == ("60.00%", "30.00%", "3", "12")
    stroke = ET.fromstring(mirrored(line(10, 1, 30, 2))).attrib
    assert (stroke["x1"], stroke["x2"], stroke["y1"], stroke["y2"]) == ("90.00%", "70.00%", "1", "2")
    for anchor, other in (("start", "end"), ("end", "start"), ("middle", "middle")):
        words = ET.fromstring(mirrored(text('x="1%" text-anchor="start"', x=25, y=2, anchor=anchor)))
        assert (words.attrib["x"], words.attrib["text-anchor"]) == ("75.00%", other)
        assert words.text == 'x="1%" text-anchor="start"'


def test_a_mirror_twice_is_no_mirror() -> None:
    for part in (rect(10.25, 3, 30.5, 12, fill=BLUE), line(10, 1, 30, 2), text("words", x=25, y=2)):
        assert mirrored(mirrored(part)) == part


def test_only_words_that_run_from_the_right_turn_a_chart_around() -> None:
    parts = [rect(10, 3, 30, 12, fill=BLUE)]
    assert placed(parts, ENGLISH) == parts
    assert placed(parts, ARABIC) == [mirrored(parts[0])]
