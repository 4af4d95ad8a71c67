"""Similar questions, and what a steward sees before deciding."""

from __future__ import annotations

import re

import pytest

from sitr.server.similar import ALIKE, likeness
from tests.server.conftest import SQL, Team, mark


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (SQL.lower(), True),
        ("SELECT ward, COUNT(*) AS n FROM visits WHERE days > 3 GROUP BY ward", True),
        ("SELECT SUM(cost) AS total FROM visits", False),
        ("", False),
    ],
)
def test_questions_are_alike_by_their_words(other: str, alike: bool) -> None:
    assert (likeness(SQL, other) >= ALIKE) is alike
    assert likeness(SQL, other) == likeness(other, SQL)


def test_a_steward_sees_what_would_be_left_and_what_was_answered(team: Team) -> None:
    ana, noor = team.browser("ana"), team.browser("noor")
    asked = {"sql": SQL, "price": "zcdp(0.01)"}
    assert team.program("ana").post("/api/v1/datasets/visits/ask", json=asked).status_code == 200
    form = {"mark": mark(ana.get("/account")), "key": "k", "sql": SQL, "price": "zcdp(0.04)", "reason": "Sharper"}
    assert ana.post("/datasets/visits/request", data=form).status_code == 303
    assert "Sharper" in noor.get("/").text  # the first page says that somebody waits
    page = noor.get("/queue").text
    left = re.findall(r"Left then in <bdi[^>]*>([\w/]+)</bdi></dt><dd>ρ = ([\d.]+)", page)
    assert left == [("visits/ana", "0.2"), ("visits", "0.45")]
    assert 'href="/datasets/visits/answers/1"' in page
    sent = {"mark": mark(noor.get("/account")), "approve": "no", "reason": "Read answer 1"}
    number = re.search(r"/requests/(\d+)", page)
    assert number is not None
    noor.post(f"/datasets/visits{number[0]}", data=sent)
    assert "Read answer 1" in ana.get("/").text
    assert "Sharper" not in noor.get("/").text


def test_a_request_that_cannot_be_paid_any_more_says_so(team: Team) -> None:
    ana, noor = team.browser("ana"), team.browser("noor")
    form = {"mark": mark(ana.get("/account")), "key": "k", "sql": SQL, "price": "zcdp(0.2)", "reason": "All"}
    assert ana.post("/datasets/visits/request", data=form).status_code == 303
    assert "too little left" not in noor.get("/queue").text
    spent = {"sql": "SELECT COUNT(*) AS n FROM visits", "price": "zcdp(0.1)"}
    assert team.program("ana").post("/api/v1/datasets/visits/ask", json=spent).status_code == 200
    assert "too little left" in noor.get("/queue").text


def test_the_preview_names_answers_that_are_free(team: Team) -> None:
    team.program("ana").post("/api/v1/datasets/visits/ask", json={"sql": SQL, "price": "zcdp(0.01)"})
    team.program("noor").post("/api/v1/datasets/visits/ask", json={"sql": SQL, "price": "zcdp(0.02)"})
    ana = team.browser("ana")
    form = {"mark": mark(ana.get("/account")), "sql": SQL, "price": "zcdp(0.03)"}
    page = ana.post("/datasets/visits/preview", data=form).text
    assert 'href="/datasets/visits/answers/1"' in page
    assert 'href="/datasets/visits/answers/2"' not in page  # somebody else's
