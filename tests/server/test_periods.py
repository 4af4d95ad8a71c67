"""Data sets whose unit is a person in a period: who asks chooses the period, on the page and by the API."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.errors import QuestionError
from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.server.app import create
from sitr.server.role import Scope
from sitr.server.users import Users
from sitr.session.dataset import open as open_description
from tests.server.conftest import NAMES, Team, listening, mark, password, people_in, settings_in

SQL = "SELECT COUNT(*) AS n FROM monthly"
PLACE = "/api/v1/datasets/monthly"


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A server for visits of two months; every month has a budget of its own."""
    days = [date(2026, month, 10) for month in (2, 3, 3, 3)]
    pq.write_table(pa.table({"patient_id": [1, 1, 2, 3], "admitted": days}), tmp_path / "monthly.parquet")
    dataset = sitr.protect(tmp_path / "monthly.parquet", unit="patient_id", max_rows=5, period="admitted:month")
    dataset.save(tmp_path / "monthly.sitr.yaml", promise=sitr.ZeroConcentratedDP(10.0), ledger=tmp_path / "sitr.db")
    settings = settings_in(tmp_path, datasets={"monthly": tmp_path / "monthly.sitr.yaml"})
    people: Users = people_in(settings)
    for name, role in NAMES.items():
        people.add(name, role, password(name))
    budget = open_description(settings.datasets["monthly"]).budget()
    with acting("noor"):
        for name, duty in (("noor", Duty.STEWARD), ("ana", Duty.ANALYST), ("omar", Duty.AUDITOR)):
            budget.assign(name, duty)
    return Team(create(settings, people), people, settings, tmp_path)


def test_a_program_names_the_period(team: Team) -> None:
    ana = team.program("ana")
    asked = {"sql": SQL, "price": "zcdp(4)", "bias": "off"}
    nameless = ana.post(f"{PLACE}/preview", json=asked)
    assert nameless.status_code == 422
    assert "does not name one month" in nameless.json()["given"]
    before = ana.post(f"{PLACE}/preview", json=asked | {"period": "2026-03"}).json()
    assert before["protected"]["period"] == {"column": "admitted", "length": "month", "name": "2026-03"}
    made = ana.post(f"{PLACE}/ask", json=asked | {"period": "2026-03"}).json()
    after = ana.post(f"{PLACE}/preview", json=asked | {"period": "2026-03"}).json()
    other = ana.post(f"{PLACE}/preview", json=asked | {"period": "2026-02"}).json()
    assert before["budget"] != after["budget"]  # a month that was charged
    assert before["budget"] == other["budget"]  # and one that was not
    priced = ana.post(f"{PLACE}/price", json={"sql": SQL, "error": {"n": 3}, "period": "2026-02"})
    assert priced.status_code == 200, priced.text
    [entry] = ana.get(f"{PLACE}/answers").json()
    assert ana.get(f"{PLACE}/answers/{entry['number']}").json()["question"] == made["question"]
    assert ana.get(f"{PLACE}/answers/{entry['number']}/certificate").status_code == 200


def test_a_person_chooses_the_period_in_the_form(team: Team) -> None:
    ana = team.browser("ana")
    form = ana.get("/datasets/monthly/ask")
    assert 'name="period"' in form.text
    assert 'placeholder="2026-03"' in form.text
    sent = {"mark": mark(form), "key": "one", "sql": SQL, "price": "zcdp(4)", "period": "2026-02"}
    shown = ana.post("/datasets/monthly/preview", data=sent)
    assert shown.status_code == 200
    assert 'value="2026-02"' in shown.text
    made = ana.post("/datasets/monthly/ask", data=sent)
    assert made.status_code == 303
    assert ana.get(made.headers["location"]).status_code == 200
    assert "monthly" in ana.get("/datasets/monthly").text
    wrong = ana.post("/datasets/monthly/preview", data=sent | {"period": "March"})
    assert "2026-03" in wrong.text
    assert "March" in wrong.text


def test_a_request_for_a_period_is_approved_and_asked(team: Team) -> None:
    ana, noor = team.program("ana"), team.program("noor")
    asked = {"sql": SQL, "price": "zcdp(4)", "period": "2026-03"}
    number = ana.post(f"{PLACE}/requests", json=asked | {"reason": "For the report."}).json()["number"]
    [waiting] = noor.get(f"{PLACE}/requests").json()
    assert waiting["number"] == number
    assert noor.post(f"{PLACE}/requests/{number}/approve", json={}).status_code == 200
    form = team.browser("ana").get(f"/datasets/monthly/ask?request={number}")
    assert 'value="2026-03"' in form.text
    assert ana.post(f"{PLACE}/ask", json=asked | {"request": number}).status_code == 200


def test_a_budget_on_a_server_has_periods(team: Team) -> None:
    token = team.people.new_token(team.user("ana"), "test", Scope.ASK, days=1)
    with listening(team) as address:
        far = sitr.connect(address, token=token)
        february = far.period("2026-02")
        assert february.remaining() == sitr.ZeroConcentratedDP(10.0)
        answer = february.ask(SQL, "zcdp(4)", bias="off")
        assert answer.receipt.entry.dataset == "monthly@2026-02"
        assert february.remaining() == sitr.ZeroConcentratedDP(6.0)
        assert far.period("2026-03").remaining() == sitr.ZeroConcentratedDP(10.0)
        with pytest.raises(QuestionError, match="does not name"):
            far.sql(SQL).preview("zcdp(1)")


def test_a_data_set_without_periods_has_no_such_field(shared: Team) -> None:
    assert 'name="period"' not in shared.browser("ana").get("/datasets/visits/ask").text
