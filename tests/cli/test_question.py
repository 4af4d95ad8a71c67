"""A question is charged to the budget that the description names, and to no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sitr as library
from sitr.cli.question import condition
from sitr.errors import QuestionError
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

COUNT = "SELECT COUNT(*) AS n FROM visits"
PRICE = ("--price", "zcdp(0.3)")


@pytest.mark.usefixtures("folder")
def test_a_description_without_a_budget_is_given_one(sitr: Sitr) -> None:
    assert sitr("protect", "visits.parquet", "--unit-row").code == 0
    asked = ("visits.sitr.yaml", COUNT, "--price", "pure(0.1)", "--json")
    for command in ("preview", "ask"):
        for half in ((), ("--ledger", "other.db"), ("--budget", "pure(1)")):
            refused = sitr(command, *asked, *half)
            assert (refused.code, refused.error()["error"]) == (2, "DescriptionError")
            assert "--budget 'zcdp(0.5)' --ledger sitr.db" in refused.error()["do"]
        assert not Path("other.db").exists()
        told = sitr(command, *asked, "--budget", "pure(1)", "--ledger", "mine.db").told()
        assert told["budget"]["promise"]["notation"] == "pure(epsilon=1.0)"


@pytest.mark.parametrize("command", ["preview", "ask"])
@pytest.mark.parametrize(
    ("other", "named"),
    [
        (("--ledger", "other.db"), "the ledger other.db"),
        (("--budget", "zcdp(9)"), "the promise zcdp(rho=9.0)"),
        (("--budget", "pure(0.5)"), "the promise pure(epsilon=0.5)"),
        (("--budget", "zcdp(9)", "--ledger", "other.db"), "the promise zcdp(rho=9.0) and the ledger other.db"),
        (("--budget", "zcdp(0.5)", "--ledger", "other.db"), "the ledger other.db"),
    ],
)
def test_a_second_budget_is_refused(
    sitr: Sitr, description: Path, command: str, other: tuple[str, ...], named: str
) -> None:
    refused = sitr(command, description, COUNT, *PRICE, *other, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "DescriptionError")
    assert "zcdp(rho=0.5) in sitr.db" in refused.error()["wanted"]
    assert named in refused.error()["given"]
    assert not Path("other.db").exists()
    assert SqlLedger("sitr.db", create=False).entries() == []


def test_the_same_budget_may_be_said_again(sitr: Sitr, description: Path) -> None:
    Path("linked.db").symlink_to("sitr.db")
    for ledger in ("sitr.db", Path("sitr.db").resolve(), "linked.db"):
        same = ("--budget", "zcdp(rho=0.5)", "--ledger", ledger)
        assert sitr("ask", description, COUNT, "--price", "zcdp(0.1)", "--fresh", *same).code == 0
    assert len(SqlLedger("sitr.db", create=False).entries()) == 3


@pytest.mark.parametrize("command", ["preview", "ask"])
def test_a_lost_ledger_is_not_made_anew(sitr: Sitr, description: Path, command: str) -> None:
    Path("sitr.db").unlink()
    for again in ((), ("--budget", "zcdp(0.5)", "--ledger", "sitr.db")):
        refused = sitr(command, description, COUNT, *PRICE, *again, "--json")
        assert (refused.code, refused.error()["error"]) == (1, "LedgerError")
        assert not Path("sitr.db").exists()


def test_missing_bounds_are_explained_with_the_option(sitr: Sitr, description: Path) -> None:
    refused = sitr("preview", description, "SELECT SUM(days) AS n FROM visits", *PRICE, "--json")
    assert (refused.code, refused.error()["error"]) == (2, "DescriptionError")
    assert "--bounds COLUMN=LOW:HIGH" in refused.error()["do"]


def test_advice_about_bounds_of_dates_works_on_the_command_line(sitr: Sitr, description: Path) -> None:
    monthly = (
        "preview",
        description,
        "SELECT DATE_TRUNC('month', admitted) AS m, COUNT(*) AS n FROM visits GROUP BY m",
    )
    refused = sitr(*monthly, *PRICE, "--json")
    assert refused.code == 2
    assert "--bounds admitted=LOW:HIGH" in refused.error()["do"]
    assert sitr(*monthly, *PRICE, "--bounds", "admitted=2024-01-01:2024-12-31").code == 0
    assert sitr(*monthly, *PRICE, "--bounds", "admitted=2024-01-01:2024-13-31").code == 2


def test_a_bad_budget(sitr: Sitr, description: Path) -> None:
    refused = sitr("preview", description, COUNT, *PRICE, "--budget", "lots", "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")


def test_a_description_works_from_anywhere(
    sitr: Sitr, description: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = description.resolve().parent
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert sitr("ask", home / "visits.sitr.yaml", COUNT, "--price", "zcdp(0.1)").code == 0
    assert len(SqlLedger(home / "sitr.db", create=False).entries()) == 1
    assert not list(Path().iterdir())


def test_a_condition_is_what_stands_after_where() -> None:
    assert condition("days > 3").text == (library.column("days") > 3).text
    with pytest.raises(QuestionError):
        condition("days > 3; DROP TABLE visits")
