"""Whether packed rows are read on Spark is decided by what is public, and what is packed stays within its bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sitr.backends import spark_engine, spark_entries, spark_tasks
from sitr.backends.packed.choose import lowest
from sitr.backends.packed.hashes import Keyed
from sitr.backends.packed.scan import Decoded
from sitr.backends.packed.totals import counted
from sitr.backends.reading import tree
from sitr.backends.spark_engine import BATCHES, bounded_batches, quick_batches, started
from sitr.backends.spark_packed import OTHERWISE, WORDS, Packing, able, packing, trouble
from sitr.backends.spark_probe import expected
from sitr.errors import MissingExtra
from tests.backends.packed.test_limits import asked

ROWS = pa.table(
    {
        "id": pa.array([1], pa.int64()),
        "city": pa.array(["A"]),
        "days": pa.array([1], pa.int64()),
        "cost": pa.array([1.5]),
    }
)
CITIES = {"city": [*"ABCDE", None]}


def packed(
    sql: str,
    *,
    type: str = "bigint",
    caps: tuple[int, int] = (2, 3),
    bounds: Mapping[str, tuple[int, int]] | None = None,
    keys: Mapping[str, Sequence[Any]] = CITIES,
) -> Packing | None:
    query = asked(ROWS, sql, caps=caps, bounds={"days": (0, 100)} if bounds is None else bounds, keys=keys)
    return packing(tree(query), {"id": type, "city": "string", "days": "bigint", "cost": "double"})


COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
SUM = "SELECT city, SUM(days) AS s FROM visits GROUP BY city"


@pytest.mark.parametrize(
    "sql",
    [
        COUNT,
        SUM,
        "SELECT city, COUNT(DISTINCT id) AS p FROM visits GROUP BY city",
        "SELECT city, COUNT(*) AS n, SUM(days) AS s, AVG(days) AS a FROM visits WHERE cost > 1 GROUP BY city",
        "SELECT COUNT(*) AS n FROM visits",
    ],
)
@pytest.mark.parametrize("type", ["bigint", "int", "smallint", "tinyint"])
def test_counts_people_and_sums_by_public_keys_are_packed(sql: str, type: str) -> None:
    assert packed(sql, type=type) is not None


@pytest.mark.parametrize(
    "given",
    [
        {"sql": COUNT, "type": "string"},
        {"sql": COUNT, "type": "decimal(20,0)"},
        {"sql": COUNT, "type": "double"},
        {"sql": COUNT, "keys": {}},
        {"sql": SUM, "bounds": {"days": (0, 2**20)}},
        {"sql": SUM, "caps": (2, 2**60), "bounds": {"days": (0, 1000)}},
        {"sql": "SELECT city, MEDIAN(days) AS m FROM visits GROUP BY city"},
        {"sql": "SELECT city, COUNT(DISTINCT days) AS d FROM visits GROUP BY city"},
    ],
)
def test_other_questions_are_the_statements(given: dict[str, Any]) -> None:
    assert packed(**given) is None


@pytest.mark.parametrize(("most", "fits"), [(WORDS, True), (WORDS + 1, False)])
def test_a_word_has_at_most_16_bits(most: int, fits: bool) -> None:
    """Tasks send words as 16-bit numbers, and a person sends an entry for each at most."""
    found = packed("SELECT days, COUNT(*) AS n FROM visits GROUP BY days", keys={"days": list(range(most))})
    assert (found is not None) == fits
    if found is not None:
        assert (found.shape.cells << found.shape.bits) - 1 < 2**16


def test_values_of_one_column_share_their_bits() -> None:
    """50 to 100 are 1 to 51, and 0 is a row without a value: that says how many rows the mean is of."""
    sql = "SELECT city, SUM(days) AS s, AVG(days) AS a, COUNT(cost) AS c FROM visits GROUP BY city"
    found = packed(sql, bounds={"days": (50, 100)})
    assert found is not None
    assert [(each.bits, each.lowest) for each in found.components] == [(6, 49), (1, 0)]
    assert found.shape.components == ((0, 6), (6, 1))


def test_the_number_of_a_group_gives_its_keys() -> None:
    found = packed("SELECT city, days, COUNT(*) AS n FROM visits GROUP BY city, days", keys=CITIES | {"days": [4, 9]})
    assert found is not None
    keys = Decoded(found.sizes, found.tree.rows.keys)
    assert [keys[at] for at in range(len(keys))] == [(city, day) for city in [*"ABCDE", None] for day in (4, 9)]


# Whether the executors run Python


BUSY = "Job aborted due to stage failure: ExecutorLostFailure (executor 1 exited)"
MISSING = "An exception was thrown from the Python worker:\nModuleNotFoundError: No module named 'pyarrow'"
LACKING = "An exception was thrown from the Python worker:\nAttributeError: module 'numpy' has no attribute 'astype'"
OTHER = "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.12"
NONE = 'java.io.IOException: Cannot run program "python3": error=2, No such file or directory'
LATER = 'java.io.IOException: Cannot run program "python3": Exec failed, error: 13 (Permission denied)'
CROWDED = 'java.io.IOException: Cannot run program "python3": error=12, Cannot allocate memory'


class Cluster:
    """A session whose jobs end with these errors, one after the other; an empty one is a job that runs here."""

    def __init__(self, *errors: str) -> None:
        self.errors, self.jobs = list(errors), 0

    def range(self, _rows: int) -> Cluster:
        return self

    def mapInArrow(self, function: Any, _schema: str) -> Cluster:  # noqa: N802 - the name in PySpark
        self.function = function
        return self

    def collect(self) -> list[tuple[bytes]]:
        self.jobs += 1
        if self.errors and (error := self.errors.pop(0)):
            raise RuntimeError(error)
        tasks = [[pa.record_batch({"id": [1, 2]})], [], [pa.record_batch({"id": [3]})]]
        return [(each.column(0)[0].as_py(),) for task in tasks for each in self.function(iter(task))]


def test_executors_that_run_python_are_asked_once() -> None:
    cluster = Cluster()
    assert [able(cluster) for _ in range(3)] == [True] * 3
    assert cluster.jobs == 1


def differing(monkeypatch: pytest.MonkeyPatch, broken: tuple[Any, str, Callable[..., Any]], asked: Any) -> bool:
    """What is said of executors on which one function is another one than here."""
    expected()
    where, name, twin = broken
    cluster = Cluster()
    with monkeypatch.context() as changed:
        changed.setattr(where, name, twin)
        return bool(asked(cluster))


@pytest.mark.parametrize(
    "broken",
    [
        (Keyed, "of_people", lambda self, x: x ^ np.uint64(self.people)),
        (Keyed, "of_cells", lambda self, x, y: x + y + np.uint64(self.groups)),
        (spark_tasks, "of_rows", lambda cells, values, twins: cells + values[0] + twins),
        (spark_tasks, "lowest", lambda hashed, sizes, most: lowest(~hashed, sizes, most)),
        (spark_tasks, "counted", lambda code, size, weights=None: counted(code, size, weights) + 1),
        (spark_entries, "joined", lambda high, bucket: (high << 8) + bucket),
        (spark_entries, "once", lambda key: (np.unique(key), None)),
    ],
    ids=lambda broken: broken[1],
)
def test_executors_that_compute_something_else_are_not_used(
    monkeypatch: pytest.MonkeyPatch, broken: tuple[Any, str, Callable[..., Any]]
) -> None:
    """Of a twin that asks only for the libraries, each of them would be used, and answers would be wrong."""

    def asks_for_libraries(cluster: Cluster) -> bool:
        return bool(cluster.mapInArrow(lambda batches: batches, "").collect())

    assert differing(monkeypatch, broken, asks_for_libraries)
    assert not differing(monkeypatch, broken, able)
    assert able(Cluster())


def test_executors_that_answer_nothing_are_not_used() -> None:
    class Silent(Cluster):
        def collect(self) -> list[tuple[bytes]]:
            return []

    assert trouble(Silent()) == OTHERWISE


@pytest.mark.parametrize("error", [MISSING, LACKING, OTHER, NONE, LATER])
def test_what_executors_lack_is_asked_once(error: str) -> None:
    cluster = Cluster(error)
    assert [trouble(cluster) for _ in range(3)] == [error] * 3
    assert cluster.jobs == 1


def forgives(asked: Any) -> bool:
    """Whether a failure that passes is tried again, and leaves nothing behind if it lasts for one question."""
    short, long = Cluster(BUSY, CROWDED), Cluster(BUSY, *[CROWDED] * 2)
    return [asked(short), asked(long), asked(long)] == [True, False, True]


def test_a_failure_that_passes_is_not_remembered_and_a_twin_that_does_is_caught() -> None:
    @lru_cache(maxsize=8)
    def remembers(session: Any) -> bool:
        try:
            session.range(64).mapInArrow(None, "").collect()
        except RuntimeError:
            return False
        return True

    assert forgives(able)
    assert not forgives(remembers)


def test_a_client_of_spark_connect_is_told_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setattr("sitr.backends.spark_engine.find_spec", lambda _: None)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(MissingExtra, match=r"pip install 'pyspark\[connect\]'"):
        started("sc://nowhere.example:15002")


# How rows are given to Python


class Settings:
    """The settings of a session; `refuse` is one that it does not take."""

    def __init__(self, refuse: str = "", **known: str) -> None:
        self.refuse, self.getAll = refuse, known

    def set(self, name: str, value: str) -> None:
        if name == self.refuse:
            raise ValueError(name)
        self.getAll = {**self.getAll, name: value}

    def get(self, name: str) -> str:
        return self.getAll[name]

    def unset(self, name: str) -> None:
        self.getAll = {other: value for other, value in self.getAll.items() if other != name}


class Configured:
    """A session of Spark Connect, or one that Java knows by this name; of both, or of none."""

    def __init__(self, conf: Settings, *, id: str = "", java: str = "") -> None:
        self.conf = conf
        if id:
            self.session_id = id
        if java:
            self._jsparkSession = SimpleNamespace(sessionUUID=lambda: java)


def test_batches_are_quick_until_the_last_of_some_readings_has_ended() -> None:
    own = {next(iter(BATCHES)): "77", "other": "1"}
    session = Configured(Settings(**own))
    with quick_batches(session):
        with quick_batches(session):
            assert session.conf.getAll == {**own, **BATCHES}
        assert session.conf.getAll == {**own, **BATCHES}
    assert session.conf.getAll == own


@pytest.mark.parametrize("refuse", BATCHES)
def test_a_session_that_takes_no_settings_keeps_its_own(refuse: str) -> None:
    session = Configured(Settings(refuse, other="1"))
    with quick_batches(session):
        assert refuse not in session.conf.getAll
    assert session.conf.getAll == {"other": "1"}


def test_batches_end_with_a_reading_that_fails() -> None:
    session = Configured(Settings())
    with pytest.raises(RuntimeError), quick_batches(session):
        raise RuntimeError
    assert session.conf.getAll == {}


@pytest.mark.parametrize("named", [{"id": "one"}, {"java": "two"}])
def test_two_objects_of_one_session_put_its_own_settings_back(
    named: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ends while the second reads. A twin that looks at the objects alone leaves our settings behind."""
    own = {next(iter(BATCHES)): "77"}

    def afterwards() -> dict[str, str]:
        settings = Settings(**own)
        first, second = (quick_batches(Configured(settings, **named)) for _ in range(2))
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert settings.getAll == {**own, **BATCHES} or settings.getAll == own
        second.__exit__(None, None, None)
        return settings.getAll

    assert afterwards() == own
    monkeypatch.setattr(spark_engine, "same", id)
    assert afterwards() != own


def test_other_sessions_are_apart() -> None:
    one, other = Configured(Settings(), id="three"), Configured(Settings(), id="four")
    with quick_batches(one), quick_batches(other):
        pass
    assert one.conf.getAll == other.conf.getAll == {}


@pytest.mark.parametrize(("own", "inside"), [("-1", "4000"), ("0", "4000"), ("77", "77")])
def test_arrow_is_taken_in_batches_whatever_the_session_has(own: str, inside: str) -> None:
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    session = Configured(Settings(**{name: own}), id=f"batches {own}")
    with bounded_batches(session):
        assert session.conf.getAll[name] == inside
    assert session.conf.getAll == {name: own}
    reading = quick_batches(session)
    reading.__enter__()
    with bounded_batches(session):  # another reading ends meanwhile
        reading.__exit__(None, None, None)
        assert session.conf.getAll[name] == inside
    assert session.conf.getAll == {name: own}
