"""An Arabic paper speaks Arabic only: on pages, cards, terminals and in notebooks."""

from __future__ import annotations

import re

import pytest

from sitr.accounting.compare import compare
from sitr.flavors.approximate import ApproximateDP
from sitr.flavors.pure import PureDP
from sitr.flavors.random import RandomDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.loss.forms.gaussian import GaussianLaw
from sitr.loss.loss import Loss
from sitr.neighbors.unit import Row
from sitr.questions.aggregate.bias import Why
from sitr.report import account, comparison, sensitivities
from sitr.report.chart import account as account_chart
from sitr.report.chart import comparison as comparison_chart
from sitr.report.chart import sensitivities as sensitivities_chart
from sitr.report.page import html
from sitr.report.paper import Paper
from sitr.report.text import terminal
from sitr.report.words.arabic import arabic
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.arabic.labels import LABELS
from sitr.report.words.english.english import ENGLISH
from tests.report.conftest import planned
from tests.report.test_comparison import PLANS
from tests.report.test_sensitivities import WAYS
from tests.report.words.arabic.conftest import Spoken, english

OWN = {
    *("City", "hospital", "Sitr", "UTC", "SHA", "noor", "me", "amal", "poll", "visits", "people", "ward", "cost"),
    *("cardiology", "emergency", "maternity", "oncology", "day", "change", "urgent", "patient", "COUNT", "SUM"),
    *("DISTINCT", "Composed", "Mechanism", "parts", "Made", "age", "census", "script", "alert", "red", "markup"),
    *(
        "patients",
        "drugs",
        "drug",
        "sex",
        "two",
        "lines",
        "and",
        "turned",
        "quoted",
        "single",
        "rare",
        "sitr",
        "check",
        "py",
        "gz",
    ),
}
"""Names and code in the fixtures: each stands alone in a cell or a heading, not in a sentence."""


class Strict(dict[str, str]):
    """Labels that must all be known."""

    def get(self, key: str, _default: object = None) -> str:
        return self[key]


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arabic, "LABELS", Strict(LABELS))


def check(said: list[str]) -> None:
    """No word is English but for the names in the fixtures."""
    for text in said:
        named = re.sub(r"\b(rows_in|first|previous)_\w+|place_of_row", "", text)  # columns that are counted
        assert set(english(re.sub("x{9,}", "", named))) <= OWN, text


@pytest.mark.sampled(11)
def test_a_page_says_nothing_in_english(paper: Paper) -> None:
    spoken = Spoken(html.page(paper))
    assert ("html", {"lang": "ar", "dir": "rtl"}) in spoken.tags
    assert len(" ".join(spoken.said)) > 2_000
    check(spoken.said)


def test_a_card_and_a_notebook_say_nothing_in_english(paper: Paper) -> None:
    card, shown = Spoken(html.label(paper)), Spoken(html.fragment(paper))
    assert ("html", {"lang": "ar", "dir": "rtl"}) in card.tags
    assert ("div", {"class": "sitr", "lang": "ar", "dir": "rtl"}) in shown.tags
    check(card.said + shown.said)


def test_the_facts_on_a_terminal_are_in_arabic_with_formulas_in_isolates(paper: Paper) -> None:
    for name, sentence in paper.facts:
        assert not english(ARABIC.label(name))
        text = terminal.as_text(terminal.facts(((name, sentence),), words=ARABIC), width=10_000)
        assert text.count("\u2066") + text.count("\u2068") == text.count("\u2069")
        assert "�" not in text.replace(sentence, sentence.replace("�", ""))


def test_json_stays_in_english(paper: Paper) -> None:
    def sentences(content: object) -> list[str]:
        match content:
            case dict():
                return [text for value in content.values() for text in sentences(value)]
            case list():
                return [text for value in content for text in sentences(value)]
        return [content] if isinstance(content, str) else []

    assert not re.search(
        "[\u0621-\u064a]", " ".join(sentences(paper.to_dict().get("words", {}))).replace("جناح القلب", "")
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", PLANS)
def test_a_comparison_is_in_arabic(name: str) -> None:
    found = compare(PLANS[name], delta=1e-6)
    text = terminal.as_text(comparison.render(found, recorded=True, words=ARABIC), width=400)
    assert not english(text)
    drawn = comparison_chart.chart(found, words=ARABIC)
    assert not english(" ".join(re.findall("<(?:text|title|desc)[^>]*>([^<]*)", drawn)))


def test_an_account_is_in_arabic() -> None:
    loss = Loss.of(GaussianLaw(1.0), 3)
    found = account.AccountedLoss.at_delta(loss, 1e-6)
    assert "بين" in found.headline(ARABIC)
    facts = account.schedule_rows(PLANS["pure"], found, words=ARABIC)
    text = terminal.as_text(account.render(found.headline(ARABIC), facts, words=ARABIC))
    assert not english(text)
    drawn = account_chart.chart(loss, delta=1e-6, words=ARABIC)
    assert not english(" ".join(re.findall("<(?:text|title|desc)[^>]*>([^<]*)", drawn)))


def test_ways_to_bound_a_sensitivity_are_compared_in_arabic() -> None:
    text = terminal.as_text(sensitivities.render(WAYS, words=ARABIC), width=400)
    ways = set(english(" ".join(outcome.way for outcome in WAYS)))
    assert set(english(text)) <= ways
    drawn = sensitivities_chart.chart(WAYS, title="س", words=ARABIC)
    assert set(english(" ".join(re.findall("<(?:text|title|desc)[^>]*>([^<]*)", drawn)))) <= ways


@pytest.mark.parametrize(
    "promise",
    [
        PureDP(0.33335),
        ApproximateDP(1.0, 3.00001e-7),
        ZeroConcentratedDP(0.123456, xi=0.1),
        RandomDP(PureDP(1.0), 0.05, parts=(("newcomer", 0.04), ("largest pair", 0.01))),
    ],
)
@pytest.mark.parametrize("left", [False, True])
def test_promises_have_the_same_numbers_in_both_languages(promise: PureDP, left: bool) -> None:
    shown = ARABIC.notation(promise, left=left)
    numbers = re.findall(r"[\d.,]*\d", ENGLISH.notation(promise, left=left))
    assert re.findall(r"[\d.,]*\d", shown) == numbers
    assert not english(shown)


@pytest.mark.parametrize(
    ("neighbors", "shown"),
    [
        ("person (id), add-remove", "شخص (\u2068id\u2069)، بعلاقة الإضافة أو الحذف"),
        ("row, replace-one", "صف، بعلاقة الاستبدال"),
        ("something else", "\u2068something else\u2069"),
    ],
)
def test_who_is_protected_is_read_from_the_ledger(neighbors: str, shown: str) -> None:
    assert ARABIC.protects(neighbors) == shown
    assert ENGLISH.protects(neighbors) == neighbors


def test_rows_are_not_spoken_of_as_people() -> None:
    sql = "SELECT SUM(cost) AS cost FROM visits"
    rows = planned(sql, PureDP(1.0), unit=Row(), max_groups=None, max_rows_per_group=None).query
    assert ARABIC.aggregate.left_out(Why.BOUNDS, "cost", rows).endswith("فيها")
    people = planned(sql, PureDP(1.0)).query
    assert ARABIC.aggregate.left_out(Why.BOUNDS, "cost", people).endswith("عندهم")
