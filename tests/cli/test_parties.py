"""`sitr demo --parties`, with real processes, in both languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Sitr = Callable[..., Any]


def test_json(sitr: Sitr) -> None:
    told = sitr("demo", "--parties", 3, "--json").told()
    assert told["delivered"] == [1, 2]
    assert told["promise"]["notation"] == "computational(pure(epsilon=0.5))"
    assert (told["sums"][0] + told["sums"][1] + told["sums"][2] - told["total"]) % 2 ** told["bits"] == 0
    # 150 + 261, with noise of two parties, each a whole share of scale 2: beyond 100 once in e^40.
    assert abs(told["total"] - 411) < 100


def test_arabic(sitr: Sitr) -> None:
    told = sitr("--lang", "ar", "demo", "--parties", 3)
    assert told.code == 0
    assert "المستشفى" in told.out
    assert "IND-CDP" in told.out
    assert "hospital" not in told.out


def test_two_parties_are_too_few(sitr: Sitr) -> None:
    assert sitr("demo", "--parties", 2).code != 0
