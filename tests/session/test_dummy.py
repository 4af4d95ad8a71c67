"""Invented rows: the public description and nothing else, and the same questions."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import Kind, Table, describe
from sitr.errors import DescriptionError
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.noise.coins import TestCoins
from sitr.questions.invented import invented
from sitr.session.budget import Budget
from sitr.session.dummy import Dummy

KINDS = {
    "id": Kind.INTEGER, "ward": Kind.TEXT, "note": Kind.TEXT, "cost": Kind.REAL, "days": Kind.INTEGER,
    "code": Kind.INTEGER, "rate": Kind.REAL, "born": Kind.DATE, "seen": Kind.TIMESTAMP, "then": Kind.DATE,
    "urgent": Kind.BOOLEAN, "scan": Kind.BYTES, "extra": Kind.OTHER,
}  # fmt: skip


def described(**changed: Any) -> Table:
    usual: dict[str, Any] = {
        "kinds": KINDS,
        "unit": Person("id"),
        "relation": Relation.ADD_REMOVE,
        "max_groups": 2,
        "max_rows_per_group": 3,
        "bounds": {
            "cost": (-5, 10),
            "days": (3, 4),
            "born": (date(1950, 1, 1), date(1950, 1, 3)),
            "seen": ("2024-02-28T22:00:00", "2024-03-01T03:00:00"),
        },
        "granularity": {"cost": 0.5},
        "keys": {"ward": ["A", "B", None]},
    }
    return describe("visits", **(usual | changed))


def test_the_columns_are_those_of_the_description() -> None:
    table = described()
    rows = invented(table, rows=500, seed=1)
    assert rows.num_rows == 500
    assert DuckDB(ArrowRows(rows)).kinds() == KINDS
    for column in table.columns:
        values = rows[column.name].to_pylist()
        known = [value for value in values if value is not None]
        assert 0 < len(values) - len(known) < 250  # some are missing
        assert len({str(value) for value in known}) > 1
        if column.keys is not None:
            assert set(known) <= set(column.keys)
        if column.bounds is not None:
            low, high = column.bounds
            assert all(low <= value <= high for value in known)
    assert {value * 2 % 1 for value in rows["cost"].to_pylist() if value is not None} == {0.0}
    assert isinstance(rows["seen"][0].as_py() or datetime.min, datetime)  # noqa: DTZ901


def test_people_have_several_rows_some_more_than_the_caps() -> None:
    rows = Counter(invented(described(), rows=1_000, seed=0)["id"].to_pylist())
    rows.pop(None)
    assert min(rows.values()) < 3
    assert max(rows.values()) > described().most_rows
    assert len(rows) > 50


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.DATE, Kind.TIMESTAMP, Kind.BYTES, Kind.BOOLEAN])
def test_every_type_can_identify_a_person(kind: Kind) -> None:
    table = described(kinds=KINDS | {"id": kind})
    assert DuckDB(ArrowRows(invented(table, rows=50, seed=0))).kinds()["id"] is kind


def test_a_seed_says_which_rows() -> None:
    table = described()
    assert invented(table, rows=40, seed=1) == invented(table, rows=40, seed=1)
    assert invented(table, rows=40, seed=1) != invented(table, rows=40, seed=2)
    assert invented(table, rows=0, seed=1).num_rows == 0
    assert invented(described(unit=Row(), max_groups=None, max_rows_per_group=None), rows=9, seed=0).num_rows == 9


def test_the_rows_depend_on_the_description_alone(tmp_path: Path) -> None:
    """Two data sets with other rows and the same description have the same invented rows."""
    said: dict[str, Any] = {"unit": "id", "max_rows": 3, "bounds": {"cost": (0, 9)}, "keys": {"ward": ["A", "B"]}}
    made = []
    tables: list[list[Any]] = [[], [(1, "A", 3.0)], [(2, "Z", 1e9), (None, None, None)] * 40]
    for place, rows in enumerate(tables):
        names = ("id", "ward", "cost")
        types = (pa.int64(), pa.string(), pa.float64())
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        table = pa.table({n: pa.array(c, t) for n, c, t in zip(names, columns, types, strict=True)})
        data = sitr.protect(table, name="visits", **said)
        budget = data.budget(rho=1, ledger=tmp_path / f"{place}.db")
        made += [data.dummy(30, seed=4).table, budget.dummy(30, seed=4).table]
        assert budget.entries() == []
    assert all(table == made[0] for table in made)


def test_the_same_questions_can_be_asked_about_them() -> None:
    dummy = Dummy(described(), 2_000, 0, Budget, sitr.ZeroConcentratedDP(5.0))
    budget = dummy.budget()
    assert budget.promise == sitr.ZeroConcentratedDP(5.0)
    answer = budget.sql("SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward").release(
        "zcdp(1)", coins=TestCoins(1)
    )
    assert answer.table["ward"].to_pylist() == ["A", "B", None]
    assert sum(answer.table["n"].to_pylist()) > 1_000
    assert answer.receipt.kept is None
    assert answer.publication.title == "Invented rows"
    assert "says nothing about any real data" in answer.publication.caveats[0]
    assert budget.remaining() == sitr.ZeroConcentratedDP(4.0)
    assert budget.table == described()
    assert dummy.budget(rho=0.5).promise == sitr.ZeroConcentratedDP(0.5)
    assert len(dummy) == 2_000
    assert repr(dummy) == "2,000 invented rows like visits, from its public description alone"


def test_frames(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    dummy = Dummy(described(kinds={k: v for k, v in KINDS.items() if v is not Kind.OTHER}), 12, 0, Budget)
    assert list(dummy.to_pandas().columns) == dummy.to_polars().columns == dummy.table.column_names
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_said() -> None:
    with pytest.raises(DescriptionError, match="has no budget yet"):
        Dummy(described(), 10, 0, Budget).budget()
    for rows, seed in ((-1, 0), (1.5, 0), (True, 0), (10, -1), (10**9, 0)):
        with pytest.raises(DescriptionError, match="a whole number"):
            Dummy(described(), rows, seed, Budget)  # type: ignore[arg-type]


def test_moments_are_invented_in_their_zone() -> None:
    """They have the type of the data, and a question sees times within the bounds in the zone of the column."""
    table = described(
        kinds=KINDS | {"seen": Kind.ZONED},
        zones={"seen": "Asia/Tokyo"},
        bounds={"seen": ("2024-02-28T00:00:00", "2024-02-28T23:59:59")},
        granularity={},
    )
    dummy = Dummy(table, 500, 1, lambda at: Budget(at, {}))
    assert dummy.table.schema.field("seen").type == pa.timestamp("us", "Asia/Tokyo")
    assert {moment.date() for moment in dummy.table["seen"].to_pylist() if moment is not None} == {date(2024, 2, 28)}
    budget = dummy.budget(rho=10**7)

    def counted(condition: str) -> int:
        found = budget.sql(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}").release(rho=10**6)
        return int(found.table["n"][0].as_py())

    assert counted("seen >= '2024-02-28' AND seen < '2024-02-29'") == counted("seen IS NOT NULL") > 300
    assert counted("EXTRACT(hour FROM seen) < 9") > 50
