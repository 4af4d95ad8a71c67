"""The picture of claimed and verified curves: the verified one is an upper bound, and a broken claim is crossed."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from sitr.audit.exact.mechanism import finite
from sitr.audit.exact.picture import claimed_curve, picture, verified_curve
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.promise import Promise
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.report.words.arabic.arabic import ARABIC

FLIP = finite([["3/4", "1/4"], ["1/4", "3/4"]])
"""Randomized response with e^ε = 3."""

PLACES = np.linspace(0.001, 0.999, 200)


def at(curve: list[tuple[float, float]]) -> np.ndarray:
    xs, ys = np.transpose(curve)
    found: np.ndarray = np.interp(PLACES, xs, ys)
    return found


def crossed(promise: Promise) -> bool:
    """Whether the verified curve lies above the claimed one anywhere."""
    above, below = at(verified_curve(FLIP)), at(claimed_curve(promise))
    return bool(np.any(above > below + 1e-6))


def test_the_verified_curve_is_that_of_randomized_response() -> None:
    found = at(verified_curve(FLIP))
    assert found == pytest.approx(np.minimum(3 * PLACES, 1 - (1 - PLACES) / 3), abs=2e-3)
    assert (found >= np.minimum(3 * PLACES, 1 - (1 - PLACES) / 3) - 2e-3).all()


@pytest.mark.parametrize(
    ("promise", "broken"),
    [
        (PureDP(1.1), False),
        (PureDP(1.0), True),
        (ApproximateDP(0.0, 0.51), False),
        (ApproximateDP(0.0, 0.45), True),
        (GaussianDP(1.36), False),
        (GaussianDP(1.2), True),
        (ZeroConcentratedDP(0.61), False),
    ],
)
def test_a_claim_is_crossed_where_it_is_broken(promise: Promise, broken: bool) -> None:
    assert crossed(promise) is broken
    assert FLIP.verify(promise).verdict.value == ("broken" if broken else "kept")


def test_a_random_claim_bounds_no_test() -> None:
    assert claimed_curve(RandomDP(PureDP(1.0), 0.1)) == []
    assert "random" not in picture(FLIP, "random(pure(1), 0.1)")


@pytest.mark.parametrize("claim", [None, "pure(1)", "gaussian(1)"])
def test_it_is_a_picture_with_its_legend(claim: str | None) -> None:
    drawn = picture(FLIP, claim)
    assert ET.fromstring(drawn).tag.endswith("svg")
    assert claim is None or claim in drawn
    assert drawn.count("<polyline") == (2 if claim is None else 3)


def test_it_is_drawn_from_right_to_left_in_arabic() -> None:
    assert "rtl" in picture(FLIP, "pure(1)", words=ARABIC)
    assert "rtl" not in picture(FLIP, "pure(1)")
