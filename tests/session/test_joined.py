"""Questions that join the protected tables of two budgets: both pay, both are shown, and both descriptions count."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.errors import (
    BackendFailure,
    BudgetExceeded,
    DescriptionError,
    ForbiddenConstruct,
    QuestionError,
    SitrError,
    SourceError,
)
from sitr.ledger.sql import SqlLedger
from sitr.noise import TestCoins
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset
from sitr.session.reopened import reopened
from sitr.session.verify import verify

SQL = "SELECT sex, COUNT(*) AS n FROM visits JOIN patients ON visits.patient_id = patients.pid GROUP BY sex"
PRICE = sitr.ZeroConcentratedDP(0.5)


def visits(**other: Any) -> Dataset:
    rows = {"patient_id": [n % 100 for n in range(500)], "ward": ["AB"[n % 2] for n in range(500)]}
    said: dict[str, Any] = {"unit": "patient_id", "max_groups": 2, "max_rows_per_group": 5}
    return sitr.protect(pa.table(rows), name="visits", **(said | {"keys": {"ward": ["A", "B"]}} | other))


def patients(**other: Any) -> Dataset:
    rows = {"pid": list(range(90)), "sex": ["fm"[n % 2] for n in range(90)], "age": [n % 80 for n in range(90)]}
    said: dict[str, Any] = {"name": "patients", "unit": "pid", "max_groups": 1, "max_rows_per_group": 1}
    said |= {"keys": {"sex": ["f", "m"]}, "bounds": {"age": (0, 80)}}
    return sitr.protect(pa.table(rows), **(said | other))


def opened(first: Path, second: Path) -> tuple[Budget, Budget]:
    return visits().budget(rho=100, ledger=first), patients().budget(rho=1, ledger=second)


@pytest.fixture
def budgets(tmp_path: Path) -> tuple[Budget, Budget]:
    """Both in one ledger."""
    return opened(tmp_path / "a.db", tmp_path / "a.db")


@pytest.fixture(params=["a.db", "b.db"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Budget, Budget]:
    """Both in one ledger, and each in its own."""
    return opened(tmp_path / "a.db", tmp_path / request.param)


def spent(*budgets: Budget) -> list[int]:
    return [budget.standing().charges for budget in budgets]


def test_both_budgets_pay_the_same_price_for_one_answer(anywhere: tuple[Budget, Budget]) -> None:
    first, second = anywhere
    answer = first.beside(second).sql(SQL, bias="off").release(rho=1)
    assert [budget.remaining() for budget in anywhere] == [sitr.ZeroConcentratedDP(99.0), sitr.ZeroConcentratedDP(0.0)]
    counts = dict(zip(answer.table["sex"].to_pylist(), answer.table["n"].to_pylist(), strict=True))
    assert all(abs(counts[sex] - 225) < 60 for sex in ("f", "m"))  # noise with σ < 5
    (entry,), (other,) = first.entries(), second.entries()
    assert [link.dataset for link in (*entry.beside, *other.beside)] == ["patients", "visits"]
    assert (entry.beside[0].number, other.beside[0].number) == (other.number, entry.number)
    assert answer.receipt.entry == entry
    assert [paid.entry for paid in answer.receipt.beside] == [other]


def test_if_one_cannot_pay_nobody_does(anywhere: tuple[Budget, Budget]) -> None:
    first, second = anywhere
    with pytest.raises(BudgetExceeded, match="left of the budget of patients"):
        first.beside(second).sql(SQL).release(rho=1.5)
    with pytest.raises(BudgetExceeded, match="left of the budget of patients"):
        second.beside(first).sql(SQL).release(rho=1.5)
    assert spent(first, second) == [0, 0]


def test_what_was_paid_by_both_is_answered_again_for_free(anywhere: tuple[Budget, Budget]) -> None:
    first, second = anywhere
    asked = first.beside(second).sql(SQL)
    answer, again = asked.release(PRICE), asked.release(PRICE)
    assert spent(first, second) == [1, 1]
    assert again.receipt.again
    assert again.table == answer.table
    assert again.receipt.beside == answer.receipt.beside
    shown = reopened(first.ledger, answer.receipt.entry.number)
    assert shown.to_dict()["join"] == answer.to_dict()["join"]
    seals = [seal.sha256 for seal in second.ledger.seals(second.entries()[0].number)]
    assert seals == [answer.receipt.sha256]


def test_another_description_of_the_other_table_is_another_question(tmp_path: Path) -> None:
    first = visits().budget(rho=100, ledger=tmp_path / "a.db")
    for place, caps in enumerate((1, 2), start=1):
        second = patients(max_rows_per_group=caps).budget(rho=100, ledger=tmp_path / "a.db")
        assert not first.beside(second).sql(SQL).release(PRICE).receipt.again
        assert spent(first, second) == [place, place]


def test_reports_show_both_accounts(budgets: tuple[Budget, Budget], tmp_path: Path) -> None:
    first, second = budgets
    asked = first.beside(second).sql(SQL)
    preview = asked.preview(PRICE)
    assert "patients: ρ = 0.5; ρ = 1 left now, ρ = 0.5 then" in str(preview)
    assert preview.to_dict()["join"]["beside"][0]["budget"]["after"]["remaining"]["rho"] == 0.5
    assert "patients: ρ = 2, but only ρ = 1 is left" in str(asked.preview(rho=2))
    answer = asked.release(PRICE)
    number = second.entries()[0].number
    assert f"patients, entry {number}: ρ = 0.5; ρ = 0.5 of ρ = 1 left" in str(answer)
    told = json.loads(json.dumps(answer.to_dict()))["join"]
    assert told["most_rows"] == 1_000
    (beside,) = told["beside"]
    assert (beside["dataset"], beside["neighbors"], beside["entry"]) == ("patients", "person (pid), add-remove", number)
    assert beside["budget"]["before"]["remaining"]["rho"] == 1.0
    page = answer.certificate(tmp_path / "page.html").read_text()
    assert "protected tables visits and patients" in page
    assert f"patients, entry {number}" in page
    assert "إجابة" in answer.certificate(tmp_path / "صفحة.html", lang="ar").read_text()
    assert verify(tmp_path / "page.html", first.ledger).verdict.value == "valid"


def test_the_tree_of_a_question_has_both_tables(budgets: tuple[Budget, Budget]) -> None:
    first, second = budgets
    tree = str(first.beside(second).sql(SQL).explain(PRICE))
    assert "rows of the same person in patients where visits.patient_id = patients.pid" in tree
    assert str(visits().explain(SQL, PRICE, beside=[patients()])) == tree


def test_one_table_alone_is_asked_and_charged_as_ever(budgets: tuple[Budget, Budget]) -> None:
    first, second = budgets
    question = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    alone = first.sql(question).release(PRICE)
    beside = first.beside(second).sql(question)
    assert beside == first.sql(question)
    assert beside.release(PRICE).receipt.again
    assert "join" not in alone.to_dict()
    own = first.sql("SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient_id = b.patient_id")
    assert own.release(PRICE).receipt.beside == ()
    assert own.release(PRICE).to_dict()["join"] == {"most_rows": 1_000, "beside": []}
    assert spent(first, second) == [2, 0]


def test_a_batch_with_a_join_is_charged_to_both(budgets: tuple[Budget, Budget]) -> None:
    first, second = budgets
    both = first.beside(second)
    asked = [both.sql(SQL), both.sql("SELECT COUNT(*) AS n FROM visits")]
    answers = both.batch(asked).release(PRICE)
    assert spent(first, second) == [1, 1]
    assert all(answer.to_dict()["join"]["beside"][0]["dataset"] == "patients" for answer in (answers, *answers))
    with pytest.raises(QuestionError, match="not all of their budgets are given"):
        first.batch(asked)
    third = patients(unit="age").budget(rho=1, ledger=first.ledger.path.parent / "c.db")  # type: ignore[attr-defined]
    with pytest.raises(QuestionError, match="belongs to another budget"):
        first.beside(third).batch(asked)
    assert spent(first, second) == [1, 1]


def test_three_tables(tmp_path: Path) -> None:
    bills = sitr.protect(
        pa.table({"who": list(range(0, 100, 2)), "due": [10] * 50}),
        name="bills",
        unit="who",
        max_groups=1,
        max_rows_per_group=1,
        bounds={"due": (0, 20)},
    )
    made = [data.budget(rho=100, ledger=tmp_path / "a.db") for data in (visits(), patients(), bills)]
    question = (
        "SELECT sex, COUNT(*) AS n, SUM(due) AS s FROM visits v JOIN patients p ON v.patient_id = p.pid "
        "JOIN bills b ON b.who = v.patient_id GROUP BY sex"
    )
    answer = made[0].beside(made[1], made[2]).sql(question, bias="off").release(rho=50)
    assert spent(*made) == [1, 1, 1]
    assert [paid.dataset for paid in answer.receipt.beside] == ["patients", "bills"]
    counts = dict(zip(answer.table["sex"].to_pylist(), answer.table["n"].to_pylist(), strict=True))
    assert abs(counts["f"] - 225) < 20
    assert abs(counts["m"]) < 20


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("SELECT COUNT(*) AS n FROM visits JOIN patients ON ward = sex", "unless the unit is the same"),
        ("SELECT COUNT(*) AS n FROM visits JOIN patients ON patient_id = age", "unless the unit is the same"),
        ("SELECT COUNT(*) AS n FROM visits JOIN patients ON patient_id = pid OR ward = sex", "unless the unit"),
        ("SELECT COUNT(*) AS n FROM visits JOIN patients ON patient_id <= pid", "unless the unit is the same"),
        ("SELECT COUNT(*) AS n FROM visits JOIN patients ON patient_id + 0 = pid", "unless the unit is the same"),
        ("SELECT COUNT(*) AS n FROM visits JOIN (SELECT age AS pid FROM patients) p ON patient_id = p.pid", "unless"),
        ("SELECT COUNT(*) AS n FROM visits JOIN bills ON patient_id = who", "whose budgets are given"),
        ("SELECT COUNT(*) AS n FROM patients", "does not read visits"),
        ("SELECT COUNT(*) AS n FROM visits JOIN patients ON patient_id = pid AND agee > 3", "agee"),
        ("SELECT COUNT(*) AS n FROM (SELECT ward FROM visits UNION ALL SELECT sex FROM patients)", "different tables"),
        ("SELECT COUNT(*) AS n FROM visits FULL JOIN patients ON patient_id = pid", "join"),
    ],
)
def test_what_could_mix_people_is_refused(tmp_path: Path, question: str, reason: str) -> None:
    first, second = (data.budget(rho=1, ledger=tmp_path / "a.db") for data in (visits(), patients()))
    with pytest.raises(SitrError, match=reason):
        first.beside(second).sql(question)


def test_advice_can_be_followed(tmp_path: Path) -> None:
    first, second = (data.budget(rho=1, ledger=tmp_path / "a.db") for data in (visits(), patients()))
    with pytest.raises(
        ForbiddenConstruct, match=r"Add visits\.patient_id = patients\.pid to the conditions"
    ) as refused:
        first.beside(second).sql("SELECT COUNT(*) AS n FROM visits JOIN patients ON ward = sex")
    added = refused.value.do.removeprefix("Add ").partition(" to ")[0]
    first.beside(second).sql(f"SELECT COUNT(*) AS n FROM visits JOIN patients ON ward = sex AND {added}")


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (lambda: patients(unit=sitr.Row(), max_groups=None, max_rows_per_group=None), "protects each row by itself"),
        (lambda: patients(relation=sitr.Relation.REPLACE_ONE), "different neighbours: "),
        (lambda: patients(name="Visits"), "have the name"),
    ],
)
def test_budgets_that_do_not_fit_together(tmp_path: Path, other: Callable[[], Dataset], reason: str) -> None:
    first = visits().budget(rho=1, ledger=tmp_path / "a.db")
    second = other().budget(rho=1, ledger=tmp_path / "b.db")
    for one, two in ((first, second), (second, first)):
        with pytest.raises(QuestionError, match=reason):
            one.beside(two)
    with pytest.raises(QuestionError, match="the budget of another protected table"):
        first.beside("patients")  # type: ignore[arg-type]


def test_ids_of_different_types_are_refused(tmp_path: Path) -> None:
    first = visits().budget(rho=1, ledger=tmp_path / "a.db")
    second = patients(unit="sex", keys={}).budget(rho=1, ledger=tmp_path / "a.db")
    with pytest.raises(QuestionError, match="ids of type integer in visits and of type text in patients"):
        first.beside(second).sql("SELECT COUNT(*) AS n FROM visits JOIN patients ON patient_id = sex")


def test_a_left_join_is_refused_where_people_are_replaced(tmp_path: Path) -> None:
    made = (data(relation=sitr.Relation.REPLACE_ONE) for data in (visits, patients))
    first, second = (data.budget(rho=1, ledger=tmp_path / "a.db") for data in made)
    with pytest.raises(QuestionError, match="could change the rows of two people"):
        first.beside(second).sql(SQL.replace("JOIN", "LEFT JOIN"))
    assert first.beside(second).sql(SQL).release(PRICE).receipt.beside


def test_a_changed_table_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    rows = pa.table({"pid": list(range(9)), "sex": ["f"] * 9})
    pq.write_table(rows, tmp_path / "patients.parquet")
    known = sitr.protect(tmp_path / "patients.parquet", unit="pid", max_groups=1, max_rows_per_group=1)
    first, second = (data.budget(rho=1, ledger=tmp_path / "a.db") for data in (visits(), known))
    asked = first.beside(second).sql("SELECT COUNT(*) AS n FROM visits JOIN patients ON patient_id = pid")
    pq.write_table(rows.append_column("new", [[1] * 9]), tmp_path / "patients.parquet")
    with pytest.raises(SourceError, match="In patients, new are missing, new or of another type"):
        asked.release(PRICE)
    assert spent(first, second) == [0, 0]
    pq.write_table(rows, tmp_path / "patients.parquet")
    assert asked.release(PRICE).receipt.beside


def test_after_the_charge_every_failure_has_the_same_text(
    budgets: tuple[Budget, Budget], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the charge to both stands."""
    first, second = budgets
    for way in ("sitr.backends.duckdb.statement", "sitr.backends.packed.passes.scan"):
        monkeypatch.setattr(way, lambda *_, **__: "SELECT CAST('patient 4711' AS INTEGER)")
    with pytest.raises(BackendFailure) as failure:
        first.beside(second).sql(SQL).release(PRICE)
    assert "4711" not in str(failure.value)
    assert spent(first, second) == [1, 1]


