"""The command as a whole: help, version, speed, and a whole life in processes of their own."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from sitr.cli.terminal import json_text

Sitr = Callable[..., Any]

PROGRAM = str(Path(sysconfig.get_path("scripts")) / "sitr")
COMMANDS = (
    "demo",
    "start",
    "protect",
    "explain-query",
    "preview",
    "ask",
    "histogram",
    "publish",
    "synthesize",
    "synthesize-together",
    "draw",
    "dummy",
    "suggest",
    "show",
    "verify",
    "audit",
    "compare",
    "account",
    "calibrate",
    "dpsgd",
    "convert",
    "explain",
    "registry",
    "request",
    "queue",
    "approve",
    "refuse",
    "serve",
    "sensitivity",
    "ledger",
)


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_lists_all_commands(sitr: Sitr, words: tuple[str, ...]) -> None:
    told = sitr(*words).out
    assert [line.split()[0] for line in told.partition("Commands:")[2].splitlines() if line[2:3].strip()] == [*COMMANDS]


@pytest.mark.parametrize(
    "command",
    [*((name,) for name in COMMANDS[:-2]), ("sensitivity", "compare"), ("ledger", "show"), ("ledger", "answers")],
)
def test_every_command_explains_itself_with_an_example(sitr: Sitr, command: tuple[str, ...]) -> None:
    told = sitr(*command, "--help")
    assert told.code == 0
    assert f"Example: sitr {' '.join(command)} " in " ".join(told.out.split())


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize(
    "command", [(), *((name,) for name in COMMANDS), ("sensitivity", "compare"), ("ledger", "show")], ids=" ".join
)
def test_help_says_whole_sentences_at_80_columns_and_names_no_type_of_python(
    sitr: Sitr, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], language: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    told = sitr(*command, "--help", "--lang", language).out
    assert not cut(told)
    assert "list[" not in told
    assert max(map(len, told.splitlines())) <= 80 or language == "ar"  # marks of direction take no space


def cut(text: str) -> list[str]:
    """The lines whose sentence does not end; the dots behind brackets say that something may be repeated."""
    return [line for line in text.splitlines() if re.search(r"\w[,;:\u060c]?(\.\.\.|…)$", line)]


def test_a_cut_sentence_would_be_found() -> None:
    assert cut("  verify  Check a certificate against a ledger, or prove what a...")
    assert not cut("Usage: sitr ledger [OPTIONS] COMMAND [ARGS]...")


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "sitr", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("sitr ")


def test_version(sitr: Sitr) -> None:
    assert sitr("--version").out == f"sitr {version('sitr')}\n"


def test_unknown_command(sitr: Sitr) -> None:
    done = sitr("tell")
    assert (done.code, done.out) == (2, "")
    assert "tell" in done.err


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (("tell",), "No such command 'tell'."),
        (("aks",), "No such command 'aks'. Did you mean 'ask'?"),
        (("ledger", "tell"), "No such command 'tell'."),
        (("--qqq",), "No such option: --qqq."),
        (("sensitivity", "--qqq"), "No such option: --qqq."),
        (("ask", "--qqq"), "No such option: --qqq."),
        (("ask",), "Missing DESCRIPTION, SQL (or --file) and --price (or --error)."),
        (("suggest",), "Missing DESCRIPTION, SQL and --price."),
    ],
)
def test_usage_errors_are_json_if_that_is_asked_for(sitr: Sitr, words: tuple[str, ...], given: str) -> None:
    done = sitr(*words, "--json")
    assert (done.code, done.out) == (2, "")
    assert done.error()["error"] == "BadUsage"
    assert done.error()["given"] == given
    assert sitr(*words).err.startswith(f"error: {given} Run ")


def test_nothing_slow_is_imported_for_help() -> None:
    look = "import sys, sitr.cli.main; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout.split()
    slow = {"alembic", "cryptography", "duckdb", "flint", "numpy", "pyarrow", "rich", "scipy", "sqlalchemy", "sqlglot"}
    assert "typer" in loaded
    assert not slow & set(loaded)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_are_quick(script: Sitr, option: str) -> None:
    def seconds() -> float:
        """Of the processor: on an idle machine that is all the time there is, and on a busy one it is still true."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert script(option).code == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.4


