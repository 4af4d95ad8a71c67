"""To register a data set: only files in allowed folders, no links, no rows on any page, and one budget for one file."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sitr.errors import SitrError
from sitr.server.office import Unknown
from sitr.server.registration import Declaration, chosen, files, looked, register
from tests.server.conftest import Team, mark, team_in

STAFF = "person,ward,salary\n" + "".join(f"p{number},{'AB'[number % 2]},{1000 + number}.5\n" for number in range(300))
DECLARED = Declaration(
    "staff",
    unit="person",
    max_groups="1",
    max_rows_per_group="1",
    bounds={"salary": ("0", "5000")},
    steps={"salary": "0.5"},
    keys={"ward": "A, B"},
    promise="zcdp(0.5)",
    confirmed=True,
)


@pytest.fixture
def office(tmp_path: Path) -> Team:
    """A server whose stewards may register what lies in one folder; beside it is a file that they may not."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "staff.csv").write_text(STAFF)
    (tmp_path / "secret.csv").write_text(STAFF)
    (data / "link.csv").symlink_to(tmp_path / "secret.csv")
    (data / "inside.csv").symlink_to(data / "staff.csv")
    (data / "deeper").symlink_to(tmp_path)
    (data / "notes.txt").write_text("not rows")
    home = tmp_path / "home"
    home.mkdir()
    return team_in(home, folders=(data,))


def registered(team: Team, label: str = "0/staff.csv", **changed: object) -> str:
    app = team.app.app
    made = replace(DECLARED, **changed)  # type: ignore[arg-type]
    return register(
        team.settings,
        app.state.office,  # type: ignore[attr-defined]
        team.people,
        team.user("noor"),
        label,
        made,
    )


def test_files_are_listed_without_links(office: Team) -> None:
    assert [each.label for each in files(office.settings)] == ["0/staff.csv"]


@pytest.mark.parametrize(
    "label",
    [
        *("0/link.csv", "0/inside.csv", "0/deeper/secret.csv", "0/../secret.csv", "0/notes.txt", "1/staff.csv"),
        *("-1/staff.csv", "/etc/passwd", "0//etc/passwd", "staff.csv", "", "0/", "0/staff.csv\0", "x/staff.csv"),
    ],
)
def test_nothing_else_can_be_named(office: Team, label: str) -> None:
    for act in (chosen, looked):
        with pytest.raises(Unknown):
            act(office.settings, label)
    with pytest.raises(Unknown):
        registered(office, label)
    page = office.browser("noor").get("/register", params={"file": label})
    assert page.status_code == (404 if label else 200)


def test_a_file_that_becomes_a_link_is_refused(office: Team, tmp_path: Path) -> None:
    path = tmp_path / "data" / "staff.csv"
    path.unlink()
    path.symlink_to(tmp_path / "secret.csv")
    with pytest.raises(Unknown):
        registered(office)


def test_a_registered_file_can_be_asked_by_its_steward_alone(office: Team) -> None:
    assert registered(office) == "staff"
    body = {"sql": "SELECT ward, COUNT(*) AS n, SUM(salary) AS s FROM staff GROUP BY ward", "price": "zcdp(0.4)"}
    found = office.program("noor").post("/api/v1/datasets/staff/ask", json=body)
    assert found.status_code == 200
    assert len(found.json()["rows"]) == 2
    assert office.program("ana").get("/api/v1/datasets/staff").status_code == 404
    told = office.program("noor").get("/api/v1/datasets/staff").json()
    assert told["role"] == "steward"
    assert told["protects"] == "person (person), add-remove"
    assert office.people.datasets()["staff"].parent.stat().st_mode & 0o077 == 0


def test_a_file_has_one_budget(office: Team, tmp_path: Path) -> None:
    registered(office)
    with pytest.raises(SitrError, match="already"):
        registered(office)
    for label in ("0/staff.csv", "0/copy.csv"):  # under another name, and by a hard link
        if label == "0/copy.csv":
            os.link(tmp_path / "data" / "staff.csv", tmp_path / "data" / "copy.csv")
        with pytest.raises(SitrError) as refused:
            registered(office, label, name="again")
        assert str(tmp_path) not in refused.value.message
    assert "again" not in office.people.datasets()


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "no spaces"},
        {"name": "../up"},
        {"name": "visits"},
        {"max_groups": ""},
        {"max_groups": "9" * 5_000},
        {"confirmed": False},
        {"bounds": {"salary": ("0", "many")}},
        {"bounds": {"salary": ("5", "")}},
        {"keys": {"salary": "1"}},
        {"unit": "nobody"},
        {"promise": "everything"},
        {"steps": {"salary": "-"}},
    ],
    ids=str,
)
def test_what_is_wrong_is_said_and_nothing_is_registered(office: Team, wrong: dict[str, object]) -> None:
    with pytest.raises(SitrError) as refused:
        registered(office, **wrong)  # type: ignore[arg-type]
    assert str(office.folder.parent) not in refused.value.message
    assert office.people.datasets() == {}
    assert registered(office) == "staff"


def test_no_row_is_on_any_page(office: Team) -> None:
    noor = office.browser("noor")
    page = noor.get("/register", params={"file": "0/staff.csv"})
    form = {"mark": mark(page), "file": "0/staff.csv", "name": "staff", "unit": "person", "promise": "zcdp(0.5)"}
    wrong = noor.post("/register", data=form | {"confirmed": "yes"})
    assert "both caps" in wrong.text
    fine = form | {"max_groups": "1", "max_rows_per_group": "1", "confirmed": "yes", "low-2": "0", "high-2": "9000"}
    assert noor.post("/register", data=fine).headers["location"] == "/datasets/staff"
    for text in (page.text, wrong.text, noor.get("/datasets/staff").text):
        assert "salary" in text
        assert "p17" not in text
        assert "1017.5" not in text
        assert str(office.folder.parent) not in text


def test_without_folders_nothing_can_be_registered(shared: Team) -> None:
    page = shared.browser("noor").get("/register")
    assert "allowed no folder" in page.text
    assert "/register" not in shared.browser("noor").get("/").text
