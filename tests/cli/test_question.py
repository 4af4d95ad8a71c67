"""A budget and a ledger on the command line supply or replace those of the description."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Sitr = Callable[..., Any]

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.usefixtures("folder")
def test_a_description_without_a_budget_is_given_one(sitr: Sitr) -> None:
    assert sitr("protect", "visits.parquet", "--unit-row").code == 0
    asked = ("visits.sitr.yaml", COUNT, "--price", "pure(0.1)", "--json")
    for command in ("preview", "ask"):
        assert sitr(command, *asked).error()["error"] == "DescriptionError"
        assert sitr(command, *asked, "--ledger", "other.db").code == 2
        assert not Path("other.db").exists()
        told = sitr(command, *asked, "--budget", "pure(1)", "--ledger", "mine.db").told()
        assert told["budget"]["promise"]["notation"] == "pure(epsilon=1.0)"


def test_another_ledger_is_another_budget(sitr: Sitr, description: Path) -> None:
    price = ("--price", "zcdp(0.3)")
    assert sitr("ask", description, COUNT, *price).code == 0
    assert sitr("ask", description, COUNT, *price).code == 1
    assert sitr("ask", description, COUNT, *price, "--ledger", "other.db").code == 0


def test_a_ledger_keeps_its_promise(sitr: Sitr, description: Path) -> None:
    assert sitr("ask", description, COUNT, "--price", "zcdp(0.3)").code == 0
    refused = sitr("ask", description, COUNT, "--price", "zcdp(0.3)", "--budget", "zcdp(9)", "--json")
    assert (refused.code, refused.error()["error"]) == (1, "LedgerMismatch")


def test_a_bad_budget(sitr: Sitr, description: Path) -> None:
    refused = sitr("preview", description, COUNT, "--price", "zcdp(0.3)", "--budget", "lots", "--json")
    assert (refused.code, refused.error()["error"]) == (2, "InvalidPromise")


def test_a_description_works_from_anywhere(
    sitr: Sitr, description: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = description.resolve().parent
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert sitr("ask", home / "visits.sitr.yaml", COUNT, "--price", "zcdp(0.1)").code == 0
    assert (home / "sitr.db").exists()
    assert not list(Path().iterdir())