def test_a_ledger_that_is_gone_is_said_so(tmp_path: Path) -> None:
    """A kept answer whose other ledger cannot be read is not shown with half of its accounts."""
    first = visits().budget(rho=1, ledger=tmp_path / "a.db")
    second = patients().budget(rho=1, ledger=tmp_path / "b.db")
    number = first.beside(second).sql(SQL).release(PRICE).receipt.entry.number
    for file in tmp_path.glob("b.db*"):
        file.unlink()
    with pytest.raises(SitrError, match="There is no ledger at"):
        reopened(SqlLedger(tmp_path / "a.db"), number)


def test_each_csv_file_of_a_join_is_read_from_its_own_lines(tmp_path: Path) -> None:
    """Whatever the order of the columns: lines of another file in their place would be other people's."""
    (tmp_path / "visits.csv").write_text("patient,ward\n" + "p1,A\np2,A\np3,B\n" * 2)
    (tmp_path / "patients.csv").write_text("sex,patient\nf,p1\nm,p2\nf,p3\n")
    (tmp_path / "wards.csv").write_text("beds,ward\n10,A\n20,B\n")
    caps: dict[str, Any] = {"unit": "patient", "max_groups": 2, "max_rows_per_group": 2, "accept_types": True}
    visits = sitr.protect(
        tmp_path / "visits.csv", public={"wards": tmp_path / "wards.csv"}, keys={"ward": ["A", "B"]}, **caps
    )
    patients = sitr.protect(tmp_path / "patients.csv", keys={"sex": ["f", "m"]}, **caps)
    both = visits.budget(rho=1e6, ledger=tmp_path / "a.db").beside(patients.budget(rho=1e6, ledger=tmp_path / "a.db"))
    sex = both.sql("SELECT sex, COUNT(*) AS n FROM visits JOIN patients USING (patient) GROUP BY sex", bias="off")
    beds = both.sql("SELECT beds, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY beds", bias="off")
    assert sex.release(rho=1e5).table.to_pydict() == {"sex": ["f", "m"], "n": [4, 2]}
    assert beds.release(rho=1e5).table.to_pydict() == {"beds": [10, 20], "n": [4, 2]}


