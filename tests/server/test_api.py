"""The API as a program uses it: previews, answers, requests, the books."""

from __future__ import annotations

import pytest

from sitr.server.role import Scope
from tests.server.conftest import PRICE, SQL, Team

ASK = "/api/v1/datasets/visits/ask"
QUESTION = {"sql": SQL, "price": PRICE}


def test_a_preview_spends_nothing_and_agrees_with_the_answer(team: Team) -> None:
    ana = team.program("ana")
    expected = ana.post("/api/v1/datasets/visits/preview", json=QUESTION).json()
    assert expected["receipt"] is None
    assert ana.get("/api/v1/datasets/visits").json()["spent"]["rho"] == 0
    answer = ana.post(ASK, json=QUESTION).json()
    assert answer["price"] == expected["price"]
    assert answer["plan"] == expected["plan"]
    assert answer["receipt"]["by"] == "ana"
    assert answer["receipt"]["kept"] is True
    assert len(answer["rows"]) == 9
    assert ana.get("/api/v1/datasets/visits").json()["spent"]["rho"] == pytest.approx(0.01)
    assert ana.get("/api/v1/datasets/visits").json()["accounts"]["ana"]["rho"] == pytest.approx(0.24)


def test_the_same_question_is_free_and_a_key_is_charged_once(team: Team) -> None:
    ana = team.program("ana")
    first = ana.post(ASK, json=QUESTION | {"fresh": True}, headers={"idempotency-key": "one"}).json()
    again = ana.post(ASK, json=QUESTION | {"fresh": True}, headers={"idempotency-key": "one"}).json()
    assert again["rows"] == first["rows"]
    assert again["receipt"]["again"] is True
    other = ana.post(
        ASK, json=QUESTION | {"sql": "SELECT COUNT(*) AS n FROM visits"}, headers={"idempotency-key": "one"}
    )
    assert other.status_code == 403
    assert other.headers["content-type"] == "application/problem+json"
    assert ana.get("/api/v1/datasets/visits").json()["spent"]["rho"] == pytest.approx(0.01)


def test_errors_are_problems_with_three_parts_and_a_place(team: Team) -> None:
    ana = team.program("ana")
    found = ana.post(ASK, json=QUESTION | {"sql": "SELECT wrad, COUNT(*) AS n FROM visits GROUP BY wrad"})
    assert (found.status_code, found.headers["content-type"]) == (422, "application/problem+json")
    problem = found.json()
    assert problem["title"] == "UnknownName"
    assert problem["do"]
    assert problem["given"]
    assert problem["excerpt"]["text"][problem["excerpt"]["column"] - 1 :].startswith("wrad")
    dear = ana.post(ASK, json=QUESTION | {"price": "zcdp(0.3)"})
    assert (dear.status_code, dear.json()["title"]) == (409, "BudgetExceeded")
    assert ana.post(ASK, json={"sql": SQL}).status_code == 422
    assert ana.post(ASK, json=QUESTION | {"coins": 7}).status_code == 422
    assert ana.get("/api/v1/datasets/visits").json()["spent"]["rho"] == 0


def test_a_request_waits_for_somebody_else(team: Team) -> None:
    ana, noor = team.program("ana"), team.program("noor")
    rules = {"approve_above": "zcdp(0.005)"}
    assert noor.put("/api/v1/datasets/visits/rules", json=rules).status_code == 204
    assert ana.post(ASK, json=QUESTION).status_code == 403
    made = ana.post("/api/v1/datasets/visits/requests", json=QUESTION | {"reason": "Annual report"})
    assert made.status_code == 201
    assert made.json()["status"] == "asked"
    number = made.json()["number"]
    assert ana.post(f"/api/v1/datasets/visits/requests/{number}/approve", json={}).status_code == 403
    assert noor.post(f"/api/v1/datasets/visits/requests/{number}/approve", json={"reason": "Fine"}).status_code == 200
    answer = ana.post(ASK, json=QUESTION | {"request": number})
    assert answer.status_code == 200
    assert ana.get("/api/v1/datasets/visits/requests").json()[0]["status"] == "answered"
    other = QUESTION | {"request": number, "sql": "SELECT COUNT(*) AS n FROM visits"}
    assert ana.post(ASK, json=other).status_code == 403  # answered once, and for the approved plan only


def test_answers_belong_to_their_account_and_their_data_set(team: Team) -> None:
    ana, noor, omar = (team.program(name) for name in ("ana", "noor", "omar"))
    own = ana.post(ASK, json=QUESTION).json()["receipt"]["entry"]
    other = noor.post(ASK, json={"sql": "SELECT COUNT(*) AS n FROM visits", "price": PRICE}).json()["receipt"]["entry"]
    place = "/api/v1/datasets/visits/answers"
    assert [each["number"] for each in ana.get(place).json()] == [own]
    assert [each["number"] for each in omar.get(place).json()] == [other, own]
    assert ana.get(f"{place}/{own}").json()["receipt"]["again"] is True
    assert ana.get(f"{place}/{other}").status_code == 404
    assert ana.get(f"/api/v1/datasets/other/answers/{own}").status_code == 404
    page = omar.get(f"{place}/{own}/certificate")
    assert page.status_code == 200
    assert "sitr-release" in page.text
    assert ana.get(f"{place}/{own}/chart").text.startswith("<svg")


