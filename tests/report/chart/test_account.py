"""The pictures of a loss: curves of true numbers, within their panes, for every kind of loss."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from sitr.flavors.gaussian import GaussianDP
from sitr.loss.forms.finite import response
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.forms.laplace import LaplaceLaw
from sitr.loss.forms.sampled import PoissonLaw
from sitr.loss.loss import Loss
from sitr.report.chart.account import Panel, along_epsilon, along_releases, chart
from sitr.report.chart.svg import standalone

NOISE = Loss.of(GaussianLaw(1.0))
RUN = Loss.of(PoissonLaw(GaussianLaw(1.0), 0.01), 1000)


def test_delta_at_each_epsilon():
    panel = along_epsilon(NOISE, delta=1e-6)
    assert len(panel.over) == 12
    for (low, delta), (high, same) in zip(panel.under, panel.over, strict=True):
        assert delta == same
        truth = GaussianDP(1.0).to_approximate(delta=delta).epsilon
        assert low <= truth * (1 + 1e-9)
        assert truth <= high * (1 + 1e-9)


def test_small_deltas_are_reached():
    panel = along_epsilon(NOISE, delta=1e-50)
    assert min(y for _, y in panel.over) < 1e-50
    assert len(panel.over) <= 30


def test_epsilon_along_equal_releases_ends_at_all_of_them():
    panel = along_releases(RUN, delta=1e-5)
    assert panel.across == "releases"
    assert panel.over[-1][0] == 1000
    assert panel.over[-1][1] == RUN.epsilon(delta=1e-5, relative=0.01).upper
    heights = [y for _, y in panel.over]
    assert heights == sorted(heights)


def test_a_curve_that_ends_says_so():
    exposed = Loss.of(response(0.1, infinite=1e-4), 10)
    assert along_epsilon(exposed, delta=1e-2).across == "ε, as far as ε is finite"
    assert along_releases(exposed, delta=5e-4).across == "releases, as far as ε is finite"
    assert along_releases(exposed, delta=1e-2).across == "releases"


def test_different_releases_are_repeated_as_a_whole():
    mixed = Loss.of(LaplaceLaw(0.1), 3) + Loss.of(GaussianLaw(0.1))
    panel = along_releases(mixed, delta=1e-5)
    assert panel.across == "repetitions of the whole"
    assert [x for x, _ in panel.over] == [float(times) for times in range(1, 13)]


@pytest.mark.parametrize(
    ("loss", "delta"),
    [
        (NOISE, 1e-6),
        (RUN, 1e-5),
        (Loss(()), 1e-5),
        (Loss.of(response(1.0, infinite=1e-3)), 1e-2),
        (Loss.of(response(1.0)), 0.0),
        (Loss.of(LaplaceLaw(1.0), 2), 0.5),
    ],
)
def test_every_loss_has_a_picture(loss, delta):
    root = ET.fromstring(standalone(chart(loss, delta=delta)))
    title = " ".join(node.text or "" for node in root.iter() if node.get("font-weight") == "650")
    assert title.startswith("δ at each ε")
    assert ("ε by number of releases" in title) == (delta > 0)
    for line in (node for node in root.iter() if node.tag.endswith("polyline")):
        for place in line.get("points", "").split():
            x, y = map(float, place.split(","))
            assert -0.1 <= x <= 1000.1
            assert -0.1 <= y <= 220.1


def test_ticks_are_powers_of_ten_or_round_numbers():
    panel = Panel("", "", "", ((1.0, 1e-3),), ((1.0, 1e-3), (2.0, 1e-9)), logarithmic=True)
    assert [word for _, word in panel._upright_ticks()] == ["10⁻⁹", "10⁻⁷", "10⁻⁵", "10⁻³"]


def test_the_given_delta_is_marked_where_it_is() -> None:
    root = ET.fromstring(chart(NOISE, delta=1e-6))
    (mark,) = (node for node in root.iter("line") if node.get("stroke-dasharray"))
    words = {node.text: float(node.attrib["y"]) for node in root.iter("text")}
    assert mark.attrib["y1"] == mark.attrib["y2"]
    assert float(mark.attrib["y1"]) == pytest.approx(words["10⁻⁶"] - 4, abs=0.01)  # the number beside the axis
    assert "δ = 10⁻⁶" in words
