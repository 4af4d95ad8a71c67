"""The columns of synthetic rows are cut by public knowledge only."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction

import pytest

from sitr.dataset.cells import Granular, Grid, Rule, size
from sitr.dataset.schema import Column, Kind, Quantised, Table
from sitr.errors import DescriptionError, QuestionError, UnknownName
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.questions.synthetic.axes import axes

NEW_YEAR = datetime.fromisoformat("2024-01-01")
TABLE = Table(
    "t",
    (
        Column("id", Kind.INTEGER),
        Column("age", Kind.INTEGER, Quantised(0, 99, Fraction(1))),
        Column("cost", Kind.REAL, Quantised(0, 500, Fraction(1, 100))),
        Column("ward", Kind.TEXT, None, ("a", None)),
        Column("free", Kind.TEXT),
        Column("ok", Kind.BOOLEAN),
        Column("day", Kind.DATE),
        Column("at", Kind.TIMESTAMP),
        Column("odd", Kind.OTHER),
        Column("bare", Kind.REAL),
    ),
    Person("id"),
    Relation.ADD_REMOVE,
    2,
    3,
)


def test_every_kind_of_column() -> None:
    made = axes(
        TABLE,
        columns=["age", "cost", "ward", "free", "ok", "day", "at", "bare"],
        bins={"age": 10, "day": 400},
        bounds={
            "day": (date(2024, 1, 1), date(2024, 1, 31)),
            "at": (NEW_YEAR, NEW_YEAR + timedelta(1)),
            "bare": (0, 1),
        },
        keys={"free": ["x", "y"]},
        required=["age"],
    )
    cells = {axis.column.name: (size(axis), axis.missing is Rule.CELL, isinstance(axis, Granular)) for axis in made}
    assert cells == {
        "age": (10, False, True),
        "cost": (65, True, True),
        "ward": (2, True, False),
        "free": (2, False, False),
        "ok": (3, True, False),
        "day": (32, True, True),
        "at": (65, True, True),
        "bare": (65, True, True),
    }
    assert Grid(made[:3]).size == 10 * 65 * 2


@pytest.mark.parametrize("name", ["free", "day", "at", "odd", "bare"])
def test_a_domain_is_never_learned_from_the_rows(name: str) -> None:
    with pytest.raises(DescriptionError, match="must not be learned from the rows"):
        axes(TABLE, columns=[name])


def test_by_default_all_columns_but_the_id() -> None:
    table = Table("t", TABLE.columns[:4], Person("id"), Relation.ADD_REMOVE, 1, 1)
    assert [axis.column.name for axis in axes(table)] == ["age", "cost", "ward"]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"columns": ["nobody"]}, UnknownName),
        ({"columns": ["age"], "keys": {"nobody": ["x"]}}, UnknownName),
        ({"columns": []}, DescriptionError),
        ({"columns": ["id", "age"]}, DescriptionError),
        ({"columns": ["age", "age"]}, DescriptionError),
        ({"columns": ["age"], "bins": 0}, QuestionError),
        ({"columns": ["age"], "bins": True}, QuestionError),
        ({"columns": ["free"], "bounds": {"free": (0, 1)}}, DescriptionError),
        ({"columns": ["day"], "bounds": {"day": (date(2024, 1, 2), date(2024, 1, 1))}}, DescriptionError),
        ({"columns": ["day"], "bounds": {"day": (NEW_YEAR, NEW_YEAR + timedelta(1))}}, DescriptionError),
        ({"columns": ["at"], "bounds": {"at": (date(2024, 1, 1), date(2024, 1, 2))}}, DescriptionError),
    ],
)
def test_what_is_said_is_checked(said: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        axes(TABLE, **said)  # type: ignore[arg-type]


def test_a_row_has_no_id_to_leave_out() -> None:
    table = Table("t", TABLE.columns[1:3], Row(), Relation.ADD_REMOVE, 1, 1)
    assert [axis.column.name for axis in axes(table)] == ["age", "cost"]
