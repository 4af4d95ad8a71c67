"""Previews that somebody had before: the same until something changes, bounded, and nobody else's."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sitr
from sitr.ledger.who import user as acting_user
from sitr.server.office import Office
from sitr.server.previews import Previews
from sitr.session.aggregate import AggregateRequest
from sitr.session.request import Preview
from tests.server.conftest import PRICE, SQL, Team

PREVIEW = "/api/v1/datasets/visits/preview"
QUESTION = {"sql": SQL, "price": PRICE}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Who had a preview computed."""
    found: list[str] = []
    real = AggregateRequest.preview

    def counted(self: AggregateRequest, *given: Any, **named: Any) -> Preview:
        found.append(acting_user())
        return real(self, *given, **named)

    monkeypatch.setattr(AggregateRequest, "preview", counted)
    return found


def test_the_same_preview_is_computed_once_for_each_person(team: Team, made: list[str]) -> None:
    ana, noor = team.program("ana"), team.program("noor")
    first = ana.post(PREVIEW, json=QUESTION)
    assert first.status_code == 200
    assert ana.post(PREVIEW, json=QUESTION).content == first.content
    assert made == ["ana"]
    noor.post(PREVIEW, json=QUESTION)
    assert made == ["ana", "noor"]  # one person cannot find out what another asked about


@pytest.mark.parametrize(
    "other",
    [
        {"price": "zcdp(0.02)"},
        {"sql": "SELECT COUNT(*) AS n FROM visits"},
        {"max_groups": 1},
        {"account": "ana"},
        {"bias": "off"},
    ],
    ids=str,
)
def test_another_question_is_another_preview(team: Team, made: list[str], other: dict[str, object]) -> None:
    ana = team.program("ana")
    ana.post(PREVIEW, json=QUESTION)
    assert ana.post(PREVIEW, json=QUESTION | other).status_code == 200
    assert made == ["ana", "ana"]


def test_another_language_is_another_preview(team: Team, made: list[str]) -> None:
    ana = team.program("ana")
    ana.post(PREVIEW, json=QUESTION)
    ana.post(PREVIEW, json=QUESTION, headers={"accept-language": "ar"})
    assert made == ["ana", "ana"]


def test_a_charge_of_anybody_makes_previews_new(team: Team, made: list[str]) -> None:
    ana, noor = team.program("ana"), team.program("noor")
    before = ana.post(PREVIEW, json=QUESTION).json()
    noor.post("/api/v1/datasets/visits/ask", json={"sql": "SELECT COUNT(*) AS n FROM visits", "price": PRICE})
    after = ana.post(PREVIEW, json=QUESTION).json()
    assert made == ["ana", "ana"]
    assert before["budget"] != after["budget"]


def test_who_loses_a_role_sees_nothing_any_more(team: Team) -> None:
    ana, noor = team.program("ana"), team.program("noor")
    assert ana.post(PREVIEW, json=QUESTION).status_code == 200
    member = {"user": "ana", "role": "none"}
    assert noor.put("/api/v1/datasets/visits/members", json=member).status_code == 204
    assert ana.post(PREVIEW, json=QUESTION).status_code == 404


def test_a_changed_description_makes_previews_new(team: Team, made: list[str]) -> None:
    ana, path = team.program("ana"), team.settings.datasets["visits"]
    ana.post(PREVIEW, json=QUESTION)
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 1_000_000))
    ana.post(PREVIEW, json=QUESTION)
    assert made == ["ana", "ana"]


def test_refusals_are_not_kept(team: Team, made: list[str]) -> None:
    ana = team.program("ana")
    for _ in range(2):
        assert ana.post(PREVIEW, json=QUESTION | {"sql": "SELECT nothing"}).status_code == 422
        assert ana.post(PREVIEW, json=QUESTION | {"price": "approximate(epsilon=1.0, delta=1e-06)"}).status_code == 422
    assert made == ["ana", "ana"]
    assert not team.app.app.state.previews._kept["ana"]  # type: ignore[attr-defined]


