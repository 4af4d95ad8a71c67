"""The whole way: price, charge, data, noise, in this order; and nothing lost or spent on bad input."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import sitr
from sitr import ApproximateDP, PureDP, ZeroConcentratedDP
from sitr.backends.duckdb import DuckDB
from sitr.backends.sources import ParquetFile
from sitr.errors import (
    BackendFailure,
    BudgetExceeded,
    DescriptionError,
    ForbiddenConstruct,
    IncompatiblePromises,
    QuestionError,
    SitrError,
    SourceError,
    UnknownName,
)
from sitr.ledger.sql import SqlLedger
from sitr.noise.coins import TestCoins
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset

QUESTION = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
PRICE = ZeroConcentratedDP(rho=0.05)


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(ZeroConcentratedDP(rho=0.5), ledger=tmp_path / "sitr.db")


def test_sql_and_calls_are_the_same_question(budget: Budget) -> None:
    days, ward = sitr.column("days"), sitr.column("ward")
    pairs = [
        (QUESTION, budget.group_by("ward").agg(n=sitr.count(), total=sitr.sum("cost"))),
        (
            "SELECT COUNT(DISTINCT patient_id) AS p FROM visits WHERE days >= 2 AND days <= 5 AND NOT ward IS NULL",
            budget.where(days.is_between(2, 5) & ~ward.is_null()).agg(p=sitr.count(distinct="patient_id")),
        ),
        (
            "SELECT ward, COUNT(cost) AS n FROM visits WHERE days > 3 OR ward IN ('Surgery') GROUP BY ward",
            budget.group_by("ward").where((days > 3) | ward.is_in(["Surgery"])).agg(n=sitr.count("cost")),
        ),
        (
            "SELECT ward, SUM(cost), AVG(cost + 1), COUNT(*) AS n FROM visits GROUP BY ward",
            budget.group_by("ward").agg(sitr.column("cost").sum(), (sitr.column("cost") + 1).mean(), n=sitr.count()),
        ),
        ("SELECT SUM(cost) / COUNT(*) FROM visits", budget.agg(sitr.column("cost").sum() / sitr.count())),
    ]
    for sql, calls in pairs:
        assert budget.sql(sql).question == calls.question


def test_a_preview_reads_no_data_and_spends_nothing(budget: Budget, visits_path: Path) -> None:
    question = budget.sql(QUESTION)
    visits_path.unlink()
    preview = question.preview(PRICE)
    assert preview.price == PRICE
    assert set(preview.errors()) == {"n", "total"}
    assert budget.remaining() == ZeroConcentratedDP(0.5)
    assert "95% error" in str(preview)
    assert preview.to_dict()
    assert "<table" in preview._repr_html_()


def test_a_release_is_charged_and_tells_its_errors(budget: Budget, tmp_path: Path) -> None:
    question = budget.sql(QUESTION)
    answer = question.release(PRICE)
    assert answer.private
    assert answer.promise == PRICE
    assert answer.errors() == question.preview(PRICE).errors()
    assert answer.table.column_names == ["ward", "n", "total"]
    assert answer.table["ward"].to_pylist() == ["Cardiology", "Surgery", "Maternity"]
    assert answer.intervals().column_names == ["ward", "n", "n_low", "n_high", "total", "total_low", "total_high"]
    assert answer.to_pandas()["n"].tolist() == answer.to_polars()["n"].to_list() == answer.table["n"].to_pylist()
    assert budget.remaining() == ZeroConcentratedDP(0.45)
    assert [entry.price for entry in budget.entries()] == [PRICE]
    page = answer.certificate(tmp_path / "out.html").read_text()
    assert "<svg" in page
    assert ET.parse(answer.plot(tmp_path / "out.svg")).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert "<svg" in answer._repr_html_()
    assert "Cardiology" in str(answer)


def test_answers_are_near_the_truth(budget: Budget) -> None:
    """With a large price the noise is small: 882 visits have a ward, all within the caps but for one in three."""
    rich = budget.sql("SELECT COUNT(DISTINCT patient_id) AS p FROM visits").release(ZeroConcentratedDP(0.49))
    error = rich.errors(confidence=0.999999)["p"]
    assert abs(rich.table["p"][0].as_py() - 300) <= error < 10


def test_a_pure_price_in_a_concentrated_budget(budget: Budget, tmp_path: Path) -> None:
    answer = budget.sql(QUESTION).release(PureDP(0.2))
    assert answer.promise == PureDP(0.2)
    assert "ρ" in answer.certificate(tmp_path / "out.html").read_text()
    assert budget.entries()[0].price == ZeroConcentratedDP(0.02)
    with pytest.raises(IncompatiblePromises, match=r"Write for example zcdp\(rho="):
        budget.sql(QUESTION).preview(ApproximateDP(0.1, 1e-6))
    with pytest.raises(IncompatiblePromises):
        budget.sql(QUESTION).release(ApproximateDP(0.1, 1e-6))
    assert len(budget.entries()) == 1


def test_keys_that_nobody_described(visits_path: Path, tmp_path: Path) -> None:
    visits = sitr.protect(visits_path, unit="patient_id", max_groups=3, max_rows_per_group=2)
    budget = visits.budget(ApproximateDP(4, 1e-5), ledger=tmp_path / "sitr.db")
    answer = budget.group_by("ward").agg(n=sitr.count()).release(ApproximateDP(4, 1e-5))
    assert set(answer.table["ward"].to_pylist()) >= {"Cardiology", "Surgery", "Maternity"}
    assert 0 < answer.released.plan.infinite_mass() <= 1e-5
    other = visits.budget(PureDP(1), ledger=tmp_path / "other.db", second_budget=True)
    refused = other.group_by("ward").agg(n=sitr.count())
    with pytest.raises(QuestionError, match="needs δ > 0"):
        refused.preview(PureDP(0.1))


def test_test_coins_stamp_the_answer(budget: Budget) -> None:
    first, second = (budget.sql(QUESTION).release(PRICE, coins=TestCoins(7)) for _ in range(2))
    assert first.table == second.table
    assert not first.private
    assert "NOT PRIVATE" in first._repr_html_() or "not private" in first._repr_html_().lower()
    assert "not private" in str(first).lower()
    fresh = [budget.sql(QUESTION).release(PRICE, fresh=True).table for _ in range(2)]
    assert fresh[0] != fresh[1]


BAD: list[tuple[str, type[SitrError], str]] = [
    ("SELECT COUNT(*) FROM admissions", UnknownName, "admissions"),
    ("SELECT COUNT(*) FROM visits WHERE wardd = 'x'", UnknownName, "wardd"),
    ("SELECT SUM(ward) FROM visits", QuestionError, "text"),
    ("SELECT SUM(days) FROM visits", DescriptionError, "bounds"),
    ("SELECT COUNT(*) FROM visits JOIN staff USING (ward)", ForbiddenConstruct, "a join"),
    ("SELECT my_function(cost) FROM visits", ForbiddenConstruct, "the function MY_FUNCTION"),
    ("SELECT cost, COUNT(*) FROM visits GROUP BY cost", QuestionError, "real"),
]


@pytest.mark.parametrize(("sql", "error", "word"), BAD)
def test_bad_questions_cost_nothing(budget: Budget, sql: str, error: type[SitrError], word: str) -> None:
    with pytest.raises(error, match=word):
        budget.sql(sql)
    assert budget.entries() == []


def test_misspelled_calls_are_explained(budget: Budget) -> None:
    misspelled: list[Callable[[], object]] = [
        lambda: budget.agg(n="count"),  # type: ignore[arg-type]
        lambda: budget.agg(n=sitr.count),  # type: ignore[arg-type]
        lambda: budget.where(None),  # type: ignore[arg-type]
        lambda: budget.group_by(3),  # type: ignore[arg-type]
        lambda: budget.sql(3),  # type: ignore[arg-type]
    ]
    for call in misspelled:
        with pytest.raises(QuestionError, match="Expected"):
            call()


def test_numbers_from_numpy_are_numbers(budget: Budget) -> None:
    plain = budget.where((sitr.column("days") > 3) & sitr.column("days").is_in([4, 5])).agg(n=sitr.count())
    three: Any = np.int64(3)
    numpy = budget.where((sitr.column("days") > three) & sitr.column("days").is_in(np.array([4, 5])))
    assert numpy.agg(n=sitr.count()).question == plain.question
    half: Any = np.float64(1.5)
    budget.where(sitr.column("cost") > half).agg(n=sitr.count()).release(PRICE)


def test_too_dear_a_question_says_what_would_fit(budget: Budget) -> None:
    question = budget.sql(QUESTION)
    question.release(ZeroConcentratedDP(0.3))
    with pytest.raises(BudgetExceeded, match=r"zcdp\(rho=0.2\) of zcdp\(rho=0.5\) that is left"):
        question.release(ZeroConcentratedDP(0.21))
    assert len(budget.entries()) == 1
    question.release(ZeroConcentratedDP(0.2))
    assert budget.remaining() == ZeroConcentratedDP(0.0)


def test_a_changed_file_is_noticed_before_the_charge(budget: Budget, visits_path: Path) -> None:
    question = budget.sql(QUESTION)
    visits_path.write_text("not Parquet any more")
    with pytest.raises(SourceError):
        question.release(PRICE)
    assert budget.entries() == []


class Watched(DuckDB):
    """A backend that reports what the ledger holds at the moment the data are read."""

    seen: ClassVar[list[int]] = []

    def read(self, reading: Any, *, salt: int) -> Any:  # noqa: ARG002 - the protocol's names
        assert isinstance(self.source, ParquetFile)
        self.seen.append(len(SqlLedger(self.source.path.parent / "sitr.db", create=False).entries()))
        raise BackendFailure(wanted="w.", given="g.", do="d.")


def test_the_charge_is_durable_before_the_data_are_read(visits: Dataset, visits_path: Path, tmp_path: Path) -> None:
    watched = Dataset(visits.table, Watched(ParquetFile(visits_path)))
    budget = watched.budget(ZeroConcentratedDP(0.5), ledger=tmp_path / "sitr.db")
    Watched.seen.clear()
    with pytest.raises(BackendFailure):
        budget.sql(QUESTION).release(PRICE)
    assert Watched.seen == [1], "the data were read before the charge was durable"
    assert budget.remaining() == ZeroConcentratedDP(0.45)


class Quoting(DuckDB):
    """A backend whose unexpected errors quote the data."""

    raised: ClassVar[type[Exception]] = Exception

    def read(self, reading: Any, *, salt: int) -> Any:
        exact = DuckDB.read(self, reading, salt=salt)
        raise self.raised(f"cannot handle {exact}")


@pytest.mark.parametrize("raised", [MemoryError, OverflowError, ValueError, RuntimeError])
def test_no_error_of_a_backend_shows_what_it_read(
    visits: Dataset, visits_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: type[Exception]
) -> None:
    monkeypatch.setattr(Quoting, "raised", raised)
    quoting = Dataset(visits.table, Quoting(ParquetFile(visits_path)))
    with pytest.raises(BackendFailure) as caught:
        quoting.budget(ZeroConcentratedDP(0.5), ledger=tmp_path / "sitr.db").sql(QUESTION).release(PRICE)
    assert "cannot handle" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


KILLED = """
    import os, signal, sys, sitr
    from sitr.backends.duckdb import DuckDB

    def die(self, reading, *, salt):
        os.kill(os.getpid(), signal.SIGKILL)

    if sys.argv[1] == "while reading":
        DuckDB.read = die
    visits = sitr.protect("visits.parquet", unit="patient_id", max_groups=3, max_rows_per_group=2)
    budget = visits.budget(sitr.PureDP(1), ledger="sitr.db")
    for _ in range(3):
        print(budget.agg(n=sitr.count()).release(sitr.PureDP(0.1), fresh=True).table["n"][0], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("moment", "answers", "charges"), [("while reading", 0, 1), ("after three", 3, 3)])
