"""Two answers side by side, and answers that were paid for before: both are free."""

from __future__ import annotations

import math
from typing import Any

from sitr.errors import InvalidUse
from sitr.ledger.entry import Entry
from sitr.ledger.proposals import Proposal
from sitr.session.answer import Answer

EACH = 0.975
"""The confidence of each of two intervals, so that both hold together with 95% probability, however they depend."""


def similar(asked: Proposal, entries: list[Entry]) -> list[tuple[Entry, bool]]:
    """The charges for the same question, newest first, and whether the answer to each can be had instead, for free.

    It can if the plan, with its price, and the description are the same.
    """
    found = sorted((each for each in entries if each.question == asked.question), key=lambda each: -each.number)
    wanted = (asked.plan, asked.description)
    return [(each, bool(asked.plan) and (each.plan, each.description) == wanted) for each in found]


def compared(one: Answer, other: Answer) -> dict[str, Any]:
    """The rows and columns that two answers share, with the difference of each number and its 95% interval.

    The ends of an interval of the difference are those of the two intervals: low − high and high − low. Both answers
    must have the same columns that are no numbers with noise.
    """
    first, second = (_numbers(each) for each in (one, other))
    if first[0] != second[0] or not (shared := [name for name in first[1] if name in second[1]]):
        raise InvalidUse(
            given="These answers have no rows and columns in common.",
            do="Compare answers with the same groups and at least one column of the same name.",
        )
    there = second[2]
    rows = [
        {"key": dict(zip(first[0], key, strict=True)), "column": name, **_difference(values[name], there[key][name])}
        for key, values in first[2].items()
        if key in there
        for name in shared
    ]
    return {"confidence": 0.95, "keys": list(first[0]), "columns": shared, "rows": rows}


Numbers = dict[str, tuple[Any, Any, Any]]
"""A number by the name of its column, with the ends of its interval."""


def _numbers(answer: Answer) -> tuple[tuple[str, ...], list[str], dict[tuple[Any, ...], Numbers]]:
    """The names of the keys, the names of the numbers, and the numbers of each row."""
    table = answer.intervals(confidence=EACH)
    names = [name for name in table.column_names if f"{name}_low" in table.column_names]
    ends = {f"{name}_{end}" for name in names for end in ("low", "high")}
    keys = tuple(name for name in table.column_names if name not in names and name not in ends)
    rows = {
        tuple(_plain(row[name]) for name in keys): {
            name: (row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in names
        }
        for row in table.to_pylist()
    }
    return keys, names, rows


def _difference(one: tuple[Any, Any, Any], other: tuple[Any, Any, Any]) -> dict[str, Any]:
    (value, low, high), (against, below, above) = one, other
    return {
        "first": _number(value),
        "second": _number(against),
        "difference": _minus(value, against),
        "low": _minus(low, above),
        "high": _minus(high, below),
    }


def _minus(one: Any, other: Any) -> float | None:
    return None if one is None or other is None else _number(one - other)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)
