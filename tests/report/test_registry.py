"""A record for the registry has the registry's fields, and the numbers of the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from sitr.accounting.filter import Filter
from sitr.dataset.publication import Publication
from sitr.errors import DescriptionError
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.arrows import Kept
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.uncapped import odometer
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.entry import Account, Entry
from sitr.report.registry import NEEDED, SECTORS, Deployment
from tests.report.conftest import table

SCHEMA = yaml.safe_load(Path(__file__).with_name("registry_schema.yaml").read_text("utf-8"))
AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
SAID = Publication(
    title="Visits, by ward", organisation="City Hospital", purpose="Beds", region="Jordan", sector="Healthcare"
)


BUDGET = ZeroConcentratedDP(0.5)


def deployment(promise: Kept = BUDGET, questions: Sequence[str] = ("SELECT 1",)) -> Deployment:
    part = promise.inner if isinstance(promise, RandomDP) else promise
    price: Any = part.share(1 / len(questions)) if questions else None  # type: ignore[attr-defined]
    standing = Filter(promise)
    for _ in questions:
        standing = standing.consent(price)
    entries = [Entry(n, "visits", price, text, AT, "noor", "0.1.0") for n, text in enumerate(questions, start=1)]
    account = Account("visits", promise, "person (patient), add-remove", AT)
    return Deployment(account, standing, entries, SAID, table())


def faults(record: dict[str, Any]) -> list[str]:
    checker = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)
    return [error.message for error in checker.iter_errors(record)]


PROMISES: list[Kept] = [
    PureDP(1.0),
    ApproximateDP(1.0, 1e-6),
    ZeroConcentratedDP(0.5),
    ZeroConcentratedDP(0.5, xi=0.1),
    RandomDP(PureDP(1.0), 0.05),
]


@pytest.mark.parametrize("promise", PROMISES, ids=repr)
@pytest.mark.parametrize("questions", [(), ("SELECT 1",), ("SELECT 1", "SYNTHESIZE ward FROM visits")])
def test_a_record_follows_the_schema(promise: Kept, questions: tuple[str, ...]) -> None:
    found = deployment(promise, questions)
    assert faults(found.record()) == []
    assert faults(replace(found, table=None, publication=replace(SAID, sector="", title="")).record()) == []


def test_faults_would_be_found() -> None:
    record = deployment().record()
    assert faults(record | {"surprise": 1})
    assert faults(record | {"tier": 0})
    record["deployment"]["basic"]["publication_date"] = "1.3.2026"
    assert faults(record)
    del record["deployment"]["basic"]["name"]
    assert len(faults(record)) == 2


def test_the_numbers_are_those_of_the_budget() -> None:
    shown = {
        repr(promise): (
            deployment(promise).record()["deployment"]["dp_variant"]["variant_name"],
            deployment(promise).record()["deployment"]["privacy_loss"].get("privacy_parameters"),
        )
        for promise in PROMISES
    }
    assert [*shown.values()] == [
        ("Pure DP", {"epsilon": 1.0}),
        ("Approximate DP", {"epsilon": 1.0, "delta": 1e-6}),
        ("Zero-concentrated DP", {"rho": 0.5}),
        ("Custom", None),
        ("Custom", None),
    ]


def test_no_parameter_is_shown_without_the_others() -> None:
    """The registry has no field for γ or ξ, and ε or ρ alone would promise more than the budget does."""
    details = {
        repr(promise): deployment(promise).record()["deployment"]["privacy_loss"]["privacy_parameters_details"]
        for promise in PROMISES
    }
    *whole, slanted, random = details.values()
    assert "ρ = 0.5, ξ = 0.1. They stand only here" in slanted
    assert "ε = 1, γ = 0.05, finite-sample. They stand only here" in random
    assert "random newcomer" in random
    assert not any("only here" in text for text in whole)


def test_a_budget_without_a_cap_states_what_it_has_recorded() -> None:
    promise = odometer("zcdp", delta=1e-6)
    made = replace(deployment(), account=Account("visits", promise, "person (patient), add-remove", AT))
    record = replace(made, standing=Filter(promise).consent(BUDGET)).record()
    assert faults(record) == []
    assert record["deployment"]["dp_variant"]["variant_name"] == "Custom"
    assert "Recorded charges: ρ = 0.5, δ = 0." in str(record)
    assert "There is no cap" in str(record)
    assert "e+308" not in str(record)


def test_a_record_claims_no_entropy_that_the_ledger_does_not_know() -> None:
    made = deployment().record()["deployment"]["implementation"]["mechanisms"]
    assert "operating system, unless a caller gave test coins, which the ledger does not record." in made


def test_the_address_is_the_one_that_the_registry_makes() -> None:
    assert deployment().record()["url_slug"] == "visits-by-ward-city-hospital-2026"


def test_releases_decide_what_kind_of_product_it_is() -> None:
    one, two = deployment(questions=("SYNTHESIZE a FROM t",)), deployment(questions=("SYNTHESIZE a FROM t", "SELECT 1"))
    kinds = [each.record()["deployment"]["basic"]["data_product_type"] for each in (one, two)]
    assert kinds == ["Synthetic data", "Summary statistics"]
    models = [each.record()["deployment"]["deployment_model"] for each in (one, two)]
    assert [model["release_type"] for model in models] == ["One release", "Many releases"]
    assert [model["access_type"] for model in models] == ["Non-interactive", "Interactive"]


def test_the_day_is_the_one_given_or_that_of_the_first_charge() -> None:
    later = replace(deployment(), publication=SAID.changed(date=date(2026, 12, 31)))
    days = [each.record()["deployment"]["basic"]["publication_date"] for each in (deployment(), later)]
    assert days == ["2026-03-01", "2026-12-31"]


@pytest.mark.parametrize("name", NEEDED)
def test_what_the_registry_requires_is_asked_for(name: str) -> None:
    with pytest.raises(DescriptionError, match=f"nothing for {name}.*--{name}"):
        replace(
            deployment(),
            publication=Publication.read({field: text for field, text in SAID.content().items() if field != name}),
        ).record()


def test_a_sector_that_the_registry_does_not_know_is_refused() -> None:
    assert [*SECTORS] == SCHEMA["properties"]["deployment"]["properties"]["basic"]["properties"]["data_product_sector"][
        "enum"
    ]
    with pytest.raises(DescriptionError, match="'Health'"):
        replace(deployment(), publication=SAID.changed(sector="Health")).record()
