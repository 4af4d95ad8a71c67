"""`sitr registry` writes one record for each budget, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from sitr.flavors.pure import PureDP
from sitr.ledger.sql import SqlLedger

Sitr = Callable[..., Any]

SAID = ("--organisation", "City hospital", "--purpose", "Beds", "--region", "Jordan")
ASKED = ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--price", "zcdp(0.05)")


def test_a_description_gives_one_record(sitr: Sitr, description: Path) -> None:
    assert sitr("ask", description, *ASKED).code == 0
    done = sitr("registry", description, *SAID, "-o", "record.yaml")
    assert (done.code, done.out, done.err) == (0, "Written: record.yaml\n", "")
    record = yaml.safe_load(Path("record.yaml").read_text("utf-8"))
    assert record["deployment"]["privacy_loss"]["privacy_parameters"] == {"rho": 0.5}
    assert "1 release spent ρ = 0.05" in record["deployment"]["privacy_loss"]["privacy_parameters_details"]
    assert isinstance(record["deployment"]["basic"]["publication_date"], str)
    assert sitr("registry", description, *SAID, "-o", "record.yaml", "--json").told()["records"] == [record]


def test_options_replace_what_the_description_says(sitr: Sitr, description: Path) -> None:
    said = "publication: {organisation: Clinic, purpose: Research, region: Amman, title: Visits}\n"
    description.write_text(description.read_text("utf-8") + said, "utf-8")
    assert sitr("registry", description, "--purpose", "Beds", "-o", "record.yaml").code == 0
    basic = yaml.safe_load(Path("record.yaml").read_text("utf-8"))["deployment"]["basic"]
    assert [basic[name] for name in ("name", "data_curators", "intended_use", "data_product_region")] == [
        "Visits",
        ["Clinic"],
        "Beds",
        "Amman",
    ]


def test_a_ledger_gives_a_record_for_each_budget(sitr: Sitr, folder: Path) -> None:
    ledger = SqlLedger("two.db")
    for name in ("clinic", "school"):
        ledger.open(name, promise=PureDP(1.0), neighbors="row, replace-one")
    refused = sitr("registry", "two.db", *SAID, "-o", "record.yaml", "--json").error()
    assert "2 budgets" in refused["given"]
    assert not Path("record.yaml").exists()
    (folder / "records").mkdir()
    assert sitr("registry", "two.db", *SAID, "-o", "records").code == 0
    years = {account.dataset: account.opened.year for account in ledger.accounts()}
    names = {path.name for path in (folder / "records").iterdir()}
    assert names == {f"{name}_city_hospital_{year}.yaml" for name, year in years.items()}


def test_what_is_missing_is_asked_for_and_nothing_is_made(sitr: Sitr, description: Path) -> None:
    error = sitr("registry", description, "-o", "record.yaml", "--json").error()
    assert "--organisation, --purpose, --region" in error["do"]
    assert sitr("registry", "nothing.db", *SAID, "-o", "record.yaml", "--json").error()["error"] == "LedgerError"
    assert not Path("nothing.db").exists()
    assert not Path("record.yaml").exists()
