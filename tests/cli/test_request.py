"""A request from the question to its answer, and the options that pay for a question."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sitr.ledger.sql import SqlLedger
from sitr.ledger.who import acting
from tests.cli.conftest import Sitr

SQL = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def hospital(sitr: Sitr, tmp_path: Path) -> Path:
    assert sitr("demo", "--directory", tmp_path / "hospital").code == 0
    return tmp_path / "hospital"


def test_a_request_is_approved_by_somebody_else_and_answered_once(sitr: Sitr, hospital: Path) -> None:
    ledger, description = hospital / "sitr.db", hospital / "visits.sitr.yaml"
    assert "There is no request." in sitr("queue", ledger).out
    sitr("ledger", "allot", ledger, "visits/ana", "zcdp(0.3)")
    asked = ("--price", "zcdp(0.1)", "--account", "ana")
    with acting("ana"):
        told = sitr("request", description, SQL, *asked, "--reason", "Annual report", "--json").told()
        (request,) = told["requests"]
        assert (request["status"], request["by"], request["account"]) == ("asked", "ana", "visits/ana")
        assert (request["price"], request["left"]) == ("zcdp(rho=0.1)", "zcdp(rho=0.2)")
        number = request["number"]
        assert "cannot decide about it" in sitr("approve", ledger, number).err
    with acting("noor"):
        assert "approved" in sitr("approve", ledger, number, "--reason", "Fine").out
        assert "never revised" in sitr("refuse", ledger, number).err
    with acting("ana"):
        done = sitr("ask", description, SQL, *asked, "--request", number, "--idempotency-key", "monday")
        assert done.code == 0
        again = sitr("ask", description, SQL, *asked, "--request", number, "--idempotency-key", "monday")
        assert again.code == 0
        other = sitr("ask", description, SQL, "--price", "zcdp(0.2)", "--idempotency-key", "monday")
        assert "belongs to another question or price" in " ".join(other.err.split())
    (found,) = sitr("queue", ledger, "--json").told()["requests"]
    assert (found["status"], found["entry"], found["decided_by"], found["why"]) == ("answered", 2, "noor", "Fine")
    assert "مُجاب" in sitr("--lang", "ar", "queue", ledger).out
    assert len(SqlLedger(ledger).entries()) == 2  # that of the demonstration, and one


def test_a_request_is_shown_whole_on_a_narrow_terminal(
    sitr: Sitr, hospital: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown = sitr("request", hospital / "visits.sitr.yaml", SQL, "--price", "zcdp(0.1)", "--reason", "Annual report").out
    assert "…" not in shown
    shown, _ = shown.split("Nothing was spent.")
    facts = dict(line.split("  ", maxsplit=1) for line in re.sub(" {2,}", "  ", shown).splitlines() if line)
    assert (facts["question"], facts["price"], facts["would be left"]) == (SQL, "ρ = 0.1", "ρ = 0.35")
    assert (facts["status"], facts["account"], facts["reason"]) == ("asked", "visits", "Annual report")


def test_a_refused_request_says_so(sitr: Sitr, hospital: Path) -> None:
    ledger, description = hospital / "sitr.db", hospital / "visits.sitr.yaml"
    with acting("ana"):
        sitr("request", description, SQL, "--price", "zcdp(0.1)", "--reason", "Annual report")
    with acting("noor"):
        number = sitr("queue", ledger, "--json").told()["requests"][0]["number"]
        assert sitr("refuse", ledger, number, "--reason", "No", "--json").told()["requests"][0]["why"] == "No"
    with acting("ana"):
        done = sitr("ask", description, SQL, "--price", "zcdp(0.1)", "--request", number)
    assert "is refused, not approved" in " ".join(done.err.split())


def test_a_request_says_what_comes_next_in_both_languages(sitr: Sitr, hospital: Path) -> None:
    asked = (hospital / "visits.sitr.yaml", SQL, "--price", "zcdp(0.1)")
    with acting("ana"):
        shown = sitr("request", *asked, "--reason", "Annual report").out
    commands = [shlex.split(line)[1:] for line in shown.splitlines() if line.startswith("  sitr ")]
    assert [command[0] for command in commands] == ["approve", "refuse"]
    number = commands[0][-1]
    assert f"repeat your command as sitr ask, with --request {number} instead of --reason" in shown
    with acting("noor"):
        approved = sitr(*commands[0]).out
    assert f"ana can now ask it once, with sitr ask and --request {number}, until " in approved
    with acting("ana"):
        assert sitr("ask", *asked, "--request", number).code == 0
        told = sitr("--lang", "ar", "request", *asked, "--reason", "Again").out
    assert "لم يُنفق شيء" in told
    assert "Nothing" not in told


def test_ask_and_preview_say_what_the_account_that_pays_has_left(sitr: Sitr, hospital: Path) -> None:
    description = hospital / "visits.sitr.yaml"
    sitr("ledger", "allot", hospital / "sitr.db", "visits/ana", "zcdp(0.3)")
    asked = (SQL, "--price", "zcdp(0.1)", "--account", "ana")
    shown = " ".join(sitr("preview", description, *asked).out.split())
    assert "left now visits/ana: ρ = 0.3 of ρ = 0.3; visits: ρ = 0.45 of ρ = 0.5" in shown
    assert "left then visits/ana: ρ = 0.2 of ρ = 0.3; visits: ρ = 0.35 of ρ = 0.5" in shown
    much = " ".join(sitr("preview", description, SQL, "--price", "zcdp(0.4)", "--account", "ana").out.split())
    assert "at most zcdp(rho=0.3) is left" in much
    done = " ".join(sitr("ask", description, *asked).out.split())
    assert "left now visits/ana: ρ = 0.2 of ρ = 0.3; visits: ρ = 0.35 of ρ = 0.5" in done
    wrong = sitr("preview", description, SQL, "--price", "zcdp(0.1)", "--account", "anna")
    assert wrong.code != 0
    assert "Did you mean" in wrong.err
