"""A folder with a small hospital in it, and `sitr` as a function."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyarrow.parquet import write_table
from typer.testing import CliRunner

from sitr.cli.main import app
from sitr.dataset.hospital import WARDS, hospital
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.session.dataset import protect

PLAIN = {"COLUMNS": "120", "NO_COLOR": None, "FORCE_COLOR": None, "TTY_COMPATIBLE": None}


@dataclass(frozen=True)
class Run:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    def told(self) -> dict[str, Any]:
        """The one JSON value of standard output, which holds nothing else."""
        told: dict[str, Any] = json.loads(self.out)
        return told

    def error(self) -> dict[str, Any]:
        """The error as JSON, with standard output empty."""
        assert self.out == ""
        error: dict[str, Any] = json.loads(self.err)
        assert list(error) == ["error", "wanted", "given", "do", "excerpt", "others", "instead"]
        return {name: value for name, value in error.items() if name not in ("others", "instead") or value}


Sitr = Callable[..., Run]


@pytest.fixture
def sitr() -> Sitr:
    """Run a command in this process; an exception that is not told fails the test."""

    def run(*words: object, environment: dict[str, str | None] | None = None) -> Run:
        result = CliRunner().invoke(app, list(map(str, words)), env=PLAIN | (environment or {}), prog_name="sitr")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Run(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def script() -> Sitr:
    """Run the installed console script in a process of its own."""

    def run(*words: object) -> Run:
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "COLUMNS": "120"}
        program = Path(sysconfig.get_path("scripts")) / "sitr"
        done = subprocess.run(
            [program, *map(str, words)], capture_output=True, text=True, env=environment, timeout=120, check=False
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with visits.parquet."""
    monkeypatch.chdir(tmp_path)
    write_table(hospital(2_000), "visits.parquet")
    return tmp_path


@pytest.fixture
def description(folder: Path) -> Path:
    """visits.sitr.yaml, with a budget of zcdp(0.5) in sitr.db, which is not there yet."""
    visits = protect(
        folder / "visits.parquet",
        unit="patient_id",
        max_groups=3,
        max_rows_per_group=2,
        bounds={"cost": (0, 5_000)},
        granularity={"cost": 0.01},
        keys={"ward": WARDS},
    )
    return visits.save("visits.sitr.yaml", promise=ZeroConcentratedDP(0.5), ledger="sitr.db")
