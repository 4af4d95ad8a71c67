"""SOURCE is a description, whose budget is used, or a file, whose options say who is protected."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitr.cli.one_off import Who, opened
from sitr.errors import BadUsage, DescriptionError
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row

ROW = Who(None, True, None, None)
FILE = Path("visits.parquet")


def test_a_file_gets_a_budget_for_its_prices(folder: Path) -> None:
    before = set(folder.iterdir())
    assert opened(FILE, ROW, PureDP(0.5), PureDP(0.25), budget=None, ledger=None).promise == PureDP(0.75)
    assert set(folder.iterdir()) == before


@pytest.mark.usefixtures("folder")
def test_a_budget_and_a_ledger_can_be_given() -> None:
    given = opened(FILE, ROW, PureDP(0.5), budget="zcdp(0.1)", ledger=Path("mine.db"))
    assert given.promise == ZeroConcentratedDP(0.1)
    given.histogram("days", bins=2, bounds=(0, 2)).release(ZeroConcentratedDP(0.1))
    assert Path("mine.db").exists()
    assert not Path("visits.sitr.db").exists()


@pytest.mark.usefixtures("folder")
def test_who_is_protected_is_said_in_one_way() -> None:
    assert Who("patient_id", False, 1, 3).protect(FILE).table.unit == Person("patient_id")
    assert ROW.protect(FILE).table.unit == Row()
    with pytest.raises(BadUsage, match=r"either --unit COLUMN.* or --unit-row, got both"):
        Who("patient_id", True, 1, 3).protect(FILE)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("who", "missing"),
    [
        (Who(None, False, None, None), "--unit COLUMN with --max-groups and --max-rows-per-group (or --unit-row)"),
        (Who(None, False, 2, None), "--unit COLUMN with --max-rows-per-group (or --unit-row)"),
        (Who("patient_id", False, None, None), "--max-groups and --max-rows-per-group"),
        (Who("patient_id", False, None, 3), "--max-groups"),
        (
            Who(None, False, None, None, options=("--rows-per-person",)),
            "--unit COLUMN with --rows-per-person (or --unit-row)",
        ),
        (Who("patient_id", False, 1, None, options=("--rows-per-person",)), "--rows-per-person"),
    ],
)
def test_all_missing_options_are_named_at_once(who: Who, missing: str) -> None:
    with pytest.raises(BadUsage) as refused:
        who.protect(FILE)
    assert refused.value.given.endswith(f": missing {missing}.")
    assert all(f"{option} " in refused.value.do for option in (f"--unit {who.unit or 'COLUMN'}", *who.options))


@pytest.mark.usefixtures("folder")
def test_the_types_of_a_csv_file_must_be_confirmed() -> None:
    Path("visits.csv").write_text("days\n1\n")
    with pytest.raises(BadUsage, match=r"Run sitr start visits\.csv first"):
        opened(Path("visits.csv"), ROW, PureDP(0.5), budget=None, ledger=None)


def test_a_description_is_the_only_way_to_its_file(description: Path) -> None:
    unset = Who(None, False, None, None)
    for who in (ROW, unset):
        with pytest.raises(DescriptionError, match=f"Use {description.name} instead"):
            opened(FILE, who, PureDP(1.0), budget=None, ledger=None)
    for who in (ROW, Who("patient_id", False, 1, 3), Who(None, False, None, None, Relation.ADD_REMOVE)):
        with pytest.raises(BadUsage, match="says who is protected"):
            opened(description, who, PureDP(1.0), budget=None, ledger=None)
    assert opened(description, unset, PureDP(1.0), budget=None, ledger=None).promise == ZeroConcentratedDP(0.5)
