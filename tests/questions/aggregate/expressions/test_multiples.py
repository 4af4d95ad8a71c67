"""Keys of whole numbers that follow from how they are computed: all that occur are listed, and no others."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from sitr.questions.aggregate.bind import grouped
from sitr.questions.aggregate.expressions.multiples import Progression, progression
from sitr.questions.aggregate.expressions.ranges import Range
from sitr.questions.aggregate.expressions.rules import range_of
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.nodes import NamedKey
from sitr.questions.aggregate.sql import parse_condition
from tests.questions.aggregate.expressions.test_rules import VIEW, check_keys, engine, run, writer

FORMS = {
    "FLOOR(n / 5) * 5": (-5, 0, 5, 10),
    "5 * FLOOR(n / 5)": (-5, 0, 5, 10),
    "FLOOR(n / 5) * 5 + 2": (-3, 2, 7, 12),
    "CAST(FLOOR(n / 5) * 5 AS INTEGER)": (-5, 0, 5, 10),
    "CAST(n / 5 AS INTEGER) * 5": (-5, 0, 5, 10),
    "n // 5 * 5": (-5, 0, 5, 10),
    "n - n % 5": (0, 5, 10),
    "n - MOD(n, 5) - 1": (-1, 4, 9),
    "ROUND(n, -1)": (0, 10),
    "TRUNC(n, -1)": (-10, 0, 10),
    "TRUNC(n / 5) * 5": (-10, -5, 0, 5, 10),
    "CEIL(n / 5.0) * 5": (0, 5, 10, 15),
    "-(n // 5 * 5)": (-10, -5, 0, 5),
    "ABS(n // 5 * 5)": (0, 5, 10),
    "CLAMP(n // 5 * 5, 0, 5)": (0, 5),
    "GREATEST(n // 5 * 5, 5)": (5, 10),
    "COALESCE(n // 5 * 5, -5)": (-5, 0, 5, 10),
    "CASE WHEN n > 2 THEN 40 ELSE n // 5 * 5 END": (-5, 0, 5, 10, 40),
    "n // 5 * 5 % 10": (-5, 0, 5),
    "n": tuple(range(-3, 13)),
}


def typed(text: str) -> Typed:
    return VIEW.typed(parse_condition(f"({text}) IS NULL")).parts[0]


@pytest.mark.parametrize("text", FORMS)
def test_only_the_multiples_are_listed(text: str) -> None:
    of = typed(text)
    key = grouped(NamedKey("key", of.expression), VIEW)
    assert tuple(sorted(each for each in key.keys or () if isinstance(each, int))) == FORMS[text]
    check_keys(of)


@pytest.mark.parametrize("text", [text for text in FORMS if text != "n"])
def test_whatever_a_row_holds_its_key_is_listed_or_left_out(text: str) -> None:
    """A value beyond the bounds counts as the first or the last key, not as a bound between two keys."""
    key = grouped(NamedKey("key", typed(text).expression), VIEW)
    assert set(run(writer().key(key), "hostile")) <= {*(key.keys or ()), None}


def test_a_choice_among_long_lists_has_the_keys_of_its_range() -> None:
    """Hundreds of values with thousands of keys each would take seconds to list."""
    same = typed(f"CASE {' '.join('WHEN ok THEN CLAMP(m, 0, 8000)' for _ in range(200))} END")
    assert same.keys == (*range(8001), None)
    apart = " ".join(f"WHEN ok THEN CLAMP(m, {place}, 8000)" for place in range(200))
    many = typed(f"CASE {apart} END")
    assert many.keys is None
    assert many.possible == same.keys


def test_combs_hold_what_is_computed_from_their_numbers() -> None:
    chance = random.Random(3)
    for _ in range(300):
        one, other = (Progression(chance.randint(-9, 9), chance.choice([0, 1, 2, 3, 5, 10])) for _ in range(2))
        numbers = [[each.first + k * each.step for k in range(-4, 5)] for each in (one, other)]
        for a, b in product(*numbers):
            assert holds(one + other, a + b)
            assert holds(one * other, a * b)
            assert holds(-one, -a)


def holds(some: Progression, number: int) -> bool:
    return number == some.first if some.step == 0 else (number - some.first) % some.step == 0


@pytest.mark.parametrize("some", [Progression(5, 10), Progression(-3, 7), Progression(4, 0), Progression(0, 1)])
def test_the_ends_of_a_comb_are_its_outermost_numbers(some: Progression) -> None:
    for low, high in product(range(-20, 20), repeat=2):
        inside = [number for number in range(low, high + 1) if holds(some, number)]
        first, last = some.between(low, high)
        assert (first, last) == (inside[0], inside[-1]) if inside else first > last


def test_doubles_that_are_not_exact_have_no_multiples() -> None:
    """2^53 + 1 is no double: a product beyond it is rounded, and need not be a multiple."""
    assert progression(typed("n * 10")) == Progression(0, 10)
    assert progression(typed("n * 9007199254740990")) == Progression(0, 1)
    assert progression(typed("m * 10")) == Progression(0, 1)  # without bounds


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("LEAST(GREATEST(m, 0), 100)", 0, 100),
        ("GREATEST(n, 5)", 5, 12),
        ("LEAST(n, 5)", -3, 5),
        ("GREATEST(n, n - 1)", -4, 12),
        ("ROUND(n / 5)", -1, 2),
        ("ROUND(n / 2)", -2, 6),
    ],
)
def test_ranges_are_as_narrow_as_the_function_makes_them(text: str, low: int, high: int) -> None:
    assert range_of(typed(text)) == Range(Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("n IS DISTINCT FROM 3", lambda row: row["n"] != 3),
        ("n IS NOT DISTINCT FROM 3", lambda row: row["n"] == 3),
        ("n IS DISTINCT FROM NULL", lambda row: row["n"] is not None),
        ("n IS NOT DISTINCT FROM m", lambda row: row["n"] == row["m"]),
        ("t IS DISTINCT FROM w", lambda row: row["t"] != row["w"]),
        ("NULL IS NOT DISTINCT FROM NULL", lambda _: True),
    ],
)
def test_missing_values_are_equal_where_they_are_not_distinct(
    text: str, same: Callable[[dict[str, Any]], bool]
) -> None:
    connection, _ = engine()
    rows = connection.sql("SELECT n, m, t, w FROM tame").to_arrow_table().to_pylist()
    assert any(row["n"] is None for row in rows)
    assert run(writer().written(VIEW.typed(parse_condition(text))), "tame") == list(map(same, rows))


@pytest.mark.parametrize(
    ("text", "by_hand"),
    [
        ("TRUNC(x)", math.trunc),
        ("TRUNC(x, 0)", math.trunc),
        ("TRUNC(x, -1)", lambda x: math.trunc(x / 10) * 10),
        ("TRUNC(x, 1)", lambda x: math.trunc(x * 10) / 10),
    ],
)
def test_numbers_are_cut_towards_zero(text: str, by_hand: Callable[[float], float]) -> None:
    values = run(writer().written(VIEW.typed(parse_condition("x IS NULL")).parts[0]), "tame")
    expected = [None if value is None else by_hand(value) for value in values]
    assert min(value for value in values if value is not None) < 0
    assert run(writer().written(typed(text)), "tame") == expected
