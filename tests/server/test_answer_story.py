"""Answers in a real browser: their chart and table, every flavor, files, and how two of them differ."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.server.browsing import entered, readable
from tests.server.conftest import SQL, Team

RENYI = {"en": "Rényi", "ar": "ريني"}


@pytest.fixture(scope="module")
def answered(served: tuple[Team, str]) -> str:
    team, address = served
    ana = team.program("ana")
    for price in ("zcdp(0.01)", "zcdp(0.04)"):
        assert ana.post("/api/v1/datasets/visits/ask", json={"sql": SQL, "price": price}).status_code == 200
    return address


@pytest.mark.sampled(1)
@pytest.mark.parametrize("language", ["ar", "en"])
def test_an_answer_through_every_flavor_and_compared(browser: Browser, answered: str, language: str) -> None:
    context = entered(browser, answered, "ana", language)
    complaints: list[str] = []
    context.on("console", lambda message: complaints.append(message.text))
    tab = context.new_page()
    tab.goto(f"{answered}/datasets/visits/answers/1")
    tab.wait_for_selector("section.card:nth-of-type(2) table")
    assert RENYI[language] in tab.locator("section.card").nth(1).inner_text()
    assert tab.locator("figure.chart svg").evaluate("each => each.getBoundingClientRect().width") > 250
    readable(tab)
    for ending in ("answer.csv", "answer.json"):
        with tab.expect_download() as found:
            tab.click(f"a[href$='{ending}']")
        assert found.value.path().stat().st_size > 100
    with tab.expect_download() as found:
        tab.click("a[href$='certificate'][download]")
    assert "sitr-release" in found.value.path().read_text(encoding="utf-8")
    tab.click("a[href$='compare?one=1']")
    tab.select_option("#other", "2")
    tab.click("main button.main")
    tab.wait_for_selector("table tbody tr")
    assert tab.locator("table tbody tr").count() == 9
    readable(tab)
    assert complaints == []
    context.close()


def test_the_same_question_at_the_same_price_is_free(browser: Browser, answered: str) -> None:
    context = entered(browser, answered, "ana", "en", java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{answered}/datasets/visits/answers/1")
    tab.click("a[href*='/ask?sql=']")
    tab.fill("#price", "zcdp(0.01)")
    tab.click("form#question button.main")
    assert tab.url.endswith("/answers/1")
    tab.click("a[href$='/flavors']")
    assert "Rényi" in tab.locator("main").inner_text()
    context.close()


@pytest.mark.usefixtures("answered")
def test_others_do_not_compare_what_they_do_not_see(served: tuple[Team, str]) -> None:
    team, _ = served
    noor = team.program("noor")
    found = noor.post("/api/v1/datasets/visits/ask", json={"sql": SQL, "price": "zcdp(0.011)"})
    assert found.status_code == 200
    number = len(noor.get("/api/v1/datasets/visits/ledger").json()["entries"])
    ana = team.browser("ana")
    assert ana.get("/datasets/visits/compare", params={"one": 1, "other": number}).status_code == 404
    assert team.browser("noor").get("/datasets/visits/compare", params={"one": 1, "other": number}).status_code == 200
    same = ana.get("/datasets/visits/compare", params={"one": 1, "other": 1})
    assert "Two different answers" in same.text
