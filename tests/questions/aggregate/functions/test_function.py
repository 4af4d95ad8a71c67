"""A new aggregate is one class: a mean, defined here, is asked, paid for, shown and reported like COUNT and SUM."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import sitr
from sitr.errors import ForbiddenConstruct
from sitr.noise.coins import TestCoins
from sitr.questions.aggregate.bind import Cells
from sitr.questions.aggregate.expressions.expression import Expression, Name, spelled
from sitr.questions.aggregate.functions.function import Arguments, BoundAggregate, Estimate
from sitr.questions.aggregate.functions.operators import Operators
from sitr.questions.aggregate.functions.registry import FUNCTIONS
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.term import Term, summed
from sitr.questions.aggregate.view import View
from sitr.session.budget import Budget
from sitr.session.kept import find

DRAWS = 5_000
WARDS = ["a", "b", "c"]

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")


@dataclass(frozen=True, slots=True)
class Ratio:
    """centre + sum/count, between the bounds. Where there may be no values, nothing but the bounds is known."""

    centre: Fraction
    low: Fraction
    high: Fraction

    def show(self, measured: Sequence[Estimate], /) -> Estimate:
        total, count = measured
        assert total.value is not None
        assert count.value is not None
        value = self._inside(total.value / max(count.value, Fraction(1)))
        if count.low <= 0:
            return Estimate(value, self.low, self.high)
        ends = [end / rows for end in (total.low, total.high) for rows in (count.low, count.high)]
        low, high = min(ends), max(ends)
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        return Estimate(value, self._inside(low), self._inside(high))

    def error(self, errors: Sequence[Fraction], /) -> Fraction:  # noqa: ARG002 - it depends on the count
        return self.high - self.low

    def _inside(self, ratio: Fraction) -> Fraction:
        return max(self.low, min(self.high, self.centre + ratio))


class ForgetsTheNoiseOfTheSum(Ratio):
    """The broken twin: the sum is taken for exact."""

    def show(self, measured: Sequence[Estimate], /) -> Estimate:
        total, count = measured
        assert total.value is not None
        return Ratio.show(self, [Estimate(total.value, total.value, total.value), count])


@dataclass(frozen=True, slots=True)
class Mean(Operators):
    """The sum of the differences from the middle of the bounds, over the number of values."""

    of: Expression

    function: ClassVar[str] = "AVG"
    forms: ClassVar[tuple[str, ...]] = ("AVG(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Mean | None:
        match arguments:
            case Arguments((of,), star=False, distinct=False):
                return cls(of)
        return None

    def sql(self) -> str:
        return f"AVG({spelled(self.of)})"

    def name(self) -> str:
        return f"avg_{spelled(self.of)}"

    def bound(self, view: View, /) -> BoundAggregate:
        of = view.typed(self.of)
        term = summed(of, function=self.function, table=view.name)
        assert term.quantised is not None
        lower, upper, unit = term.quantised.lower, term.quantised.upper, term.granularity
        centre = (lower + upper) // 2
        terms = (replace(term, centre=centre), Term(of))
        return BoundAggregate(Mean(of.expression), terms, Ratio(centre * unit, lower * unit, upper * unit))


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FUNCTIONS, "AVG", Mean)


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    rows = np.arange(3_000)
    cost = [None if row % 10 == 0 else float(row % 100) for row in rows]
    table = pa.table({"ward": [WARDS[row % 3] for row in rows], "cost": pa.array(cost, pa.float64())})
    keys, bounds = {"ward": WARDS}, {"cost": (0, 90)}
    data = sitr.protect(table, name="visits", unit=sitr.Row(), bounds=bounds, granularity={"cost": 0.5}, keys=keys)
    return data.budget(sitr.PureDP(10**6), ledger=tmp_path / "ledger.db")


SQL = "SELECT ward, AVG(cost) AS m, COUNT(cost) AS n, AVG(Cost) AS again FROM visits GROUP BY ward"


def exact_means() -> list[float]:
    every = [(row % 3, min(row % 100, 90)) for row in range(3_000) if row % 10]
    return [float(np.mean([cost for ward, cost in every if ward == place])) for place in range(3)]


def test_it_is_asked_in_sql_and_in_calls(budget: Budget) -> None:
    asked = budget.sql(SQL)
    called = budget.group_by("ward").agg(m=Mean(Name("cost")), n=sitr.count("cost"), again=Mean(Name("Cost")))
    assert asked.question == called.question
    assert asked.question.text() == SQL.replace("Cost", "cost")
    assert budget.sql("SELECT AVG(cost) FROM visits").question.text().startswith("SELECT AVG(cost) AS avg_cost")
    with pytest.raises(ForbiddenConstruct, match=r"AVG other than AVG\(column\)"):
        budget.sql("SELECT AVG(DISTINCT cost) FROM visits")
    with pytest.raises(sitr.SitrError, match="AVG needs a column of numbers"):
        budget.sql("SELECT AVG(ward) FROM visits")


def test_what_two_columns_share_is_measured_and_paid_once(budget: Budget) -> None:
    plan = budget.sql(SQL, bias="off").question.plan(sitr.PureDP(1))
    assert isinstance(plan, AggregatePlan)
    assert [each.name for each in plan.measurements] == ["SUM(cost - 45)", "COUNT(cost)"]
    assert [len(column.measured) for column in plan.columns] == [2, 1, 2]
    plan.check()
    spent = plan.mechanism.promise().epsilon  # type: ignore[union-attr]
    assert 0.999 < spent <= 1
    share = plan.measurements[1].mechanism.promise()
    alone = budget.sql("SELECT ward, COUNT(cost) AS n FROM visits GROUP BY ward", bias="off").question.plan(share)
    assert isinstance(alone, AggregatePlan)
    assert plan.columns[1].error() == alone.columns[0].error()


def test_without_noise_it_is_the_mean(budget: Budget) -> None:
    answer = budget.sql(SQL, bias="off").release(sitr.PureDP(10_000))
    assert answer.table["m"].to_pylist() == pytest.approx(exact_means())
    assert answer.table["again"].to_pylist() == answer.table["m"].to_pylist()
    assert answer.table["n"].to_pylist() == [900, 900, 900]
    assert len(budget.entries()) == 1


def test_every_report_shows_it(budget: Budget, tmp_path: Path) -> None:
    request, price = budget.sql(SQL, bias="off"), sitr.PureDP(1)
    preview, answer = request.preview(price), request.release(price, coins=TestCoins(5))
    assert preview.errors()["m"] == 90.0
    assert "AVG(cost)" in str(preview)
    for row, mean in zip(answer.intervals(confidence=0.9999).to_pylist(), exact_means(), strict=True):
        assert row["m_low"] <= mean <= row["m_high"]
        assert row["m_high"] - row["m_low"] < 5
    ends = answer.intervals().to_pylist()
    shown = answer.to_dict()
    assert json.loads(json.dumps(shown)) == shown
    assert [each["name"] for each in shown["columns"][0]["measured"]] == ["SUM(cost - 45)", "COUNT(cost)"]
    assert [row["values"][0]["low"] for row in shown["rows"]] == [row["m_low"] for row in ends]
    lines = [line.partition(":")[0] for line in shown["words"]["checks"]]
    assert lines == ["SUM(cost - 45)", "COUNT(cost)", "together"]
    page = answer.certificate(tmp_path / "page.html").read_text()
    assert "AVG(cost)" in page
    assert "SUM(cost - 45)" in page
    assert answer.plot(tmp_path / "chart.svg").read_text().startswith("<svg")
    assert "±" in str(answer)
    assert "m" in answer.table.schema.names
    kept = find(budget.ledger, answer.receipt.entry)
    assert kept is not None
    assert kept.released(request.question.plan(price)).table() == answer.released.table()


def held(plan: AggregatePlan, confidence: float) -> tuple[int, list[float], list[float]]:
    """How many of many intervals hold the exact mean, the errors and the half-widths."""
    cells: Cells = {(key,): (40 * (200 + key % 97), 200 + key % 97, 1) for key in range(DRAWS)}  # 4 above the middle
    release = AggregateQuestion(plan.query).answer(plan, cells, coins=TestCoins(11))
    found = release.estimates(plan.columns[0], confidence=confidence)
    holding = sum(one.low <= 9 <= one.high for one in found)
    values = [one.value for one in found if one.value is not None]
    assert len(values) == len(found)
    return holding, [float(abs(value - 9)) for value in values], [float((one.high - one.low) / 2) for one in found]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("price", [sitr.PureDP(1), sitr.ZeroConcentratedDP(0.1)], ids=repr)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_hold_the_mean_as_often_as_they_say(
    plan: Callable[..., AggregatePlan], price: sitr.PureDP, confidence: float
) -> None:
    """The exact binomial tail leaves a sound interval a chance of 10⁻⁷; the twin falls out of it."""
    sql = "SELECT days, AVG(cost) AS m FROM visits GROUP BY days"
    fitted = plan(sql, price=price, keys={"days": range(DRAWS)}, max_groups=1)
    holding, errors, widths = held(fitted, confidence)
    assert binom.cdf(holding, DRAWS, confidence) > 1e-7
    assert np.median(widths) < 2 * np.quantile(errors, confidence)  # the other side: not idly wide
    (column,) = fitted.query.columns
    ratio = column.formula
    assert isinstance(ratio, Ratio)
    broken = replace(column, formula=ForgetsTheNoiseOfTheSum(ratio.centre, ratio.low, ratio.high))
    twin = replace(fitted, query=replace(fitted.query, columns=(broken,)))
    assert binom.cdf(held(twin, confidence)[0], DRAWS, confidence) < 1e-7


@pytest.mark.parametrize("count", [-5, 0, 1, 10**30])
@pytest.mark.parametrize("total", [-(10**40), 0, 10**40])
def test_no_noise_makes_it_fail(plan: Callable[..., AggregatePlan], total: int, count: int) -> None:
    (column,) = plan("SELECT AVG(cost) AS m FROM visits").columns
    (shown,) = column.estimates([(total, count)])
    assert shown.value is not None
    assert 0 <= shown.low <= shown.value <= shown.high <= 10
    assert shown.error <= column.width(0.95)


@dataclass(frozen=True, slots=True)
class Tenths:
    """A sum clamped to a tenth of the bounds: a second term of the same column, with the same name as SUM."""

    of: Expression

    function: ClassVar[str] = "MAX"
    forms: ClassVar[tuple[str, ...]] = ("MAX(column)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Tenths | None:
        return cls(*arguments.expressions)

    def sql(self) -> str:
        return f"MAX({spelled(self.of)})"

    def name(self) -> str:
        return "tenths"

    def bound(self, view: View, /) -> BoundAggregate:
        term = summed(view.typed(self.of), function=self.function, table=view.name)
        assert term.quantised is not None
        narrow = replace(term.quantised, upper=term.quantised.upper // 10)
        return BoundAggregate(self, (replace(term, quantised=narrow),))


def reach(term: Quantity) -> tuple[int, int]:
    assert isinstance(term, Term)
    return term.reach


@pytest.mark.parametrize("order", [("MAX", "SUM"), ("SUM", "MAX")])
def test_terms_of_one_name_keep_their_own_noise(
    budget: Budget, monkeypatch: pytest.MonkeyPatch, order: tuple[str, str]
) -> None:
    monkeypatch.setitem(FUNCTIONS, "MAX", Tenths)
    first, second = (f"{function}(cost) AS {function.lower()}" for function in order)
    plan = budget.sql(f"SELECT {first}, {second} FROM visits").preview(sitr.PureDP(0.5)).plan
    assert isinstance(plan, AggregatePlan)
    for noisy in plan.noisy:
        low, high = reach(noisy.term)
        assert noisy.distance.largest == noisy.noise.sensitivity == max(high, -low)
    assert {column.name: reach(column.measured[0].term)[1] for column in plan.columns} == {
        each.lower(): plan.columns[place].measured[0].distance.largest for place, each in enumerate(order)
    }
