"""How statements run on Spark: settings that they need, steps that are kept, and errors that quote nothing."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from sitr.backends.failure import CHARGED, failed
from sitr.backends.spark_dialect import SparkDialect, SparkStep
from sitr.errors import MissingExtra, SourceError
from sitr.namespace import Later, needs

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import cloudpickle
    from pyspark import sql as spark_sql
else:  # an extra
    cloudpickle, spark_sql = Later("pyspark.cloudpickle"), Later("pyspark.sql")

Found = TypeVar("Found")

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
}
"""Settings of a session that change the meaning of our statements, and what they must be."""


VARIABLE = "SITR_SPARK"


def started(url: str | None = None) -> Any:
    """The session at a master (`spark://…`, `local[4]`, `yarn`) or a Spark Connect server (`sc://…`).

    Without an address, the active session of this process, or else one at the address in the environment.
    """
    needs("pyspark", extra="spark")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PySpark's about newer versions of pandas, which is not used
        if url is None and (active := spark_sql.SparkSession.getActiveSession()) is not None:
            return active
        url = url or os.environ.get(VARIABLE)
        if url and url.startswith("sc://") and find_spec("grpc") is None:
            raise MissingExtra(
                given="A client of Spark Connect needs grpcio, which is not installed.",
                do="Run pip install 'pyspark[connect]'.",
            )
        builder = spark_sql.SparkSession.builder.appName("sitr").config("spark.ui.showConsoleProgress", "false")
        if not _any_session():
            # Else a table of texts would have its times in the zone of this machine.
            builder = builder.config("spark.sql.session.timeZone", "UTC")
            # The driver writes failed tasks to the errors of this process, with the value that made them fail.
            builder = builder.config("spark.log.level", "OFF")
        if url:
            builder = builder.remote(url) if url.startswith("sc://") else builder.master(url)
            if url.startswith("local"):  # executors on this machine have numpy if they run this Python
                os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        try:
            return builder.getOrCreate()
        except Exception:  # noqa: BLE001 - Java, the network and the server have many errors of their own
            pass
    raise SourceError(
        given=f"No Spark session could be started{f' at {url}' if url else ''}.",
        do=f"Check the address in {VARIABLE}, and that Java 17 or later is installed (Spark Connect needs none here).",
    )


def _any_session() -> bool:
    """Whether this process has a session already, whose settings are its owner's."""
    try:
        return spark_sql.SparkSession.active() is not None
    except Exception:  # noqa: BLE001 - there is none
        return False


def check_session(session: Any) -> None:
    """Refuse a session whose settings change what our statements mean, before anything is charged."""
    for name, wanted in SETTINGS.items():
        if str(session.conf.get(name, wanted)).lower() != wanted:
            raise SourceError(
                given=f"The Spark session has {name} = {session.conf.get(name)}, with which no answer is exact.",
                do=f'Run spark.conf.set("{name}", "{wanted}"); nothing was spent.',
            )


_silent: ContextVar[bool] = ContextVar("_silent", default=False)