def test_caps_of_a_join_are_chosen_for_both_budgets(budgets: tuple[Budget, Budget]) -> None:
    first, second = budgets
    answer = first.beside(second).sql(SQL, caps="auto").release(rho=1, coins=TestCoins(1))
    assert [budget.remaining() for budget in budgets] == [sitr.ZeroConcentratedDP(99.0), sitr.ZeroConcentratedDP(0.0)]
    caps = answer.to_dict()["chosen_caps"]
    assert caps["chosen"]
    assert caps["max_groups"] in (1, 2)  # everybody has one sex; noise may add a group
    assert caps["max_rows_per_group"] in (8, 16)  # and five visits, of which none may be cut
    counts = dict(zip(answer.table["sex"].to_pylist(), answer.table["n"].to_pylist(), strict=True))
    assert all(abs(counts[sex] - 225) < 100 for sex in ("f", "m"))  # noise with σ < 10


def files(folder: Path) -> tuple[Path, Path]:
    """The rows of both tables."""
    own, other = folder / "visits.parquet", folder / "patients.parquet"
    pq.write_table(pa.table({"patient_id": [1, 2, 3], "ward": ["A", "B", "A"]}), own)
    pq.write_table(pa.table({"pid": [1, 2, 3], "sex": ["f", "m", "f"], "ward": ["A", "B", "A"]}), other)
    return own, other


