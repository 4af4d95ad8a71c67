"""Several questions, one charge: each answer is an ordinary one, and all of them are kept together."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import sitr
from sitr.errors import BudgetExceeded, QuestionError, UnknownName
from sitr.noise.coins import TestCoins
from sitr.session.aggregate import AggregateAnswer
from sitr.session.batch import BatchAnswer
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset
from sitr.session.reopened import reopened
from sitr.session.verify import Verdict, verify

WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
COSTS = "SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward HAVING total > 0 ORDER BY total DESC LIMIT 2"
PRICE = sitr.ZeroConcentratedDP(0.5)


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(sitr.ZeroConcentratedDP(5.0), ledger=tmp_path / "visits.db")


@pytest.fixture
def answers(budget: Budget) -> BatchAnswer:
    return budget.batch({"wards": budget.sql(WARDS), "costs": budget.sql(COSTS)}).release(PRICE)


def test_each_answer_is_an_ordinary_one(answers: BatchAnswer) -> None:
    assert (len(answers), answers.names) == (2, ("wards", "costs"))
    assert [type(answer).__mro__[1] for answer in answers] == [AggregateAnswer] * 2
    assert answers["costs"] is answers[1] is answers[-1] is dict(answers.items())["costs"]
    assert answers["wards"].table.column_names == ["ward", "n"]
    assert answers["costs"].table.num_rows == 2
    assert answers["wards"].intervals().column_names == ["ward", "n", "n_low", "n_high"]
    assert "Answer 2 of 2 of a batch" in str(answers["costs"])
    told = answers["costs"].to_dict()
    assert told["batch"] == {"name": "costs", "place": 2, "of": 2}
    assert told["promise"]["rho"] < told["price"]["rho"] == 0.5
    assert answers.errors() == {
        f"{name}.{column}": error for name, answer in answers.items() for column, error in answer.errors().items()
    }
    with pytest.raises(UnknownName, match=r"no question 'ward'. Did you mean 'wards'"):
        answers["ward"]


def test_there_is_one_charge_and_one_kept_answer(budget: Budget, answers: BatchAnswer) -> None:
    (entry,) = budget.entries()
    assert entry.price == PRICE
    assert entry.question.startswith(f"BATCH OF 2: wards: {WARDS}; costs: SELECT ward, SUM(cost) AS total")
    again = budget.batch({"wards": budget.sql(WARDS), "costs": budget.sql(COSTS)}).release(PRICE)
    assert again.receipt.again
    assert [one.table for one in again] == [one.table for one in answers]
    assert not budget.batch([budget.sql(WARDS), budget.sql(COSTS)]).release(PRICE).receipt.again  # other names
    assert len(budget.entries()) == 2
    shown = reopened(budget.ledger, entry.number)
    assert isinstance(shown, BatchAnswer)
    assert shown["costs"].table == answers["costs"].table


def test_the_page_of_a_part_and_of_the_whole_are_verified(budget: Budget, answers: BatchAnswer, tmp_path: Path) -> None:
    for page in (answers.certificate(tmp_path / "all.html"), answers["wards"].certificate(tmp_path / "one.html")):
        assert verify(page, budget.ledger).verdict is Verdict.VALID
    whole = (tmp_path / "all.html").read_text()
    assert all(f"<h3>{name}</h3>" in whole for name in answers.names)
    assert "How much is left out is not measured" in whole


def test_the_long_table_has_every_number(answers: BatchAnswer) -> None:
    table = answers.table
    assert table.column_names == ["question", "key", "column", "value"]
    assert table["question"].to_pylist() == ["wards"] * 3 + ["costs"] * 2
    assert table["value"].to_pylist()[:3] == answers["wards"].table["n"].cast(pa.float64()).to_pylist()
    low, value, high = (answers.intervals()[name].to_numpy() for name in ("value_low", "value", "value_high"))
    assert ((low < value) & (value < high)).all()


def test_noise_is_drawn_once_for_what_is_measured_once(budget: Budget) -> None:
    with pytest.warns(sitr.errors.NotPrivate):
        coins = TestCoins(1)
    twice = budget.batch([budget.sql(WARDS), budget.sql(WARDS).sort("n")]).release(PRICE, coins=coins)
    assert sorted(twice[0]["n"]) == list(twice[1]["n"])


def test_a_preview_shows_every_question(budget: Budget) -> None:
    preview = budget.batch([budget.sql(WARDS), budget.agg(people=sitr.count(distinct="patient_id"))]).preview(PRICE)
    assert set(preview.errors()) == {"1.n", "2.people"}
    assert all(text in str(preview) for text in (WARDS, "people", "2 questions with one plan"))
    assert budget.entries() == []


def test_nothing_is_spent_on_what_cannot_be_asked(budget: Budget, visits: Dataset, tmp_path: Path) -> None:
    question = budget.sql(WARDS)
    other = visits.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "other.db", second_budget=True)
    for wrong, match in (
        ([], "from 1 to 100 questions"),
        ([question] * 101, "a batch of 101 questions"),
        ([WARDS], r"made by budget.sql\(…\)"),
        (question, "a list of questions"),
        ([other.sql(WARDS)], "belongs to another budget"),
        ({"": question}, "a name of valid Unicode text"),
    ):
        with pytest.raises(QuestionError, match=match):
            budget.batch(wrong)  # type: ignore[arg-type]
    for weights in ([1, 0], {"2": -1}, [1, float("nan")]):
        with pytest.raises(QuestionError, match="a weight above 0"):
            budget.batch([question, question], weights=weights)
    with pytest.raises(QuestionError, match="one weight for each of 2 questions"):
        budget.batch([question, question], weights=[1])
    with pytest.raises(BudgetExceeded):
        budget.batch([question]).release(sitr.ZeroConcentratedDP(6.0))
    assert budget.entries() == []


def test_weights_of_columns_hold_in_a_batch_and_targets_need_a_price_of_their_own(budget: Budget) -> None:
    both = budget.sql("SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward")
    heavy = both.weights({"n": 1, "total": 9})
    plain, weighted = (budget.batch({"wards": each}).preview(rho=0.1).errors() for each in (both, heavy))
    assert weighted["wards.total"] < plain["wards.total"]
    assert weighted["wards.n"] > plain["wards.n"]
    with pytest.raises(QuestionError, match="has targets, which need a price of their own"):
        budget.batch([both.targets({"n": 10, "total": 10})])
