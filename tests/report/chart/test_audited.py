"""Pictures of audits: both curves and both bounds are drawn, in both languages."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from sitr.audit.empirical.curves import allowed
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.report.chart.audited import bounds_chart, chart
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH

AUDITED = ((0.0, 0.0), (0.2, 0.6), (1.0, 1.0))


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproximateDP(1.0, 0.1), GaussianDP(1.0), ZeroConcentratedDP(0.5)])
def test_what_a_claim_allows_is_a_rising_concave_curve(claim: Promise) -> None:
    points = allowed(claim)
    assert points[0][0] == 0.0
    assert points[-1] == (1.0, 1.0)
    assert all(y <= other + 1e-12 for (_, y), (_, other) in pairwise(points))
    assert all(y >= x - 1e-12 for x, y in points)


def test_the_curve_of_a_gaussian_claim_is_below_the_curve_of_its_moments() -> None:
    """ρ = μ²/2 allows every test that μ allows."""
    bell, moments = dict(allowed(GaussianDP(1.0))), allowed(ZeroConcentratedDP(0.5))
    for x, y in bell.items():
        (x0, y0), (x1, y1) = next((one, other) for one, other in pairwise(moments) if one[0] <= x <= other[0])
        bound = y0 if x1 == x0 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        assert y <= bound + 1e-9


@pytest.mark.parametrize("words", [ENGLISH, ARABIC])
def test_both_curves_are_drawn_with_their_names(words: object) -> None:
    drawn = chart(allowed(PureDP(1.0)), AUDITED, broken=True, words=words)  # type: ignore[arg-type]
    assert drawn.count("<polyline") == 3
    for name in words.audit.curves():  # type: ignore[attr-defined]
        assert name in drawn
    assert words.audit.described(True) in drawn  # type: ignore[attr-defined]


def test_bounds_are_drawn_to_scale() -> None:
    drawn = bounds_chart(2.0, lower=3.0, upper=4.0, delta=1e-5, words=ENGLISH)
    bars = [
        tuple(map(float, found)) for found in re.findall(r'<rect x="([\d.]+)%" y="[\d.]+" width="([\d.]+)%"', drawn)
    ]
    (start, width), (_, audited) = bars
    assert audited == pytest.approx(2 * width, rel=0.01)
    assert start - 1.0 == pytest.approx(3 * width, rel=0.01)
    assert "3 – 4" in drawn
    assert "≥ 2" in drawn


def test_without_an_accountant_there_is_one_bar() -> None:
    assert bounds_chart(2.0, lower=None, upper=None, delta=0.0, words=ENGLISH).count("<rect") == 1
    assert "≤ 4" in bounds_chart(2.0, lower=None, upper=4.0, delta=0.0, words=ENGLISH)
