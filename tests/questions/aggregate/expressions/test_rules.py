"""What is said about an expression before any row is read holds on every row, and no row makes it fail.

Expressions are drawn at random from the whole grammar and run on DuckDB. The ranges are checked on rows whose columns
lie in their declared bounds; that nothing fails, on rows with values that nobody expects.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.expressions import Expressions
from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import SitrError
from sitr.questions.aggregate.bind import GroupKey, grouped
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name
from sitr.questions.aggregate.expressions.ranges import Range
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.rules import range_of
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, ordinal
from sitr.questions.aggregate.nodes import NamedKey
from sitr.questions.aggregate.sql import parse_condition
from sitr.questions.aggregate.term import granules_of
from sitr.questions.aggregate.view import View
from tests.questions.aggregate import strategies

VIEW = View.of(strategies.table())
INEXACT = ("/", "SQRT", "LN", "LOG10", "EXP", "CAST", "//", "%")
STEPPED = ("FLOOR", "CEIL", "ROUND", "SIGN", "//", "%", "CAST")
ROUNDING = Fraction(1, 10**6)
"""A double is off by 2⁻⁵³ of its size after each operation, and a few dozen operations, one of which may be EXP of a
number below 710, make this less than 10⁻⁹ of the largest number that occurs on the way."""


@cache
def engine() -> tuple[duckdb.DuckDBPyConnection, dict[str, str]]:
    """Two tables, of hostile and of tame rows, and the engine's types of their columns."""
    chance, found = random.Random(20), duckdb.connect(":memory:")
    for name, draw in (("hostile", strategies.hostile), ("tame", strategies.tame)):
        rows = strategies.arrow([draw(chance, place % 7) for place in range(120)])
        found.register(f"{name}_rows", rows)
        found.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_rows")
    types = {name: kind for name, kind, *_ in found.execute("DESCRIBE hostile").fetchall()}
    return found, types


def run(sql: str, rows: str) -> list[Any]:
    connection, _ = engine()
    return [value for (value,) in connection.execute(f"SELECT {sql} FROM {rows}").fetchall()]


def writer() -> Expressions:
    return Expressions(DUCKDB, engine()[1])


def number(value: Any) -> Fraction:
    return ordinal(value) if isinstance(value, date) else Fraction(value)


def inside(typed: Typed) -> Iterator[Typed]:
    yield typed
    for part in typed.parts:
        yield from inside(part)


def stepped_after_rounding(typed: Typed) -> bool:
    """Whether a rounding error can be made large, by a function that jumps."""
    return any(
        each.what in STEPPED and any(part.what in INEXACT for below in each.parts for part in inside(below))
        for each in inside(typed)
    )


def check_total(typed: Typed) -> None:
    """No row makes it fail, and it is NULL only if it can be."""
    for rows in ("hostile", "tame"):
        values = run(writer().written(typed), rows)
        assert typed.nullable or None not in values, (typed.text, rows)
        assert not any(isinstance(value, float) and not math.isfinite(value) for value in values) or inf_allowed(typed)


def inf_allowed(typed: Typed) -> bool:
    """An infinite value of a column stays what it is until it is computed with; then it is NULL."""
    return any(each.column is not None and each.kind is Kind.REAL for each in inside(typed))


def check_range(typed: Typed) -> None:
    if stepped_after_rounding(typed) or typed.kind not in (*NUMERIC, *TEMPORAL):
        return
    values = [number(value) for value in run(writer().written(typed), "tame") if value is not None]
    sizes = [abs(end) for each in inside(typed) for end in (each.low, each.high) if end is not None]
    slack = 0 if typed.kind in TEMPORAL else ROUNDING * max([*sizes, Fraction(1)])
    for value in values:
        assert typed.low is None or value >= typed.low - slack, (typed.text, value, typed.low)
        assert typed.high is None or value <= typed.high + slack, (typed.text, value, typed.high)


