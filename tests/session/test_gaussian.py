"""Gaussian budgets in ledgers: squares of μ add, however questions are chosen, and only what keeps a μ is paid."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import sitr
from sitr.audit.checker.sitr_check import check
from sitr.errors import BudgetExceeded, IncompatiblePromises, InvalidPromise, QuestionError, SitrError
from sitr.language import Language, speaking
from sitr.ledger.sql import SqlLedger
from sitr.loss.loss import Loss
from sitr.mechanisms.gaussian import Gaussian
from sitr.mechanisms.laplace import Laplace
from sitr.mechanisms.mechanism import Mechanism
from sitr.mechanisms.rounded_gaussian import RoundedGaussian
from sitr.plans.plan import Measurement, Plan
from sitr.report.words.messages import error_text
from sitr.session.budget import Budget
from sitr.session.dataset import Dataset

WARDS = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
ALL = "SELECT COUNT(*) AS n FROM visits"
PROMISE = sitr.GaussianDP(1.0)


@pytest.fixture
def budget(visits: Dataset, tmp_path: Path) -> Budget:
    return visits.budget(PROMISE, ledger=tmp_path / "sitr.db")


def test_squares_add_and_the_stop_is_exact(budget: Budget, tmp_path: Path) -> None:
    for mu in (0.5, 0.5, 0.5):
        budget.sql(WARDS).release(sitr.GaussianDP(mu), fresh=True)
    assert budget.standing().paid == (Fraction(3, 4),)
    assert budget.remaining() == sitr.GaussianDP(0.5)
    with pytest.raises(BudgetExceeded):
        budget.sql(WARDS).release("gaussian(0.5000000000000001)", fresh=True)
    budget.tables(["ward"]).release("gaussian(0.5)")
    with pytest.raises(BudgetExceeded):
        budget.ask(ALL, "pure(1e-100)")
    assert SqlLedger(tmp_path / "sitr.db").check("visits").paid == (Fraction(1),)
    assert SqlLedger(tmp_path / "sitr.db").examine().sound


def test_the_noise_is_real_gaussian_noise_and_keeps_the_price(budget: Budget) -> None:
    plan = budget.sql(WARDS).question.plan(sitr.GaussianDP(0.5))
    assert {type(each.mechanism) for each in plan.measurements} == {RoundedGaussian}
    assert plan.promise().covers(sitr.GaussianDP(0.5))
    assert isinstance(loss := plan.loss(), Loss)
    assert 0.4999 < loss.mu().lower <= loss.mu().upper < 0.5001  # and no noise is wasted


@pytest.mark.parametrize("noise", [Gaussian(sigma=4), Laplace(scale=4)])
def test_a_plan_with_other_noise_keeps_no_gaussian_price_by_its_parameter(noise: Mechanism) -> None:
    """Gaussian noise on the integers has ρ = μ²/2, and still no such μ."""
    right = Plan((Measurement("n", RoundedGaussian(sigma=4)),), sitr.GaussianDP(0.25), "n")
    right.check()
    wrong = Plan((Measurement("n", noise),), sitr.GaussianDP(0.25), "n")
    with pytest.raises(InvalidPromise):
        wrong.check()


def test_a_pure_price_costs_the_mu_of_randomized_response(budget: Budget) -> None:
    answer = budget.ask("SELECT MEDIAN(cost) AS m FROM visits", "pure(0.25)")
    assert answer.receipt.entry.price == sitr.PureDP(0.25).to_gaussian()
    assert budget.standing().paid == sitr.PureDP(0.25).to_gaussian().coordinates()
    found = budget.in_advance()
    assert found is not None
    assert found.known == 1
    assert found.epsilon is not None
    assert found.epsilon <= 0.25  # the plan says that it was pure


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda at: at.ask(ALL, "zcdp(0.01)"), IncompatiblePromises),
        (lambda at: at.ask(ALL, "approximate(0.1, 1e-9)"), IncompatiblePromises),
        (lambda at: at.ask("SELECT MEDIAN(cost) AS m FROM visits", "gaussian(0.1)"), QuestionError),
        (lambda at: at.histogram("cost", bins=4).release("gaussian(0.1)"), QuestionError),
        (lambda at: at.batch([at.sql(ALL), at.sql(WARDS)]).release("gaussian(0.1)"), QuestionError),
        (lambda at: at.suggest(ALL).release("gaussian(0.1)"), QuestionError),
        (lambda at: at.sql(ALL, caps="auto").release("gaussian(0.1)"), QuestionError),
        (lambda at: at.synthesize(columns=["ward"]).release("gaussian(0.1)"), QuestionError),
    ],
)
def test_what_keeps_no_mu_is_refused_and_the_refusal_says_what_works(
    budget: Budget, ask: Callable[[Budget], object], error: type[SitrError]
) -> None:
    with pytest.raises(error, match=r"pure\((0\.1|ε)\)") as refused:
        ask(budget)
    with speaking(Language.ARABIC):
        assert "ادفع بالصيغة" in error_text(refused.value) or "اكتب مثلًا" in error_text(refused.value)
    assert budget.standing().charges == 0


def test_a_gaussian_price_can_be_paid_by_a_zero_concentrated_budget(visits: Dataset, tmp_path: Path) -> None:
    budget = visits.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path / "sitr.db")
    assert budget.ask(WARDS, "gaussian(0.5)").receipt.entry.price == sitr.ZeroConcentratedDP(0.125)
    with pytest.raises(IncompatiblePromises):
        visits.budget(sitr.RandomDP(PROMISE, 0.1), ledger=tmp_path / "other.db")


def test_a_divided_gaussian_budget_adds_squares(budget: Budget) -> None:
    budget.allot("ana", sitr.GaussianDP(0.5))
    ana = budget.account("ana")
    ana.ask(WARDS, "gaussian(0.3)")
    assert ana.remaining() == sitr.GaussianDP(0.4)
    with pytest.raises(BudgetExceeded):
        ana.ask(ALL, "gaussian(0.41)")
    assert budget.standing().spent() == sitr.GaussianDP(0.3)


@pytest.mark.parametrize("language", list(Language))
def test_certificates_of_gaussian_budgets_can_be_derived_again(
    budget: Budget, tmp_path: Path, language: Language
) -> None:
    budget.ask(ALL, "pure(0.2)")
    answers = [budget.ask(WARDS, "gaussian(0.3)"), budget.tables(["ward"]).release("gaussian(0.4)")]
    with speaking(language):
        pages = [each.certificate(tmp_path / f"{place}.html") for place, each in enumerate(answers)]
    for page in pages:
        rows = check(page.read_text()).rows
        assert [row for row in rows if row[3] != "agrees"] == []
        assert any("mu² charged" in row[0] for row in rows)
    altered, times = re.subn(r'(mu(?:&quot;|&#34;|"): ?)0\.3\b', r"\g<1>0.29", pages[0].read_text())
    assert times
    assert any(row[3] == "DIFFERS" for row in check(altered).rows)
    assert ("Gaussian differential privacy" if language is Language.ENGLISH else "الغاوسية") in pages[0].read_text()
