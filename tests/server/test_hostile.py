"""A hostile analyst with an account, a stranger, and files that break: each of these attacks worked once."""

from __future__ import annotations

import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from sitr.errors import LedgerBusy
from sitr.flavors.notation import parse
from sitr.ledger.roles import Duty
from sitr.ledger.state import alone
from sitr.ledger.who import acting
from sitr.server import releases, run
from sitr.server.app import create
from sitr.server.bodies import BatchAskBody
from sitr.server.limiter import Limiter
from sitr.server.office import Office
from sitr.server.pages.ask import prices_of
from sitr.server.pages.files import spreadsheet
from sitr.server.role import UserRole
from sitr.server.sent import MOST_LETTERS, MOST_REASON
from sitr.server.users import User
from sitr.session import sample as hospital
from sitr.session.budget import Budget
from sitr.session.dataset import open as open_description
from sitr.session.deadline import VARIABLE
from tests.server.conftest import PRICE, SQL, Team, mark, password, people_in, settings_in, team_in

DATASET = "/api/v1/datasets/visits"


def ask(client: httpx.Client, what: str = "ask", **changed: Any) -> httpx.Response:
    return client.post(f"{DATASET}/{what}", json={"sql": SQL, "price": PRICE} | changed)


def member(team: Team, name: str, role: UserRole, duty: Duty, account: str = "") -> None:
    """Somebody else on the team."""
    team.people.add(name, role, password(name))
    budget = open_description(team.settings.datasets["visits"]).budget()
    with acting("noor"):
        if account:
            budget.allot(account, "zcdp(0.1)")
        budget.assign(name, duty, account=account)


@pytest.mark.parametrize(
    "sql",
    [
        "(" * 5_000,
        f"SELECT {'(' * 400}1{')' * 400} FROM visits",
        "SELECT COUNT(*) AS n FROM visits WHERE " + "NOT " * 2_000,
    ],
)
def test_a_question_that_is_too_deep_is_refused(team: Team, sql: str) -> None:
    for what in ("preview", "ask"):
        assert ask(team.program("ana"), what, sql=sql).status_code == 422


def test_a_question_that_is_too_long_is_refused(team: Team) -> None:
    """To plan this one takes minutes."""
    sql = f"SELECT {', '.join(f'COUNT(*) AS n{number}' for number in range(3_000))} FROM visits"
    assert len(sql) > MOST_LETTERS
    for what, sent in (("preview", {"sql": sql}), ("ask", {"sql": sql})):
        assert ask(team.program("ana"), what, **sent).json()["title"] == "InvalidUse"
    half = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE days > 1".ljust(MOST_LETTERS // 2 + 1)}
    assert ask(team.program("ana"), "preview", **half).status_code == 200
    batch = {"questions": [half, half], "price": PRICE}
    assert team.program("ana").post(f"{DATASET}/batch", json=batch).status_code == 422


def test_a_long_question_counts_as_several_previews(tmp_path: Path) -> None:
    client = team_in(tmp_path, previews_per_minute=12).program("ana")
    assert ask(client, "preview").status_code == 200
    assert [ask(client, "preview", sql=SQL.ljust(1_000)).status_code for _ in range(2)] == [200, 429]


def test_a_stranger_cannot_compose_a_promise_with_thousands_of_orders(team: Team) -> None:
    client = team.visitor()
    orders = ", ".join(f"{2 + number}: 0.1" for number in range(2_500))
    assert client.get("/play", params={"promise": f"renyi({{{orders}}})"}).status_code == 422
    assert client.get("/play", params={"promise": "renyi({2: 0.1, 8: 0.5})"}).status_code == 200


def test_an_answer_that_somebody_else_paid_for_is_shown_on_the_page(team: Team) -> None:
    """It is free, and its entry is not theirs: a link to it would lead nowhere."""
    number = ask(team.program("noor")).json()["receipt"]["entry"]
    client = team.browser("ana")
    form = {"mark": mark(client.get("/datasets/visits/ask")), "key": "one", "sql": SQL, "price": PRICE}
    found = client.post("/datasets/visits/ask", data=form)
    assert found.status_code == 200
    assert "Cardiology" in found.text
    assert f"/answers/{number}/" not in found.text
    assert client.get(f"/datasets/visits/answers/{number}").status_code == 404
    own = client.post("/datasets/visits/ask", data=form | {"key": "two", "sql": "SELECT COUNT(*) AS n FROM visits"})
    assert own.status_code == 303
    assert client.get(own.headers["location"]).status_code == 200