CONDITIONS = ("days > 3", "cost < 100", "ward = 'Surgery'", "cost BETWEEN 10 AND 20", "days < 0 OR cost > 9")


@pytest.mark.parametrize(
    "select",
    [
        "SELECT COUNT(*) AS n FROM visits WHERE {}",
        "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits WHERE {} GROUP BY ward",
        "SELECT ward, AVG(cost) AS mean FROM visits WHERE {} GROUP BY ward ORDER BY mean DESC LIMIT 2",
        "SELECT COUNT(DISTINCT patient_id) AS people, MEDIAN(cost) AS middle FROM visits WHERE {}",
    ],
    ids=range(4),
)
def test_a_condition_changes_nothing_but_what_a_preview_says_by_itself(team: Team, select: str) -> None:
    """The part that is kept for other conditions is the same as if it were computed for each of them."""
    ana = team.program("ana")
    budget = sitr.open(team.settings.datasets["visits"]).budget().paying(account="ana")
    for condition in CONDITIONS:
        sql = select.format(condition)
        found = ana.post(PREVIEW, json={"sql": sql, "price": PRICE, "account": "ana"})
        assert found.status_code == 200, found.text
        assert found.json() == json.loads(json.dumps(budget.sql(sql).preview(PRICE).to_dict()))


def test_who_types_a_condition_gets_the_rest_from_the_preview_before(team: Team, made: list[str]) -> None:
    ana, noor = team.program("ana"), team.program("noor")
    for number in range(3):
        for program in (ana, noor):
            sql = f"SELECT ward, COUNT(*) AS n FROM visits WHERE days > {number} GROUP BY ward"
            assert program.post(PREVIEW, json=QUESTION | {"sql": sql}).status_code == 200
    assert made == ["ana", "noor"]
    narrower = "SELECT SUM(cost) AS total FROM visits WHERE cost < {}"  # its bounds follow from the condition
    for most in (10, 20):
        ana.post(PREVIEW, json=QUESTION | {"sql": narrower.format(most)})
    assert made == ["ana", "noor", "ana", "ana"]


def test_the_store_is_bounded() -> None:
    store = Previews(most=2, people=2)
    for who in ("a", "b", "c"):
        for key in range(5):
            store.of(who, key, lambda: b"x")
    assert {who: list(own) for who, own in store._kept.items()} == {"b": [3, 4], "c": [3, 4]}
    assert store.of("c", 3, lambda: b"y") == b"x"
    assert store.of("c", 9, lambda: b"y") == b"y"  # 4 was used before 3
    assert list(store._kept["c"]) == [3, 9]


def test_files_of_others_are_not_remembered(team: Team, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A public table is a file that changes without a word in the ledger."""
    real = Office.described

    def beside(self: Office, name: str, path: Path) -> object:
        dataset, budget = real(self, name, path)
        return replace(dataset, public={"wards": path}), budget

    monkeypatch.setattr(Office, "described", beside)
    ana = team.program("ana")
    for _ in range(2):
        assert ana.post(PREVIEW, json=QUESTION).status_code == 200
    assert made == ["ana", "ana"]


def test_long_questions_and_long_previews_do_not_fill_the_memory(team: Team) -> None:
    ana = team.program("ana")
    long = {"keys": {"ward": [f"ward {number}" for number in range(20_000)]}}
    assert ana.post(PREVIEW, json=QUESTION | long).status_code == 200
    kept = team.app.app.state.previews._kept["ana"]  # type: ignore[attr-defined]
    assert len(kept) == 1
    assert len(repr(kept)) < 50_000
    long = {"keys": {"ward": [f"{'x' * 1_000}{number}" for number in range(100)]}}  # few, but long
    assert ana.post(PREVIEW, json=QUESTION | long).status_code == 200
    assert len(repr(kept)) < 50_000
    few = Previews(octets=10)
    assert few.of("ana", 1, lambda: b"x" * 11) == b"x" * 11
    assert few.of("ana", 1, lambda: b"new") == b"new"
