"""Tables from numbers, and which of them are refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sitr.audit.exact.table import Row, Table, shown
from sitr.errors import InvalidParameter


def test_decimals_that_add_up_to_1_are_exact() -> None:
    table = Table.of([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    assert table.rows is not None
    assert table.rows[0] == Row((1, 2, 7), 10)
    assert Table.of(np.array([[0.1, 0.9]])).rows is not None
    assert Table.of([["1/3", "2/3"], [Decimal("0.5"), Fraction(1, 2)]]).rows is not None


def test_other_floats_are_rounded_numbers() -> None:
    table = Table.of([[1 / 3, 1 / 3, 1 / 3], [0.5, 0.25, 0.25]])
    assert table.rows is None
    assert table.rounding == 1e-12
    assert Table.of([[0.333, 0.667], [0.333, 0.6671]], rounding=2e-4).rows is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, 0.6]], "got a sum of 1.1"),
        ([[Fraction(1, 3), Fraction(1, 3)]], "add up to 1"),
        ([[0.5, 0.5], [1.0]], "equal length"),
        ([], "rows of numbers"),
        ([[]], "rows of numbers"),
        (3, "rows of numbers"),
        ([[-0.5, 1.5]], "from 0 to 1"),
        ([[Fraction(-1, 2), Fraction(3, 2)]], "got -1/2"),
        ([[Fraction(-1), Fraction(2)]], "got -1"),
        ([[float("nan"), 1.0]], "from 0 to 1"),
        ([[Decimal("nan"), 1.0]], "from 0 to 1"),
        ([[True, 0]], "rows of numbers"),
        ([["x", 1]], "such as 0.25 or 1/3"),
        ([["1/0", 1]], "such as 0.25 or 1/3"),
        ([[Fraction(1, 10**300), 1 - Fraction(1, 10**300)]], "at least 1e-290"),
        ([[Fraction(1, 10**400), 1 - Fraction(1, 10**400)]], "at least 1e-290"),
    ],
)
def test_what_is_no_table(rows: object, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Table.of(rows)
    if isinstance(rows, list) and rows and isinstance(rows[0], list) and len(rows) == 1 and rows[0]:
        with pytest.raises(InvalidParameter, match=message):
            Table.of(np.array(rows, dtype=np.float64 if isinstance(rows[0][0], float) else object))


def test_names() -> None:
    table = Table.of([[1], [1]], inputs=[("a", "1"), "b"], outcomes=["z"])
    assert (table.inputs, table.outcomes, table.place(("a", 1)), shown(table.inputs[0])) == (
        (("a", "1"), "b"),
        ("z",),
        0,
        "(a, 1)",
    )
    with pytest.raises(InvalidParameter, match="2 different names"):
        Table.of([[1], [1]], inputs=["a", "a"])
    with pytest.raises(InvalidParameter, match="name of an input"):
        table.place("c")


def test_a_row_that_is_off_by_more_than_its_rounding_is_refused() -> None:
    row = [1 / 3, 1 / 3, 1 / 3 + 1e-11]
    with pytest.raises(InvalidParameter, match="rounding="):
        Table.of([row])
    assert Table.of([row], rounding=1e-10).rounding == 1e-10


@pytest.mark.parametrize("off", [1.4e-11, 9.6e-7, 1.49e-4, 9.4e-4])
def test_the_rounding_that_is_proposed_is_enough_and_not_much_more(off: float) -> None:
    row = [0.5, 0.5 + off]
    with pytest.raises(InvalidParameter) as refused:
        Table.of([row])
    proposed = float(refused.value.do.partition("rounding=")[2].removesuffix(")."))
    assert off <= proposed <= 2.1 * off
    assert Table.of([row], rounding=proposed).rounding == proposed


@pytest.mark.parametrize(
    "row", [[0.5, 0.6], [Fraction(1, 3), Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 3) + Fraction(1, 10**6)]]
)
def test_no_rounding_is_proposed_that_would_be_refused(row: list[float | Fraction]) -> None:
    with pytest.raises(InvalidParameter) as refused:
        Table.of([row])
    assert refused.value.do == "Correct them."
    with pytest.raises(InvalidParameter):
        Table.of([row], rounding=1e-3)
