"""The pages without a browser: forms, redirects, files, and what each person sees."""

from __future__ import annotations

import csv
import html
import io
import json
import re

import pytest

from tests.server.conftest import PRICE, SQL, Team, mark


def field(text: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found is not None
    return html.unescape(found[1])


def test_asking_by_forms_alone(team: Team) -> None:
    """Everything works without a script: preview, ask, and send the same form twice."""
    ana = team.browser("ana")
    form_page = ana.get("/datasets/visits/ask")
    form = {"mark": mark(form_page), "key": field(form_page.text, "key"), "sql": SQL, "price": PRICE}
    expected = ana.post("/datasets/visits/preview", data=form)
    assert expected.status_code == 200
    assert "<html" in expected.text
    assert "discrete Gaussian" in expected.text
    part = ana.post("/datasets/visits/preview", data=form, headers={"hx-request": "true"})
    assert "<html" not in part.text
    assert "discrete Gaussian" in part.text
    first, second = (ana.post("/datasets/visits/ask", data=form) for _ in range(2))
    assert first.status_code == 303
    assert first.headers["location"] == second.headers["location"]
    answer = ana.get(first.headers["location"])
    assert "Emergency" in answer.text
    assert "±" in answer.text
    assert len(team.program("noor").get("/api/v1/datasets/visits/ledger").json()["entries"]) == 1


def test_an_error_stays_on_the_form_and_points(team: Team) -> None:
    ana = team.browser("ana")
    form_page = ana.get("/datasets/visits/ask")
    form = {
        "mark": mark(form_page),
        "key": "k",
        "sql": "SELECT wrad, COUNT(*) AS n FROM visits GROUP BY wrad",
        "price": PRICE,
    }
    for path in ("preview", "ask", "request"):
        found = ana.post(f"/datasets/visits/{path}", data=form | {"reason": "x"})
        assert "wrad" in found.text
        assert "^^^^" in found.text
        assert 'role="alert"' in found.text
    assert "zcdp(0.3)" in ana.post("/datasets/visits/ask", data=form | {"sql": SQL, "price": "zcdp(0.3)"}).text


def test_files_of_an_answer(team: Team) -> None:
    ana = team.browser("ana")
    form_page = ana.get("/datasets/visits/ask")
    form = {"mark": mark(form_page), "key": "k", "sql": SQL, "price": PRICE}
    place = ana.post("/datasets/visits/ask", data=form).headers["location"]
    table = ana.get(f"{place}/answer.csv")
    assert "attachment" in table.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert len(rows) == 9
    assert {"ward", "n", "n_low", "n_high"} <= rows[0].keys()
    content = json.loads(ana.get(f"{place}/answer.json").text)
    assert content["receipt"]["kept"] is True  # no path of the server
    certificate = ana.get(f"{place}/certificate")
    assert "sandbox" in certificate.headers["content-security-policy"]
    assert ana.get(f"{place}/chart.svg").headers["content-type"] == "image/svg+xml"
    assert str(team.folder) not in ana.get(f"{place}/answer.json").text


def test_a_request_by_forms(team: Team) -> None:
    ana, noor = team.browser("ana"), team.browser("noor")
    form = {"mark": mark(ana.get("/account")), "key": "k", "sql": SQL, "price": PRICE, "reason": "Annual report"}
    assert ana.post("/datasets/visits/request", data=form).headers["location"] == "/queue"
    seen = noor.get("/queue")
    assert "Annual report" in seen.text
    assert 'class="count">1<' in seen.text
    number = re.search(r"/datasets/visits/requests/(\d+)", seen.text)
    assert number is not None
    assert number[0] not in ana.get("/queue").text  # who asked cannot decide
    decided = {"mark": mark(seen), "approve": "yes", "reason": "Fine"}
    assert noor.post(number[0], data=decided).status_code == 303
    again = ana.get(f"/datasets/visits/ask?request={number[1]}")
    assert html.escape(SQL) in again.text or SQL in html.unescape(again.text)
    paid = form | {
        "mark": mark(again),
        "request": number[1],
        "price": field(again.text, "price") if 'name="price" value' in again.text else PRICE,
    }
    assert ana.post("/datasets/visits/ask", data=paid).status_code == 303
    assert "answers/" in ana.get("/queue").text


def test_a_steward_sets_rules_divides_and_gives_roles(team: Team) -> None:
    noor = team.browser("noor")
    page = noor.get("/datasets/visits")
    sent = {"mark": mark(page)}
    assert (
        noor.post("/datasets/visits/rules", data=sent | {"least": "zcdp(0.001)", "questions": "60"}).status_code == 303
    )
    assert (
        noor.post("/datasets/visits/accounts", data=sent | {"account": "ben", "amount": "zcdp(0.1)"}).status_code == 303
    )
    assert "zcdp(rho=0.001)" in noor.get("/datasets/visits").text or "zcdp(0.001)" in noor.get("/datasets/visits").text
    wrong = noor.post("/datasets/visits/members", data=sent | {"user": "ben", "role": "analyst"})
    assert wrong.status_code == 422
    assert "ben" in wrong.text
    taken = noor.post("/datasets/visits/members", data=sent | {"user": "omar", "role": "none"})
    assert taken.status_code == 303
    assert "visits" not in team.browser("omar").get("/").text


def test_invitations_tokens_and_passwords(team: Team) -> None:
    admin = team.browser("admin")
    assert admin.get("/").headers["location"] == "/people"
    made = admin.post("/people", data={"mark": mark(admin.get("/people")), "name": "ben", "role": "analyst"})
    link = re.search(r"/invitation/[\w-]+", made.text)
    assert link is not None
    ben = team.visitor()
    page = ben.get(link[0])
    assert ben.post(link[0], data={"mark": mark(page), "password": "short"}).status_code == 422
    assert ben.post(link[0], data={"mark": mark(page), "password": "another long phrase"}).status_code == 303
    assert ben.get(link[0]).status_code == 404
    login = {"mark": mark(ben.get("/login")), "name": "ben", "password": "another long phrase", "then": "/account"}
    assert ben.post("/login", data=login).headers["location"] == "/account"
    account = ben.get("/account")
    token = ben.post("/account/tokens", data={"mark": mark(account), "label": "notebook", "scope": "read", "days": "3"})
    shown = re.search(r"sitr_[\w-]+", token.text)
    assert shown is not None
    assert shown[0] not in ben.get("/account").text
    assert ben.post("/account/tokens/1", data={"mark": mark(account)}).status_code in (303, 422)
    changed = {"mark": mark(account), "old": "another long phrase", "new": "a third long phrase"}
    assert ben.post("/account/password", data=changed).status_code == 303
    assert ben.get("/account").headers["location"].startswith("/login")
    form = {"mark": mark(admin.get("/people")), "enabled": "no"}
    assert admin.post("/people/ben", data=form).status_code == 303
    assert team.people.check("ben", "a third long phrase") is None


def test_a_wrong_password_says_nothing_more(shared: Team) -> None:
    texts = []
    for name in ("ana", "nobody"):
        client = shared.visitor()
        form = {"name": name, "password": "wrong wrong wrong", "mark": mark(client.get("/login"))}
        found = client.post("/login", data=form)
        assert found.status_code == 403
        assert "set-cookie" not in found.headers
        texts.append(re.sub(r'value="[0-9a-f]{64}"', "", found.text))
    assert texts[0] == texts[1]


def test_the_session_cookie_is_strict(shared: Team) -> None:
    client = shared.visitor()
    form = {"name": "ana", "password": "a long 3 phrase", "mark": mark(client.get("/login"))}
    cookie = client.post("/login", data=form).headers["set-cookie"]
    for part in ("__Host-sitr=", "Secure", "HttpOnly", "SameSite=strict", "Path=/"):
        assert part.lower() in cookie.lower()


def test_after_the_logout_the_session_is_gone(shared: Team) -> None:
    ana = shared.browser("ana")
    old = dict(ana.cookies)
    assert ana.post("/logout", data={"mark": mark(ana.get("/account"))}).status_code == 303
    stolen = shared.visitor()
    stolen.cookies.update(old)
    assert stolen.get("/account").headers["location"].startswith("/login")


def test_somebody_logs_out_in_all_browsers(team: Team) -> None:
    here, elsewhere = team.browser("ana"), team.browser("ana")
    page = here.get("/account")
    assert re.search(r"in which you are logged in: *2<", page.text)
    assert here.post("/account/sessions", data={"mark": mark(page)}).status_code == 303
    for client in (here, elsewhere):
        assert client.get("/account").headers["location"].startswith("/login")
    assert team.browser("ana").get("/account").status_code == 200


@pytest.mark.parametrize("path", ["/nowhere", "/datasets/other", "/datasets/visits/answers/99", "/static/../app.py"])
def test_what_is_not_there_looks_the_same_for_everybody(shared: Team, path: str) -> None:
    found = shared.browser("ana").get(path)
    assert found.status_code == 404
    assert "There is no such page, or not for you." in found.text


def test_strangers_play(shared: Team) -> None:
    found = shared.visitor().get("/play", params={"promise": "pure(0.1)", "times": 10, "delta": 1e-6, "group": 3})
    assert found.status_code == 200
    assert "tightest" in found.text
    assert "0.3" in found.text  # a group of three
    assert shared.visitor().get("/play", params={"promise": "pure(x)"}).status_code == 200
    assert shared.visitor().get("/play", params={"times": 10**9}).status_code == 422


def test_the_books_on_a_page(team: Team) -> None:
    team.program("ana").post("/api/v1/datasets/visits/ask", json={"sql": SQL, "price": PRICE})
    found = team.browser("omar").get("/datasets/visits/ledger")
    assert "the chain is whole" in found.text
    assert "visits/ana" in found.text
    assert SQL not in found.text  # an auditor sees sums here, not questions
