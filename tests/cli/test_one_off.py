"""A file by itself is opened once it is known that its question is a good one, for one price, and by no second door."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitr.cli.one_off import Source, Who
from sitr.errors import BadUsage, QuestionError
from sitr.flavors.pure import PureDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Row
from sitr.session.budget import Budget

CAPS = "--rows-per-person 3"
ROW = Who(None, True, None, None, CAPS)


def source(who: Who = ROW, *, budget: str | None = None, ledger: Path | None = None) -> Source:
    return Source(Path("visits.parquet"), who, "synthesize", (PureDP(0.5), PureDP(0.25)), budget, ledger)


def promise(budget: Budget) -> object:
    return budget.promise


def test_it_is_opened_for_all_that_is_paid(folder: Path) -> None:
    before = set(folder.iterdir())
    assert source().preview(promise) == PureDP(0.75)
    assert set(folder.iterdir()) == before
    assert source().opened(promise).promise == PureDP(0.75)
    assert {path.name for path in set(folder.iterdir()) - before} >= {"visits.sitr.db"}


@pytest.mark.usefixtures("folder")
def test_a_budget_and_a_ledger_can_be_given() -> None:
    given = source(budget="zcdp(0.1)", ledger=Path("mine.db"))
    assert given.preview(promise) == given.opened(promise).promise == ZeroConcentratedDP(0.1)
    assert Path("mine.db").exists()
    assert not Path("visits.sitr.db").exists()


def test_a_question_that_is_refused_leaves_nothing_behind(folder: Path) -> None:
    def refused(_: Budget) -> None:
        raise QuestionError(wanted="a.", given="b.", do="c.")

    before = set(folder.iterdir())
    with pytest.raises(QuestionError):
        source().opened(refused)
    assert set(folder.iterdir()) == before
    other = Who(None, True, None, None, CAPS, Relation.REPLACE_ONE)
    assert source(other).opened(promise).table.relation is Relation.REPLACE_ONE  # nothing stands in the way


@pytest.mark.usefixtures("folder")
def test_who_is_protected_is_said_in_one_way() -> None:
    person = Who("patient_id", False, 1, 3, CAPS)
    assert person.protect(Path("visits.parquet")).table.unit == Person("patient_id")
    assert ROW.protect(Path("visits.parquet")).table.unit == Row()
    for who in (
        Who(None, False, None, None, CAPS),
        Who("patient_id", True, 1, 3, CAPS),
        Who("patient_id", False, 1, None, CAPS),
    ):
        with pytest.raises(BadUsage, match=f"must be said who is protected.*{CAPS}"):
            who.protect(Path("visits.parquet"))


def test_a_description_is_the_only_door(description: Path) -> None:
    with pytest.raises(BadUsage, match=f"Write sitr synthesize {description.name}"):
        source().preview(promise)
    for who in (ROW, Who("patient_id", False, 1, 3, CAPS), Who(None, False, None, None, CAPS, Relation.ADD_REMOVE)):
        with pytest.raises(BadUsage, match="says who is protected"):
            Source(description, who, "synthesize", (PureDP(1.0),), None, None).opened(promise)
    unsaid = Source(description, Who(None, False, None, None, CAPS), "synthesize", (PureDP(1.0),), None, None)
    assert unsaid.preview(promise) == unsaid.opened(promise).promise == ZeroConcentratedDP(0.5)
