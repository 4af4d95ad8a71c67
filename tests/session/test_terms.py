"""A description that names a budget admits that budget only, from whichever side the data set is opened."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

import sitr
from sitr import PureDP, ZeroConcentratedDP
from sitr.errors import DescriptionError, IncompatiblePromises, LedgerError, LedgerMismatch
from sitr.ledger.lazy import LazyLedger
from sitr.ledger.sql import SqlLedger
from sitr.session.dataset import Dataset

HALF, MUCH = ZeroConcentratedDP(0.5), ZeroConcentratedDP(100.0)


@pytest.fixture
def description(visits: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return visits.save("visits.sitr.yaml", promise=HALF, ledger="sitr.db")


def anew(source: str = "visits.parquet", name: str | None = None) -> Dataset:
    return sitr.protect(source, unit="patient_id", max_groups=1, max_rows_per_group=1, name=name)


OTHERS: list[dict[str, Any]] = [
    {"promise": MUCH, "ledger": "second.db"},
    {"promise": HALF, "ledger": "second.db"},
    {"promise": MUCH, "ledger": "sitr.db"},
    {"promise": PureDP(0.5), "ledger": "sitr.db"},
    {"promise": MUCH, "ledger": None},
    {"promise": None, "ledger": "second.db"},
    {"promise": HALF, "ledger": "sqlite:///second.db"},
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("other", OTHERS, ids=str)
@pytest.mark.parametrize("opened", [sitr.open, lambda _: anew()], ids=["opened", "protected anew"])
def test_a_second_budget_is_refused(
    description: Path, opened: Callable[[Path], Dataset], other: dict[str, Any]
) -> None:
    with pytest.raises(DescriptionError, match=r"visits.sitr.yaml names, zcdp\(rho=0.5\) in .*sitr.db"):
        opened(description).budget(**other)
    assert not Path("second.db").exists()


@pytest.mark.parametrize("promise", ["renyi(2, 0.1)", 0.5, sitr.RandomDP(sitr.GaussianDP(1.0), 0.1)])
def test_what_is_no_budget_is_refused_as_such(visits: Dataset, description: Path, promise: Any) -> None:
    with pytest.raises(IncompatiblePromises):
        sitr.open(description).budget(promise, ledger="sitr.db")
    with pytest.raises(IncompatiblePromises):
        visits.save(description, promise=promise, ledger="sitr.db")


def test_ledgers_that_are_objects_are_told_apart(description: Path) -> None:
    data = sitr.open(description)
    for other in (SqlLedger("second.db"), LazyLedger(Path("third.db"), "visits", HALF, "row")):
        with pytest.raises(DescriptionError, match="the ledger"):
            data.budget(HALF, ledger=other)
    assert data.budget(HALF, ledger=SqlLedger("sitr.db")).promise == HALF


def test_the_same_budget_may_be_given_again(description: Path) -> None:
    Path("linked.db").symlink_to("sitr.db")
    data = sitr.open(description)
    for ledger in (None, "sitr.db", Path("sitr.db").resolve(), "linked.db", "sqlite:///sitr.db"):
        for promise in (None, HALF):
            assert data.budget(promise, ledger=ledger).promise == HALF
    assert anew().budget(HALF, ledger="sitr.db").ledger.entries() == []
    assert description.exists()


@pytest.mark.usefixtures("description")
def test_another_name_is_no_second_door() -> None:
    with pytest.raises(DescriptionError, match="the name stays"):
        anew(name="stays").budget(HALF, ledger="sitr.db")
    Path("stays.parquet").symlink_to("visits.parquet")
    Path("more.parquet").hardlink_to("visits.parquet")
    for link in ("stays.parquet", "more.parquet"):
        with pytest.raises(DescriptionError, match=r"the budget that .* names"):
            anew(link).budget(MUCH, ledger="second.db")
    assert [account.dataset for account in SqlLedger("sitr.db").accounts()] == ["visits"]


@pytest.mark.usefixtures("description")
def test_a_link_from_another_folder_is_no_second_door(tmp_path_factory: pytest.TempPathFactory) -> None:
    link = tmp_path_factory.mktemp("elsewhere") / "visits.parquet"
    link.symlink_to(Path("visits.parquet").resolve())
    with pytest.raises(DescriptionError, match=r"the budget that .* names"):
        anew(str(link)).budget(MUCH, ledger="second.db")


@pytest.mark.usefixtures("description")
def test_a_lost_ledger_is_not_made_anew() -> None:
    Path("sitr.db").unlink()
    for data in (sitr.open("visits.sitr.yaml"), anew()):
        with pytest.raises(LedgerError, match="There is no ledger"):
            data.budget(HALF, ledger="sitr.db")
    assert not Path("sitr.db").exists()


def test_other_people_in_the_same_account_are_refused(description: Path) -> None:
    rows = sitr.protect("visits.parquet", unit=sitr.Row())
    with pytest.raises(LedgerMismatch):
        rows.budget(HALF, ledger="sitr.db")
    assert description.exists()


def test_a_description_is_overwritten_on_the_same_terms_only(visits: Dataset, description: Path) -> None:
    before = description.read_text()
    for other in ({}, {"promise": MUCH, "ledger": "second.db"}, {"promise": HALF, "ledger": "second.db"}):
        with pytest.raises(DescriptionError, match="names"):
            visits.save(description, **other)  # type: ignore[arg-type]
        with pytest.raises(DescriptionError, match="names"):
            anew(name="stays").save(description, **other)  # type: ignore[arg-type]
    assert description.read_text() == before
    assert not Path("second.db").exists()
    anew().save(description, promise=HALF, ledger="sitr.db")
    assert description.read_text() != before


def test_a_second_description_names_the_same_budget_or_none(visits: Dataset, description: Path) -> None:
    with pytest.raises(DescriptionError, match=r"the budget that .* names"):
        visits.save("second.sitr.yaml", promise=MUCH, ledger="second.db")
    assert not Path("second.sitr.yaml").exists()
    second = visits.save("second.yaml")
    with pytest.raises(DescriptionError, match=r"the budget that .* names"):
        sitr.open(second).budget(MUCH, ledger="second.db")
    assert description.exists()


@pytest.mark.parametrize("name", ["visits.sitr.yaml", "other.yaml", "other.yml"])
def test_a_description_is_found_under_any_name(visits: Dataset, visits_path: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "broken.yaml").write_text("a: [1")  # somebody else's
    (tmp_path / "folder.yaml").mkdir()
    visits.save(tmp_path / name, promise=HALF, ledger=tmp_path / "sitr.db")
    with pytest.raises(DescriptionError, match=f"{name} names"):
        anew(str(visits_path)).budget(MUCH, ledger=tmp_path / "second.db")


def test_public_tables_are_fixed_with_the_budget(visits_path: Path, tmp_path: Path) -> None:
    (tmp_path / "census.csv").write_text("age\n1\n2\n")
    more = sitr.protect(visits_path, unit=sitr.Row(), public={"census": tmp_path / "census.csv"})
    less = sitr.protect(visits_path, unit=sitr.Row())
    terms: dict[str, Any] = {"promise": HALF, "ledger": tmp_path / "sitr.db"}
    less.save(tmp_path / "visits.sitr.yaml", **terms)
    with pytest.raises(DescriptionError, match="census"):
        more.save(tmp_path / "visits.sitr.yaml", **terms)
    less.save(tmp_path / "other.yaml")
    more.save(tmp_path / "other.yaml")  # no budget, nothing fixed


def test_a_file_beside_the_description_of_another_is_free(visits_path: Path, description: Path) -> None:
    other = visits_path.with_name("other.parquet")
    other.write_bytes(visits_path.read_bytes())
    assert anew(str(other)).budget(MUCH, ledger="second.db").promise == MUCH
    assert description.exists()


@pytest.mark.parametrize(
    "written",
    [
        lambda text: "# A note.\n" * 1000 + text,
        lambda text: text.replace("sitr: 1", '"sitr": 1'),
        lambda text: text.replace("sitr: 1", "sitr : 1"),
        lambda text: "\ufeff" + text[text.index("sitr:") :],
        lambda text: json.dumps(yaml.safe_load(text)),
        lambda text: json.dumps(dict(reversed(yaml.safe_load(text).items()))),
    ],
    ids=["a long comment", "quotes", "a space", "a byte order mark", "braces", "backwards"],
)
def test_a_description_is_found_however_it_is_written(description: Path, written: Callable[[str], str]) -> None:
    description.write_text(written(description.read_text("utf-8")), "utf-8")
    assert sitr.open(description).budget().promise == HALF
    with pytest.raises(DescriptionError, match=r"the budget that .* names"):
        anew().budget(MUCH, ledger="second.db")


@pytest.mark.parametrize("name", ["visits.description", "visits", "visits.json"])
def test_a_description_is_not_hidden_by_its_name(visits: Dataset, tmp_path: Path, name: str) -> None:
    with pytest.raises(DescriptionError, match=r"ends in \.yaml"):
        visits.save(tmp_path / name, promise=HALF, ledger=tmp_path / "sitr.db")
    assert not (tmp_path / "sitr.db").exists()


def test_a_description_in_capitals_is_found(visits: Dataset, visits_path: Path, tmp_path: Path) -> None:
    visits.save(tmp_path / "VISITS.YAML", promise=HALF, ledger=tmp_path / "sitr.db")
    with pytest.raises(DescriptionError, match=r"the budget that .* names"):
        anew(str(visits_path)).budget(MUCH, ledger=tmp_path / "second.db")


def test_a_description_of_a_newer_version_is_not_overwritten(visits: Dataset, description: Path) -> None:
    newer = description.read_text().replace("sitr: 1", "sitr: 2")
    description.write_text(newer)
    with pytest.raises(DescriptionError, match="version 2"):
        visits.save(description)
    assert description.read_text() == newer


def test_other_public_tables_are_refused_with_the_budget(visits_path: Path, tmp_path: Path) -> None:
    for name in ("census.csv", "copy.csv"):
        (tmp_path / name).write_text("age\n1\n2\n")

    def declaring(**public: str) -> Dataset:
        return sitr.protect(visits_path, unit=sitr.Row(), public={n: tmp_path / file for n, file in public.items()})

    terms: dict[str, Any] = {"promise": HALF, "ledger": tmp_path / "sitr.db"}
    first = declaring(census="census.csv")
    first.save(tmp_path / "visits.sitr.yaml", **terms)
    assert list(first.budget().public) == ["census"]
    assert declaring().budget().public == {}
    in_memory = sitr.protect(visits_path, unit=sitr.Row(), public={"census": pa.table({"age": [1, 2]})})
    for other in (declaring(census="copy.csv"), declaring(census="census.csv", more="copy.csv"), in_memory):
        with pytest.raises(DescriptionError, match=r"only the public tables that .* declares \(census\)"):
            other.budget()
    with pytest.raises(DescriptionError, match="only the public tables that"):
        declaring(more="copy.csv").save(tmp_path / "other.yaml", **terms)
    assert not (tmp_path / "other.yaml").exists()
