"""`sitr --server URL`: the same commands, about a data set on a server."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sitr.cli.far import taken
from sitr.errors import BadUsage
from tests.client.conftest import Served, served  # noqa: F401 - a fixture
from tests.server.conftest import SQL, team  # noqa: F401 - a fixture


def run(*words: str, token: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    known = os.environ | {"SITR_TOKEN": token} | environment
    return subprocess.run(
        [sys.executable, "-m", "sitr", *words], capture_output=True, text=True, env=known, check=False
    )


def test_a_whole_story(served: Served, tmp_path: Path) -> None:  # noqa: F811
    token, at = served.token("ana"), ("--server", served.address)
    shown = run(*at, "preview", "visits", SQL, "--price", "zcdp(0.01)", "--json", token=token)
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["kind"] == "preview of answer"
    page = tmp_path / "wards.html"
    asked = run("ask", *at, "visits", SQL, "--price", "zcdp(0.01)", "--certificate", str(page), "--json", token=token)
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["receipt"]["entry"] == 1
    assert "sitr-release" in page.read_text()
    (tmp_path / "token").write_text(token + "\n")
    counted = run(
        *at, "histogram", "visits", "--column", "ward", "--price", "zcdp(0.01)", SITR_TOKEN_FILE=str(tmp_path / "token")
    )
    assert counted.returncode == 0, counted.stderr
    refused = run(*at, "ask", "visits", SQL, "--price", "zcdp(99)", "--json", token=token)
    assert refused.returncode != 0
    assert "BudgetExceeded" in refused.stdout + refused.stderr or "left" in refused.stdout + refused.stderr


def test_a_request_is_made_decided_and_listed(served: Served) -> None:  # noqa: F811
    ana, noor, at = served.token("ana"), served.token("noor"), ("--server", served.address)
    made = run(*at, "request", "visits", SQL, "--price", "zcdp(0.01)", "--reason", "Annual report", token=ana)
    assert made.returncode == 0, made.stderr
    [line] = [line for line in made.stdout.splitlines() if " approve " in line]
    words = shlex.split(line)
    assert words[:5] == ["sitr", *at, "approve", "visits"]
    assert run(*words[1:], token=ana).returncode != 0  # not one's own
    decided = run(*words[1:], "--reason", "Fine", token=noor)
    assert decided.returncode == 0, decided.stderr
    number = words[-1]
    asked = run(*at, "ask", "visits", SQL, "--price", "zcdp(0.01)", "--request", number, "--json", token=ana)
    assert asked.returncode == 0, asked.stderr
    [listed] = json.loads(run(*at, "queue", "visits", "--json", token=ana).stdout)["requests"]
    assert (str(listed["number"]), listed["status"], listed["decided_by"]) == (number, "answered", "noor")
    other = run(*at, "request", "visits", SQL, "--price", "zcdp(0.02)", "--reason", "More", "--json", token=ana)
    [second] = json.loads(other.stdout)["requests"]
    refused = run(*at, "refuse", "visits", str(second["number"]), "--json", token=noor)
    assert json.loads(refused.stdout)["requests"][0]["status"] == "refused"


@pytest.mark.slow
def test_tables_and_synthetic_rows(served: Served, tmp_path: Path) -> None:  # noqa: F811
    token, at = served.token("ana"), ("--server", served.address)
    (tmp_path / "wards.yaml").write_text(
        "description: visits\nprice: zcdp(0.02)\ntables: [[ward, age_band], ward]\noutputs: [wards.csv]\n"
    )
    shown = run(*at, "preview", str(tmp_path / "wards.yaml"), token=token)
    assert shown.returncode == 0, shown.stderr
    published = run(*at, "publish", str(tmp_path / "wards.yaml"), token=token)
    assert published.returncode == 0, published.stderr
    assert (tmp_path / "wards.csv").read_text().count("\n") > 10
    rows = tmp_path / "rows.csv"
    words = ("--price", "zcdp(0.05)", "--columns", "ward,age_band", "--rows", "20", "-o", str(rows))
    made = run(*at, "synthesize", "visits", *words, token=token)
    assert made.returncode == 0, made.stderr
    assert rows.read_text().startswith('"ward","age_band"')
    assert rows.read_text().count("\n") == 21


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--server"], "needs an address"),
        (["--server=", "ask"], "needs an address"),
        (["protect", "visits.csv", "--server", "https://a.example"], "does not ask a server"),
        (["ledger", "--server", "https://a.example"], "does not ask a server"),
    ],
)
def test_what_cannot_be_asked_there_is_refused(words: list[str], error: str) -> None:
    with pytest.raises(BadUsage, match=error):
        taken(words)


def test_the_option_is_taken_from_anywhere_but_not_after_two_dashes() -> None:
    assert taken(["ask", "visits", "--server=https://a.example"]) == ("https://a.example", ["ask", "visits"])
    assert taken(["ask", "--", "--server", "x"]) == ("", ["ask", "--", "--server", "x"])
    assert taken([]) == ("", [])


def test_there_is_no_option_for_the_token() -> None:
    assert "--token" not in run("--help").stdout
    assert run("--server", "https://a.example", "ask", "v", SQL, "--price", "zcdp(1)", "--token", "x").returncode == 2


def test_options_about_files_are_refused(tmp_path: Path) -> None:
    words = ["--server", "https://a.example", "ask", "visits", SQL, "--price", "zcdp(1)", "--ledger", "x.db"]
    found = run(*words, token="t")
    assert found.returncode != 0
    assert "cannot be combined" in found.stderr
    missing = run(*words[:-2], SITR_TOKEN_FILE=str(tmp_path / "none"))
    assert "Cannot read the token" in missing.stderr