def test_a_killed_process_gave_no_answer_without_a_charge(
    visits_path: Path, moment: str, answers: int, charges: int
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), moment],
        cwd=visits_path.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert len(run.stdout.splitlines()) == answers
    ledger = SqlLedger(visits_path.parent / "sitr.db")
    assert len(ledger.entries("visits")) == charges
    visits = sitr.protect(visits_path, unit="patient_id", max_groups=3, max_rows_per_group=2)
    visits.budget(PureDP(1), ledger=ledger).agg(n=sitr.count()).release(PureDP(0.1))  # and life goes on


SPEND = """
import sitr

visits = sitr.protect("visits.parquet", unit="patient_id", max_groups=3, max_rows_per_group=2)
question = visits.budget(sitr.PureDP(1), ledger="sitr.db").agg(n=sitr.count())
answered = 0
try:
    while answered < 20:
        question.release(sitr.PureDP(0.1), fresh=True)
        answered += 1
except sitr.SitrError as error:
    assert type(error).__name__ == "BudgetExceeded", error
print(answered)
"""


def test_two_processes_never_overspend(visits_path: Path) -> None:
    command, folder = [sys.executable, "-c", SPEND], visits_path.parent
    racers = [subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answered = [int(racer.communicate(timeout=120)[0]) for racer in racers]
    assert sum(answered) == 10
    assert SqlLedger(visits_path.parent / "sitr.db").standing("visits").remaining() == PureDP(0.0)


# Prices


def test_a_price_can_be_written_in_every_way(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(rho=0.5, ledger=tmp_path / "sitr.db")
    assert budget.promise == visits.budget("zcdp(0.5)", ledger=tmp_path / "sitr.db").promise == ZeroConcentratedDP(0.5)
    price = ZeroConcentratedDP(0.05)
    for question in (budget.agg(n=sitr.count()), budget.histogram("ward")):
        previews = [question.preview(price), question.preview("zcdp(0.05)"), question.preview(rho=0.05)]
        assert {preview.price for preview in previews} == {price}
    answers = [budget.agg(n=sitr.count()).release(*paid[0], fresh=True, **paid[1]) for paid in ALIKE]
    assert {answer.promise for answer in answers} == {price}
    assert [entry.price for entry in budget.entries()] == [price] * len(ALIKE)
    assert budget.agg(n=sitr.count()).release(rho=0.05).table == answers[-1].table


ALIKE: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((ZeroConcentratedDP(0.05),), {}),
    (("zcdp(0.05)",), {}),
    ((), {"rho": 0.05}),
]


def test_synthetic_rows_and_their_quality_are_priced_alike(visits: Dataset, tmp_path: Path) -> None:
    asked = visits.budget("pure(9)", ledger=tmp_path / "sitr.db").synthesize(columns=["ward"])
    assert asked.preview("pure(1)", quality="pure(1)").price == asked.preview(epsilon=1, quality=PureDP(1)).price
    made = asked.release(epsilon=1, quality="pure(1)")
    assert made.promise == PureDP(2)
    assert made.measure(epsilon=0.5).promise == made.measure("pure(0.5)").promise == PureDP(0.5)


def test_descriptions_and_one_off_budgets_are_priced_alike(visits: Dataset, tmp_path: Path) -> None:
    ways: list[tuple[tuple[Any, ...], dict[str, Any]]] = [(("pure(1)",), {}), ((), {"epsilon": 1})]
    for number, (given, amounts) in enumerate(ways):
        assert visits.one_off(*given, ledger=tmp_path / f"{number}.db", **amounts).promise == PureDP(1)
    path = visits.save(tmp_path / "visits.yaml", rho=0.5, ledger=tmp_path / "sitr.db")
    assert sitr.open(path).budget().promise == ZeroConcentratedDP(0.5)
    assert sitr.open(path).budget("zcdp(0.5)", ledger=tmp_path / "sitr.db").promise == ZeroConcentratedDP(0.5)


def test_a_bare_number_costs_nothing(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(rho=0.5, ledger=tmp_path / "sitr.db")
    number: Any = 0.05
    for use in (budget.agg(n=sitr.count()).preview, budget.agg(n=sitr.count()).release):
        with pytest.raises(IncompatiblePromises, match=r"Write rho=0\.05 or 'zcdp\(0\.05\)'"):
            use(number)
    with pytest.raises(IncompatiblePromises, match="Expected a promise"):
        budget.agg(n=sitr.count()).release()
    assert budget.entries() == []
