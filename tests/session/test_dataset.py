"""Protecting, describing on disk, opening again."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
import yaml

import sitr
from sitr import PureDP, ZeroConcentratedDP
from sitr.dataset.description import load
from sitr.dataset.publication import Publication
from sitr.errors import DescriptionError, LedgerMismatch, SourceError
from sitr.neighbors.relation import Relation
from sitr.session.dataset import Dataset


def test_a_description_comes_back_as_it_was(visits: Dataset, tmp_path: Path) -> None:
    path = visits.save(tmp_path / "visits.sitr.yaml", promise=ZeroConcentratedDP(0.5), ledger=tmp_path / "sitr.db")
    found = sitr.open(path)
    assert found.table == visits.table
    budget = found.budget()
    assert budget.promise == ZeroConcentratedDP(0.5)
    assert (tmp_path / "sitr.db").exists()


def test_every_field_of_a_description_is_explained_in_a_comment(visits: Dataset, tmp_path: Path) -> None:
    """The comments change nothing: without them, with others or in another order, the description is the same."""
    ledger = tmp_path / "sitr.db"
    path = visits.save(tmp_path / "visits.sitr.yaml", promise=PureDP(1), ledger=ledger)
    lines = path.read_text().splitlines(keepends=True)
    for above, line in pairwise(["", *lines]):
        if line[0].isalpha():
            assert above.startswith("# "), line
    assert "Never choose it by looking at the rows" in "".join(lines)
    described = sitr.open(path).described
    path.write_text("# another\n" + "".join(line for line in lines if not line.startswith("#")))
    assert sitr.open(path).described == described
    assert described is not None
    assert sitr.open(path).save(path, promise=PureDP(1), ledger=ledger).read_text() == "".join(lines)


def test_the_description_moves_with_its_folder(visits: Dataset, tmp_path: Path) -> None:
    visits.save(tmp_path / "visits.sitr.yaml", promise=ZeroConcentratedDP(0.5), ledger=tmp_path / "sitr.db")
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(moved)
    answer = sitr.open(moved / "visits.sitr.yaml").budget().agg(n=sitr.count()).release(ZeroConcentratedDP(0.1))
    assert answer.table.num_rows == 1
    assert (moved / "sitr.db").exists()


def test_half_a_budget_is_refused(visits: Dataset, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="a budget together with its ledger"):
        visits.save(tmp_path / "visits.sitr.yaml", promise=ZeroConcentratedDP(0.5))
    assert not (tmp_path / "visits.sitr.yaml").exists()


def test_odd_numbers_and_keys_survive(tmp_path: Path) -> None:
    frame = pd.DataFrame({"day": [date(2024, 1, 1)], "flag": [True], "code": [3], "x": [0.5]})
    path = tmp_path / "odd.parquet"
    frame.to_parquet(path)
    odd = sitr.protect(
        path,
        unit=sitr.Row(),
        bounds={"x": (Fraction(-1, 3), Fraction(1, 3)), "code": (0, 7)},
        granularity={"x": Fraction(1, 3)},
        keys={"day": [date(2024, 1, 1), None], "flag": [True, False], "code": [3, -4]},
        relation=Relation.REPLACE_ONE,
    )
    assert sitr.open(odd.save(tmp_path / "odd.sitr.yaml")).table == odd.table


BROKEN = {
    "unknown field": lambda content: content | {"colour": "red"},
    "other version": lambda content: content | {"sitr": 2},
    "no columns": lambda content: {key: value for key, value in content.items() if key != "columns"},
    "bad type": lambda content: content | {"columns": {"cost": {"type": "money"}}},
    "bad unit": lambda content: content | {"unit": "patient_id"},
    "bad relation": lambda content: content | {"relation": "near"},
    "bad budget": lambda content: content | {"budget": {"promise": "zcdp(-1)", "ledger": "x.db"}},
    "half a budget": lambda content: content | {"budget": {"promise": "zcdp(1)"}},
    "bad bounds": lambda content: content | {"columns": {"cost": {"type": "real", "bounds": [1]}}},
    "a list": lambda content: [content],
    "caps as text": lambda content: content | {"max_groups": "many"},
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_description_is_explained(visits: Dataset, tmp_path: Path, what: str) -> None:
    path = visits.save(tmp_path / "visits.sitr.yaml")
    content = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump(BROKEN[what](content)))
    with pytest.raises(sitr.SitrError) as error:
        sitr.open(path)
    assert error.value.do


def test_a_misspelled_field_of_a_description_is_corrected(visits: Dataset, tmp_path: Path) -> None:
    path = visits.save(tmp_path / "visits.sitr.yaml")
    path.write_text(path.read_text().replace("relation:", "relations:"))
    with pytest.raises(DescriptionError, match=r"there is no field 'relations'\. Did you mean 'relation'\?$"):
        sitr.open(path)


def test_no_description_or_no_yaml(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="There is no description"):
        sitr.open(tmp_path / "nothing.yaml")
    (tmp_path / "bad.yaml").write_text("a: [1")
    with pytest.raises(DescriptionError, match="not YAML"):
        sitr.open(tmp_path / "bad.yaml")
    (tmp_path / "bad.yaml").write_text("sitr: 2024-02-30")
    with pytest.raises(DescriptionError, match="a date or time does not exist"):
        sitr.open(tmp_path / "bad.yaml")


def test_a_file_that_changed_its_columns_is_refused_before_the_charge(
    visits: Dataset, visits_path: Path, tmp_path: Path
) -> None:
    path = visits.save(tmp_path / "visits.sitr.yaml")
    pd.DataFrame({"patient_id": [1], "ward": [2], "days": [3], "cost": [1.0]}).to_parquet(visits_path)
    budget = sitr.open(path).budget(PureDP(1), ledger=tmp_path / "l.db")
    with pytest.raises(SourceError, match="ward"):
        budget.agg(n=sitr.count()).release(PureDP(0.5))
    assert budget.entries() == []


def test_a_preview_opens_no_file(visits: Dataset, visits_path: Path, tmp_path: Path) -> None:
    path = visits.save(tmp_path / "visits.sitr.yaml")
    visits_path.write_text("damaged")
    request = sitr.open(path).budget(PureDP(1), ledger=tmp_path / "l.db").agg(n=sitr.count())
    assert request.preview(PureDP(0.5)).errors()["n"] > 0
    with pytest.raises(SourceError, match="cannot be read as a Parquet file"):
        request.release(PureDP(0.5))
    assert request.at.ledger.entries() == []


def test_csv_types_are_fixed_by_the_description(tmp_path: Path) -> None:
    """One person's odd row cannot turn a column into text once it was described."""
    source = tmp_path / "visits.csv"
    source.write_text("id,cost\n" + "".join(f"{row},{row}.5\n" for row in range(20)))
    types = {"id": "integer", "cost": "real"}
    data = sitr.protect(source, unit="id", max_groups=1, max_rows_per_group=1, bounds={"cost": (0, 9)}, types=types)
    path = data.save(tmp_path / "v.yaml")
    source.write_text(source.read_text() + "20,many\n")
    budget = sitr.open(path).budget(PureDP(1), ledger=tmp_path / "l.db")
    assert budget.agg(s=sitr.sum("cost")).release(PureDP(1)).table.num_rows == 1


