"""A δ must be well below 1/N: a mechanism that exposes δ·N people outright keeps it."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pytest

import sitr
from sitr.errors import LargeDelta
from sitr.flavors.exposure import exposed, warn_of_delta
from sitr.flavors.promise import Promise

PROMISES = [
    sitr.ApproximateDP(1.0, 1e-4),
    sitr.ApproximateZeroConcentratedDP(0.1, 1e-4),
    sitr.RandomDP(sitr.ApproximateDP(1.0, 1e-4), 0.1),
]


def test_exposing_each_person_with_probability_delta_keeps_the_promise() -> None:
    """P(published | present) = δ, P(published | absent) = 0: H_{e^0} = δ, and no smaller δ would do."""
    delta = 1e-4
    present, absent = {"published": delta, "silence": 1 - delta}, {"published": 0.0, "silence": 1.0}
    assert sum(max(0.0, present[z] - absent[z]) for z in present) == pytest.approx(delta)
    assert exposed(sitr.ApproximateDP(0.0, delta), people=40_000) == 4.0


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
def test_warned(promise: Promise) -> None:
    with pytest.warns(LargeDelta, match=r"1 in 1,000, .* exposes 0\.1 of them .* a δ below 0\.0001\."):
        warn_of_delta(promise, people=1_000)


@pytest.mark.parametrize("people", [7, 100, 1_000, 1_500, 40_000, 123_456_789])
def test_the_advice_is_enough(people: int) -> None:
    with pytest.warns(LargeDelta) as warned:
        warn_of_delta(sitr.ApproximateDP(1.0, 0.5), people=people)
    advised = float(str(warned[0].message).split()[-1].rstrip("."))
    assert 0.5 * 0.1 / people < advised <= 0.1 / people
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_delta(sitr.ApproximateDP(1.0, advised * 0.999), people=people)


@pytest.mark.parametrize("promise", [*PROMISES, sitr.PureDP(5.0), sitr.ZeroConcentratedDP(0.5)], ids=repr)
def test_not_warned(promise: Promise) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_delta(promise, people=900)


def test_a_budget_for_a_public_number_of_people(tmp_path: Path) -> None:
    rows = pa.table({"x": list(range(100))})
    counted = sitr.protect(rows, name="t", unit=sitr.Row(), relation=sitr.Relation.REPLACE_ONE)
    with pytest.warns(LargeDelta, match="1 in 100, the number of people"):
        counted.budget(sitr.ApproximateDP(1.0, 0.01), ledger=tmp_path / "a.db")
    secret = sitr.protect(rows, name="t", unit=sitr.Row())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the number of people is not public: a warning would reveal it
        secret.budget(sitr.ApproximateDP(1.0, 0.01), ledger=tmp_path / "b.db")