def test_batches_and_histograms(team: Team) -> None:
    ana = team.program("ana")
    both = {"questions": [{"sql": SQL}, {"sql": "SELECT COUNT(*) AS n FROM visits"}], "price": PRICE}
    assert len(ana.post("/api/v1/datasets/visits/batch", json=both).json()["answers"]) == 2
    counted = ana.post("/api/v1/datasets/visits/histogram", json={"columns": ["ward"], "price": PRICE})
    assert counted.json()["kind"] == "histogram"


def test_the_least_price_for_an_error(team: Team) -> None:
    found = team.program("ana").post("/api/v1/datasets/visits/price", json={"sql": SQL, "error": {"n": 100}})
    assert found.status_code == 200
    assert found.json()["price"]["rho"] > 0


def test_the_books_are_verified_for_auditors(team: Team) -> None:
    omar, ana = team.program("omar"), team.program("ana")
    ana.post(ASK, json=QUESTION)
    books = omar.get("/api/v1/datasets/visits/ledger").json()
    assert books["members"] == {"ana": "analyst", "noor": "steward", "omar": "auditor"}
    assert [entry["account"] for entry in books["entries"]] == ["visits/ana"]
    assert omar.get("/api/v1/datasets/visits/ledger/verify").json()["sound"] is True
    assert omar.post(ASK, json=QUESTION).status_code == 403
    assert ana.get("/api/v1/datasets/visits/ledger").status_code == 403


def test_stewards_divide_and_give_roles(team: Team) -> None:
    noor, admin = team.program("noor"), team.program("admin")
    assert (
        noor.post("/api/v1/datasets/visits/accounts", json={"account": "ben", "amount": "zcdp(0.1)"}).status_code == 204
    )
    member = {"user": "ben", "role": "analyst", "account": "ben"}
    assert noor.put("/api/v1/datasets/visits/members", json=member).status_code == 422  # nobody invited them
    path = admin.post("/api/v1/users", json={"name": "ben", "role": "analyst"}).json()["path"]
    team.people.accept(path.rpartition("/")[2], "another long phrase")
    assert team.program("ben").get("/api/v1/datasets").json() == []
    assert noor.put("/api/v1/datasets/visits/members", json=member).status_code == 204
    ben = team.program("ben")
    assert ben.get("/api/v1/datasets").json()[0]["account"] == "ben"
    assert ben.post(ASK, json=QUESTION | {"account": "ana"}).status_code == 403
    move = {"source": "ana", "target": "ben", "amount": "zcdp(0.05)"}
    assert noor.post("/api/v1/datasets/visits/accounts/move", json=move).status_code == 204
    assert ben.get("/api/v1/datasets/visits").json()["accounts"] == {
        "ben": {"notation": "zcdp(rho=0.15)", "flavor": "zcdp", "rho": 0.15, "xi": 0.0}
    }


def test_a_disabled_account_ends_at_once(team: Team) -> None:
    ana, admin = team.program("ana"), team.program("admin")
    assert ana.get("/api/v1/me").json() == {"name": "ana", "role": "analyst"}
    assert admin.delete("/api/v1/users/ana").status_code == 204
    assert ana.get("/api/v1/me").status_code == 401
    assert admin.delete("/api/v1/users/admin").status_code == 403  # the last one
    assert {each["name"]: each["enabled"] for each in admin.get("/api/v1/users").json()}["ana"] is False


@pytest.mark.parametrize(("scope", "status"), [(Scope.READ, 403), (Scope.ASK, 200)])
def test_a_token_does_what_its_scope_says(team: Team, scope: Scope, status: int) -> None:
    ana = team.program("ana", scope)
    assert ana.post("/api/v1/datasets/visits/preview", json=QUESTION).status_code == 200
    assert ana.post(ASK, json=QUESTION).status_code == status


def test_an_administrator_sees_no_data_set(shared: Team) -> None:
    admin = shared.program("admin")
    assert admin.get("/api/v1/datasets/visits").status_code == 403
    assert admin.get("/api/v1/datasets").status_code == 403


def test_metrics_name_no_data_set(shared: Team) -> None:
    shared.program("ana").get("/api/v1/datasets/visits")
    text = shared.visitor().get("/api/v1/metrics").text
    assert 'route="/api/v1/datasets/{name}"' in text
    assert "visits" not in text
    assert "ana" not in text