def test_a_public_table_is_not_the_file_of_a_protected_one_beside_it(tmp_path: Path) -> None:
    """Also if it becomes that file after it was declared."""
    own, other = files(tmp_path)
    pq.write_table(pa.table({"ward": ["A", "B"]}), wards := tmp_path / "wards.parquet")
    caps: dict[str, Any] = {"max_groups": 1, "max_rows_per_group": 1}
    first = sitr.protect(own, name="visits", unit="patient_id", public={"wards": wards}, **caps)
    second = sitr.protect(other, name="patients", unit="pid", **caps)
    budgets = first.budget(rho=1, ledger=tmp_path / "a.db"), second.budget(rho=1, ledger=tmp_path / "a.db")
    both = budgets[0].beside(budgets[1])
    wards.unlink()
    wards.symlink_to(other)
    with pytest.raises(DescriptionError, match="The public table wards is a protected file"):
        both.sql("SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward")
    with pytest.raises(DescriptionError, match="The public table wards is a protected file"):
        budgets[0].beside(budgets[1])
    assert spent(*budgets) == [0, 0]


def test_a_file_with_a_budget_of_its_own_is_not_public(tmp_path: Path) -> None:
    own, other = files(tmp_path)
    caps: dict[str, Any] = {"max_groups": 1, "max_rows_per_group": 1}
    described = sitr.protect(other, name="patients", unit="pid", **caps)
    described.save(tmp_path / "patients.sitr.yaml", rho=1, ledger=tmp_path / "a.db")
    with pytest.raises(DescriptionError, match=r"a protected file: .*patients\.sitr\.yaml names its budget"):
        sitr.protect(own, name="visits", unit="patient_id", public={"wards": other}, **caps)
