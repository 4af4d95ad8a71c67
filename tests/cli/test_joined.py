"""`--with` joins the protected table of another description, and charges both budgets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.sql import SqlLedger
from sitr.session.dataset import protect

Sitr = Callable[..., Any]

SQL = "SELECT sex, COUNT(*) AS n FROM visits JOIN patients ON visits.patient_id = patients.pid GROUP BY sex"


@pytest.fixture
def patients(folder: Path) -> Path:
    """patients.sitr.yaml, with a budget of zcdp(0.1) in the same ledger."""
    write_table(pa.table({"pid": list(range(900)), "sex": ["f", "m"] * 450}), folder / "patients.parquet")
    made = protect("patients.parquet", unit="pid", max_groups=1, max_rows_per_group=1, keys={"sex": ["f", "m"]})
    return made.save("patients.sitr.yaml", promise=ZeroConcentratedDP(0.1), ledger="sitr.db")


def charges() -> dict[str, int]:
    ledger = SqlLedger("sitr.db", create=False)
    return {account.dataset: ledger.standing(account.dataset).charges for account in ledger.accounts()}


def test_both_are_charged_and_shown(sitr: Sitr, description: Path, patients: Path) -> None:
    words = (description, "--with", patients, SQL, "--price", "zcdp(0.05)")
    assert "patients: ρ = 0.05; ρ = 0.1 left now, ρ = 0.05 then" in sitr("preview", *words).out
    done = sitr("ask", *words, "--certificate", "page.html")
    assert (done.code, done.err) == (0, "")
    assert "patients, entry 2: ρ = 0.05; ρ = 0.05 of ρ = 0.1 left" in done.out
    assert charges() == {"patients": 1, "visits": 1}
    told = sitr("ask", *words, "--json").told()
    assert told["receipt"]["again"]
    assert told["join"]["beside"][0]["entry"] == 2
    listed = sitr("ledger", "show", "sitr.db", "--json").told()["entries"]
    assert [entry["beside"] for entry in listed] == [
        [{"dataset": "patients", "number": 2, "ledger": ""}],
        [{"dataset": "visits", "number": 1, "ledger": ""}],
    ]
    assert sitr("verify", "page.html", "--ledger", "sitr.db").code == 0
    assert "patients, entry 2" in sitr("show", "sitr.db", "1").out


def test_if_one_budget_cannot_pay_neither_does(sitr: Sitr, description: Path, patients: Path) -> None:
    refused = sitr("ask", description, "--with", patients, SQL, "--price", "zcdp(0.2)", "--json")
    assert refused.code == 1
    assert json.loads(refused.err)["wanted"].endswith("that is left of the budget of patients")
    assert charges() == {"patients": 0, "visits": 0}


def test_without_the_other_description_the_advice_names_the_option(sitr: Sitr, description: Path) -> None:
    refused = sitr("ask", description, SQL, "--price", "zcdp(0.05)")
    assert refused.code == 2
    assert "--with patients.sitr.yaml" in refused.err
    missing = sitr("ask", description, "--with", "nobody.sitr.yaml", SQL, "--price", "zcdp(0.05)")
    assert "nobody.sitr.yaml" in missing.err


def test_arabic(sitr: Sitr, description: Path, patients: Path) -> None:
    done = sitr("ask", description, "--with", patients, SQL, "--price", "zcdp(0.05)", "--lang", "ar")
    assert "المدفوع أيضًا" in done.out
    assert "الجداول المحمية" in done.out
