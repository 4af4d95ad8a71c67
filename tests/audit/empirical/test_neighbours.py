"""Candidates for neighbouring tables: each differs from its table by one row, and extreme rows are among them."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sitr.audit.empirical.neighbours import neighbouring
from sitr.neighbors.relation import Relation


def apart(one: list[Any], other: list[Any]) -> tuple[int, int]:
    """How many rows only one of the tables has, and how many only the other."""
    first, second = (Counter(map(repr, table)) for table in (one, other))
    return (first - second).total(), (second - first).total()


@given(st.lists(st.integers(-5, 5), max_size=6))
def test_add_remove_neighbours_differ_by_one_row(rows: list[int]) -> None:
    pairs = neighbouring(rows)
    assert pairs
    assert all(sorted(apart(*pair)) == [0, 1] for pair in pairs)


@given(st.lists(st.integers(-5, 5), max_size=6))
def test_replace_one_neighbours_have_the_same_size(rows: list[int]) -> None:
    pairs = neighbouring(rows, relation=Relation.REPLACE_ONE)
    assert bool(pairs) is bool(rows)
    assert all(len(one) == len(other) for one, other in pairs)
    assert all(apart(*pair) in {(1, 1), (0, 0)} for pair in pairs)


def test_no_pair_is_there_twice_not_even_one_with_nan() -> None:
    pairs = [repr(pair) for pair in neighbouring([1.0, 1.0])]
    assert len(pairs) == len(set(pairs))
    assert any("nan" in pair for pair in pairs)


def test_numbers_meet_their_extremes_and_a_missing_value() -> None:
    added = [other[-1] for one, other in neighbouring([3, 8, 5]) if one == [3, 8, 5] and len(other) == 4]
    assert added[:4] == [3, 8, 0, 1]
    assert math.isnan(added[4])


def test_rows_that_are_no_numbers_are_repeated() -> None:
    assert (["a", "b"], ["a", "b", "a"]) in neighbouring(["a", "b"])
    assert ([True], [True, True]) in neighbouring([True])


def test_an_empty_table_has_neighbours() -> None:
    assert ([], [1]) in neighbouring([])
