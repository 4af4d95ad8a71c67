"""A domain file says what is public about columns; mistakes in it name the place."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest

from sitr.cli.domain import Domain, read_domain
from sitr.dataset.cells import Scale
from sitr.dataset.schema import Column, Kind, Table
from sitr.errors import BadUsage
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row

TEXT = """\
age: {bounds: [0, 120], bins: 24, required: true}
ward: {keys: [Cardiology, null], required: false}
day: {bounds: [2023-01-01, 2024-12-31]}
at: {bounds: [2023-01-01, 2024-12-31 12:30:00]}
"""
TABLE = Table("t", (Column("day", Kind.DATE), Column("at", Kind.TIMESTAMP)), Row(), Relation.ADD_REMOVE, 1, 1)


def test_all_that_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text(TEXT)
    found = read_domain(tmp_path / "domain.yaml")
    assert (found.bins, found.keys, found.required) == ({"age": 24}, {"ward": ["Cardiology", None]}, ["age"])
    assert found.bounds(TABLE) == {
        "age": (0, 120),
        "day": (date(2023, 1, 1), date(2024, 12, 31)),
        "at": (datetime.fromisoformat("2023-01-01"), datetime.fromisoformat("2024-12-31T12:30:00")),
    }
    assert read_domain(None) == Domain()


def test_rules(tmp_path: Path) -> None:
    rules = """\
month: {derived: EXTRACT(month FROM day)}
region: {derived: {district: {Irbid: North}}}
start: {at_most: end}
cost: {spikes: [0], scale: log}
end: {null_with: start}
age: {edges: [0, 18, 65]}
"""
    (tmp_path / "domain.yaml").write_text(rules)
    found = read_domain(tmp_path / "domain.yaml")
    assert found.derived["month"].text == "EXTRACT(month FROM day)"  # type: ignore[union-attr]
    assert found.derived["region"] == {"district": {"Irbid": "North"}}
    assert (found.spikes, found.scales) == ({"cost": [0]}, {"cost": Scale.LOG})
    assert found.cuts == {"age": [0, 18, 65]}
    assert (found.ordered, found.together) == ([("start", "end")], [("end", "start")])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("age: {scale: cubic}", "the scale of age is not one of linear, log"),
        ("- age", "not YAML with one mapping"),
        ("age: 3", "not YAML with one mapping"),
        ("age: {bounds: [0", "not YAML with one mapping"),
        ("day: {bounds: [2024-01-01, 2024-13-31]}", "a date or time does not exist"),
        ("age: {step: 3}", "age has the unknown field 'step'"),
        ("age: {edges: 3}", "the edges of age are not a list"),
        ("age: {bounds: 3}", "the bounds of age"),
        ("age: {bounds: [1, 2, 3]}", "the bounds of age"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "domain.yaml").write_text(text)
    with pytest.raises(BadUsage, match=what):
        read_domain(tmp_path / "domain.yaml")
