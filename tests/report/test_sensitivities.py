"""Ways to know a sensitivity: the table, the dictionary and the picture."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree as ET

from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.notation import parse
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.questions.statistic.ways import Impossible, Outcome
from sitr.report import sensitivities
from sitr.report.chart.sensitivities import chart
from sitr.report.text.terminal import as_text

WAYS = (
    Outcome("global", PureDP(1.0), Fraction(300)),
    Outcome("propose-test-release", ApproximateDP(1.0, 1e-6), Fraction(3), refused=0.25),
    Outcome("random, disjoint pairs", RandomDP(PureDP(1.0), 0.05), Fraction(1, 3)),
    Impossible("random, all pairs", "Too few people."),
)


def test_the_smallest_error_comes_first_and_is_rounded_up():
    told = as_text(sensitivities.render(WAYS))
    assert told.index("± 0.34") < told.index("± 3") < told.index("± 300")
    assert "no answer: 0.25 of the time" in told
    assert "random, all pairs — Too few people." in told
    assert "protects a random newcomer and not you" in told
    assert "it protects nobody" in told
    assert "newcomer" not in as_text(sensitivities.render(WAYS[:2]))


def test_a_way_that_hardly_ever_answers_comes_last():
    never = Outcome("propose-test-release", ApproximateDP(1.0, 1e-6), Fraction(1, 9), refused=0.9999)
    assert sensitivities.ranked((never, WAYS[0]))[-1] == never
    assert "no answer: nearly always" in as_text(sensitivities.render((never, WAYS[0])))


def test_machines_read_exact_numbers():
    told = sensitivities.to_dict(WAYS)
    ways = told["ways"]
    assert isinstance(ways, list)
    assert [parse(way["promise"]) for way in ways] == [WAYS[2].promise, WAYS[1].promise, WAYS[0].promise]
    assert ways[0]["error"] >= Fraction(1, 3)
    assert told["impossible"] == {"random, all pairs": "Too few people."}
    assert told["private"] is False


def test_the_picture_has_a_bar_for_every_way():
    drawn = ET.fromstring(chart(WAYS, title="The median"))
    widths = [float(bar.attrib["x2"].rstrip("%")) for bar in drawn.iter("line") if bar.get("stroke-width") == "12"]
    bars = widths[1::2]  # every other one is the grey ground
    assert bars == sorted(bars)
    assert len(bars) == 3
    assert 1.0 < bars[0] < bars[2] <= 99.0


def test_a_way_that_is_refused_has_an_empty_bar_and_its_reason():
    never = Outcome("smooth, Laplace", ApproximateDP(1.0, 1e-6), Fraction(1, 9), refused=0.9999)
    drawn = ET.fromstring(chart((*WAYS, never), title="The median"))
    frames = [line for line in drawn.iter("line") if line.get("stroke-dasharray")]
    words = [each.text or "" for each in drawn.iter("text")]
    assert len(frames) == 2 * 2  # above and below each empty bar
    assert words[words.index("random, all pairs") + 1] == "Too few people."
    assert "no answer: 0.25 of the time" in " ".join(words)
    assert "no answer: nearly always" in " ".join(words)
    assert "random, all pairs: Too few people." in (drawn[1].text or "")
    solid = [line for line in drawn.iter("line") if line.get("stroke-width") == "12"]
    assert len(solid) == 2 * 3


def test_refusals_alone_and_errors_of_zero_have_a_picture():
    assert "Too few people." in chart(WAYS[-1:], title="None")
    none = Outcome("global", PureDP(1.0), Fraction(0))
    assert "nan" not in chart((none, WAYS[1]), title="Zero")


def test_equal_errors_are_drawn_too():
    assert "global" in chart(WAYS[:1], title="One")