def test_a_table_in_memory_needs_a_name(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2], "ward": ["a", "b"]})
    with pytest.raises(DescriptionError, match="name"):
        sitr.protect(frame, unit="id", max_groups=1, max_rows_per_group=1)
    named = sitr.protect(frame, unit="id", max_groups=1, max_rows_per_group=1, name="visits")
    with pytest.raises(DescriptionError, match="in memory"):
        named.save(tmp_path / "x.yaml")
    answer = (
        named.budget(PureDP(1), ledger=tmp_path / "l.db").sql("SELECT COUNT(*) AS n FROM Visits").release(PureDP(1))
    )
    assert answer.table.column_names == ["n"]


def test_a_budget_keeps_its_promise_and_its_people(visits: Dataset, visits_path: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "sitr.db"
    visits.budget(PureDP(1), ledger=ledger)
    with pytest.raises(LedgerMismatch):
        visits.budget(PureDP(2), ledger=ledger)
    rows = sitr.protect(visits_path, unit=sitr.Row())
    with pytest.raises(LedgerMismatch):
        rows.budget(PureDP(1), ledger=ledger)
    with pytest.raises(DescriptionError, match="ledger"):
        visits.budget(PureDP(1))


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"unit": "patient"}, "'patient'"),
        ({"unit": "patient_id", "max_groups": 0, "max_rows_per_group": 1}, "max_groups"),
        ({"unit": "patient_id"}, "max_groups"),
        ({"unit": "cost", "max_groups": 1, "max_rows_per_group": 1}, "real numbers"),
        ({"unit": sitr.Row(), "max_groups": 3}, "where the unit is a row"),
        ({"unit": sitr.Row(), "bounds": {"ward": (0, 1)}}, "has type text"),
        ({"unit": sitr.Row(), "bounds": {"cost": (5, 0)}}, "low ≤ high"),
        ({"unit": sitr.Row(), "granularity": {"cost": 1}}, "but no bounds"),
        ({"unit": sitr.Row(), "keys": {"cost": [1.0]}}, "so it cannot have keys"),
        ({"unit": sitr.Row(), "types": {"cost": "money"}}, "money"),
    ],
)
def test_a_wrong_description_is_explained(visits_path: Path, arguments: dict[str, object], word: str) -> None:
    with pytest.raises(DescriptionError, match=word):
        sitr.protect(visits_path, **arguments)  # type: ignore[arg-type]