def check_keys(typed: Typed) -> None:
    """All keys are listed. Beyond the bounds, a key counts as one of them, and others are left out by the statement."""
    with suppress(SitrError):
        key = grouped(NamedKey("key", typed.expression), VIEW)
        if key.keys is not None:
            assert len(set(key.keys)) == len(key.keys), typed.text
        if key.keys is None:
            run(f"({writer().key(key)}) IS NULL", "hostile")
            return
        assert set(run(writer().key(key), "tame")) <= set(key.keys), (typed.text, key.keys)
        if key.clamped:
            assert all(_between(value, key) for value in run(writer().key(key), "hostile"))


def _between(value: Any, key: GroupKey) -> bool:
    low, high = key.of.low, key.of.high
    assert low is not None
    assert high is not None
    return value is None or low <= number(value) <= high


def check_granules(typed: Typed) -> None:
    """Whatever a row holds, what it adds to a sum lies within the bounds."""
    with suppress(SitrError):
        to = granules_of(typed, function="SUM", table="visits")
        for rows in ("hostile", "tame"):
            found = run(DUCKDB.granules(writer().raw(typed), to), rows)
            assert all(each is None or to.lower <= each <= to.upper for each in found), (typed.text, to)


def check_text(typed: Typed) -> None:
    """The text of an expression reads back as the same expression, with the same types of literals."""
    read = parse_condition(f"({typed.text}) IS NULL")
    assert read == Call("IS NULL", (typed.expression,))
    assert repr(VIEW.typed(read).parts[0]) == repr(VIEW.typed(typed.expression))


CHECKS = (check_total, check_range, check_keys, check_granules, check_text)


def drawn(seed: int, *kinds: Kind) -> Typed | None:
    """An expression; None if it is refused, which is always in words."""
    try:
        return VIEW.typed(strategies.expression(random.Random(seed), *kinds))
    except SitrError:
        return None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", strategies.NAMES)
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_what_is_said_about_an_expression_holds_on_every_row(kind: Kind, seed: int) -> None:
    typed = drawn(seed, kind)
    if typed is not None:
        for check in CHECKS:
            check(typed)


@pytest.mark.slow
def test_what_is_said_about_many_expressions_holds_on_every_row() -> None:
    """pytest -m slow tests/questions/aggregate/expressions"""
    admitted = 0
    for seed in range(20_000):
        typed = drawn(seed, *strategies.NAMES)
        if typed is not None:
            admitted += 1
            for check in CHECKS:
                check(typed)
    assert admitted > 15_000


def test_every_function_is_drawn() -> None:
    found: set[str] = set()
    for seed in range(6_000):
        typed = drawn(seed, *strategies.NAMES)
        found |= {str(each.what) for each in inside(typed) if each.parts} if typed is not None else set()
        if found == set(ROW_FUNCTIONS):
            break
    assert found == set(ROW_FUNCTIONS)


# Exact values


def by_hand(expression: Expression, row: dict[str, Any]) -> Fraction | None:
    """The value in exact arithmetic, written apart from the rules; NULL if a part is NULL."""
    match expression:
        case Name(name):
            return None if row[name] is None else Fraction(row[name])
        case Literal(value):
            return Fraction(value)  # type: ignore[arg-type]
        case Call(function, arguments):
            parts = [by_hand(part, row) for part in arguments]
            if None in parts and function not in ("LEAST", "GREATEST", "COALESCE"):
                return None
            return (
                EXACT[function](*(part for part in parts if part is not None))
                if any(part is not None for part in parts)
                else None
            )
        case other:
            raise AssertionError(other)


EXACT: dict[str, Any] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: None if other == 0 else one / other,
    "//": lambda one, other: None if other == 0 else Fraction(math.floor(one / other)),
    "%": lambda one, other: None if other == 0 else (abs(one) % abs(other)) * (-1 if one < 0 else 1),
    "NEGATE": lambda one: -one,
    "ABS": abs,
    "FLOOR": lambda one: Fraction(math.floor(one)),
    "CEIL": lambda one: Fraction(math.ceil(one)),
    "SIGN": lambda one: Fraction((one > 0) - (one < 0)),
    "CLAMP": lambda one, low, high: min(max(one, low), high),
    "LEAST": lambda *found: min(found),
    "GREATEST": lambda *found: max(found),
    "COALESCE": lambda *found: found[0],
}
NUMBERS = ("n", "m", "x", "y")


