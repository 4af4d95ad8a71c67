from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from sitr.accounting.theorems.theorem import Adaptive, Total, above_zero, at_most
from sitr.accounting.views import Inapplicable
from sitr.numbers import exact


def test_an_upper_bound_alone_says_so():
    bounds = at_most(arb(1) / 3)
    assert bounds.lower == 0.0
    assert not bounds.two_sided
    assert Fraction(1, 3) <= exact(bounds.upper) <= Fraction(1, 3) + Fraction(1, 10**15)
    assert bounds.width == bounds.upper


def test_no_total_is_negative():
    assert at_most(arb(-1)) == Total(0.0, 0.0, two_sided=False)


@pytest.mark.parametrize("epsilon", [arb(10) ** 400, arb("nan"), arb(0, "1e400")])
def test_what_no_float_can_hold_is_refused(epsilon):
    with pytest.raises(Inapplicable, match="larger than any number"):
        at_most(epsilon)


@pytest.mark.parametrize(
    ("order", "written"), [(12.3456789, "12.3456"), (2.0, "2"), (1.0000123456789, "1.0000123456"), (1e6 + 1, "1000001")]
)
def test_an_order_is_written_so_that_its_distance_from_1_has_six_digits(order, written):
    adaptive = Adaptive.at_order(order)
    assert adaptive == Adaptive(False, f"if order {written} is fixed in advance")
    assert float(written) - 1 == pytest.approx(order - 1, rel=1e-5)


def test_some_theorems_need_a_delta():
    assert above_zero(1e-6) == 1e-6
    with pytest.raises(Inapplicable, match="δ above 0"):
        above_zero(0.0)


def test_an_order_is_named_from_below() -> None:
    # At an order above the last of a table there is no bound at all.
    assert Adaptive.at_order(2.0000051).condition == "if order 2 is fixed in advance"
    assert Adaptive.at_order(7.5032499).condition == "if order 7.50324 is fixed in advance"
