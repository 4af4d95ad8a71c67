from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest

from sitr.accounting.filter import Filter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.ledger.entry import Entry
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Measurement
from sitr.questions.statistic.numbers import Numbers
from sitr.questions.statistic.question import StatisticPlan, StatisticRelease
from sitr.report.chart.budget import budget_bar
from sitr.report.headline import Headline
from sitr.report.page import html
from sitr.report.statistic import answer
from sitr.report.text.terminal import as_text, render
from sitr.report.words.english.english import ENGLISH

PRICE = RandomDP(ApproximateDP(0.5, 1e-7), 0.04, Basis.ASYMPTOTIC, parts=(("newcomer", 0.03), ("<b>", 0.01)))
BUDGET = Filter(RandomDP(ApproximateDP(1.0, 1e-6), 0.1, Basis.ASYMPTOTIC)).consent(PRICE)


@dataclass(frozen=True)
class Made:
    """Stands for a mechanism."""

    price: Any = PRICE

    def promise(self) -> Any:
        return self.price

    def __repr__(self) -> str:
        return "Mechanism(<script>)"


def made(*values: Any, price: Any = PRICE, budget: Filter = BUDGET, private: bool = True) -> tuple[Any, Receipt]:
    """A release and its receipt."""
    measured = tuple(Measurement(f"value {place}", Made(price)) for place in range(len(values)))  # type: ignore[arg-type]
    plan = StatisticPlan(measured, price, "cost: Mechanism(<script>)", Numbers("cost", 0.0))
    at = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    entry = Entry(1, "poll", price, plan.text, at, "amal", "0.1.0")
    return StatisticRelease(plan, values), Receipt("poll", "row, replace-one", entry, budget, private)


RECORD = made(Fraction(5, 4))


def test_every_paper_says_what_gamma_is():
    shown = " ".join(as_text(render(answer(*RECORD))).split())
    assert "1.25" in shown
    for text in (shown, html.page(answer(*RECORD)), json.dumps(answer(*RECORD).to_dict(), ensure_ascii=False)):
        assert "asymptotic" in text
        assert "as published" in text
        assert "newcomer" in text
        assert "Assumes exchangeable data; protects a random newcomer, not every person" in text
    assert "γ = 0.04 (newcomer 0.03, <b> 0.01), asymptotic, as published" in shown


def test_what_is_not_random_says_nothing_of_newcomers():
    budget = Filter(PureDP(1.0)).consent(PureDP(0.5))
    plain = made(Fraction(5, 4), price=PureDP(0.5), budget=budget)
    for text in (
        as_text(render(answer(*plain))),
        html.page(answer(*plain)),
        json.dumps(answer(*plain).to_dict(), ensure_ascii=False),
    ):
        assert "newcomer" not in text
        assert "γ" not in text
    assert ENGLISH.newcomer(PureDP(0.5)) == ""


def test_a_page_is_text_whatever_names_say():
    assert "<script>" not in html.page(answer(*RECORD))
    assert "<b>" not in html.page(answer(*RECORD))
    assert "NOT PRIVATE" in html.page(answer(*made(Fraction(5, 4), private=False)))


@pytest.mark.parametrize(
    ("value", "shown", "plain"),
    [
        (None, "no answer", None),
        (3, "3", 3),
        ((Fraction(1, 2), None), "0.5; no answer", [{"exact": "1/2", "float": 0.5}, None]),
        ([1, 2], "[1, 2]", [1, 2]),
    ],
)
def test_values_of_other_kinds(value, shown, plain):
    record = made(*value) if isinstance(value, tuple) else made(value)
    assert as_text(render(answer(*record))).startswith(shown)
    assert answer(*record).to_dict()["value"] == plain
    picture = answer(*record).picture
    assert picture is not None
    assert "nan" not in picture()


def test_before_the_first_charge_gamma_was_open_and_since_then_it_is_closed():
    start = BUDGET.before(PRICE)
    spent, left = start.spent(), start.remaining()
    assert spent == RandomDP(ApproximateDP(0.0, 0.0), 0.0)
    assert left == BUDGET.promise
    later = BUDGET.consent(PureDP(0.25))
    start = later.before(ApproximateDP(0.25, 0.0))
    spent, left = start.spent(), start.remaining()
    assert spent == PRICE
    assert spent.parts == PRICE.parts
    assert left == RandomDP(ApproximateDP(0.5, 9e-7), 0.0, Basis.ASYMPTOTIC)


def test_the_bar_shows_gamma_as_open_until_the_first_charge():
    open_bar = budget_bar(Filter(BUDGET.promise))
    assert "γ = 0.1" in open_bar
    assert open_bar.count("100% left") == 3
    assert "closed" in budget_bar(BUDGET, charge=PRICE)
    assert "closed" not in open_bar


def test_the_flavor_and_the_meaning_of_a_random_budget():
    assert ENGLISH.flavor(PRICE) == "random approximate differential privacy"
    assert "ε = 0.5, δ = 10⁻⁷, γ = 0.04" in ENGLISH.reading(Headline.of(PRICE))


class Known(Made):
    """A mechanism whose error does not depend on the data."""

    def error(self, **_: Any) -> Fraction:
        return Fraction(28, 9)


class Secret(Made):
    """A mechanism whose error depends on the data."""

    def error(self, _values: Any, **_: Any) -> Fraction:
        raise AssertionError("no values are shown")


@pytest.mark.parametrize(
    ("mechanism", "shown"), [(Known(), "12.3 ± 3.2"), (Secret(), "12.3457"), (Made(), "12.3457")], ids=repr
)
def test_a_value_is_rounded_to_its_error_if_that_is_known_and_to_few_digits_otherwise(
    mechanism: Any, shown: str
) -> None:
    release, receipt = made(Fraction(12_345_678_912_345, 10**12))
    plan = replace(release.plan, measurements=(Measurement("value", mechanism),))
    paper = answer(replace(release, plan=plan), receipt)
    assert paper.value == shown
    assert as_text(render(paper)).startswith(shown)
    assert as_text(render(paper, exact=True)).startswith("12.345678912345")
    for source in (html.fragment(paper), html.page(paper)):
        assert f'<bdi title="12.345678912345">{shown}</bdi>' in source


def test_a_mechanism_is_written_without_long_numbers() -> None:
    class Long(Made):
        def __repr__(self) -> str:
            return f"Noise(scale=Fraction({10**40 + 1}, {3 * 10**40}), level=0.5)"

    release, receipt = made(Fraction(5, 4))
    paper = answer(replace(release, plan=replace(release.plan, measurements=(Measurement("value", Long()),))), receipt)  # type: ignore[arg-type]
    assert dict(paper.facts)["made by"] == "Noise(scale=0.333333, level=0.5)"
    assert str(10**40 + 1) in paper.to_dict()["mechanism"]
