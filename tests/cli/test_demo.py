"""`sitr demo` from nothing to a certificate."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitr.cli import reconstruction
from sitr.cli.demo import QUESTION
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def files(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def test_twice_is_one_answer_and_one_charge(sitr: Sitr) -> None:
    first = sitr("demo", "--rows", 2_000)
    assert (first.code, first.err) == (0, "")
    data, page = (Path(f"sitr-demo/{name}") for name in ("visits.parquet", "certificate-1.html"))
    before = data.read_bytes(), page.read_bytes()
    assert QUESTION in first.out
    assert first.out.index("left then") < first.out.index("entry      1")
    assert "ρ = 0.45 of ρ = 0.5" in first.out
    second = sitr("demo", "--rows", 500)
    assert "kept answer of entry 1" in second.out
    assert "were already" in second.out
    assert (data.read_bytes(), page.read_bytes()) == before
    papers = {"certificate-1.html", "chart-1.svg"}
    assert files("sitr-demo") == {"visits.parquet", "visits.sitr.yaml", "sitr.db", "sitr.answers", *papers}
    assert len(SqlLedger("sitr-demo/sitr.db", create=False).entries()) == 1


def test_the_commands_that_it_proposes_work(sitr: Sitr) -> None:
    told = sitr("demo", "--rows", 2_000, "--directory", "my demo").out
    proposed = [shlex.split(line) for line in told.partition("Try next:")[2].splitlines() if line.strip()]
    assert [words[:2] for words in proposed] == [["sitr", "ask"], ["sitr", "ledger"]]
    assert [sitr(*words[1:]).code for words in proposed] == [0, 0]


def test_json(sitr: Sitr) -> None:
    told = sitr("demo", "--rows", 2_000, "--directory", "here", "--json").told()
    assert list(told) == ["files", "preview", "answer"]
    assert told["answer"]["receipt"]["entry"] == 1
    assert told["answer"]["receipt"]["private"]
    assert all(Path(path).exists() for path in told["files"].values())


def test_a_lost_description_does_not_renew_the_budget(sitr: Sitr) -> None:
    assert sitr("demo", "--rows", 2_000).code == 0
    Path("sitr-demo/visits.sitr.yaml").unlink()
    assert "kept answer of entry 1" in sitr("demo").out
    assert len(SqlLedger("sitr-demo/sitr.db", create=False).entries()) == 1


def test_a_lost_ledger_does_not_renew_the_budget(sitr: Sitr) -> None:
    assert sitr("demo", "--rows", 2_000).code == 0
    Path("sitr-demo/sitr.db").unlink()
    refused = sitr("demo", "--json")
    assert (refused.code, refused.error()["error"]) == (1, "LedgerError")
    assert not Path("sitr-demo/sitr.db").exists()


def test_a_file_of_somebody_else_is_left_alone(sitr: Sitr) -> None:
    Path("visits.parquet").write_text("mine")
    refused = sitr("demo", "--directory", ".", "--json")
    assert (refused.code, refused.error()["error"]) == (1, "SourceError")
    assert Path("visits.parquet").read_text() == "mine"


def test_a_place_that_is_no_folder(sitr: Sitr) -> None:
    Path("sitr-demo").write_text("a file")
    refused = sitr("demo", "--json")
    assert refused.code == 1
    assert "sitr-demo" in refused.error()["given"]


def test_steps_are_shown_on_a_terminal_only(sitr: Sitr) -> None:
    seen = sitr("demo", "--rows", 500, environment={"FORCE_COLOR": "1"})
    assert "Making up a hospital (1 of 5)" in seen.err
    assert "Making up a hospital" not in seen.out
    quiet = sitr("demo", "--rows", 500, "--json", environment={"FORCE_COLOR": "1"})
    assert quiet.err == ""


def test_reconstruction(sitr: Sitr) -> None:
    """Exact counts give everybody away, and the last line's promise does not let anybody find much."""
    told = sitr("demo", "--reconstruction", "--json").told()
    first, *_, last = told["trials"]
    assert (first["sigma"], first["epsilon"], first["found"]) == (0.0, None, 1.0)
    assert last["epsilon"] < 2
    assert last["at_most"] < 0.6
    assert last["found"] < 0.75  # five standard deviations above half of 100 bits
    assert last["found"] < 0.75  # five standard deviations above half of 100 bits
    assert not Path("sitr-demo").exists()


def test_reconstruction_shows_how_far_it_is(sitr: Sitr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconstruction, "PEOPLE", 12)
    monkeypatch.setattr(reconstruction, "QUESTIONS", 24)
    seen = sitr("demo", "--reconstruction", environment={"FORCE_COLOR": "1", "TERM": "xterm"})
    assert seen.code == 0
    assert "Attacking" in seen.err
    assert "100%" in seen.err
    assert "Attacking" not in seen.out
