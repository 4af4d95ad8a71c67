"""Spark Connect, whose client has no Java and no access to the driver: every kind of question, as in memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sitr.questions.question import Question
from tests.laws import walk
from tests.laws.test_questions import FREE

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@pytest.mark.slow
def test_every_kind_of_question_has_the_same_answer_through_spark_connect(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'sitr[spark]'")
    pytest.importorskip("grpc", reason="Spark Connect is not installed: pip install 'pyspark[connect]'")
    if shutil.which("java") is None:
        pytest.skip("The server needs Java, which is not installed (on Debian: default-jre-headless)")
    (tmp_path / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in SETTINGS.items()))
    known = os.environ | {"SPARK_CONF_DIR": str(tmp_path), "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-W", "ignore", "-m", "tests.laws.on_connect", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=1200, check=False)
    assert done.stdout.strip(), done.stderr[-3000:]
    kinds = [kind.__name__ for kind in walk.like(Question) - FREE]
    assert json.loads(done.stdout.splitlines()[-1]) == dict.fromkeys(["Connect", "packed", *kinds], True)
