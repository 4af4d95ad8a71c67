"""COLUMN=VALUE is read as it is meant, or refused with an example."""

from __future__ import annotations

from datetime import datetime

import pytest

from sitr.cli.options import EXAMPLES, bounds_of, interval, key_of, named, number
from sitr.dataset.schema import Kind
from sitr.errors import BadUsage


@pytest.mark.parametrize(
    ("text", "value"), [("5", 5), ("-5", -5), ("+5", 5), ("0.5", 0.5), ("1e3", 1000.0), (" 7 ", 7), ("-1e-3", -0.001)]
)
def test_numbers(text: str, value: float) -> None:
    assert number(text) == value
    assert type(number(text)) is type(value)


@pytest.mark.parametrize(
    ("text", "value"), [("-5:5", (-5, 5)), ("0.5:1e3", (0.5, 1000.0)), ("-2:-1", (-2, -1)), ("0:5000", (0, 5000))]
)
def test_intervals(text: str, value: tuple[float, float]) -> None:
    assert interval(text) == value


@pytest.mark.parametrize("text", ["", "5", "1:2:3", "low:high", ":", "1-2", "0..5"])
def test_what_is_no_interval(text: str) -> None:
    with pytest.raises(ValueError, match=r"unpack|convert"):
        interval(text)


def test_only_the_first_equals_sign_divides() -> None:
    assert named("--keys", ["ward=A=1,B", "b="], lambda _, text: text) == {"ward": "A=1,B", "b": ""}
    assert named("--keys", None, lambda _, text: text) == {}


@pytest.mark.parametrize("items", [["cost"], ["=0:5"], [""], ["cost=0:5", "cost=0:6"], ["cost=low:high"]])
def test_refusals_show_an_example(items: list[str]) -> None:
    with pytest.raises(BadUsage) as refusal:
        named("--bounds", items, lambda _, text: interval(text))
    assert EXAMPLES["--bounds"] in str(refusal.value)
    assert repr(items[-1]) in refusal.value.given


def test_bounds_and_keys_of_moments_are_times() -> None:
    assert bounds_of("2024-01-01:2024-12-31T23:00", Kind.ZONED) == ("2024-01-01", "2024-12-31T23:00")
    assert key_of("2024-01-01", Kind.ZONED, column="at") == datetime(2024, 1, 1)  # noqa: DTZ001
