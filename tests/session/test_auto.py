"""`caps="auto"`: one charge, two stages, one kept answer."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import sitr
from sitr.backends.duckdb import DuckDB
from sitr.dataset.hospital import WARDS, hospital
from sitr.errors import FileError, NotPrivate, QuestionError
from sitr.noise.coins import TestCoins
from sitr.questions.suggest.choose import chosen
from sitr.session import auto
from sitr.session.aggregate import AggregateAnswer
from sitr.session.budget import Budget
from sitr.session.reopened import reopened

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PRICE = sitr.ZeroConcentratedDP(0.5)
REST = Fraction(9, 10)


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    """A hospital with caps that are far too small."""
    visits = sitr.protect(
        hospital(2_000), name="visits", unit="patient_id", max_groups=1, max_rows_per_group=1, keys={"ward": WARDS}
    )
    return visits.budget(sitr.ZeroConcentratedDP(5.0), ledger=tmp_path / "visits.db")


def test_one_charge_chooses_caps_and_answers(budget: Budget, tmp_path: Path) -> None:
    answer = budget.sql(SQL, caps="auto").release(PRICE)
    (entry,) = budget.entries()
    assert (entry.price, entry.question) == (PRICE, f"CHOOSE CAPS AND ANSWER {SQL}")
    assert isinstance(answer, AggregateAnswer)
    told = answer.to_dict()
    caps = told["chosen_caps"]
    assert (caps["chosen"], caps["share"], caps["price"]["rho"], caps["rest"]["rho"]) == (True, 0.1, 0.05, 0.45)
    assert told["caps"]["max_groups"] == caps["max_groups"] > 1
    assert told["promise"]["rho"] == told["price"]["rho"] == 0.5
    assert set(caps["histograms"]) == {"groups", "rows"}
    assert "chosen privately" in " ".join(str(answer).split())
    page = answer.certificate(tmp_path / "page.html").read_text()
    assert "10% of the price" in page
    assert "the caps: at most" not in page
    assert "10% of the price" not in answer.certificate(tmp_path / "arabic.html", lang="ar").read_text()


def test_the_caps_are_those_of_a_suggestion_with_the_same_noise(budget: Budget) -> None:
    with pytest.warns(NotPrivate):
        mine, theirs = TestCoins(7), TestCoins(7)
    answer = budget.sql(SQL, caps="auto").release(PRICE, coins=mine)
    suggestion = budget.suggest(SQL, price=PRICE.share(REST)).release(PRICE.share(1 - REST), coins=theirs)
    assert answer.released.suggestion.counts == suggestion.released.counts  # type: ignore[attr-defined]
    query = answer.released.plan.query
    assert {"max_groups": query.max_groups, "max_rows_per_group": query.max_rows_per_group} == suggestion.options
    assert chosen(suggestion.released).max_groups == query.max_groups
    assert query == budget.sql(SQL, **suggestion.options).question.query


def test_it_is_kept_whole_and_shown_from_the_ledger(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    first = budget.sql(SQL, caps="auto").release(PRICE)
    monkeypatch.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("rows were read"))
    again = budget.sql(SQL, caps="auto").release(PRICE)
    shown = reopened(budget.ledger, 1)
    assert again.receipt.again
    assert first.table == again.table == shown.table
    assert first.to_dict()["chosen_caps"] == shown.to_dict()["chosen_caps"]
    assert len(budget.entries()) == 1


def test_an_interrupted_second_stage_is_lost_and_said_so(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(auto, "second", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            budget.sql(SQL, caps="auto").release(PRICE)
    for ask in (lambda: budget.sql(SQL, caps="auto").release(PRICE), lambda: reopened(budget.ledger, 1)):
        with pytest.raises(FileError, match="interrupted after its caps were chosen"):
            ask()
    assert len(budget.entries()) == 1
    assert not budget.sql(SQL, caps="auto").release(PRICE, fresh=True).receipt.again


def test_where_noise_hides_everybody_the_caps_of_the_description_stay(budget: Budget) -> None:
    answer = budget.sql(SQL, caps="auto").release(sitr.ZeroConcentratedDP(1e-8))
    assert answer.to_dict()["chosen_caps"]["chosen"] is False
    assert answer.to_dict()["caps"]["max_groups"] == 1
    assert "told nothing" in " ".join(str(answer).split())


def test_a_preview_says_which_caps_its_errors_are_for(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDB, "read", lambda *_, **__: pytest.fail("rows were read"))
    preview = budget.sql(SQL, caps="auto").preview(PRICE)
    assert preview.price == PRICE
    assert preview.errors() == budget.sql(SQL).preview(PRICE.share(REST)).errors()
    assert "errors here are for the caps of the description" in " ".join(str(preview).split())
    assert preview.to_dict()["chosen_caps"]["histograms"] is None
    assert budget.entries() == []


def test_what_does_not_go_together_is_refused(budget: Budget) -> None:
    asked = budget.sql(SQL, caps="auto")
    with pytest.raises(QuestionError, match="also max_groups"):
        budget.sql(SQL, caps="auto", max_groups=3)
    with pytest.raises(QuestionError, match="caps='best'"):
        budget.sql(SQL, caps="best")
    with pytest.raises(QuestionError, match="needs a price of its own"):
        budget.batch([asked])
    with pytest.raises(QuestionError, match="cannot be explained"):
        asked.explain(PRICE)
    for refused in (lambda: asked.preview(error={"n": 5}), lambda: asked.targets({"n": 5})):
        with pytest.raises(QuestionError, match="errors depend on the caps"):
            refused()
    assert budget.entries() == []


def test_released_rows_can_be_sorted_and_cut(budget: Budget) -> None:
    answer = budget.sql(SQL, caps="auto").sort("n", descending=True).limit(2).release(PRICE)
    assert answer.table.num_rows == 2
    assert answer.to_dict()["chosen_caps"]["chosen"]


@pytest.mark.parametrize("price", [sitr.ApproximateDP(4.0, 1e-6), sitr.ApproximateZeroConcentratedDP(0.5, 1e-6)])
def test_unknown_keys_and_prices_with_delta(price: sitr.ApproximateDP, tmp_path: Path) -> None:
    visits = sitr.protect(hospital(2_000), name="visits", unit="patient_id", max_groups=1, max_rows_per_group=1)
    budget = visits.budget(price * 2, ledger=tmp_path / "visits.db")
    answer = budget.sql(SQL, caps="auto").release(price)
    (entry,) = budget.entries()
    assert entry.price == price == answer.promise
    told = answer.to_dict()
    assert told["chosen_caps"]["chosen"]
    assert told["chosen_caps"]["price"]["delta"] == 0.0
    assert told["chosen_caps"]["rest"]["delta"] == 1e-6
    assert set(answer.table["ward"].to_pylist()) <= set(WARDS)
    assert reopened(budget.ledger, 1).table == answer.table
    assert "chosen privately" in " ".join(str(answer).split())
    answer.certificate(tmp_path / "page.html")
