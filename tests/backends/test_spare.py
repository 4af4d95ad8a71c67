"""The DuckDB that waits for the next question: used again, but never by two at once, after a failure or in a fork."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import duckdb
import pyarrow as pa
import pytest

from sitr.backends.engine import connection
from sitr.backends.spare import MOST, Spare

FORK = """
import os, sys
import pyarrow as pa
from sitr.backends.engine import connection

def rows():
    with connection({"seen": pa.table({"x": [1, 2, 3]})}) as engine:
        return engine.execute("SELECT sum(x) FROM seen, range(1000000)").fetchall()[0][0]

assert rows() == 6_000_000
child = os.fork()
if child == 0:
    sys.exit(rows() != 6_000_000)  # not os._exit: the interpreter of the child is taken down as usual
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), rows())
"""


@pytest.fixture
def spare() -> Iterator[Spare]:
    made = Spare()
    yield made
    made.close()


def marked(engine: duckdb.DuckDBPyConnection) -> bool:
    """Whether this DuckDB has the table that `mark` leaves behind, which no question does."""
    return bool(engine.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'mark'").fetchall()[0][0])


def mark(engine: duckdb.DuckDBPyConnection) -> None:
    engine.execute("CREATE TABLE mark (x INTEGER)")


def test_one_question_after_another_uses_the_same_duckdb(spare: Spare) -> None:
    with spare.connected({}) as first:
        mark(first)
    with spare.connected({}) as second:
        assert marked(second)


def test_questions_at_the_same_time_do_not(spare: Spare) -> None:
    with spare.connected({}) as first:
        mark(first)
        with spare.connected({}) as second:
            assert not marked(second)


def test_questions_that_were_answered_at_the_same_time_leave_a_few_for_others(spare: Spare) -> None:
    with ExitStack() as together:
        for _ in range(MOST + 1):
            mark(together.enter_context(spare.connected({})))
    with ExitStack() as together:
        again = [marked(together.enter_context(spare.connected({}))) for _ in range(MOST + 1)]
    assert again == [True] * MOST + [False]


def test_one_with_the_settings_of_before_is_not_kept(spare: Spare) -> None:
    with spare.connected({"threads": 1}) as first:
        mark(first)
        with spare.connected({"threads": 2}):
            pass
    with spare.connected({"threads": 2}) as second:
        assert second.execute("SELECT current_setting('threads')").fetchall() == [(2,)]
        assert not marked(second)


def fail(spare: Spare) -> None:
    with spare.connected({}) as engine:
        mark(engine)
        engine.execute("SELECT nothing")


def test_a_failed_question_leaves_no_duckdb(spare: Spare) -> None:
    with pytest.raises(duckdb.Error):
        fail(spare)
    with spare.connected({}) as second:
        assert not marked(second)


def test_other_settings_start_another_duckdb(spare: Spare) -> None:
    with spare.connected({"threads": 1}) as first:
        mark(first)
    with spare.connected({"threads": 2}) as second:
        assert not marked(second)
        assert second.execute("SELECT current_setting('threads')").fetchall() == [(2,)]


def test_tables_and_settings_of_a_question_end_with_it() -> None:
    with connection({"seen": pa.table({"x": [1]})}) as first:
        assert first.execute("SELECT x FROM seen").fetchall() == [(1,)]
        first.execute("SET SESSION errors_as_json = true")
    with connection({}) as second:
        assert second.execute("SELECT current_setting('errors_as_json')").fetchall() == [(False,)]
        with pytest.raises(duckdb.CatalogException, match="seen"):
            second.execute("SELECT x FROM seen")


def test_a_fork_between_questions_harms_neither_process() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "0 6000000", "")