def arithmetic(chance: random.Random, depth: int) -> Expression:
    """Arithmetic of numbers that doubles hold exactly: at most one quotient, and nothing computed from it."""
    if depth == 0 or chance.random() < 0.2:
        return Name(chance.choice(NUMBERS)) if chance.random() < 0.7 else Literal(chance.choice([2, -3, 0.5, 0, 10]))
    function = chance.choice([name for name in EXACT if name not in ("/", "//", "%")])
    if function == "CLAMP":
        return Call(function, (arithmetic(chance, depth - 1), Literal(-2.5), Literal(40)))
    count = 2 if function in ("+", "-", "*", "LEAST", "GREATEST", "COALESCE") else 1
    return Call(function, tuple(arithmetic(chance, depth - 1) for _ in range(count)))


@settings(max_examples=80)
@given(seed=st.integers(0, 2**32), quotient=st.sampled_from(["", "/", "//", "%"]))
def test_arithmetic_is_what_it_is_by_hand(seed: int, quotient: str) -> None:
    chance = random.Random(seed)
    expression = arithmetic(chance, 3)
    if quotient:
        expression = Call(quotient, (expression, arithmetic(chance, 2)))
    typed = VIEW.typed(expression)
    connection, _ = engine()
    sql = f"SELECT {writer().written(typed)}, {', '.join(NUMBERS)} FROM tame"
    for found, *values in connection.execute(sql).fetchall():
        expected = by_hand(expression, dict(zip(NUMBERS, values, strict=True)))
        if quotient == "//" and expected is not None and expected > 2**50:
            continue  # a double has no such number
        assert (found is None) == (expected is None), typed.text
        assert found is None or Fraction(found) == pytest.approx(expected, rel=1e-12), typed.text


ODD: tuple[Expression, ...] = (
    *(Name(name) for name in ("n", "x", "w", "t", "ok", "d", "s", "id")),
    *map(Literal, (None, True, 0, -1, 2**70, math.nan, math.inf, 0.5, "", "year", "INTEGER", "money", "\ud800", b"x")),  # type: ignore[arg-type]
)


@pytest.mark.parametrize("function", ROW_FUNCTIONS)
def test_whatever_a_function_is_given_it_takes_or_refuses_in_words(function: str) -> None:
    """Calls in Python can have any arguments, and any number of them."""
    chance = random.Random(function)
    given = [(), *((one,) for one in ODD), *((one, other) for one in ODD for other in ODD)]
    for arguments in (*given, *(tuple(chance.choices(ODD, k=3)) for _ in range(200))):
        try:
            VIEW.typed(Call(function, arguments))
        except SitrError as refused:
            assert refused.given and refused.do, arguments  # noqa: PT017, PT018


# Broken twins


def forgets_negative_numbers(function: str, parts: tuple[Typed, ...]) -> Typed:
    one, other = map(range_of, parts)
    found = Range(
        None if one.low is None or other.low is None else one.low * other.low,
        None if one.high is None or other.high is None else one.high * other.high,
    )
    return Typed(function, Kind.REAL, parts, found.low, found.high)


def forgets_that_a_quotient_by_zero_is_null(function: str, parts: tuple[Typed, ...]) -> Typed:
    return Typed(function, Kind.REAL, parts, nullable=False)


@pytest.mark.parametrize(
    ("function", "twin", "expression", "check"),
    [
        ("*", forgets_negative_numbers, Call("*", (Name("n"), Name("x"))), check_range),
        ("/", forgets_that_a_quotient_by_zero_is_null, Call("/", (Literal(1), Name("n"))), check_total),
    ],
)
def test_a_broken_twin_is_caught(
    function: str, twin: Any, expression: Expression, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(VIEW.typed(expression))
    monkeypatch.setitem(ROW_FUNCTIONS, function, twin)
    with pytest.raises(AssertionError):
        check(VIEW.typed(expression))
