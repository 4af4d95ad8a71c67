"""Whatever an analyst receives is the same with and without one person, up to the noise of what was paid for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pyarrow.parquet as pq
import pytest
from pyarrow import compute

from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.server.app import create
from sitr.session.dataset import open as open_description
from sitr.session.sample import SampleFiles
from tests.server.conftest import Team, password, people_in, settings_in

QUESTIONS = (
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT COUNT(*) AS n FROM visits WHERE patient_id = {person}",
    "SELECT AVG(cost) AS m FROM visits WHERE 1 / (patient_id - {person}) > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(ward AS INTEGER) = 1",
    "SELECT wrad FROM visits",
    "SELECT * FROM visits WHERE patient_id = {person}",
    "SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id",
)


def served(folder: Path, *, without: int | None) -> tuple[Team, int]:
    """A server for a few visits, with or without all visits of one person."""
    files = SampleFiles.of(folder)
    files.make(rows=500)
    rows = pq.read_table(files.data)
    person = int(rows["patient_id"][7].as_py())
    if without is not None:
        pq.write_table(rows.filter(compute.not_equal(rows["patient_id"], without)), files.data)
    files.protect()
    settings = settings_in(folder)
    people = people_in(settings)
    from sitr.server.role import UserRole

    people.add("ana", UserRole.ANALYST, password("ana"))
    budget = open_description(files.description).budget()
    with acting("noor"):
        budget.assign("noor", Duty.STEWARD)
        budget.assign("ana", Duty.ANALYST)
    return Team(create(settings, people), people, settings, folder), person


def shape(value: Any) -> Any:
    """A value without its numbers, hashes and times: what is left must not depend on the rows."""
    if isinstance(value, Mapping):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    if isinstance(value, str):
        return re.sub(r"[0-9a-f]{64}|\d{4}-\d\d-\d\dT[\d:.+]+|[-\d.,]+", "#", value)
    return type(value).__name__ if isinstance(value, float) else value


def received(response: httpx.Response) -> tuple[int, list[str], Any]:
    """What somebody sees of a response: its status, its headers with their order, and the shape of its body."""
    headers = [f"{name}: {value}" for name, value in response.headers.items() if name != "content-length"]
    return response.status_code, headers, shape(response.json())


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Team, Team, int]:
    with_them, person = served(tmp_path_factory.mktemp("with"), without=None)
    without_them, _ = served(tmp_path_factory.mktemp("without"), without=person)
    return with_them, without_them, person


FREE = {"value", "low", "high", "rows", "bias", "released", "left_out"}
"""What is released, with its noise."""


def without_release(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {name: without_release(each) for name, each in content.items() if name not in FREE}
    return [without_release(each) for each in content] if isinstance(content, list) else content


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("what", ["preview", "ask"])
def test_nothing_but_the_noisy_answer_depends_on_a_person(
    pair: tuple[Team, Team, int], question: str, what: str
) -> None:
    one, other, person = pair
    sent = {"sql": question.format(person=person), "price": "zcdp(0.005)"}
    seen = [team.program("ana").post(f"/api/v1/datasets/visits/{what}", json=sent) for team in (one, other)]
    (status, headers, body), second = (received(each) for each in seen)
    assert (status, headers) == second[:2]
    assert without_release(body) == without_release(second[2])
    if what == "preview":
        assert seen[0].json() == seen[1].json()


def test_the_twin_with_a_row_count_is_found(pair: tuple[Team, Team, int]) -> None:
    """The comparison sees a header that depends on the rows."""
    one, other, _ = pair
    seen = []
    for team in (one, other):
        found = team.visitor().get("/api/v1/health")
        found.headers["x-rows"] = str(pq.read_metadata(team.folder / "visits.parquet").num_rows)
        seen.append(received(found))
    assert seen[0] != seen[1]
