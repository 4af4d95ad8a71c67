"""Every kind of question through a Spark Connect server on this machine: `python -m tests.laws.on_connect FOLDER`.

PySpark starts the server. A process that has another session of Spark cannot do this, so it has one of its own. It
prints which kinds of questions have the same answer as in memory, and whether the executors pack rows.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from sitr.backends import spark_packed
from sitr.backends.spark import sent
from tests.laws.test_places import answered, rows, shown
from tests.laws.test_questions import KINDS


def main(folder: Path) -> dict[str, bool]:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote("local[2]").getOrCreate()
    found = {"Connect": "connect" in type(session).__module__, "packed": spark_packed.able(session)}
    for asked, kind in KINDS.items():
        own = folder / asked.__name__
        own.mkdir()
        os.environ["SITR_STATE"] = str(own / "state")
        price = kind.prices[0]
        there = answered(sent(session, rows()), kind, price, own / "there.db")
        found[asked.__name__] = shown(there) == shown(answered(rows(), kind, price, own / "here.db"))
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))), flush=True)  # noqa: T201
    os._exit(0)  # the server would be waited for