def test_an_analyst_does_not_learn_which_accounts_others_have(team: Team) -> None:
    member(team, "lena", UserRole.ANALYST, Duty.ANALYST, "oncology")
    client = team.program("ana")
    there, nowhere = (ask(client, account=account) for account in ("oncology", "nothing"))
    assert there.status_code == nowhere.status_code == 403
    assert there.text.replace("oncology", "nothing") == nowhere.text
    assert "oncology" not in client.get(DATASET).text
    assert ask(client, account="visits/ana").status_code == 200


def test_the_picture_of_spending_shows_an_analyst_their_own_charges(team: Team) -> None:
    client = team.browser("ana")
    before = client.get("/datasets/visits/spending.svg").text
    assert ask(team.program("noor")).status_code == 200
    assert client.get("/datasets/visits/spending.svg").text == before
    assert ask(team.program("ana"), sql="SELECT COUNT(*) AS n FROM visits").status_code == 200
    assert client.get("/datasets/visits/spending.svg").text != before


def test_who_is_an_analyst_by_the_ledger_does_not_read_its_books(team: Team) -> None:
    """A steward of other data sets, to whom this ledger gives less."""
    member(team, "sami", UserRole.STEWARD, Duty.ANALYST)
    client, browser = team.program("sami"), team.browser("sami")
    assert client.get(DATASET).status_code == 200
    for path in ("ledger", "ledger/verify"):
        assert client.get(f"{DATASET}/{path}").status_code == 404
        assert team.program("omar").get(f"{DATASET}/{path}").status_code == 200
    assert browser.get("/datasets/visits/ledger").status_code == 404


@pytest.mark.parametrize("reason", ["x" * (MOST_REASON + 1), "two\nlines", "back\u202ewards"])
def test_a_reason_is_one_short_line(team: Team, reason: str) -> None:
    assert ask(team.program("ana"), "requests", reason=reason).status_code == 422
    assert ask(team.program("ana"), "requests", reason="for the report").status_code == 201
    assert team.program("noor").post(f"{DATASET}/requests/999/refuse", json={"reason": reason}).status_code == 422


def test_requests_are_limited(tmp_path: Path) -> None:
    team = team_in(tmp_path, answers_per_minute=2)
    client = team.program("ana")
    found = [ask(client, "requests", reason=f"reason {number}").status_code for number in range(3)]
    assert found == [201, 201, 429]


