"""Levels of a column: siblings stand together, and every value has one group."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.dataset.cells import Categories, Even, Rule
from sitr.dataset.schema import Column, Kind
from sitr.errors import InvalidUse, QuestionError, SitrError, UnknownName
from sitr.questions.tables.ladder import ladder
from tests.questions.tables.conftest import column

THREE = {
    "region": {"north": ["3", "0"], "south": ["1"], "east": ["2", "4"]},
    "country": {"x": ["south", "north"], "y": ["east"]},
}


def test_three_levels_from_coarse_to_fine() -> None:
    made = column("district", 5, THREE)
    assert [level.name for level in made.levels] == ["country", "region", "district"]
    assert [level.labels for level in made.levels] == [
        ("x", "y"),
        ("north", "south", "east"),
        ("0", "3", "1", "2", "4"),
    ]
    assert [level.siblings for level in made.levels] == [(2,), (2, 1), (2, 1, 2)]
    assert made.levels[0].places == (0, 0, 1, 0, 1)
    assert made.levels[1].places == (0, 1, 2, 0, 2)
    assert made.levels[2].places == (0, 2, 3, 1, 4)


def test_special_cells_are_groups_of_their_own() -> None:
    from fractions import Fraction

    age = Even(Column("age", Kind.INTEGER), Fraction(0), Fraction(40), 4, missing=Rule.CELL)
    made = ladder(age, {"band": {"young": ["[0, 10)", "[10, 20)"], "old": ["[20, 30)", "[30, 40]"]}})
    assert made.levels[0].labels == ("young", "old", "(no value)")
    assert made.levels[1].siblings == (2, 2, 1)


@pytest.mark.parametrize(
    "groups",
    [
        {"region": {"north": ["0"]}},
        {"region": {"north": ["0", "1"], "south": ["1", "2"]}},
        {"region": {"north": ["0", "1", "9"], "south": ["2"]}},
    ],
)
def test_every_value_is_in_one_group(groups: object) -> None:
    with pytest.raises(SitrError):
        column("district", 3, groups)  # type: ignore[arg-type]


def test_keys_that_are_numbers_are_listed_as_numbers_or_as_texts() -> None:
    """A file has `young: [17, 22]`, and the labels of these cells are texts."""
    age = Categories(Column("age", Kind.INTEGER), (17, 22, 42), missing=Rule.DROP)
    made = ladder(age, {"stage": {"young": [17, 22], "old": [42]}})
    assert made == ladder(age, {"stage": {"young": ["17", "22"], "old": ["42"]}})
    wrongs: list[tuple[list[str | int], list[str | int]]] = [(["17", 42], [42]), ([17, 22], [17, 42])]
    for wrong, repeated in wrongs:
        with pytest.raises(QuestionError):
            ladder(age, {"stage": {"young": wrong, "old": repeated}})
    with pytest.raises(UnknownName, match="The level 'stage' lists a value that does not exist: '18'"):
        ladder(age, {"stage": {"young": [17, 18], "old": [42]}})


def test_groups_are_dictionaries_of_lists() -> None:
    with pytest.raises(InvalidUse):
        column("district", 3, {"region": {"north": "012"}})
    with pytest.raises((InvalidUse, QuestionError)):
        column("district", 3, {"region": ["0", "1", "2"]})  # type: ignore[dict-item]


def test_shares_are_squared_lengths_of_the_way_from_residuals_to_cells() -> None:
    """Against Sub⁺ and the division of parents, written out."""
    made = column("district", 5, THREE)
    assert made.shares(0, 1).tolist() == [0.25]
    assert made.shares(1, 1).tolist() == [0.5]
    np.testing.assert_allclose(made.shares(0, 2), [1 / 16, 1 / 16, 1 / 4])
    np.testing.assert_allclose(made.shares(2, 2), [1 / 2, 1 / 2, 0])
    np.testing.assert_allclose(made.shares(1, 3), np.array([1 / 8, 1 / 8, 1 / 8, 1 / 2, 1 / 2]) / [4, 4, 1, 4, 4])
    np.testing.assert_allclose(made.shares(3, 3), [1 / 2, 1 / 2, 0, 1 / 2, 1 / 2])


def test_a_level_without_siblings_says_nothing_new() -> None:
    assert column("one", 1).empty(1)
    assert not column("two", 2).empty(1)
