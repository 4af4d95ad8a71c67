from __future__ import annotations

import pytest

from sitr.errors import InvalidPromise
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.notation import parse, write
from sitr.flavors.promise import LARGEST
from sitr.flavors.pure import PureDP
from sitr.flavors.uncapped import odometer
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.report.words.notation import notation

ALL = [odometer("pure"), odometer("zcdp"), odometer("approximate", 1e-6), odometer("zcdp", delta=1e-6)]


@pytest.mark.parametrize("budget", ALL, ids=write)
def test_reading_and_writing_are_inverse_and_show_no_huge_number(budget):
    assert parse(write(budget)) == budget
    assert budget.uncapped
    assert "308" not in write(budget)
    assert "308" not in notation(budget)
    assert "∞" in notation(budget)


@pytest.mark.parametrize(
    "capped",
    [PureDP(1.0), PureDP(LARGEST / 2), ApproximateDP(1.0, 1e-6), ApproximateDP(LARGEST, 1.0), ZeroConcentratedDP(1.0)],
)
def test_every_other_budget_has_a_cap_and_its_usual_notation(capped):
    assert not capped.uncapped
    assert "odometer" not in write(capped)
    assert parse(write(capped)) == capped


def test_a_delta_is_part_of_the_budget():
    assert odometer("zcdp", delta=1e-6) == ApproximateZeroConcentratedDP(LARGEST, 1e-6)
    assert odometer("approximate", delta=1e-6) == ApproximateDP(LARGEST, 1e-6)


@pytest.mark.parametrize(
    "text",
    ["odometer(pure, 1e-6)", "odometer(approximate)", "odometer(zcdp, 0)", "odometer(zcdp, 1)", "odometer(renyi)"],
)
def test_other_odometers_are_refused_in_words(text):
    with pytest.raises(InvalidPromise, match="a pure odometer has none"):
        parse(text)


@pytest.mark.parametrize("text", ["odometer()", "odometer('pure')", "odometer(zcdp, 1e-6, 2)", "odometer(zcdp, d=1)"])
def test_what_is_no_odometer_is_no_promise(text):
    with pytest.raises(InvalidPromise):
        parse(text)
