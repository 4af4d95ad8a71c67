"""A mechanism on a column: everything that is public is checked before the charge, and nothing is told after it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sitr
from sitr.errors import (
    BackendFailure,
    BudgetExceeded,
    DescriptionError,
    FileError,
    IncompatiblePromises,
    NotKept,
    QuestionError,
    UnknownName,
)
from sitr.flavors.random import Basis
from sitr.ledger.sql import SqlLedger
from sitr.mechanisms.proposed import ProposeTestRelease
from sitr.mechanisms.sample_and_aggregate import SampleAndAggregate
from sitr.mechanisms.smooth import SmoothNoise
from sitr.noise.coins import Coins, TestCoins
from sitr.sensitivity import median, propose_test_release, smooth, trimmed_mean
from sitr.session.budget import Budget
from sitr.session.reopened import reopened

PEOPLE = 40
PRICE = sitr.RandomDP(sitr.PureDP(0.5), 0.05, parts=(("newcomer", 0.04), ("gate", 0.01)))
PROMISE = sitr.RandomDP(sitr.PureDP(1.0), 0.1)


def smoothed(statistic: Any) -> SmoothNoise:
    return SmoothNoise.fitting(sitr.PureDP(0.5), sensitivity=smooth(statistic, bounds=(0, 1)))


def proposed(statistic: Any) -> ProposeTestRelease:
    rule = propose_test_release(statistic, proposal=1, bounds=(0, 1))
    return ProposeTestRelease.fitting(sitr.ApproximateDP(0.5, 1e-6), sensitivity=rule)


@dataclass(frozen=True)
class Rule:
    """A rule for so many people."""

    size: int = PEOPLE


@dataclass(frozen=True)
class Total:
    """Stands for a mechanism: it tells the sum as it is, and remembers what it was given."""

    price: Any = PRICE
    sensitivity: Any = field(default_factory=Rule)
    relation: Any = sitr.Relation.REPLACE_ONE
    seen: list[Any] = field(default_factory=list, repr=False, compare=False)
    fails: bool = False

    def promise(self) -> Any:
        return self.price

    def loss(self) -> Any:
        raise NotImplementedError

    def release(self, values: Any, *, coins: Coins | None = None) -> Fraction:
        assert coins is not None
        self.seen.append(values.tolist())
        if self.fails:
            raise ValueError(f"the largest value is {max(values)}")
        return Fraction(values.sum())

    def error(self, values: Any, *, confidence: Any = 0.95) -> Any:
        """It depends on the values."""
        raise AssertionError(values, confidence)


@pytest.fixture
def open_budget(tmp_path: Path) -> Callable[..., Budget]:
    def made(promise: Any = PROMISE, *, unit: Any = None, relation: Any = sitr.Relation.REPLACE_ONE) -> Budget:
        costs = [None if row == 3 else float("nan") if row == 4 else float(row) for row in range(PEOPLE)]
        table = {"person": range(PEOPLE), "cost": pa.array(costs, pa.float64()), "ward": ["A"] * PEOPLE}
        pq.write_table(pa.table(table), tmp_path / "costs.parquet")
        caps: dict[str, Any] = {"max_groups": 1, "max_rows_per_group": 1} if isinstance(unit, str) else {}
        data = sitr.protect(tmp_path / "costs.parquet", unit=unit or sitr.Row(), relation=relation, **caps)
        return data.budget(promise, ledger=tmp_path / "ledger.db")

    return made


def test_the_charge_is_made_and_the_column_is_given_in_order(open_budget: Callable[..., Budget]) -> None:
    budget, mechanism = open_budget(), Total()
    released = budget.release(mechanism, column="cost", missing=50)
    (seen,) = mechanism.seen
    assert seen == [50.0 if row in (3, 4) else float(row) for row in range(PEOPLE)]
    assert released.value == sum(range(PEOPLE)) - 7 + 100
    assert released.promise == PRICE
    assert isinstance(released.promise, sitr.RandomDP)
    assert released.promise.parts == PRICE.parts
    assert released.private
    (entry,) = budget.entries()
    assert (entry.price, entry) == (PRICE, released.receipt.entry)
    assert entry.question.startswith("cost: Total(")
    assert budget.remaining() == sitr.RandomDP(sitr.PureDP(0.5), 0.0)


def test_the_charge_is_durable_before_the_column_is_read(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    entries: list[int] = []

    class Watching(Total):
        def release(self, values: Any, *, coins: Coins | None = None) -> Fraction:
            entries.append(len(budget.entries()))
            return super().release(values, coins=coins)

    budget.release(Watching(), column="cost")
    assert entries == [1]


def test_the_papers_say_what_it_is(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    released = open_budget().release(Total(), column="cost", coins=TestCoins(1))
    assert not released.private
    shown = " ".join(str(released).split())
    assert "γ = 0.05 (newcomer 0.04, gate 0.01), finite-sample" in shown
    assert "Assumes exchangeable data; protects a random newcomer, not every person" in shown
    assert "NOT PRIVATE" in shown
    page = released.certificate(tmp_path / "page.html").read_text("utf-8")
    assert "γ = 0.05 (newcomer 0.04, gate 0.01), finite-sample" in page
    assert "protects a random newcomer, not every person" in page
    assert "closed" in page  # what is left of γ
    told = json.loads(json.dumps(released.to_dict(), allow_nan=False))
    assert told["promise"]["parts"] == {"newcomer": 0.04, "gate": 0.01}
    assert told["promise"]["basis"] == "finite-sample"
    assert told["budget"]["before"]["spent"]["gamma"] == 0.0
    assert told["budget"]["before"]["remaining"]["gamma"] == 0.1
    assert told["budget"]["after"]["spent"]["gamma"] == 0.05
    assert told["budget"]["after"]["remaining"]["gamma"] == 0.0
    assert told["value"]["exact"] == str(released.value)


def test_the_papers_show_what_is_exposed_outright(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    """Both tests may be passed that should not be; the δ of smooth noise is a finite tail."""
    budget, test = open_budget(sitr.ApproximateDP(9.0, 1e-3)), proposed(median)
    smooth_noise = SmoothNoise.fitting(sitr.ApproximateDP(0.5, 1e-6), sensitivity=smooth(median, bounds=(0, 1)))
    twice = budget.release(sitr.Composed((test, smooth_noise, test)), column="cost")
    assert twice.to_dict()["delta"]["infinite_mass"] == pytest.approx(2 * test.exposed())
    assert 0 < test.exposed() < 1e-6
    for text in (str(twice), twice.certificate(tmp_path / "page.html").read_text("utf-8")):
        assert "the answer may protect nobody" in " ".join(text.split())
    once = budget.release(smooth_noise, column="cost")
    assert once.to_dict()["delta"]["infinite_mass"] == 0.0
    assert "hide nobody" not in str(once)


def test_a_plan_fixed_in_advance_is_one_charge(open_budget: Callable[..., Budget]) -> None:
    budget, parts = open_budget(), (Total(), Total(sitr.PureDP(0.25)))
    released = budget.release(sitr.Composed(parts), column="cost")
    assert released.value == (sum(range(PEOPLE)) - 7,) * 2
    assert [entry.price for entry in budget.entries()] == [sitr.RandomDP(sitr.PureDP(0.75), 0.05)]


def test_after_it_questions_may_be_chosen_and_a_second_random_release_may_not(
    open_budget: Callable[..., Budget],
) -> None:
    budget, second = open_budget(), Total()
    budget.release(Total(), column="cost")
    answer = budget.agg(n=sitr.count()).release(sitr.PureDP(0.1))
    assert "γ = 0 of ε = 1, γ = 0.1, finite-sample" in " ".join(str(answer).split())
    assert "protects a random newcomer, not every person" in " ".join(str(answer).split())
    assert "random newcomer" in json.dumps(answer.to_dict()["budget"])
    with pytest.raises(IncompatiblePromises, match="as the first charge"):
        budget.release(second, column="cost")
    budget.release(Total(sitr.PureDP(0.1)), column="cost")
    assert second.seen == []
    assert len(budget.entries()) == 3


@pytest.mark.parametrize(
    ("mechanism", "arguments", "error"),
    [
        (Total(sensitivity=Rule(39)), {"column": "cost"}, QuestionError),
        (Total(relation=sitr.Relation.ADD_REMOVE), {"column": "cost"}, QuestionError),
        (Total(relation=None), {"column": "cost"}, QuestionError),
        (sitr.Laplace(scale=10), {"column": "cost"}, QuestionError),
        (sitr.Composed((Total(), sitr.Laplace(scale=10))), {"column": "cost"}, QuestionError),
        (object(), {"column": "cost"}, QuestionError),
        (smoothed(trimmed_mean(0.5)), {"column": "cost"}, QuestionError),  # leaves nobody of an even number
        (proposed(trimmed_mean(0.5)), {"column": "cost"}, QuestionError),
        (Total(), {"column": "prize"}, UnknownName),
        (Total(), {"column": "ward"}, QuestionError),
        (Total(), {"column": "cost", "missing": float("nan")}, QuestionError),
        (Total(), {"column": "cost", "missing": True}, QuestionError),
        (Total(sitr.RandomDP(sitr.PureDP(0.5), 0.2)), {"column": "cost"}, BudgetExceeded),
        (Total(sitr.RandomDP(sitr.PureDP(0.5), 0.01, Basis.ASYMPTOTIC)), {"column": "cost"}, IncompatiblePromises),
    ],
)
def test_what_is_wrong_in_public_costs_nothing(
    open_budget: Callable[..., Budget], mechanism: Any, arguments: dict[str, Any], error: type[Exception]
) -> None:
    budget = open_budget()
    with pytest.raises(error):
        budget.release(mechanism, **arguments)
    assert budget.entries() == []
    assert getattr(mechanism, "seen", []) == []


@pytest.mark.parametrize(
    ("unit", "relation"),
    [(None, sitr.Relation.ADD_REMOVE), ("person", sitr.Relation.REPLACE_ONE), ("person", sitr.Relation.ADD_REMOVE)],
)
def test_other_neighbours_are_refused(open_budget: Callable[..., Budget], unit: Any, relation: Any) -> None:
    budget = open_budget(sitr.PureDP(1.0), unit=unit, relation=relation)
    with pytest.raises(QuestionError, match="neighbours replace one row"):
        budget.release(Total(sitr.PureDP(0.5)), column="cost")
    assert budget.entries() == []


def test_a_budget_with_gamma_is_about_those_who_are_replaced(open_budget: Callable[..., Budget]) -> None:
    with pytest.raises(DescriptionError, match="replace one person"):
        open_budget(relation=sitr.Relation.ADD_REMOVE)


def test_a_budget_without_gamma_refuses_a_random_mechanism(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget(sitr.PureDP(1.0))
    with pytest.raises(IncompatiblePromises, match="has no γ"):
        budget.release(Total(), column="cost")
    assert budget.entries() == []
    assert budget.release(Total(sitr.PureDP(0.5)), column="cost").promise == sitr.PureDP(0.5)


def test_what_a_mechanism_says_of_the_data_is_withheld(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget()
    with pytest.raises(BackendFailure, match="withheld") as failure:
        budget.release(Total(fails=True), column="cost")
    assert "39" not in str(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None
    for frame, _ in traceback.walk_tb(failure.value.__traceback__):
        if "sitr/session" in frame.f_code.co_filename:
            assert not any(isinstance(value, np.ndarray) for value in frame.f_locals.values())
    assert len(budget.entries()) == 1  # the data were touched


# The same as every answer


def test_a_preview_reads_no_column_and_spends_nothing(open_budget: Callable[..., Budget]) -> None:
    budget, mechanism = open_budget(), Total()
    request = budget.statistic(mechanism, column="cost")
    preview = request.preview(PRICE)
    assert preview.price == PRICE
    assert "newcomer 0.04" in " ".join(str(preview).split())
    assert "left now" in preview._repr_html_()
    assert preview.to_dict()["kind"] == "preview of statistic"
    assert mechanism.seen == budget.entries() == []
    with pytest.raises(QuestionError, match="pays for what the mechanism promises"):
        request.preview(sitr.RandomDP(sitr.PureDP(0.4), 0.05))


def test_no_more_than_the_promise_is_charged(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget(sitr.PureDP(1.0))
    budget.statistic(Total(sitr.PureDP(0.25)), column="cost").release(sitr.PureDP(0.5))
    assert [entry.price for entry in budget.entries()] == [sitr.PureDP(0.25)]


def test_the_table_has_a_row_for_each_part(open_budget: Callable[..., Budget], tmp_path: Path) -> None:
    budget = open_budget(sitr.ApproximateDP(9.0, 1e-3))
    answer = budget.release(sitr.Composed((proposed(median), smoothed(median))), column="cost")
    assert answer.table.column_names == ["part", "mechanism", "value"]
    assert answer.table["mechanism"].to_pylist() == ["ProposeTestRelease", "SmoothNoise"]
    assert answer.table["value"].to_pylist() == [None if value is None else float(value) for value in answer.value]
    assert len(answer.to_pandas()) == 2
    assert answer.loss is None
    assert answer.plot(tmp_path / "a.svg").read_text("utf-8").startswith("<svg")
    assert "SmoothNoise" in answer._repr_html_()


def test_intervals_where_the_error_does_not_depend_on_the_data(open_budget: Callable[..., Budget]) -> None:
    budget, test = open_budget(sitr.ApproximateDP(99.0, 0.5)), passing(median)
    answer = budget.release(test, column="cost", coins=TestCoins(1))
    (row,) = answer.intervals(confidence=0.9).to_pylist()
    far = float(test.error(confidence=0.9))
    assert answer.errors(confidence=0.9) == {"value": pytest.approx(far)}
    assert row["value_high"] - row["value"] == pytest.approx(far) == row["value"] - row["value_low"]
    smooth_noise = budget.release(smoothed(median), column="cost")
    for ask in (smooth_noise.intervals, smooth_noise.errors):
        with pytest.raises(QuestionError, match="depends on the data"):
            ask()


def passing(statistic: Any) -> ProposeTestRelease:
    """Its test is passed by any data."""
    rule = propose_test_release(statistic, proposal=100, bounds=(0, 1))
    return ProposeTestRelease.fitting(sitr.ApproximateDP(8.0, 0.01), sensitivity=rule)


def test_a_kept_value_is_returned_at_no_charge(open_budget: Callable[..., Budget]) -> None:
    budget = open_budget(sitr.ApproximateDP(99.0, 0.5))
    mechanism = sitr.Composed((passing(median), proposed(median)))
    answer, again = (budget.release(mechanism, column="cost", missing=0.5) for _ in range(2))
    assert again.receipt.again
    assert again.value == answer.value
    assert len(budget.entries()) == 1
    assert not budget.release(mechanism, column="cost").receipt.again
    assert not budget.release(mechanism, column="cost", fresh=True).receipt.again
    assert len(budget.entries()) == 3


def test_a_function_of_your_own_is_asked_anew_every_time(open_budget: Callable[..., Budget]) -> None:
    """Two functions of one name are two questions, and no file can hold a function."""
    budget = open_budget(sitr.ApproximateDP(99.0, 0.5))
    mechanism = Total(sitr.PureDP(0.5))
    for paid in (1, 2):
        answer = budget.release(mechanism, column="cost")
        assert not answer.receipt.again
        assert answer.receipt.kept is not None
        assert len(budget.entries()) == paid
    assert isinstance(budget.ledger, SqlLedger)
    with pytest.raises(FileError, match="can be shown from the ledger alone"):
        reopened(budget.ledger, 1)


def test_a_value_that_cannot_be_stored_is_not_lost(open_budget: Callable[..., Budget]) -> None:
    class Odd(Total):
        def release(self, *_: Any, **__: Any) -> Any:
            return {"no": "number"}

    with pytest.warns(NotKept):
        answer = open_budget().release(Odd(), column="cost")
    assert answer.value == {"no": "number"}
    with pytest.raises(QuestionError, match="other than a number"):
        _ = answer.table


def test_any_function_of_the_values(tmp_path: Path) -> None:
    """Sample and aggregate through the door: charged what the median promises, and refused with too few people."""
    rows = pa.table({"x": np.random.default_rng(8).normal(50, 5, 4_000).clip(0, 100)})
    data = sitr.protect(rows, name="t", unit=sitr.Row(), relation=sitr.Relation.REPLACE_ONE)
    budget = data.budget(sitr.PureDP(20.0), ledger=tmp_path / "any.db")

    def skewness(block: Any) -> float:
        return float(50 + 10 * np.mean(((block - block.mean()) / block.std()) ** 3))

    price = sitr.PureDP(10.0)
    wanted = SampleAndAggregate.fitting(price, function=skewness, blocks=200, bounds=(0, 100), granularity=0.01)
    answer = budget.release(wanted, column="x")
    assert answer.promise == price == budget.entries()[0].price
    assert abs(answer.value - 50) < 5
    assert "skewness" in budget.entries()[0].question
    many = SampleAndAggregate.fitting(price, function=skewness, blocks=5_000, bounds=(0, 100))
    with pytest.raises(QuestionError, match="at least one person for each of 5000 blocks"):
        budget.release(many, column="x")
    assert len(budget.entries()) == 1
