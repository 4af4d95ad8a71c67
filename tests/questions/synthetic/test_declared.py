"""Rules are checked against the public description; contradictions are refused in words."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

import sitr
from sitr.dataset.cells import Drawable
from sitr.dataset.schema import Column, Kind, Table, quantise
from sitr.errors import QuestionError, UnknownName
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.synthetic.axes import axes
from sitr.questions.synthetic.declared import derived_names, structure
from sitr.questions.synthetic.structure import Lookup, Ordered

COLUMNS = (
    Column("id", Kind.INTEGER),
    Column("day", Kind.DATE),
    Column("month", Kind.INTEGER),
    Column("district", Kind.TEXT, keys=("Irbid", "Aqaba")),
    Column("region", Kind.TEXT),
    *(
        Column(n, Kind.INTEGER, quantised=quantise(n, Kind.INTEGER, (0, 100), None))
        for n in ("first", "second", "third")
    ),
    Column("late", Kind.INTEGER, quantised=quantise("late", Kind.INTEGER, (200, 300), None)),
    Column("ratio", Kind.REAL, quantised=quantise("ratio", Kind.REAL, (0, 100), None)),
)
TABLE = Table("visits", COLUMNS, Person("id"), Relation.ADD_REMOVE, max_groups=1, max_rows_per_group=1)
MAP = {"district": {"Irbid": "North", "Aqaba": "South"}}
MONTH = sitr.column("day").dt.month()


def declared(derived: dict[str, Any] | None = None, **more: Any) -> Any:
    names = derived_names(TABLE, derived)
    cut: tuple[Drawable, ...] = axes(
        TABLE,
        bounds={"day": (date(2024, 1, 1), date(2024, 12, 31)), "month": (1, 12)},
        keys={"region": ["North", "South"]},
        required=["third"],
        derived=names,
    )
    assert not {axis.column.name for axis in cut} & {"id", *names}
    return structure(TABLE, cut, derived=derived, **more)


def test_what_is_declared() -> None:
    found = declared({"month": MONTH, "region": MAP}, ordered=[("second", "third"), ("first", "second")])
    assert [each.column.name for each in found.derived] == ["month", "region"]
    assert found.derived[1].of == Lookup("district", ("Irbid", "Aqaba"), ("North", "South"))
    assert found.ordered == (Ordered("first", "second"), Ordered("second", "third"))  # the first of a chain first
    assert declared(together=[["first", "second"]]).together == (("first", "second"),)


def test_derived_columns_come_after_those_that_they_need() -> None:
    found = declared({"first": sitr.column("month") * 3, "month": MONTH})
    assert [each.column.name for each in found.derived] == ["month", "first"]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"derived": {"month": sitr.column("month") + 1}}, "uses 'month', which is not one of the other columns"),
        ({"derived": {"month": sitr.column("id") + 1}}, "uses 'id', which is not one of the other columns"),
        ({"derived": {"first": sitr.column("second"), "second": sitr.column("first")}}, "need each other"),
        ({"derived": {"region": MONTH}}, "gives integer, and the column holds text"),
        ({"derived": {"month": 5}}, "an expression or a public table for the derived column 'month'"),
        ({"derived": {"id": MONTH}}, "identifies a person"),
        (
            {"derived": {"region": {"district": {"Irbid": "North"}}}},
            "no value for 'Aqaba', which is a key of 'district'",
        ),
        ({"derived": {"region": {"day": {"Irbid": "North"}}}}, "not an imitated column with keys"),
        ({"derived": {"region": {}}}, "one other column with a value for each of its keys"),
        ({"ordered": [("first", "second"), ("second", "first")]}, "go in a circle"),
        ({"ordered": [("late", "first")]}, "No value of 'late' is at most one of 'first', which ends at 100"),
        ({"ordered": [("first", "district")]}, "needs bounds for 'district'"),
        ({"ordered": [("first", "day")]}, "different types or granularities"),
        ({"ordered": [("first", "ratio")]}, "different types or granularities"),
        ({"ordered": [("first", "first")]}, "pairs of two columns"),
        ({"ordered": ["first"]}, "pairs of two columns"),
        ({"derived": {"first": sitr.column("second")}, "ordered": [("first", "third")]}, "needs bounds for 'first'"),
        ({"together": [["first"]]}, "two or more imitated columns"),
        ({"together": [["first", "nobody"]]}, "two or more imitated columns"),
        ({"together": [["first", "third"]]}, "'third' is never NULL"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(next(iter(value))),
)
def test_contradictions_are_refused(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(QuestionError, match=message):
        declared(**rules)


def test_unknown_columns() -> None:
    with pytest.raises(UnknownName, match="nobody"):
        declared({"nobody": MONTH})
    with pytest.raises(UnknownName, match="nobody"):
        declared({"month": sitr.column("nobody")})


def test_a_chain_whose_ends_cannot_meet_is_refused() -> None:
    """Each pair alone is possible: first ≤ late and late ≤ 300, but nothing after 200 is at most 100."""
    with pytest.raises(QuestionError, match="which ends at 100"):
        declared(ordered=[("first", "late"), ("late", "second")])
