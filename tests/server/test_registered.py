"""A steward registers a data set from a folder that the operator has opened, and from nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from sitr.server import registered as register
from sitr.server.run import _read, _written
from sitr.server.settings import read_settings
from sitr.session.dataset import open as open_description
from sitr.session.sample import sample
from tests.server.conftest import Team, team_in

PATH = "/api/v1/datasets"


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    """A folder with a file that has no budget yet."""
    folder = tmp_path / "open"
    folder.mkdir()
    made = sample(tmp_path / "elsewhere", rows=300)
    (folder / "stays.parquet").write_bytes((made.description.parent / "visits.parquet").read_bytes())
    return folder


def registered(team: Team, **changed: Any) -> str:
    found = yaml.safe_load(team.settings.datasets["visits"].read_text())
    del found["budget"]
    found |= {"source": "stays.parquet", "name": "stays"} | changed
    return yaml.safe_dump({name: value for name, value in found.items() if value is not None})


def body(team: Team, **changed: Any) -> dict[str, str]:
    return {"name": "stays", "description": registered(team, **changed), "budget": "zcdp(0.5)"}


@pytest.fixture
def team(tmp_path: Path, opened: Path) -> Team:
    return team_in(tmp_path / "server", folders=(opened,))


def test_a_registered_data_set_is_asked_like_others(team: Team) -> None:
    noor = team.program("noor")
    made = noor.post(PATH, json=body(team))
    assert made.status_code == 201, made.text
    assert made.json()["role"] == "steward"
    assert made.json()["promise"]["notation"] == "zcdp(rho=0.5)"
    answer = noor.post(f"{PATH}/stays/ask", json={"sql": "SELECT COUNT(*) AS n FROM stays", "price": "zcdp(0.01)"})
    assert answer.status_code == 200
    assert {each["name"] for each in noor.get(PATH).json()} == {"stays", "visits"}
    assert {each["name"] for each in team.program("ana").get(PATH).json()} == {"visits"}
    assert team.program("ana").get(f"{PATH}/stays").status_code == 404
    place = team.settings.state / "datasets" / "stays"
    assert place.stat().st_mode & 0o077 == 0
    assert open_description(place / "stays.sitr.yaml").budget().standing().charges == 1
    assert noor.post(PATH, json=body(team)).status_code == 422  # the name is taken
    assert noor.post(PATH, json=body(team) | {"name": "again"}).status_code in (409, 422)  # the file has a budget


@pytest.mark.parametrize("source", ["../secret.parquet", "link.parquet", "", ".", "missing.parquet", "a\nb", 3, ["x"]])
def test_files_elsewhere_are_refused_and_not_told_apart(team: Team, opened: Path, source: object) -> None:
    secret = opened.parent / "secret.parquet"
    secret.write_bytes((opened / "stays.parquet").read_bytes())
    (opened / "link.parquet").symlink_to(secret)
    found = team.program("noor").post(PATH, json=body(team, source=source))
    assert found.status_code == 422
    assert found.json()["wanted"].startswith("the path of a file")
    assert str(opened.parent) not in found.text
    absolute = team.program("noor").post(PATH, json=body(team, source=str(secret)))
    assert absolute.status_code == 422
    assert "stays" not in team.people.datasets()


@pytest.mark.parametrize(
    "changed",
    [
        {"public": {"wards": "/etc/passwd"}},
        {"budget": {"promise": "zcdp(9)", "ledger": "/tmp/x.db"}},
        {"table": "visits"},
        {"columns": {"nothing": {"type": "text"}}},
        {"columns": None},
        {"unit": "somebody"},
        {"sitr": 99},
    ],
    ids=str,
)
def test_wrong_descriptions_open_no_budget(team: Team, changed: dict[str, Any]) -> None:
    found = team.program("noor").post(PATH, json=body(team, **changed))
    assert found.status_code == 422, found.text
    assert str(team.folder) not in found.text
    assert not (team.settings.state / "datasets" / "stays" / "ledger.db").exists()
    assert "stays" not in team.people.datasets()


@pytest.mark.parametrize("text", ["", "[", "- 1", "a: &a [*a]", "!!python/object:os.system {}", "x" * 50_000])
def test_what_is_no_description_is_refused(team: Team, text: str) -> None:
    found = team.program("noor").post(PATH, json=body(team) | {"description": text})
    assert found.status_code == 422


@pytest.mark.parametrize("name", ["", "../x", "A", "a b", "x" * 60, "visits", "..", ".", "-x", "stays.db"])
def test_names_are_plain_and_new(team: Team, name: str) -> None:
    noor = team.program("noor")
    noor.get("/api/v1/datasets")  # the database is open
    before = sorted(team.settings.state.rglob("*"))
    assert noor.post(PATH, json=body(team) | {"name": name}).status_code == 422
    assert sorted(team.settings.state.rglob("*")) == before


def test_a_short_description_stays_short(team: Team) -> None:
    """References are refused: each line would stand for ten times the one before."""
    merged = ["a0: &a0 {k: v}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 30))]
    listed = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)), "source: *a29"]
    for lines in (merged, listed):
        found = team.program("noor").post(PATH, json=body(team) | {"description": "\n".join(lines)})
        assert found.status_code == 422
        assert found.json()["given"] == "The description refers to parts of itself, by & and *."


def test_what_is_nested_deeply_is_refused(team: Team) -> None:
    for depth in (50, 200, 250, 300, 400):
        text = registered(team) + "more: " + "[" * depth + "]" * depth
        assert team.program("noor").post(PATH, json=body(team) | {"description": text}).status_code == 422


def test_of_two_who_take_a_name_at_the_same_time_one_is_refused(
    team: Team, opened: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (opened / "other.parquet").write_bytes((opened / "stays.parquet").read_bytes())
    noor, write, met = team.program("noor"), register._write, []

    def meanwhile(*values: Any) -> None:
        monkeypatch.setattr(register, "_write", write)
        met.append(noor.post(PATH, json=body(team, source="other.parquet")))
        assert "stays" not in team.people.datasets()  # nobody can take what has no steward yet
        write(*values)

    monkeypatch.setattr(register, "_write", meanwhile)
    assert noor.post(PATH, json=body(team)).status_code == 201
    assert [each.status_code for each in met] == [422]
    assert (
        noor.post(PATH, json=body(team, source="other.parquet") | {"name": "other"}).status_code == 201
    )  # no budget yet


def test_a_name_that_was_refused_can_be_used(team: Team) -> None:
    noor = team.program("noor")
    assert noor.post(PATH, json=body(team, unit="somebody")).status_code == 422
    assert noor.post(PATH, json=body(team)).status_code == 201


def test_every_value_is_read_before_the_budget_is_opened(team: Team, opened: Path) -> None:
    found = pq.read_table(opened / "stays.parquet")
    ward = pa.array([b"\xff\xfe"] * len(found), pa.binary()).view(pa.string())
    pq.write_table(found.set_column(found.column_names.index("ward"), "ward", ward), opened / "stays.parquet")
    assert team.program("noor").post(PATH, json=body(team)).status_code == 422
    assert not (team.settings.state / "datasets" / "stays" / "ledger.db").exists()


def test_without_an_open_folder_nothing_is_registered(tmp_path: Path) -> None:
    team = team_in(tmp_path)
    found = team.program("noor").post(PATH, json=body(team))
    assert found.status_code == 403


def test_folders_are_settings(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("0123456789abcdef0123456789abcdef")
    (tmp_path / "sitr.toml").write_text('secret_file = "secret"\nfolders = ["data"]\n')
    settings = read_settings(tmp_path / "sitr.toml")
    assert settings.folders == (tmp_path / "data",)
    assert _read(_written(settings)) == settings