def test_one_person_does_not_take_all_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers wait for their deadlines, and whoever asks many long questions at once would stop the server."""
    team = team_in(tmp_path, answers_at_once=2)
    client, other, both = team.program("ana"), team.program("noor"), threading.Barrier(3)
    real = releases.release

    def waits(office: Office, user: User, *given: Any, **named: Any) -> Any:
        if user.name == "ana":
            both.wait(timeout=30)
            both.wait(timeout=30)
        return real(office, user, *given, **named)

    monkeypatch.setattr(releases, "release", waits)
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(ask, team.program("ana"), sql=f"SELECT COUNT(*) AS n{n} FROM visits") for n in range(2)]
        both.wait(timeout=30)  # both are being answered
        assert ask(client).status_code == 429
        assert ask(other).status_code == 200
        both.wait(timeout=30)
        assert [each.result().status_code for each in running] == [200, 200]
    monkeypatch.setattr(releases, "release", real)
    assert ask(client).status_code == 200


def broken(folder: Path, what: str) -> None:
    if what == "no rows":
        (folder / "visits.parquet").unlink()
    elif what == "damaged rows":
        (folder / "visits.parquet").write_text("damaged")
    elif what == "damaged answer":
        for path in (folder / "sitr.answers").iterdir():
            path.write_text("{}")
    elif what == "no description":
        (folder / "visits.sitr.yaml").unlink()
    else:
        (folder / "visits.sitr.yaml").write_text("damaged: [")


@pytest.mark.parametrize("what", ["no rows", "damaged rows", "damaged answer", "no description", "damaged description"])
def test_files_that_break_do_not_say_where_they_are(team: Team, what: str) -> None:
    client, browser = team.program("ana"), team.browser("ana")
    number = ask(client).json()["receipt"]["entry"]
    form = {"mark": mark(browser.get("/account")), "key": "one", "sql": SQL, "price": "zcdp(0.02)"}
    broken(team.folder, what)
    seen = [
        ask(client),
        ask(client, sql="SELECT COUNT(*) AS n FROM visits"),
        client.get(f"{DATASET}/answers/{number}"),
        client.get("/api/v1/datasets"),
        browser.get("/"),
        browser.post("/datasets/visits/ask", data=form),
        browser.get(f"/datasets/visits/answers/{number}/certificate"),
    ]
    assert any(each.status_code >= 400 for each in seen)
    for each in seen:
        assert str(team.folder) not in each.text
        assert str(team.folder) not in str(each.headers)
    assert seen[3].status_code == seen[4].status_code == 200  # one broken data set does not hide the others


# Strangers


def test_invented_methods_are_counted_together(team: Team) -> None:
    client = team.visitor()
    for number in range(50):
        client.request(f"METHOD{number}", "/api/v1/health")
    text = client.get("/api/v1/metrics").text
    assert "METHOD" not in text
    assert 'method="-"' in text
    assert len(team.app.seen) < 5


def login(client: httpx.Client, name: str, secret: str) -> int:
    form = {"mark": mark(client.get("/login")), "name": name, "password": secret}
    return client.post("/login", data=form).status_code


def test_a_stranger_at_one_address_locks_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = team_in(tmp_path, logins_per_minute=3)
    stranger = team.visitor()
    assert [login(stranger, "ana", "wrong") for _ in range(8)] == [403] * 3 + [429] * 5
    monkeypatch.setattr("sitr.server.visitors._from", lambda _request: "192.0.2.7")
    assert login(team.visitor(), "ana", password("ana")) == 303


def test_a_name_at_the_login_takes_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = team_in(tmp_path, logins_per_minute=100)
    counted: list[str] = []
    real = Limiter.count

    def count(self: Limiter, what: str, who: str, *, most: int, times: int = 1) -> None:
        counted.append(who)
        real(self, what, who, most=most, times=times)

    monkeypatch.setattr(Limiter, "count", count)
    assert login(team.visitor(), "n" * 500_000, "wrong") == 403
    assert len(counted) == 2
    assert max(map(len, counted)) < 100


def test_a_failure_is_logged_without_its_text(
    team: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_given: object) -> None:
        raise RuntimeError("WHERE name = 'Ada'")

    monkeypatch.setattr("sitr.server.office.Office.seen_by", fails)
    with caplog.at_level(logging.INFO):
        found = team.program("ana").get("/api/v1/datasets")
    assert found.status_code == 500
    assert "content-security-policy" in found.headers
    assert "RuntimeError in tests.server.test_hostile" in caplog.text
    assert "Ada" not in caplog.text + found.text
    assert team.app.seen["GET", "/api/v1/datasets", 500] == 1


def test_a_failure_of_the_error_page_is_an_answer_too(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_given: object, **_values: object) -> None:
        raise RuntimeError("Ada")

    monkeypatch.setattr("sitr.server.failures.page", fails)
    monkeypatch.setattr("sitr.server.office.Office.seen_by", fails)
    found = team.browser("ana").get("/")
    assert found.status_code == 500
    assert "content-security-policy" in found.headers
    assert "Ada" not in found.text


def test_a_token_that_no_database_can_number_is_not_there(team: Team) -> None:
    client = team.browser("ana")
    sent = {"mark": mark(client.get("/account"))}
    assert client.post(f"/account/tokens/{10**30}", data=sent).status_code == 422


# The operator


def test_an_empty_variable_does_not_turn_deadlines_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    settings = settings_in(tmp_path, answer_rows=1234)
    create(settings, people_in(settings))
    assert os.environ[VARIABLE] == "1234"


def test_processes_that_engines_start_do_not_inherit_the_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path)
    monkeypatch.setenv(run.CARRIED, run._written(settings))
    monkeypatch.setenv("SITR_SECRET", settings.secret)
    run.application()
    assert not [name for name, value in os.environ.items() if settings.secret in value]


# The slider


@pytest.mark.parametrize(
    "promise", ["pure(1)", "approximate(1, 1e-6)", "zcdp(0.333)", "zcdp(0.5, 1e-6)", "odometer(pure)"]
)
def test_the_prices_of_the_slider_can_be_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, promise: str) -> None:
    monkeypatch.setattr(hospital, "BUDGET", parse(promise))
    settings = settings_in(tmp_path)
    hospital.sample(tmp_path, rows=100)
    people = people_in(settings)
    user = people.add("noor", UserRole.STEWARD, password("noor"))
    office = create(settings, people).app.state.office  # type: ignore[attr-defined]
    office.take(user, "visits")
    opened = office.open(user, "visits")
    prices = prices_of(opened)
    assert len(prices) == 25
    for price in prices:
        opened.budget.standing().consent(parse(price))


def test_the_slider_ends_at_what_is_left_of_ones_own_account(team: Team) -> None:
    office = team.app.app.state.office  # type: ignore[attr-defined]
    assert ask(team.program("ana"), price="zcdp(0.0011)").status_code == 200
    assert prices_of(office.open(team.user("ana"), "visits"))[-1] == "zcdp(rho=0.24)"  # of 0.2489
    assert prices_of(office.open(team.user("noor"), "visits"))[-1] == "zcdp(rho=0.49)"  # of 0.4989


@pytest.mark.parametrize("path", ["", "/terms", "/answers"])
def test_where_a_lost_ledger_was_is_not_told(team: Team, path: str, caplog: pytest.LogCaptureFixture) -> None:
    (team.folder / "sitr.db").unlink()
    for who in ("noor", "ana"):
        found = team.program(who).get(f"/api/v1/datasets/visits{path}")
        assert found.status_code == 404
        assert str(team.folder) not in found.text
        assert team.browser(who).get("/").status_code == 200  # other data sets are still served
    preview = team.program("ana").post("/api/v1/datasets/visits/preview", json={"sql": SQL, "price": PRICE})
    assert preview.status_code == 404
    assert '"unreadable": "visits"' in caplog.text


def test_where_a_busy_ledger_is_is_not_told(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(_: object) -> None:
        raise LedgerBusy(given=f"Another program is writing to the ledger {team.folder}/sitr.db.", do="Try again.")

    monkeypatch.setattr(Budget, "roles", busy)
    found = team.program("ana").get("/api/v1/datasets/visits")
    assert found.status_code == 503
    assert found.json()["given"] == "Another program is writing to the ledger visits."


@pytest.mark.parametrize(
    "fields", [{"max_groups": "9" * 5_000}, {"max_rows_per_group": "9" * 5_000}], ids=["groups", "rows"]
)
def test_caps_of_thousands_of_digits_are_no_failure(shared: Team, fields: dict[str, str]) -> None:
    browser = shared.browser("ana")
    form = {"mark": mark(browser.get("/datasets/visits/ask")), "sql": SQL, "price": PRICE, **fields}
    assert browser.post("/datasets/visits/preview", data=form).status_code == 200


def test_bins_of_thousands_of_digits_are_no_failure(shared: Team) -> None:
    browser = shared.browser("ana")
    form = {
        "mark": mark(browser.get("/datasets/visits/publish")),
        "table-0": "ward",
        "price": PRICE,
        "bins": "9" * 5_000,
    }
    assert browser.post("/datasets/visits/publish/preview", data=form).status_code == 200


LONG = "SELECT COUNT(*) AS n FROM visits WHERE " + " OR ".join(f"days = {number}" for number in range(60))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("preview", {"sql": LONG}),
        ("batch/preview", {"questions": [{"sql": SQL}] * 2}),
        ("ask", {"sql": LONG}),
        ("tables/preview", {"tables": ["ward"]}),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_nobody_waits_for_a_ledger_while_a_long_question_is_planned(
    team: Team, path: str, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    free: list[bool] = []
    makers = {name: getattr(Budget, name) for name in ("sql", "tables")}

    def other() -> None:
        taken = alone.acquire(timeout=0.5)
        free.append(taken)
        if taken:
            alone.release()

    def watched(name: str) -> Any:
        def make(self: Budget, *given: Any, **named: Any) -> Any:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            return makers[name](self, *given, **named)

        return make

    for name in makers:
        monkeypatch.setattr(Budget, name, watched(name))
    found = team.program("ana").post(f"/api/v1/datasets/visits/{path}", json=body | {"price": PRICE})
    assert found.status_code in (200, 422), found.text
    assert free
    assert all(free)


def test_a_batch_counts_as_all_of_its_questions() -> None:
    one, many = (BatchAskBody.model_validate({"price": PRICE, "questions": [{"sql": SQL}] * n}) for n in (1, 100))
    assert many.effort == 100 * one.effort


def test_the_name_of_a_column_is_no_formula_either() -> None:
    assert spreadsheet(["=1+1", "n"], []) == "'=1+1,n\n"
