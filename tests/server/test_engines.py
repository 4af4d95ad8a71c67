"""A server whose rows and ledger are on PostgreSQL, and one whose rows are on Spark: the same routes and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

import sitr
from sitr.dataset.hospital import AGES, INSURANCES, WARDS, hospital
from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.server.app import create
from sitr.session.dataset import Dataset
from sitr.session.dataset import open as open_description
from tests import postgres, spark
from tests.ledger import places
from tests.server.conftest import NAMES, PRICE, SQL, Team, mark, password, people_in, settings_in

PLACE = "/api/v1/datasets/visits"


def protected(source: str, **more: Any) -> Dataset:
    """The invented hospital, wherever its rows are."""
    return sitr.protect(
        source,
        name="visits",
        unit="patient_id",
        max_groups=4,
        max_rows_per_group=5,
        bounds={"cost": (0, 5_000), "days": (0, 30)},
        granularity={"cost": 0.01},
        keys={"ward": [*WARDS, None], "age_band": AGES, "insurance": INSURANCES},
        **more,
    )


def team_on(folder: Path, data: Dataset, ledger: object) -> Team:
    settings = settings_in(folder)
    people = people_in(settings)
    for name, role in NAMES.items():
        people.add(name, role, password(name))
    data.save(settings.datasets["visits"], promise="zcdp(0.5)", ledger=ledger)  # type: ignore[arg-type]
    budget = open_description(settings.datasets["visits"]).budget()
    with acting("noor"):
        budget.assign("noor", Duty.STEWARD)
        budget.allot("ana", "zcdp(0.25)")
        budget.assign("ana", Duty.ANALYST, account="ana")
        budget.assign("omar", Duty.AUDITOR)
    return Team(create(settings, people), people, settings, folder)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test gives the same tables a first budget."""
    monkeypatch.setenv("SITR_STATE", str(tmp_path / "installation"))


@pytest.mark.usefixtures("state")
def test_rows_and_ledger_on_postgresql(tmp_path: Path) -> None:
    postgres.load(hospital(2_000), "served_visits")
    data = protected(postgres.server().url(), table="served_visits")
    ledger = places.schema()
    team = team_on(tmp_path, data, ledger)
    asked_approved_and_verified(team)
    with places.raw(ledger) as connection:
        connection.execute("DROP TABLE answers CASCADE")
    broken = team.program("ana").post(f"{PLACE}/ask", json={"sql": SQL, "price": "zcdp(0.03)"})
    assert broken.status_code >= 400
    assert "host=" not in broken.text  # where databases are is nobody's business


@pytest.mark.usefixtures("state")
def test_rows_on_spark(tmp_path: Path) -> None:
    folder = tmp_path / "visits.parquet"
    spark.session().createDataFrame(hospital(500).to_pandas()).write.parquet(str(folder))
    data = protected(f"spark:parquet.`{folder}`", spark=spark.session())
    asked_approved_and_verified(team_on(tmp_path, data, tmp_path / "sitr.db"))


def asked_approved_and_verified(team: Team) -> None:
    """Preview, answer, the same again, a request, its approval, pages, certificate and books."""
    ana, noor, omar = (team.program(name) for name in ("ana", "noor", "omar"))
    body = {"sql": SQL, "price": PRICE}
    preview = done(ana.post(f"{PLACE}/preview", json=body))
    assert done(ana.post(f"{PLACE}/preview", json=body)) == preview
    first = done(ana.post(f"{PLACE}/ask", json=body, headers={"Idempotency-Key": "one"}))
    again = done(ana.post(f"{PLACE}/ask", json=body, headers={"Idempotency-Key": "one"}))
    assert again["rows"] == first["rows"]
    assert len(first["rows"]) == len(WARDS) + 1

    wanted = {"sql": "SELECT COUNT(*) AS n FROM visits", "price": PRICE, "reason": "Annual report"}
    number = done(ana.post(f"{PLACE}/requests", json=wanted), 201)["number"]
    assert ana.post(f"{PLACE}/requests/{number}/approve", json={"reason": ""}).status_code == 403
    done(noor.post(f"{PLACE}/requests/{number}/approve", json={"reason": ""}))
    done(ana.post(f"{PLACE}/ask", json={"sql": wanted["sql"], "price": PRICE, "request": number}))

    page = team.browser("ana")
    for path in ("", "/ask", "/answers", "/answers/1", "/answers/1/flavors", "/answers/1/certificate"):
        assert page.get(f"/datasets/visits{path}").status_code == 200, path
    form = {"sql": SQL, "price": "zcdp(0.02)", "mark": mark(page.get("/datasets/visits/ask")), "key": "two"}
    assert page.post("/datasets/visits/ask", data=form).headers["location"].endswith("/answers/3")
    assert page.get("/datasets/visits/compare?one=1&other=3").status_code == 200
    assert page.get("/queue").status_code == 200
    assert team.browser("noor").get("/datasets/visits").status_code == 200
    assert team.browser("omar").get("/datasets/visits/ledger").status_code == 200

    verified = done(omar.get(f"{PLACE}/ledger/verify"))
    assert verified["sound"], verified
    assert len(done(noor.get(f"{PLACE}/ledger"))["entries"]) == 3
    budget = open_description(team.settings.datasets["visits"]).budget()
    assert budget.ledger.check("visits") == budget.standing()


def done(response: httpx.Response, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()
