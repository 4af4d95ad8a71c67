"""From errors to prices and back, with whole fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sitr
from sitr.errors import QuestionError, UnknownName
from sitr.flavors.arrows import Additive
from sitr.noise.coins import TestCoins
from sitr.plans.prices import amount, with_amount
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset

SQL = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
MEAN = "SELECT ward, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
BUDGETS = [
    sitr.ZeroConcentratedDP(0.5),
    sitr.PureDP(2.0),
    sitr.ApproximateDP(2.0, 1e-6),
    sitr.ApproximateZeroConcentratedDP(0.5, 1e-6),
]


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(sitr.ZeroConcentratedDP(0.5), ledger=tmp_path / "sitr.db")


def less(price: Any) -> Additive:
    """2.5% less: rounding to three digits adds up to 1%, and errors are whole numbers of granules."""
    return with_amount(price, 0.975 * amount(price))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("promise", BUDGETS, ids=repr)
def test_the_price_for_an_error_is_enough_and_hardly_more(visits: Dataset, tmp_path: Path, promise) -> None:
    question = visits.budget(promise, ledger=tmp_path / "sitr.db").sql(SQL)
    for error in ({"n": 100}, {"n": 1000, "total": 150_000}):
        preview = question.preview(error=error)
        price = question.price_for(error)
        assert type(price) is type(promise)
        assert all(preview.errors()[name] <= wanted for name, wanted in error.items())
        cheaper = question.preview(less(price)).errors()
        assert any(cheaper[name] > wanted for name, wanted in error.items())


def test_a_price_above_the_budget_is_found_too(budget: Budget) -> None:
    preview = budget.sql(SQL).preview(error={"n": 1})
    assert preview.errors()["n"] <= 1
    assert "cannot pay" in str(preview)


def test_an_error_can_be_a_share_of_a_public_size(budget: Budget) -> None:
    question = budget.sql(SQL)
    assert question.price_for({"n": "1%"}, size={"n": 20_000}) == question.price_for({"n": 200})
    assert question.price_for({"n": "50"}) == question.price_for({"n": 50})
    with pytest.raises(QuestionError, match="share of its size, which is not known"):
        question.price_for({"n": "1%"})


def test_the_size_of_an_earlier_answer_is_used(budget: Budget) -> None:
    """The median over the groups of the kept answer. A test answer protects nobody, so it is not used."""
    question = budget.sql(SQL)
    with pytest.warns(sitr.errors.NotPrivate):
        question.release(rho=0.01, coins=TestCoins(1))
    with pytest.raises(QuestionError, match="not known"):
        question.price_for({"n": "10%"})
    answer = question.release(rho=0.2)
    middle = sorted(answer["n"])[1]
    assert question.price_for({"n": "10%"}) == question.price_for({"n": float(middle) / 10})
    assert question.price_for({"n": "10%"}, size={"n": 900}) == question.price_for({"n": 90})
    with pytest.raises(QuestionError, match="not known"):  # another question has other sizes
        budget.sql("SELECT COUNT(*) AS n FROM visits").price_for({"n": "10%"})


def test_the_error_of_a_mean_needs_rows(budget: Budget) -> None:
    question = budget.sql(MEAN)
    with pytest.raises(QuestionError, match="depends on the number of rows"):
        question.price_for({"mean": 100})
    price = question.price_for({"mean": 100}, rows=2_000)
    assert question.preview(price).errors(rows=2_000)["mean"] <= 100
    assert question.preview(less(price)).errors(rows=2_000)["mean"] > 100


def test_an_error_that_no_price_reaches_is_refused_in_words(budget: Budget) -> None:
    with pytest.raises(
        QuestionError, match=r"No price brings the error of total to 1e-06: even at zcdp\(rho=10000\.0\)"
    ):
        budget.sql(SQL).price_for({"total": 1e-6})


@pytest.mark.parametrize(
    ("how", "error", "match"),
    [
        ({"error": {"m": 3}}, UnknownName, "no column 'm'"),
        ({"error": {"n": "1%"}, "size": {"nn": 3}}, UnknownName, "Did you mean 'n'"),
        ({"error": {}}, QuestionError, "at least one column"),
        ({"error": {"n": 0}}, QuestionError, "a number above 0 for the error of n"),
        ({"error": {"n": -1}}, QuestionError, "a number above 0"),
        ({"error": {"n": "x%"}}, QuestionError, "a number above 0"),
        ({"error": {"n": float("nan")}}, QuestionError, "a number above 0"),
        ({"error": {"n": "1%"}, "size": {"n": 0}}, QuestionError, "the size of n"),
        ({"error": {"n": 1}, "rho": 0.1}, QuestionError, "either a price or an error"),
        ({"error": {"n": 1}, "price": "zcdp(0.1)"}, QuestionError, "either a price or an error"),
        ({"error": {"n": 1}, "delta": 1e-6}, QuestionError, "has no δ"),
        ({"price": "zcdp(0.1)", "rows": 10}, QuestionError, "size and rows together with error"),
        ({"error": {"n": 1}, "rows": 0}, QuestionError, "a whole number of rows"),
    ],
)
def test_mistakes_are_refused(budget: Budget, how: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        budget.sql(SQL).preview(**how)
    assert budget.entries() == []


def test_a_preview_shows_other_prices(budget: Budget) -> None:
    preview: Any = budget.sql(SQL).preview(rho=0.2)
    assert [each.price.rho for each in preview.prices()] == [0.05, 0.1, 0.2, 0.4, 0.5]
    errors = [each.errors()["n"] for each in preview.prices()]
    assert errors == sorted(errors, reverse=True)
    assert errors[2] == preview.errors()["n"]
    for each in preview.prices():
        assert each.errors() == budget.sql(SQL).preview(each.price).errors()
    told = preview.to_dict()["prices"]
    assert [one["price"]["rho"] for one in told] == [0.05, 0.1, 0.2, 0.4, 0.5]
    assert [one["asked"] for one in told] == [False, False, True, False, False]
    assert [one["errors"][0]["error"] for one in told] == errors
    text, page = " ".join(str(preview).split()), preview._repr_html_()
    assert "ρ = 0.2 (this price)" in text
    assert "ρ = 0.5 (all that is left)" in text
    assert "ρ = 0.5 (all that is left)" in page
    with sitr.language.speaking(sitr.language.Language.ARABIC):
        assert "هذا الثمن" in str(budget.sql(SQL).preview(rho=0.2))


def test_prices_of_an_approximate_budget_may_use_its_delta(visits: Dataset, tmp_path: Path) -> None:
    """At the asked price, pure noise may be better, and Gaussian noise at another one: δ is offered for all."""
    budget = visits.budget(sitr.ApproximateDP(20.0, 1e-3), ledger=tmp_path / "sitr.db")
    question = budget.sql(SQL)
    preview = question.preview(epsilon=4.0, delta=1e-9)
    for each, epsilon in zip(preview.prices(), (1.0, 2.0, 4.0, 8.0, 16.0), strict=True):
        assert each.errors() == question.preview(epsilon=epsilon, delta=1e-9).errors()


def test_histograms_have_prices_too(budget: Budget) -> None:
    question = budget.histogram("cost", bins=5)
    preview = question.preview(rho=0.1)
    assert "(this price)" in str(preview)
    price = question.price_for({"count": 20})
    assert question.preview(price).errors()["count"] <= 20 < question.preview(less(price)).errors()["count"]


def test_a_mechanism_with_a_fixed_promise_has_one_price(everything: dict[str, Any]) -> None:
    preview = everything["statistic preview"]
    assert [each.price for each in preview.prices()] == [preview.price]
    assert "this price" not in str(preview)
