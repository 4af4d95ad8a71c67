"""A dot for each data set, and as many bare ones as γ allows, rounded up."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sitr.report.chart.dots import DOTS, bare, chart
from sitr.report.chart.svg import ORANGE


@pytest.mark.parametrize("gamma", ["0", "0.001", "0.0011", "0.05", "1"])
def test_as_many_dots_stand_out_as_may_be_bare(gamma: str) -> None:
    found = chart(Fraction(gamma))
    assert found.count("<circle") == DOTS
    assert found.count(f'fill="{ORANGE}"') == bare(Fraction(gamma))
    assert bare(Fraction(gamma)) >= Fraction(gamma) * DOTS
    assert bare(Fraction(gamma)) < Fraction(gamma) * DOTS + 1
