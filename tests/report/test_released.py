from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import pytest

from sitr.accounting.filter import Filter
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import Basis, RandomDP
from sitr.report.certificate import before
from sitr.report.english import ENGLISH
from sitr.report.headline import Headline
from sitr.report.plots import budget_bar
from sitr.report.released import Record, page, render, to_dict
from sitr.report.text import as_text

PRICE = RandomDP(ApproximateDP(0.5, 1e-7), 0.04, Basis.ASYMPTOTIC, parts=(("newcomer", 0.03), ("<b>", 0.01)))
BUDGET = Filter(RandomDP(ApproximateDP(1.0, 1e-6), 0.1, Basis.ASYMPTOTIC)).consent(PRICE)
RECORD = Record(
    value=Fraction(5, 4),
    mechanism="Mechanism(<script>)",
    column="cost",
    missing=0.0,
    charge=PRICE,
    private=True,
    dataset="poll",
    neighbors="row, replace-one",
    entry=1,
    at=datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
    by="amal",
    version="0.1.0",
    budget=BUDGET,
)


def test_every_paper_says_what_gamma_is():
    shown = " ".join(as_text(render(RECORD)).split())
    assert "1.25" in shown
    for text in (shown, page(RECORD), json.dumps(to_dict(RECORD), ensure_ascii=False)):
        assert "asymptotic" in text
        assert "as published" in text
        assert "newcomer" in text
        assert "Assumes exchangeable data; protects a random newcomer, not every person" in text
    assert "γ = 0.04 (newcomer 0.03, <b> 0.01), asymptotic, as published" in shown


def test_what_is_not_random_says_nothing_of_newcomers():
    budget = Filter(PureDP(1.0)).consent(PureDP(0.5))
    plain = replace(RECORD, charge=PureDP(0.5), budget=budget)
    for text in (as_text(render(plain)), page(plain), json.dumps(to_dict(plain), ensure_ascii=False)):
        assert "newcomer" not in text
        assert "γ" not in text
    assert ENGLISH.newcomer(PureDP(0.5)) == ""


def test_a_page_is_text_whatever_names_say():
    assert "<script>" not in page(RECORD)
    assert "<b>" not in page(RECORD)
    assert "NOT PRIVATE" in page(replace(RECORD, private=False))


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
    record = replace(RECORD, value=value)
    assert as_text(render(record)).startswith(shown)
    assert to_dict(record)["value"] == plain


def test_before_the_first_charge_gamma_was_open_and_since_then_it_is_closed():
    spent, left = before(BUDGET, PRICE)
    assert spent == RandomDP(ApproximateDP(0.0, 0.0), 0.0)
    assert left == BUDGET.promise
    later = BUDGET.consent(PureDP(0.25))
    spent, left = before(later, ApproximateDP(0.25, 0.0))
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
