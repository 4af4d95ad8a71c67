"""What is written down comes back as it was, and only values of Sitr can be written or read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitr.dataset.cells import Rule
from sitr.errors import InvalidUse
from sitr.flavors.pure import PureDP
from sitr.mechanisms.laplace import Laplace
from sitr.session.plain import built, plain, text

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.fractions()
    | st.dates()
    | st.datetimes(timezones=st.just(UTC))
    | st.sampled_from(Rule)
    | st.floats(0, 9).map(PureDP)
    | st.integers(1, 9).map(Laplace),
    lambda inner: st.lists(inner).map(tuple),
)


@given(VALUES)
def test_values_come_back(value: Any) -> None:
    found = built(json.loads(text(value)))
    assert found == value
    assert type(found) is type(value)
    assert text(found) == text(value)


@pytest.mark.parametrize(
    "value",
    [
        np.array([[1.5, -0.0], [np.inf, 1e-320]]),
        np.array([], dtype=np.int64),
        np.array([2**63 - 1, -(2**63)]),
        np.array([True, False]),
        np.array([2**64 - 1], dtype=np.uint64),
        np.zeros((2, 0, 3)),
        np.array([10**40, -1], dtype=object),
    ],
    ids=str,
)
def test_arrays_come_back_bit_by_bit(value: Any) -> None:
    found = built(json.loads(text(value)))
    assert (found.dtype, found.shape) == (value.dtype, value.shape)
    assert found.tolist() == value.tolist()
    if value.dtype != object:
        assert found.tobytes() == value.tobytes()


def test_different_values_have_different_texts() -> None:
    values = [
        1,
        1.0,
        "1",
        True,
        (1,),
        ((1,),),
        Fraction(1),
        date(2024, 1, 1),
        "2024-01-01",
        np.array([1]),
        None,
        "None",
    ]
    values += [np.array([1.0]), np.array([[1]]), PureDP(1), Rule.CELL, Rule.DROP, datetime(2024, 1, 1, tzinfo=UTC)]
    assert len({text(value) for value in values}) == len(values)


@dataclass(frozen=True)
class Mine:
    """A class that is not Sitr's."""

    value: int = 1


class Choice(Enum):
    """An enumeration that is not Sitr's."""

    ONE = 1


@pytest.mark.parametrize("value", [Mine(), Choice.ONE, len, lambda: 1, {"a": 1}, {1}, object(), 1j, np.array(["a"])])
def test_what_is_not_of_sitr_has_no_text(value: Any) -> None:
    for held in (value, (1, value)):
        with pytest.raises(InvalidUse, match="plain values and values of Sitr"):
            plain(held)


def test_a_class_that_passes_for_one_of_sitr_has_no_text() -> None:
    passing: Any = dataclass(frozen=True)(type("PureDP", (), {"__module__": "sitr.flavors.pure"}))
    with pytest.raises(InvalidUse):
        plain(passing())


@pytest.mark.parametrize(
    "content",
    [
        {"os.system": {"command": "ls"}},
        {"subprocess.Popen": {"args": "ls"}},
        {"session.dataset.protect": {"source": "x"}},
        {"session.desk.Desk": {}},
        {"dataset.description.save": {"description": 1, "path": "x"}},
        {"dataset.schema.describe": {}},
        {"ledger.sql.SqlLedger": {"where": "x.db"}},
        {"questions..os.system": {}},
        {"enum": ["os.system", "x"]},
        {"flavors.pure.PureDP": {"epsilon": 1, "more": 2}},
        {"flavors.pure.PureDP": {"epsilon": -1}},
        {"one": {}, "two": {}},
        {},
    ],
    ids=str,
)
def test_a_file_can_name_only_values_of_sitr(content: Any) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError, ImportError)):
        built(content)


@pytest.mark.parametrize(
    "content",
    [{"Fraction": "1e100000000"}, {"Fraction": "0.5"}, {"Fraction": 3}, {"array": ["S900000000", [9], ["a"] * 9]}],
    ids=str,
)
def test_what_a_short_text_would_make_large_is_refused(content: Any) -> None:
    with pytest.raises((ValueError, AttributeError)):
        built(content)
    assert built({"Fraction": "-1/3"}) == Fraction(-1, 3)
