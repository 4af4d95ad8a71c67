"""Every kind of question at every place where rows can live: with the same test coins, the answers are the same.

Nobody in these rows is over the caps, so that the exact numbers do not depend on the salt or on the order of an engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.backends.backend import Backend
from sitr.backends.duckdb import DuckDB
from sitr.backends.postgres import Postgres
from sitr.backends.several import SeveralTables
from sitr.backends.spark import Spark
from sitr.flavors.arrows import Kept
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.question import Question
from sitr.questions.synthetic.question import SyntheticQuestion
from sitr.session.answer import Answer
from sitr.session.budget import Budget
from sitr.session.plain import plain
from sitr.session.several import SeveralSynthetic
from sitr.session.synthetic import Synthetic
from tests import postgres, spark
from tests.laws import walk
from tests.laws.test_questions import FREE, KINDS, WARDS, Kind

ROWS = 400

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


def rows() -> pa.Table:
    numbers = np.arange(ROWS)
    return pa.table(
        {
            "patient": numbers % 200,
            "ward": [WARDS[row % 3] for row in numbers],
            "cost": (numbers % 100).astype(np.float64),
        }
    )


@dataclass(frozen=True)
class Place:
    """How rows get to a place: the source for `protect`, and what has to be said beside it."""

    put: Callable[[pa.Table, Path], Any]
    more: dict[str, Any] = field(default_factory=dict)


def in_file(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "visits.parquet")
    return folder / "visits.parquet"


def in_store(table: pa.Table, folder: Path) -> Path:
    """As Spark and object stores write it: many files, a marker, unfinished work and folders without meaning."""
    root = folder / "bucket" / "visits"
    for part in range(7):
        own = root / f"day{part % 2}" / f"part-{part:05}-c000.snappy.parquet"
        own.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.slice(part * 60, 60), own, compression="snappy")
    (root / "_SUCCESS").write_text("")
    (root / "_temporary").mkdir()
    pq.write_table(table, root / "_temporary" / "attempt.parquet")
    return root


def in_partitions(table: pa.Table, folder: Path) -> Path:
    pq.write_to_dataset(table, folder / "visits", partition_cols=["ward"])
    return folder / "visits"


def in_database(table: pa.Table, folder: Path) -> Path:
    with duckdb.connect(folder / "hospital.duckdb") as engine:
        engine.register("given", table)
        engine.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.visits AS FROM given")
        engine.execute("CREATE INDEX quick ON clinic.visits (patient)")
    return folder / "hospital.duckdb"


def in_csv(table: pa.Table, folder: Path) -> Path:
    pl.DataFrame(table).write_csv(folder / "visits.csv")
    return folder / "visits.csv"


def on_server(table: pa.Table, _: Path) -> str:
    postgres.load(table, "places")
    return postgres.server().url()


def on_cluster(table: pa.Table, _: Path) -> Any:
    from sitr.backends.spark import sent

    return sent(spark.session(), table)


CSV_TYPES = {"patient": "integer", "ward": "text", "cost": "real"}
PLACES = {
    "a pandas frame": Place(lambda table, _: table.to_pandas()),
    "a polars frame": Place(lambda table, _: pl.DataFrame(table)),
    "a lazy frame": Place(lambda table, _: pl.DataFrame(table).lazy()),
    "a DuckDB relation": Place(lambda table, _: duckdb.from_arrow(table)),
    "a Parquet file": Place(in_file),
    "a CSV file": Place(in_csv, {"types": CSV_TYPES}),
    "a folder of an object store": Place(in_store),
    "folders with partitions": Place(in_partitions, {"types": {"ward": "text"}}),
    "a table in DuckDB": Place(in_database, {"table": "clinic.visits"}),
    "PostgreSQL": Place(on_server, {"table": "places"}),
    "Spark": Place(on_cluster),
}


def answered(source: Any, kind: Kind, price: Kept, ledger: Path, **more: Any) -> Answer:
    found: Answer = kind.request(opened(source, kind, price, ledger, **more)).release(price, coins=TestCoins(7))
    return found


def opened(source: Any, kind: Kind, price: Kept, ledger: Path, **more: Any) -> Budget:
    unit: dict[str, Any] = {"unit": sitr.Row()}
    if kind.person:
        unit = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 2}
    data = sitr.protect(
        source,
        **unit,
        relation=sitr.Relation.REPLACE_ONE,
        name="visits",
        bounds={"cost": (0, 100)},
        granularity={"cost": 0.5},
        keys={"ward": WARDS},
        **more,
    )
    return data.budget(price, ledger=ledger)


ENGINES = ("a table in DuckDB", "PostgreSQL", "Spark")
"""Places with a statement or a file of their own: every kind of question is asked there, elsewhere two."""


def cases() -> list[Any]:
    found = []
    for name in PLACES:
        for kind in KINDS if name in ENGINES else (AggregateQuestion, SyntheticQuestion):
            marks = [pytest.mark.slow] if name == "Spark" and kind is not AggregateQuestion else []
            found.append(pytest.param(name, kind, marks=marks, id=f"{name}-{kind.__name__}"))
    return found


def test_no_kind_is_missing_on_any_engine() -> None:
    """Whatever reads rows is one of the engines, and every kind of question is asked of each, none refused."""
    engines = {DuckDB: "a table in DuckDB", Postgres: "PostgreSQL", Spark: "Spark"}
    assert engines.keys() == walk.like(Backend) - {SeveralTables}  # which asks the others
    assert set(engines.values()) == set(ENGINES)
    asked = {tuple(case.values) for case in cases()}
    missing = {(name, kind.__name__) for name in ENGINES for kind in walk.like(Question) - FREE} - {
        (name, kind.__name__) for name, kind in asked
    }
    assert not missing


@pytest.mark.parametrize(("name", "asked"), cases())
def test_every_kind_of_question_has_the_same_answer_everywhere(
    name: str, asked: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))
    place, kind = PLACES[name], KINDS[asked]
    price = kind.prices[0]
    source = place.put(rows(), tmp_path)
    found = answered(source, kind, price, tmp_path / "there.db", **place.more)
    here = answered(rows(), kind, price, tmp_path / "here.db")
    assert found.to_dict()["kind"] == here.to_dict()["kind"]
    assert shown(found) == shown(here)


QUALITY = [pytest.param(name, marks=[pytest.mark.slow] if name == "Spark" else []) for name in ENGINES]


@pytest.mark.parametrize("name", QUALITY)
def test_the_quality_of_synthetic_rows_is_measured_on_every_engine(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It follows another answer, so that it is not among the kinds. The same rows are compared everywhere."""
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "state"))
    place, kind, price = PLACES[name], KINDS[SyntheticQuestion], sitr.ZeroConcentratedDP(0.5)
    compared = pa.table({"ward": WARDS * 20, "cost": [float(row) for row in range(20 * len(WARDS))]})

    def measured(source: Any, ledger: str, **more: Any) -> Any:
        budget = opened(source, kind, price * 2, tmp_path / ledger, **more)
        made = kind.request(budget).release(price, coins=TestCoins(7))
        found = made.measure(price, rows=compared, coins=TestCoins(8))
        assert len(budget.ledger.entries("visits")) == 2
        return found.released.pairs

    there, here = measured(place.put(rows(), tmp_path), "there.db", **place.more), measured(rows(), "here.db")
    assert there == here
    assert there


def shown(answer: Answer) -> Any:
    """What an answer releases: its table or tables; of synthetic rows, what was measured for them.

    The rows themselves are drawn with coins that nobody pays for, other ones each time.
    """
    if isinstance(answer, Synthetic):
        return plain(answer.released, without="plan")
    if isinstance(answer, SeveralSynthetic):  # each engine has an order of its own for the rows of a person
        return plain(answer.released.people, without="plan")
    tables = answer.table if isinstance(answer.table, dict) else {"": answer.table}
    return {name: sorted(map(repr, table.to_pylist())) for name, table in tables.items()}