def test_the_types_of_a_csv_file_are_a_proposal_until_they_are_confirmed(tmp_path: Path) -> None:
    """One row decides between integer and real: the description must not depend on it."""
    source = tmp_path / "stays.csv"
    found = []
    for last in ("3", "3.5", "unknown"):
        source.write_text(f"id,days in bed\n1,2\n2,{last}\n")
        with pytest.raises(DescriptionError, match="detected in the rows") as error:
            sitr.protect(source, unit=sitr.Row())
        found.append(error.value.given.partition("days in bed ")[2].partition(".")[0])
        assert f"--type id=integer --type 'days in bed={found[-1]}'" in error.value.do
        assert f"types={{'id': 'integer', 'days in bed': '{found[-1]}'}}" in error.value.do
        with pytest.raises(DescriptionError, match="confirm"):
            sitr.protect(source, unit=sitr.Row(), types={"id": "integer"})
        declared = sitr.protect(source, unit=sitr.Row(), types={"id": "integer", "days in bed": "integer"}, decimal=".")
        assert [column.kind.value for column in declared.table.columns] == ["integer", "integer"]
        accepted = sitr.protect(source, unit=sitr.Row(), accept_types=True)
        assert accepted.table.columns[1].kind.value == found[-1]
    assert found == ["integer", "real", "text"]


def test_a_description_with_declared_types_does_not_depend_on_one_row(tmp_path: Path) -> None:
    source, written = tmp_path / "stays.csv", []
    for row in ("3,2024-03-01,2024-03-01 10:00:00", "3.5,n/a,soon", ",,"):
        source.write_text(f"x,day,moment\n2,2024-02-01,2024-02-01 10:00:00\n{row}\n")
        declared = {"x": "integer", "day": "date", "moment": "timestamp"}
        path = sitr.protect(source, unit=sitr.Row(), types=declared).save(tmp_path / "stays.sitr.yaml")
        written.append(path.read_text())
    assert len(set(written)) == 1


def test_an_unusual_quote_is_confirmed_too(tmp_path: Path) -> None:
    """One row decides it, and the description that holds it is public."""
    source, types = tmp_path / "wards.csv", {"id": "integer", "ward": "text"}
    source.write_text("id,ward\n1,a\n2,b\n")
    sitr.protect(source, unit=sitr.Row(), types=types)
    source.write_text("id,ward\n1,a\n2,b\n3,'x,y'\n")
    with pytest.raises(DescriptionError, match=r"with ' as the quote\. If all.*accept_types=True"):
        sitr.protect(source, unit=sitr.Row(), types=types)
    sitr.protect(source, unit=sitr.Row(), types=types, accept_types=True)