@pytest.mark.usefixtures("folder")
def test_a_life_in_processes(script: Sitr) -> None:
    described = script(
        *("protect", "visits.parquet", "--unit", "patient_id", "--max-groups", 3, "--max-rows-per-group", 2),
        *("--keys", "ward=Surgery,Oncology", "--budget", "zcdp(0.1)", "--ledger", "sitr.db"),
    )
    assert (described.code, described.err) == (0, "")
    asked = ("visits.sitr.yaml", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--price", "zcdp(0.06)")
    assert script("preview", *asked).code == 0
    first = script("ask", *asked, "--json")
    assert (first.code, first.err, len(first.told()["rows"])) == (0, "", 2)
    again = script("ask", *asked, "--json")
    assert again.told()["rows"] == first.told()["rows"]
    second = script("ask", *asked, "--fresh")
    assert (second.code, second.out) == (1, "")
    assert "zcdp(rho=0.04)" in second.err
    assert len(script("ledger", "show", "sitr.db", "--json").told()["entries"]) == 1


@pytest.mark.usefixtures("folder")
def test_no_traceback_in_a_process(script: Sitr) -> None:
    done = script("protect", "visits.parquet", "--unit-row", "-o", "missing/visits.yaml")
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err
    assert "missing/visits.yaml" in done.err


def test_a_terminal_without_the_letters_loses_no_answer(description: Path) -> None:
    code = "import sys; sys.argv[0] = 'sitr'; from sitr.cli.main import main; main()"
    words = ["ask", str(description), "SELECT COUNT(*) AS n FROM visits", "--price", "zcdp(0.1)"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, check=True, env={"PYTHONIOENCODING": "ascii"}
    )
    assert b"n" in done.stdout
    assert b"? " in done.stdout  # in place of ±


@pytest.mark.sampled(1)
@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", "| true"])
def test_a_lost_output_does_not_lose_the_files(description: Path, redirection: str) -> None:
    question = "'SELECT COUNT(*) AS n FROM visits' --price 'zcdp(0.1)' -o n.csv"
    command = f"{PROGRAM} ask {description} {question} {redirection}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert Path("n.csv").read_text().startswith('"n","n_low","n_high"\n')


def test_interruption_of_a_process_is_quiet_and_leaves_no_half_a_file(tmp_path: Path) -> None:
    words = [PROGRAM, "demo", "--rows", "1000000", "--directory", str(tmp_path / "demo")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "demo").exists():  # made just before the visits are
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)
    assert (process.returncode, *told) == (130, "", "")
    assert not (tmp_path / "demo" / "visits.parquet").exists()


NAMED = 'SELECT COUNT(*) AS "عدد" FROM visits'


def test_json_has_every_script_as_it_is(sitr: Sitr, description: Path) -> None:
    done = sitr("preview", description, NAMED, "--price", "zcdp(0.1)", "--json")
    assert '"name": "عدد"' in done.out
    assert "\\u" not in done.out
    assert sitr("ask", description, NAMED, "--price", "zcdp(0.1)", "-o", "n.json").code == 0
    written = Path("n.json").read_text(encoding="utf-8")
    assert '"name": "عدد"' in written
    assert "\\u" not in written


def test_json_is_utf_8_where_a_terminal_lacks_the_letters(description: Path) -> None:
    code = "import sys; sys.argv[0] = 'sitr'; from sitr.cli.main import main; main()"
    words = ["preview", str(description), NAMED, "--price", "zcdp(0.1)", "--json"]
    narrow = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, check=True, env=narrow)
    assert '"name": "عدد"'.encode() in done.stdout
    assert rb"\u" not in done.stdout
    assert json.loads(done.stdout)["columns"][0]["name"] == "عدد"
    broken = json_text({"path": "a\udcff"})  # no letter: a byte of a file name that is not UTF-8
    assert json.loads(broken.encode()) == {"path": "a\udcff"}