class _Quiet(logging.Filter):
    """Drops what PySpark logs about errors of our statements: it can quote the data."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002
        return not _silent.get()


_QUIET = _Quiet()


@contextmanager
def quiet() -> Iterator[None]:
    """No error is logged by this thread inside."""
    logging.getLogger("SQLQueryContextLogger").addFilter(_QUIET)
    before = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(before)


def read(work: Callable[[], Found], *, charge: str = CHARGED) -> Found:
    """What `work` returns. If it fails, the text of the error is always the same: see `sitr.backends.engine.read`."""
    with quiet():
        try:
            return work()
        except Exception:  # noqa: BLE001 - whatever it is, it could quote the data
            pass
    raise failed(charge)


def by_value(modules: Iterable[Any]) -> None:
    """Functions of these modules are sent to executors as they are, and not by their names."""
    for module in modules:
        cloudpickle.register_pickle_by_value(module)


BATCHES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}
"""How Spark gives rows to Python: this number of rows at once, and without a limit on their bytes, which Spark would
compute anew for every row. That takes more than half of the time of giving them. Our rows are short
(`spark_entries.PIECE`)."""

_lock = Lock()
_changed: dict[object, tuple[int, dict[str, str | None]]] = {}
"""Of each session the readings that go on, and its settings before the first of them; None where there were none."""


def same(session: Any) -> object:
    """What two objects have in common that stand for one session, whose settings they share.

    A client of Spark Connect has the id that the server knows it by; else Java knows the session.
    """
    try:
        client = getattr(session, "session_id", None)
        return str(client or session._jsparkSession.sessionUUID())
    except Exception:  # noqa: BLE001 - what a session does not have has many errors
        return id(session)


@contextmanager
def quick_batches(session: Any) -> Iterator[None]:
    """The session gives rows to Python as `BATCHES` says, until the last of the readings at one time has ended.

    They change no result, so a session that refuses them keeps its own.
    """
    own = same(session)
    with _lock:
        number, before = _changed.get(own, (0, {}))
        if not number:
            before = _set(session, BATCHES)
        _changed[own] = number + 1, before
    try:
        yield
    finally:
        with _lock:
            number, before = _changed.pop(own)
            if number > 1:
                _changed[own] = number - 1, before
            else:
                _set(session, before)


@contextmanager
def bounded_batches(session: Any) -> Iterator[None]:
    """The session has a number of rows in a batch, without which PySpark takes no rows from Arrow.

    Another reading may have changed the session's own number, and may put it back at any time.
    """
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    with _lock:
        _, before = _changed.get(same(session), (0, dict[str, str | None]()))
        number = before[name] if name in before else session.conf.get(name)
    if number is None or int(number) > 0:
        yield
        return
    with quick_batches(session):
        yield


def _set(session: Any, settings: Mapping[str, str | None]) -> dict[str, str | None]:
    """Change settings, and say what they were before."""
    before: dict[str, str | None] = {}
    try:
        known = session.conf.getAll
        for name, value in settings.items():
            if value is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, value)
            before[name] = known.get(name)
    except Exception:  # noqa: BLE001 - what a session refuses has many errors
        pass
    return before


@contextmanager
def views(session: Any, frames: Mapping[str, Any]) -> Iterator[None]:
    """The frames under these names, which end with the statement."""
    made = []
    try:
        for name, frame in frames.items():
            frame.createOrReplaceTempView(name)
            made.append(name)
        yield
    finally:
        for name in made:
            session.catalog.dropTempView(name)


def new_name() -> str:
    """A name that nothing else in the session has."""
    return f"sitr_{uuid4().hex}"


def collected(session: Any, sql: str, dialect: SparkDialect) -> pa.Table:
    """The rows of a statement, collected once. Steps that are used again are computed once and kept on the executors.

    Spark writes a step of a WITH clause as often as it is used, and reads the rows again each time. A view over random
    numbers, or a table that changes meanwhile, could then give a person other groups each time, more than the caps
    allow together. A kept step has one meaning, because a checkpoint is never computed twice: if an executor loses a
    part of it, the statement fails.
    """
    plan = planned(sql, dialect.steps_written)
    kept: dict[str, Any] = {}
    try:
        for name, select in plan.kept:
            kept[name] = asked(session, select, dialect).localCheckpoint()
            kept[name].createOrReplaceTempView(name)
        return asked(session, plan.last, dialect).toArrow()
    finally:
        for name in kept:
            session.catalog.dropTempView(name)


def asked(session: Any, sql: str, dialect: SparkDialect) -> Any:
    """The frame of a statement with its parameters."""
    used = {int(number) for number in re.findall(r":p(\d+)\b", sql)}
    return session.sql(sql, args={f"p{n}": value for n, value in enumerate(dialect.bound.values) if n in used})


@dataclass(frozen=True, slots=True)
class SparkPlan:
    """Statements whose rows are kept under names, in this order, and the last one."""

    kept: tuple[tuple[str, str], ...]
    last: str


_FIRST = ("rows", "side")
"""The first steps of WITH clauses."""


def planned(sql: str, steps: Sequence[SparkStep], name: Callable[[], str] = new_name) -> SparkPlan:
    """The statement with each step that is to be computed `once`, and is used twice, as a statement of its own.

    >>> steps = [SparkStep("rows", "SELECT 1 AS u", False), SparkStep("cells", "SELECT u FROM rows", True)]
    >>> sql = "WITH rows AS (SELECT 1 AS u), cells AS (SELECT u FROM rows) SELECT * FROM cells a, cells b"
    >>> planned(sql, steps, lambda: "kept_1").kept
    (('kept_1', 'WITH rows AS (SELECT 1 AS u) SELECT u FROM rows'),)
    >>> planned(sql, steps, lambda: "kept_1").last
    'WITH rows AS (SELECT 1 AS u), cells AS (SELECT * FROM kept_1) SELECT * FROM cells a, cells b'
    """
    left, kept, before = list(steps), [], list[SparkStep]()
    while left:
        step = left.pop(0)
        before = [step] if step.name in _FIRST else [*before, step]
        written = f"{step.name} AS ({step.select})"
        after = sql[sql.index(written) + len(written) :]
        if not step.once or len(re.findall(rf"\b{step.name}\b", after)) < 2:
            continue
        view = name()
        first = ", ".join(f"{each.name} AS ({each.select})" for each in before[:-1])
        kept.append((view, f"WITH {first} {step.select}" if first else step.select))
        short = replace(step, select=f"SELECT * FROM {view}")
        before[-1] = short
        sql = sql.replace(written, f"{short.name} AS ({short.select})")
        left = [
            replace(each, select=each.select.replace(written, f"{short.name} AS ({short.select})")) for each in left
        ]
    return SparkPlan(tuple(kept), sql)