def test_the_format_of_dates_is_confirmed_too(tmp_path: Path) -> None:
    source = tmp_path / "stays.csv"
    source.write_text("id,day\n1,02/01/2024\n2,03/04/2024\n3,13/04/2024\n")
    types = {"id": "integer", "day": "date"}
    with pytest.raises(DescriptionError, match="%d/%m/%Y") as error:
        sitr.protect(source, unit=sitr.Row(), types=types)
    assert "--type id=integer --type day=date --date-format %d/%m/%Y (" in error.value.do
    sitr.protect(source, unit=sitr.Row(), types=types, accept_types=True)
    sitr.protect(source, unit=sitr.Row(), types=types, date_format="%d/%m/%Y")
    as_text = sitr.protect(source, unit=sitr.Row(), types={"id": "integer", "day": "text"})
    assert "%d" not in as_text.save(tmp_path / "stays.sitr.yaml").read_text()


def test_a_value_that_does_not_fit_its_declared_type_counts_as_missing(tmp_path: Path) -> None:
    source = tmp_path / "stays.csv"
    source.write_text("id,days\n1,2\n2,n/a\n3,2.5\n")
    types = {"id": "integer", "days": "integer"}
    data = sitr.protect(source, unit=sitr.Row(), types=types, decimal=".", keys={"days": [2, 3, None]})
    budget = data.budget(PureDP(1e6), ledger=tmp_path / "l.db")
    answer = budget.sql("SELECT days, COUNT(*) AS n FROM stays GROUP BY days").release(PureDP(1000))
    assert dict(zip(*answer.table.to_pydict().values(), strict=True))[None] == 1


def test_parquet_and_arrow_declare_their_types_themselves(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2], "days": [1.5, 2]})
    frame.to_parquet(tmp_path / "stays.parquet")
    for source in (tmp_path / "stays.parquet", frame):
        data = sitr.protect(source, unit=sitr.Row(), name="stays")
        assert [column.kind.value for column in data.table.columns] == ["integer", "real"]


def test_no_column_can_be_declared_as_other(tmp_path: Path) -> None:
    source = tmp_path / "stays.csv"
    source.write_text("id,days\n1,2\n")
    with pytest.raises(DescriptionError, match="one of integer, real, text, boolean, date, timestamp"):
        sitr.protect(source, unit=sitr.Row(), types={"id": "integer", "days": "other"})


def test_who_publishes_is_said_in_the_description_and_is_no_term_of_the_budget(visits: Dataset, tmp_path: Path) -> None:
    path, promise, ledger = tmp_path / "visits.sitr.yaml", PureDP(1.0), tmp_path / "sitr.db"
    visits.save(path, promise=promise, ledger=ledger, publication={"title": "Visits", "caveats": ["Late."]})
    budget = sitr.open(path).budget()
    assert budget.agg(n=sitr.count()).at.publication == Publication(title="Visits", caveats=("Late.",))
    path.write_text(path.read_text().replace("title: Visits", "title: Beds"))
    assert sitr.open(path).budget().agg(n=sitr.count()).at.publication.title == "Beds"
    assert sitr.open(path).budget().standing().promise == promise


def test_a_description_that_is_written_again_keeps_its_publisher(visits: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "visits.sitr.yaml"
    visits.save(path, publication={"title": "Visits"})
    assert load(visits.save(path)).publication.title == "Visits"
    assert load(visits.save(path, publication={"contact": "data@example"})).publication == Publication(
        contact="data@example"
    )


def test_a_misspelled_field_of_a_publication_is_corrected(visits: Dataset, tmp_path: Path) -> None:
    path = visits.save(tmp_path / "visits.sitr.yaml", publication={"title": "Visits"})
    path.write_text(path.read_text().replace("title: Visits", "titel: Visits"))
    with pytest.raises(DescriptionError, match=r"publication.*'titel'.*'title'"):
        load(path)
