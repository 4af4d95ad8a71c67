"""Which cells can come together, by enumeration of all values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sitr.dataset.cells import Categories, Granular, Rule
from sitr.dataset.schema import Column, Kind
from sitr.questions.synthetic.structure import NO_RULES, Possible


def axis(name: str, low: int = 0, high: int = 5, bins: int = 3, *, null: bool = True) -> Granular:
    column = Column(name, Kind.INTEGER)
    return Granular(column, low, high, Fraction(1), bins, Rule.CELL if null else Rule.DROP)


def values(of: Granular, code: int) -> list[int | None]:
    """The values of a cell, one by one."""
    return [None] if code == of.ordinary else [*range(of.first(code), of.first(code + 1))]


def can(axes: tuple[Granular, ...], codes: tuple[int, ...], pairs: list[tuple[int, int]]) -> bool:
    """Whether some choice of values keeps all orders: looked for among all choices."""
    return any(
        all(row[i] is None or row[j] is None or row[i] <= row[j] for i, j in pairs)  # type: ignore[operator]
        for row in product(*(values(each, code) for each, code in zip(axes, codes, strict=True)))
    )


CHAINS = [[(0, 1)], [(0, 1), (1, 2)], [(0, 2), (1, 2)], [(0, 1), (0, 2)], [(0, 1), (0, 2), (1, 2)]]


@pytest.mark.parametrize("pairs", CHAINS, ids=repr)
def test_possible_rows_are_those_with_possible_values(pairs: list[tuple[int, int]]) -> None:
    axes = (axis("a", 0, 7, 3), axis("b", 2, 6, 4), axis("c", 1, 9, 3))
    possible = Possible(axes, tuple(pairs), ())
    codes = np.array(list(product(range(4), range(5), range(4))))
    expected = [can(axes, tuple(row), pairs) for row in codes.tolist()]
    assert possible.holds(codes).tolist() == expected
    assert 0 < sum(expected) < len(expected)
    assert possible.holds(possible.example()).all()


def test_columns_that_are_null_together() -> None:
    axes = (axis("a"), Categories(Column("b", Kind.TEXT), ("x", "y"), Rule.MISSING, Rule.CELL), axis("c"))
    possible = Possible(axes, (), ((0, 1),))
    codes = np.array(list(product(range(4), range(3), range(4))))
    assert possible.holds(codes).tolist() == [(a == 3) == (b == 2) for a, b, _ in codes.tolist()]
    assert possible.columns == (0, 1)


def test_no_rules() -> None:
    assert NO_RULES.possible((axis("a"), axis("b"))) is None
