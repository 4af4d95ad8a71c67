"""Budgets per period: each has an account of its own, reads its own rows, and says whom it protects."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.dataset.description import load
from sitr.errors import BudgetExceeded, DescriptionError, LedgerError, LedgerMismatch, NotAllowed, QuestionError
from sitr.language import Language, speaking
from sitr.ledger.book import insert
from sitr.ledger.key import installation_key
from sitr.ledger.roles import Duty
from sitr.ledger.sql import SqlLedger
from sitr.ledger.who import acting
from sitr.neighbors.period import Length, Period
from sitr.report.words.messages import error_text
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset
from sitr.session.verify import Verdict, verify
from tests.ledger.places import without_triggers

SQL = "SELECT COUNT(*) AS n FROM visits"
MONTHS = "admitted:month"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    days = [date(2026, month, 10) for month in (2, 3, 3, 3, 4)]
    people = [1, 1, 2, 3, 3]
    table = pa.table({"patient_id": [*people, 4], "admitted": [*days, None], "cost": [1, 2, 3, 4, 5, 6]})
    pq.write_table(table, tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


def protect(path: Path, **more: Any) -> Dataset:
    declared: dict[str, Any] = {"unit": "patient_id", "max_rows": 5, "bounds": {"cost": (0, 9)}, "period": MONTHS}
    return sitr.protect(path, **declared | more)


@pytest.fixture
def budget(path: Path, tmp_path: Path) -> Budget:
    return protect(path).budget(epsilon=100, ledger=tmp_path / "sitr.db")


def test_each_period_has_its_own_rows_and_its_own_account(budget: Budget) -> None:
    for name, rows in {"2026-01": 0, "2026-02": 1, "2026-03": 3, "2026-04": 1}.items():
        month = budget.period(name)
        answer = month.sql(SQL, bias="off").release(epsilon=99)
        assert answer.table["n"].to_pylist() == [rows]
        assert (month.remaining(), month.standing().charges) == (sitr.PureDP(1.0), 1)
        assert answer.receipt.entry.dataset == answer.receipt.dataset == f"visits@{name}"
        with pytest.raises(BudgetExceeded):
            month.sql(SQL).release(epsilon=2)
    assert budget.standing().charges == 0
    assert isinstance(budget.ledger, SqlLedger)
    assert budget.ledger.examine().sound
    assert [each.dataset for each in budget.ledger.accounts()][:2] == ["visits", "visits@2026-01"]


def test_every_question_names_its_period(budget: Budget) -> None:
    for refused in (lambda: budget.sql(SQL).preview(epsilon=1), lambda: budget.sql(SQL).release(epsilon=1)):
        with pytest.raises(QuestionError, match=r"each person \(patient_id\) in each month .* does not name one month"):
            refused()
    with pytest.raises(QuestionError, match="does not name one month"):
        budget.histogram("cost", bins=3).release(epsilon=1)
    with pytest.raises(QuestionError, match="such as 2026-03"):
        budget.period("March")
    with pytest.raises(QuestionError, match=r"the budget of visits@2026-03 already"):
        budget.period("2026-03").period("2026-04")
    assert budget.entries() == []


def test_a_question_cannot_read_another_period_than_it_pays_for(budget: Budget) -> None:
    march, april = budget.period("2026-03"), budget.period("2026-04")
    asked = april.sql(SQL)
    with pytest.raises(QuestionError, match=r"reads other rows than those that the budget of visits@2026-03 pays for"):
        replace(asked, at=march._at).release(epsilon=1)
    with pytest.raises(QuestionError, match="belongs to another budget"):
        march.batch([asked, march.sql(SQL)])
    with patch("sitr.session.ask.check_named"):  # the twin without the check reads April, and March pays
        assert replace(asked, at=march._at).release(epsilon=50).receipt.entry.dataset == "visits@2026-03"


def test_previews_open_no_account_and_shares_do(budget: Budget) -> None:
    march = budget.period("2026-03")
    assert march.sql(SQL).preview(epsilon=1).standing.remaining() == sitr.PureDP(100.0)
    assert len(budget.ledger.accounts()) == 1
    with pytest.raises(LedgerError, match="has no sub-budget"):
        march.account("ana")
    ana = march.allot("ana", epsilon=2)
    assert ana.sql(SQL).release(epsilon=1).receipt.entry.account == "visits@2026-03/ana"
    assert budget.paying(period="2026-03", account="visits@2026-03/ana").remaining() == sitr.PureDP(1.0)
    assert march.sql(SQL).release(epsilon=1).receipt.again
    assert budget.period("2026-04").remaining() == sitr.PureDP(100.0)


def test_no_second_budget_by_other_periods_or_none(path: Path, budget: Budget, tmp_path: Path) -> None:
    assert budget.period("2026-03").sql(SQL).release(epsilon=1)
    years = "admitted:year"
    for more in ({"period": None}, {"period": years}):
        with pytest.raises(LedgerMismatch):
            protect(path, **more).budget(epsilon=100, ledger=tmp_path / "sitr.db")
        with pytest.raises(LedgerMismatch, match="already have a budget"):
            protect(path, name="others", **more).budget(epsilon=100, ledger=tmp_path / "sitr.db")
        with pytest.raises(LedgerMismatch, match="already have a budget"):
            protect(path, **more).budget(epsilon=100, ledger=tmp_path / "other.db")


def test_the_account_of_a_period_has_the_terms_of_all(budget: Budget, tmp_path: Path) -> None:
    """Somebody with the key of the installation opens the account of April with a larger promise."""
    ledger = SqlLedger(tmp_path / "sitr.db")
    ledger.open(
        "visits@2026-04", promise=sitr.PureDP(999.0), neighbors=protect(tmp_path / "visits.parquet").table.neighbors()
    )
    with pytest.raises(LedgerMismatch, match=r"pure\(epsilon=999\.0\)"):
        budget.period("2026-04")


def test_a_second_budget_is_recorded_for_every_period(path: Path, budget: Budget, tmp_path: Path) -> None:
    again = protect(path, name="again").budget(epsilon=1, ledger=tmp_path / "again.db", second_budget=True)
    assert again.period("2026-03").sql("SELECT COUNT(*) AS n FROM again").release(epsilon=1).receipt.entry.second
    assert not budget.period("2026-03").sql(SQL).release(epsilon=1).receipt.entry.second


def test_promises_and_certificates_say_who_is_protected_and_who_pays_twice(budget: Budget, tmp_path: Path) -> None:
    answer = budget.period("2026-03").sql(SQL).release(epsilon=1)
    facts = dict(answer.paper.facts)
    assert facts["who is protected"].startswith(
        "Each person in each month (all rows with the same patient_id whose admitted"
    )
    assert "pays in each of them: what they are promised is the sum over these months" in facts["who is protected"]
    assert "with your data of 2026-03 as without them" in facts["meaning"]
    assert answer.to_dict()["receipt"]["neighbors"] == "person (patient_id) in each month (admitted), add-remove"
    assert answer.to_dict()["protected"]["period"] == {"column": "admitted", "length": "month", "name": "2026-03"}
    page = answer.certificate(tmp_path / "march.html").read_text()
    assert "Each person in each month" in page
    assert "This answer reads the rows of 2026-03 only." in page
    assert "pays in each of them" in page
    assert "in each month" in repr(budget.paper.facts)
    with speaking(Language.ARABIC):
        other = budget.period("2026-04").sql(SQL).release(epsilon=1)
        said = dict(other.paper.facts)["who is protected"]
        assert "كل شخص في كل شهر" in said
        assert "يدفع في كل منها" in said
        assert "كل شخص في كل شهر" in other.certificate(tmp_path / "april.html").read_text()
        assert "في كل شهر" in str(budget.paper.facts)
    assert verify(tmp_path / "march.html", SqlLedger(tmp_path / "sitr.db")).verdict is Verdict.VALID


def test_a_description_holds_the_period(path: Path, tmp_path: Path) -> None:
    target = protect(path).save(tmp_path / "visits.sitr.yaml", promise="pure(1)", ledger=tmp_path / "sitr.db")
    text = target.read_text()
    assert "unit:\n  person: patient_id\n  period: {column: admitted, length: month}" in text
    assert "no budget is renewed for a person" in text
    assert load(target).table == protect(path).table
    again = sitr.open(target).budget().period("2026-03")
    assert again.sql(SQL).release(epsilon=1).receipt.entry.dataset == "visits@2026-03"
    target.write_text(text.replace("length: month", "length: week"))
    with pytest.raises(DescriptionError, match="'week' is none of month, quarter, year"):
        sitr.open(target)
    target.write_text(text.replace("length: month", "length: year"))
    with pytest.raises(LedgerMismatch):
        sitr.open(target).budget()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"period": "cost:month"}, "has no dates"),
        ({"period": "day:month"}, "no column 'day'"),
        ({"period": Period("admitted", Length.MONTH, "2026-03")}, "Each question names one"),
        ({"period": "month"}, "a period such as"),
        ({"unit": sitr.Row(), "max_rows": None}, "the column of a person as the unit"),
        ({"relation": sitr.Relation.REPLACE_ONE}, "add-remove neighbours"),
        ({"name": "visits@x"}, "has an @"),
    ],
)
def test_what_has_no_periods_is_refused(path: Path, more: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError, match=said):
        protect(path, **more)


def test_where_there_are_no_periods_none_is_named(path: Path, tmp_path: Path) -> None:
    whole = protect(path, period=None).budget(epsilon=1, ledger=tmp_path / "sitr.db")
    with pytest.raises(QuestionError, match="has no periods"):
        whole.period("2026-03")


def test_periods_are_not_joined_and_not_asked_once(path: Path, budget: Budget, tmp_path: Path) -> None:
    pq.write_table(pa.table({"patient_id": [1]}), tmp_path / "people.parquet")
    people = sitr.protect(tmp_path / "people.parquet", unit="patient_id", max_rows=1)
    with pytest.raises(QuestionError, match="joined with public tables only"):
        budget.period("2026-03").beside(people.budget(epsilon=1, ledger=tmp_path / "people.db"))
    with pytest.raises(DescriptionError, match="a budget for each month"):
        protect(path).one_off("pure(1)", ledger=tmp_path / "once.db")


def test_a_key_and_a_request_belong_to_one_period(budget: Budget) -> None:
    march, april = budget.period("2026-03"), budget.period("2026-04")
    first = march.keyed("monday").sql(SQL).release(epsilon=1)
    assert march.keyed("monday").sql(SQL).release(epsilon=1).table == first.table
    with pytest.raises(LedgerError, match="belongs to another question or price"):
        april.keyed("monday").sql(SQL).release(epsilon=1)
    found = march.sql(SQL).propose(epsilon=1, reason="why")
    assert found.account == "visits@2026-03"
    with pytest.raises(LedgerError, match="is asked, not approved"):
        april.approved(found.number).sql(SQL).release(epsilon=1)


def test_a_changed_promise_of_all_periods_stops_each(budget: Budget, tmp_path: Path) -> None:
    budget.period("2026-03").sql(SQL).release(epsilon=1)
    with without_triggers(tmp_path / "sitr.db") as connection:
        connection.execute("UPDATE accounts SET promise = 'pure(epsilon=500.0)'")
    for name in ("2026-03", "2026-04"):
        with pytest.raises(LedgerError, match="not the one that was opened"):
            budget.period(name).sql(SQL).release(epsilon=2)


def test_invented_rows_have_periods_too(budget: Budget) -> None:
    assert budget.dummy(50).budget().period("2026-03").sql(SQL).release(epsilon=1).receipt.dataset == "visits@2026-03"


def test_roles_and_rules_of_the_data_set_hold_in_every_period(budget: Budget) -> None:
    with acting("noor"):
        budget.assign("noor", Duty.STEWARD)
        budget.assign("ana", Duty.ANALYST)
        budget.rule(least="pure(0.5)", questions=2, seconds=3600, approval="pure(5)")
    with acting("ben"), pytest.raises(NotAllowed, match="ben is nobody here"):
        budget.period("2026-03").sql(SQL).release(epsilon=1)
    with acting("ana"):
        for refused in (
            lambda: budget.period("2026-03").allot("ana", epsilon=1),
            lambda: budget.period("2026-03").assign("ana", Duty.STEWARD),
            lambda: budget.period("2026-03").rule(),
        ):
            with pytest.raises(NotAllowed, match="only a steward may do this"):
                refused()
        with pytest.raises(NotAllowed, match="at least"):
            budget.period("2026-03").sql(SQL).release(epsilon=0.1)
        with pytest.raises(NotAllowed, match="at least"):
            budget.period("2026-03").sql(SQL).propose(epsilon=0.1, reason="why")
        with pytest.raises(NotAllowed, match="need approval"):
            budget.period("2026-03").sql(SQL).release(epsilon=6)
        budget.period("2026-03").sql(SQL).release(epsilon=1)
        asked = budget.period("2026-04").sql(SQL).propose(epsilon=6, reason="why")
    with acting("ben"), pytest.raises(NotAllowed, match="only a steward"):
        budget.period("2026-04").approve(asked.number)
    with acting("noor"):
        budget.period("2026-04").approve(asked.number)
    with acting("ana"):
        budget.period("2026-04").approved(asked.number).sql(SQL).release(epsilon=6)
        with pytest.raises(NotAllowed, match="2 questions were answered"):
            budget.period("2026-02").sql(SQL).release(epsilon=1)
    assert isinstance(budget.ledger, SqlLedger)
    assert budget.ledger.examine().sound


@pytest.mark.parametrize(("by", "price", "sound"), [("ana", 1.0, True), ("ben", 1.0, False), ("ana", 0.1, False)])
def test_a_charge_to_a_period_that_the_data_set_forbade_is_found(
    budget: Budget, tmp_path: Path, by: str, price: float, sound: bool
) -> None:
    with acting("noor"):
        budget.assign("noor", Duty.STEWARD)
        budget.assign("ana", Duty.ANALYST)
        budget.rule(least="pure(0.5)")
        budget.period("2026-03").allot("x", epsilon=1)  # which opens its account
    row: dict[str, Any] = {
        "dataset": "visits@2026-03",
        "price": f"pure(epsilon={price})",
        "question": SQL,
        "by": by,
        "version": "0",
    }
    row |= {"at": "2026-03-01T00:00:00+00:00", "charges": 1, "paid": str(Fraction(str(price)))}
    with without_triggers(tmp_path / "sitr.db") as connection:
        insert(connection, "entries", row, installation_key())
    assert isinstance(budget.ledger, SqlLedger)
    assert budget.ledger.examine().sound is sound


def test_quarters_and_years_have_certificates(path: Path, tmp_path: Path) -> None:
    quarters = protect(path, period="admitted:quarter").budget(epsilon=9, ledger=tmp_path / "sitr.db")
    answer = quarters.period("2026-q1").sql(SQL, bias="off").release(epsilon=8.9)
    assert answer.receipt.dataset == "visits@2026-Q1"
    page = answer.certificate(tmp_path / "quarter.html")
    assert verify(page, SqlLedger(tmp_path / "sitr.db")).verdict is Verdict.VALID
    assert quarters.period("2026-Q1").sql(SQL, bias="off").release(epsilon=8.9).receipt.again


WARDS = {"ward": ["a"], "sex": ["f"]}

QUESTIONS: dict[str, Callable[[Budget], Any]] = {
    "sql": lambda month: month.sql(SQL, bias="off"),
    "histogram": lambda month: month.histogram("cost", bins=1),
    "tables": lambda month: month.tables(["ward", "sex"], measures=["sum(cost)"], keys=WARDS, rows_per_person=5),
    "synthetic": lambda month: month.synthesize(columns=["ward", "sex"], keys=WARDS, rows_per_person=5),
    "people": lambda month: month.synthesize(columns=["ward", "sex"], keys=WARDS, rows_per_person=5, people=True),
}
"""One question of each kind that reads the rows of people."""


@pytest.mark.parametrize("kind", QUESTIONS)
def test_rows_of_other_periods_change_nothing_that_is_read(kind: str, tmp_path: Path) -> None:
    days = [date(2026, 3, 1), date(2026, 3, 31), date(2026, 3, 10)]
    others = [date(2026, 2, 28), date(2026, 4, 1), date(2025, 3, 10), None]

    def read(name: str, dates: list[date | None]) -> str:
        many = len(dates)
        rows = {"patient_id": [*range(many)], "ward": ["a"] * many, "sex": ["f"] * many, "cost": [3] * many}
        (tmp_path / name).mkdir()
        source = tmp_path / name / "visits.parquet"
        pq.write_table(pa.table(rows | {"admitted": pa.array(dates, pa.date32())}), source)
        month = protect(source).budget(epsilon=100, ledger=tmp_path / name / "sitr.db").period("2026-03")
        return repr(month._at.backend.read(QUESTIONS[kind](month).question.reading(), salt=7))

    assert read("alone", [*days]) == read("beside", [*days, *others])
    assert read("fewer", [*days[:2]]) != read("more", [*days, *others])


def test_arabic_errors_name_periods_and_neighbours_in_arabic(path: Path, budget: Budget, tmp_path: Path) -> None:
    with speaking(Language.ARABIC):
        with pytest.raises(QuestionError) as unnamed:
            budget.ask(SQL, "pure(1)")
        with pytest.raises(QuestionError) as odd:
            budget.period("March")
        with pytest.raises(LedgerMismatch) as other:
            protect(path).budget(epsilon=50, ledger=tmp_path / "sitr.db")
        shown = [error_text(each.value) for each in (unnamed, odd, other)]
    for said in shown:
        assert not re.search("month|person|add-remove", said), said
    assert all("شهر" in said for said in shown)


@pytest.mark.parametrize("more", [{}, {"period": None}])
def test_the_comments_of_a_description_are_in_the_language_that_is_spoken(path: Path, more: dict[str, Any]) -> None:
    with speaking(Language.ARABIC):
        arabic = protect(path, **more).save(path.with_name("arabic.yaml"))
    english = protect(path, **more).save(path.with_name("english.yaml"))
    for file, letters in ((arabic, "[؀-ۿ]"), (english, "^# [A-Za-z ]")):
        comments = [line for line in file.read_text().splitlines() if line.startswith("# ")]
        examples = [line for line in comments if line.startswith("#   ")]
        assert len(examples) == 4
        assert all(re.search(letters, line) for line in comments if line not in examples), comments
    assert load(arabic).table == load(english).table


def test_another_zone_is_another_unit(tmp_path: Path) -> None:
    """In Tokyo, the last evening of March in UTC is in April: the same rows would be charged in two months."""
    at = pa.array([datetime(2026, 3, 31, 20, tzinfo=UTC)] * 50)
    rows = pa.table({"p": range(50), "at": at.cast(pa.timestamp("us", "UTC"))})

    def budget(**zones: str) -> Budget:
        found = sitr.protect(
            rows, name="visits", unit="p", period="at:month", max_groups=1, max_rows_per_group=1, zones=zones
        )
        return found.budget("pure(1)", ledger=tmp_path / "l.db")

    assert budget().period("2026-03").sql(SQL, bias="off").release("pure(1)")["n"][0] > 25
    for month in ("2026-03", "2026-04"):
        with pytest.raises(LedgerMismatch, match="Asia/Tokyo"):
            budget(at="Asia/Tokyo").period(month).sql(SQL, bias="off").release("pure(1)")
