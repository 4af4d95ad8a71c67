"""Two answers side by side, with intervals that hold together; and answers that can be had again."""

from __future__ import annotations

import pytest

from tests.server.conftest import PRICE, SQL, Team

PLACE = "/api/v1/datasets/visits"
TOTAL = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"


def ask(team: Team, name: str, sql: str, price: str = PRICE) -> int:
    found = team.program(name).post(f"{PLACE}/ask", json={"sql": sql, "price": price})
    assert found.status_code == 200, found.text
    return int(found.json()["receipt"]["entry"])


def test_differences_have_intervals_that_hold_together(team: Team) -> None:
    one, other = ask(team, "ana", SQL), ask(team, "ana", TOTAL, "zcdp(0.02)")
    ana = team.program("ana")
    found = ana.get(f"{PLACE}/compare", params={"first": one, "second": other}).json()
    assert (found["keys"], found["columns"]) == (["ward"], ["n"])
    exact = {each["key"]["ward"]: each for each in found["rows"]}
    assert len(exact) > 1
    for row in exact.values():
        assert row["difference"] == row["first"] - row["second"]
        assert row["low"] < row["difference"] < row["high"]
    same = ana.get(f"{PLACE}/compare", params={"first": one, "second": one}).json()["rows"]
    assert {each["difference"] for each in same} == {0.0}
    back = ana.get(f"{PLACE}/compare", params={"first": other, "second": one}).json()["rows"]
    for row in back:
        assert row["low"] == pytest.approx(-exact[row["key"]["ward"]]["high"])


def test_the_interval_of_a_difference_is_wider_than_both(team: Team) -> None:
    one, other = ask(team, "ana", SQL), ask(team, "ana", TOTAL, "zcdp(0.02)")
    found = team.program("ana").get(f"{PLACE}/compare", params={"first": one, "second": other}).json()["rows"][0]
    width = (found["high"] - found["low"]) / 2
    alone = []
    for number in (one, other):
        columns = team.program("ana").get(f"{PLACE}/answers/{number}").json()["columns"]
        alone.append(next(each["error"] for each in columns if each["name"] == "n"))
    assert width > sum(alone)  # each at 97.5%, not at 95%


def test_answers_of_others_and_of_other_kinds_are_not_compared(team: Team) -> None:
    own, total = ask(team, "ana", SQL), ask(team, "ana", "SELECT COUNT(*) AS n FROM visits")
    secret = ask(team, "noor", TOTAL)
    ana = team.program("ana")
    assert ana.get(f"{PLACE}/compare", params={"first": own, "second": secret}).status_code == 404
    assert ana.get(f"{PLACE}/compare", params={"first": own, "second": 99}).status_code == 404
    assert ana.get(f"{PLACE}/compare", params={"first": own, "second": total}).status_code == 422
    assert ana.get(f"{PLACE}/compare", params={"first": own}).status_code == 422


def test_a_request_names_what_was_answered_before(team: Team) -> None:
    ana, noor = team.program("ana"), team.program("noor")
    cheap, same = ask(team, "noor", SQL, "zcdp(0.001)"), ask(team, "noor", SQL)
    ask(team, "noor", TOTAL)
    made = ana.post(f"{PLACE}/requests", json={"sql": SQL, "price": PRICE, "reason": "work"}).json()["number"]
    found = noor.get(f"{PLACE}/requests/{made}/similar").json()
    assert [(each["number"], each["free"]) for each in found] == [(same, True), (cheap, False)]
    assert ana.get(f"{PLACE}/requests/{made}/similar").json() == []  # those of others are not shown
    assert noor.get(f"{PLACE}/requests/99/similar").status_code == 404
    other = noor.post(f"{PLACE}/requests", json={"sql": SQL, "price": PRICE, "reason": "work"}).json()["number"]
    assert ana.get(f"{PLACE}/requests/{other}/similar").status_code == 404
