"""A clone stays clean: the demo, the tests and the documentation leave no files that git would list."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an unpacked archive has no git history")


def git(*words: str, folder: Path) -> str:
    who = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files of the project that git does not ignore, as the only commit of a new repository."""
    folder = tmp_path / "clone"
    for name in git("ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git("init", "-q", folder=folder)
    git("add", "--all", folder=folder)
    git("commit", "-q", "-m", "All files", folder=folder)
    return folder


@pytest.fixture
def environment(clone: Path, tmp_path: Path) -> dict[str, str]:
    """A virtual environment that looks complete, and whose `sitr` is the clone's."""
    programs = tmp_path / "venv" / "bin"
    programs.mkdir(parents=True)
    run = f"""exec "{sys.executable}" -c "from sitr.cli.main import main; main()" "$@\""""
    for name, line in (("python", "exit 0"), ("sitr", run)):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    return os.environ | {
        "PYTHONPATH": str(clone / "src"),
        "SITR_VENV": str(programs.parent),
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }


def test_the_first_demo_of_a_clone_begins_anew_and_leaves_it_clean(clone: Path, environment: dict[str, str]) -> None:
    demo = ["bash", "dev/demo", "--rows", "2000"]
    done = subprocess.run(demo, cwd=clone, env=environment, check=True, capture_output=True, text=True, timeout=120)
    assert "The visits of an invented hospital are in sitr-demo/visits.parquet." in done.stdout
    assert "entry 1, visits, " in " ".join(done.stdout.split())
    assert (clone / "sitr-demo" / "sitr.db").exists()
    assert git("status", "--porcelain", folder=clone) == ""


def test_the_tests_leave_a_clone_clean(clone: Path, environment: dict[str, str]) -> None:
    some = ["tests/ledger/test_schedule.py", "tests/report/chart/test_svg.py"]
    tests = [sys.executable, "-m", "pytest", "-q", *some]
    subprocess.run(tests, cwd=clone, env=environment | {"CI": ""}, check=True, capture_output=True, timeout=300)
    assert (clone / ".pytest_cache").exists()
    assert (clone / ".hypothesis").exists()
    assert git("status", "--porcelain", folder=clone) == ""


LEFT_BEHIND = (
    "sitr-demo/sitr.db",
    "dev/sitr-demo/visits.parquet",
    "docs/_build/index.html",
    "dist/sitr.whl",
    ".venv/bin/python",
    ".hypothesis/unicode_data",
    ".import_linter_cache/data.json",
    ".mypy_cache/cache.db",
    ".pytest_cache/README.md",
    ".ruff_cache/CACHEDIR.TAG",
    "src/sitr/__pycache__/errors.pyc",
    "src/sitr.egg-info/PKG-INFO",
)


def test_git_ignores_what_the_demo_the_checks_and_the_builds_leave(clone: Path) -> None:
    for name in LEFT_BEHIND:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text("left behind\n")
    assert git("status", "--porcelain", folder=clone) == ""
    (clone / "src" / "sitr" / "new.py").write_text("")  # a new source file is listed
    assert git("status", "--porcelain", folder=clone) == "?? src/sitr/new.py\n"


def test_nothing_that_git_ignores_is_committed() -> None:
    assert git("ls-files", "--cached", "--ignored", "--exclude-standard", folder=ROOT) == ""
