"""Strokes are well-formed, harmless and where they were asked to be."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from sitr.report.chart.svg import line, polyline, svg, text, window


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
