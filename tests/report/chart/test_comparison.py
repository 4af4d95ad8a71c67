"""Pictures of theories: well-formed, a curve for each theory that can say something, and true to the numbers."""

from __future__ import annotations

import itertools
import math
from xml.etree import ElementTree as ET

import pytest

from sitr.accounting import compare as accounting
from sitr.accounting.compare import THEOREMS, Comparison, compare, named
from sitr.accounting.schedule import MOST_TIMES, Part, Schedule
from sitr.accounting.theorems.theorem import Total
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.report.chart.comparison import COLOURS, DASHES, FACTORS, MANY, Family, along_delta, along_releases, chart
from sitr.report.chart.svg import standalone
from sitr.report.words.english.english import ENGLISH

SVG = "{http://www.w3.org/2000/svg}"
QUICK = ("basic", "advanced", "halved", "optimal_equal", "zero_concentrated", "random_union")


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few theorems instead of all: a picture wants each of them at a dozen places."""
    monkeypatch.setattr(accounting, "THEOREMS", tuple(named(name) for name in QUICK))


def plan(promise: PureDP | ApproximateDP | RandomDP, *, times: int = 100) -> Comparison:
    return compare(Schedule((Part((promise,), times=times),)), delta=1e-6)


def panes(picture: ET.Element) -> list[ET.Element]:
    return [element for element in picture if element.tag == "svg"]


def texts(picture: ET.Element) -> list[str]:
    return [element.text or "" for element in picture.iter("text")]


def points(curve: ET.Element) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in curve.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def applicable(comparison: Comparison) -> list[str]:
    return [row.theorem.name for row in comparison.rows if isinstance(row.outcome, Total)]


@pytest.mark.usefixtures("_quick")
def test_both_panels_have_a_curve_for_each_theory_that_applies() -> None:
    comparison = plan(PureDP(0.1))
    picture = ET.fromstring(chart(comparison))
    assert picture.attrib["role"] == "img"
    assert [child.tag for child in picture][:2] == ["title", "desc"]
    assert len(panes(picture)) == 2
    names = applicable(comparison)
    assert len(names) == 5  # all but the union bound: nothing here is random
    for pane in panes(picture):
        curves = list(pane.iter("polyline"))
        assert len(curves) == len(names)
        assert all(len(points(curve)) > 1 for curve in curves)
    for name in names:
        assert texts(picture).count(ENGLISH.accounting.curve(name)) == 2  # at the end of each curve
        whole = [each.text or "" for each in picture.iter("title")]
        assert any(words.startswith(f"{ENGLISH.accounting.theorem(name)}: ε = ") for words in whole)


@pytest.mark.usefixtures("_quick")
def test_it_stands_alone_as_a_file_and_nothing_in_it_can_act() -> None:
    picture = standalone(chart(plan(PureDP(0.1))))
    root = ET.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    drawn = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert drawn == {"svg", "title", "desc", "style", "text", "line", "polyline"}
    assert picture.count("http") == 1  # the name of the language, which is no address


@pytest.mark.usefixtures("_quick")
def test_curves_are_true() -> None:
    """On a logarithmic axis the heights of two curves differ by the logarithm of their ratio, in the same unit."""
    comparison = plan(PureDP(0.1))
    family = along_delta(comparison)
    (pane, _) = panes(ET.fromstring(chart(comparison)))
    drawn = {points(curve)[0][1]: points(curve) for curve in pane.iter("polyline")}
    heights = [[y for _, y in curve] for _, curve in sorted(drawn.items())]
    values = sorted(([epsilon for _, epsilon in family.curve(name)] for name in applicable(comparison)), reverse=True)
    high, low = values[0][0], values[-1][0]
    unit = (heights[-1][0] - heights[0][0]) / math.log10(high / low)
    for ys, epsilons in zip(heights, values, strict=True):
        for y, epsilon in zip(ys, epsilons, strict=True):
            assert y - heights[0][0] == pytest.approx(unit * math.log10(high / epsilon), abs=0.2)


@pytest.mark.usefixtures("_quick")
def test_places_are_what_was_asked_for() -> None:
    comparison = plan(PureDP(0.1))
    delta, releases = along_delta(comparison), along_releases(comparison)
    assert delta.places == pytest.approx([1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
    assert delta.comparisons[3] is comparison
    assert releases.places == tuple(100.0 * factor for factor in FACTORS)
    assert releases.comparisons[0] is comparison
    assert releases.comparisons[2] == compare(Schedule((Part((PureDP(0.1),), times=1000),)), delta=1e-6)
    for family, falling in ((delta, True), (releases, False)):
        for name in applicable(comparison):
            values = [epsilon for _, epsilon in family.curve(name)]
            assert values == sorted(values, reverse=falling), name


def test_a_plan_of_many_kinds_is_looked_at_in_fewer_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounting, "THEOREMS", (named("basic"),))
    kinds = Schedule(tuple(Part((PureDP(0.01 * i),)) for i in range(1, MANY + 2)))
    for several, places in ((kinds, (3, 3)), (Schedule(kinds.parts[1:]), (7, 5))):
        comparison = compare(several, delta=1e-6)
        families = along_delta(comparison), along_releases(comparison)
        assert tuple(len(family.places) for family in families) == places
        assert all(comparison in family.comparisons for family in families)
        ends = [(family.places[0], family.places[-1]) for family in families]
        assert ends == [pytest.approx((1e-9, 1e-3)), (several.releases, 100 * several.releases)]


@pytest.mark.usefixtures("_quick")
def test_a_theory_is_drawn_only_where_it_can_speak() -> None:
    comparison = plan(ApproximateDP(0.1, 1e-9))
    assert {place for place, _ in along_delta(comparison).curve("basic")} == {1e-6, 1e-5, 1e-4, 1e-3} | {1e-7}
    assert along_delta(comparison).curve("zero_concentrated") == []
    assert not [words for words in texts(ET.fromstring(chart(comparison))) if words.startswith("zero-concentrated")]


@pytest.mark.usefixtures("_quick")
def test_a_single_point_is_drawn_as_a_dot() -> None:
    comparison = plan(ApproximateDP(0.1, 9e-7), times=1)
    (_, pane) = panes(ET.fromstring(chart(comparison)))
    dots = [points(curve) for curve in pane.iter("polyline")]
    assert all(len(dot) == 2 and dot[0] == dot[1] for dot in dots)


@pytest.mark.usefixtures("_quick")
def test_random_plans_carry_gamma() -> None:
    comparison = plan(RandomDP(PureDP(0.1), 1e-4), times=10)
    picture = ET.fromstring(chart(comparison))
    told = "Every ε here holds except for a fraction γ = 0.001 of data, of up to 0.1 with more releases."
    assert told in " ".join(texts(picture))
    assert (picture[1].text or "").startswith(told)


@pytest.mark.usefixtures("_quick")
def test_the_tightest_is_thick_and_lies_below_the_others() -> None:
    picture = ET.fromstring(chart(plan(PureDP(0.1))))
    for pane in panes(picture):
        widths = [curve.attrib["stroke-width"] for curve in pane.iter("polyline")]
        assert widths == ["5", "2", "2", "2", "2"]
    names = [
        each.text for each in picture.iter("text") if each.get("font-weight") == "650" and each.get("font-size") == "11"
    ]
    assert names == ["optimal, equal"] * 2
    assert "(thick) is optimal, equal steps (KOV): ε = 4.775." in " ".join(texts(picture))


@pytest.mark.usefixtures("_quick")
def test_the_given_delta_is_marked_where_it_is() -> None:
    picture = ET.fromstring(chart(plan(PureDP(0.1))))
    (mark,) = (each for each in picture.iter("line") if each.get("stroke-dasharray") == "2 3")
    assert mark.attrib["x1"] == mark.attrib["x2"]
    (name,) = (each for each in picture.iter("text") if each.text == "δ = 10⁻⁶")
    assert name.attrib["x"] == mark.attrib["x1"]
    (left, right) = (float(panes(picture)[0].attrib[side].rstrip("%")) for side in ("x", "width"))
    assert float(mark.attrib["x1"].rstrip("%")) == pytest.approx(left + right / 2, abs=0.01)  # 10⁻⁹ to 10⁻³


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("promise", [PureDP(0.0), PureDP(1e-9), PureDP(500.0), ApproximateDP(1.0, 1.0)], ids=repr)
def test_extreme_plans_have_a_picture(promise: PureDP | ApproximateDP) -> None:
    picture = chart(plan(promise, times=1))
    assert "nan" not in picture
    assert "inf" not in picture
    assert len(panes(ET.fromstring(picture))) == 2


def test_a_plan_that_cannot_be_longer_has_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounting, "THEOREMS", (named("basic"), named("halved")))
    comparison = plan(PureDP(0.1), times=MOST_TIMES)
    assert along_releases(comparison).places == (MOST_TIMES,)
    assert len(panes(ET.fromstring(chart(comparison)))) == 2


def test_no_two_theories_look_the_same() -> None:
    styles = list(itertools.product(COLOURS, DASHES))
    assert len(set(styles)) == len(styles) >= len(THEOREMS)


def test_colours_stand_out_on_white_and_on_black() -> None:
    for colour in COLOURS:
        channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) > 3
        assert (luminance + 0.05) / 0.05 > 3


@pytest.mark.slow
def test_all_theories_in_one_picture() -> None:
    comparison = plan(PureDP(0.1))
    picture = ET.fromstring(chart(comparison))
    assert len(list(panes(picture)[0].iter("polyline"))) == len(applicable(comparison)) == len(THEOREMS) - 1
    assert isinstance(along_delta(comparison), Family)
