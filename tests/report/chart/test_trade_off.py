"""The trade-off curve as a picture: it says in words what it shows."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np

from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.report.chart.trade_off import chart
from sitr.report.headline import Headline
from sitr.report.views import views
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH

LOSS = Loss.of(GaussianLaw(1.0))
VIEWS = views(Headline.of(ZeroConcentratedDP(0.5), loss=lambda: LOSS), LOSS)


def curves(source: str) -> list[list[tuple[float, float]]]:
    found = re.findall(r'<polyline points="([^"]*)"', source)
    return [[(float(x), float(y)) for x, y in (pair.split(",") for pair in one.split())] for one in found]


def test_the_picture_is_described_in_words_and_has_axes() -> None:
    assert VIEWS.detected is not None
    picture = chart(VIEWS)
    texts = [each.text for each in ET.fromstring(picture).iter("text")]
    assert ENGLISH.certificate.attack(VIEWS.detected) in picture
    assert {"0%", "50%", "100%", *ENGLISH.certificate.trade_off()[1:]} <= {*texts}


def test_where_rows_are_protected_alone_nothing_is_said_about_people() -> None:
    assert VIEWS.detected is not None
    picture = chart(VIEWS, rows=True)
    assert "of the rows in the data." in picture
    assert "people" not in picture
    for words in (ENGLISH, ARABIC):
        assert words.certificate.attack(VIEWS.detected, rows=True) != words.certificate.attack(VIEWS.detected)


def test_the_best_attack_is_drawn_above_blind_guessing() -> None:
    blind, best = curves(chart(VIEWS))
    assert blind == [(0.0, 240.0), (1000.0, 0.0)]
    assert all(y <= 240 * (1 - x / 1000) + 0.1 for x, y in best)
    assert [y for _, y in best] == sorted((y for _, y in best), reverse=True)


def test_a_weaker_promise_lifts_the_curve() -> None:
    drawn = [curves(chart(views(Headline.of(PureDP(epsilon)), None)))[1] for epsilon in (0.5, 1.0, 2.0)]
    heights = [float(np.interp(250.0, [x for x, _ in curve], [y for _, y in curve])) for curve in drawn]
    assert heights == sorted({*heights}, reverse=True)  # y grows downwards
