"""Whole stories in a real browser, in both languages: log in, ask, request, approve, read, verify."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.server.browsing import entered, readable
from tests.server.conftest import SQL, Team, password

LANGUAGES = {"en": "Ask and pay", "ar": "اسأل وادفع"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_ask_request_approve_read_and_verify(browser: Browser, served: tuple[Team, str], language: str) -> None:
    _, address = served
    complaints: list[str] = []
    ana, noor, omar = (entered(browser, address, name, language) for name in ("ana", "noor", "omar"))
    for context in (ana, noor, omar):
        context.on("console", lambda message: complaints.append(message.text))

    tab = ana.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    assert tab.locator("html").get_attribute("dir") == ("rtl" if language == "ar" else "ltr")
    assert tab.locator("form#question button.main").inner_text() == LANGUAGES[language]
    where = {"en": "1 < days", "ar": "2 < days"}[language]  # another question in each language
    sql = f"SELECT ward, COUNT(*) AS n FROM visits WHERE {where} GROUP BY ward"
    tab.fill("#sql", sql)
    tab.wait_for_selector("#preview table")
    before = tab.locator("#preview").inner_text()
    tab.locator("#slider").press("End")  # the price follows, and the errors with it
    assert tab.locator("#price").input_value() == tab.locator("#slider").get_attribute("aria-valuetext")
    tab.wait_for_function("before => document.querySelector('#preview').innerText !== before", arg=before)
    readable(tab)
    tab.fill("#price", "zcdp(0.01)")
    tab.click("form#question button.main")
    tab.wait_for_url("**/answers/*")
    assert tab.locator("table tbody tr").count() >= 9
    assert tab.locator("figure.chart svg").evaluate("each => each.getBoundingClientRect().width") > 100
    readable(tab)
    answer = tab.url
    tab.goto(f"{answer}/certificate")
    assert tab.locator("html").get_attribute("lang") == language

    tab.goto(f"{address}/datasets/visits/ask")
    tab.fill("#sql", sql.replace("days", "days + 0"))
    tab.click("details.request summary")
    tab.fill("#reason", "Annual report")
    tab.click("details.request button")
    tab.wait_for_url("**/queue")

    desk = noor.new_page()
    desk.goto(f"{address}/queue")
    readable(desk)
    desk.locator("button[value=yes]").first.click()
    desk.wait_for_load_state()
    desk.goto(f"{address}/datasets/visits")
    readable(desk)

    tab.goto(f"{address}/queue")
    tab.locator("a.button.main").first.click()
    tab.click("form#question button.main")
    tab.wait_for_url("**/answers/*")

    books = omar.new_page()
    books.goto(f"{address}/datasets/visits/ledger")
    assert books.locator(".done").count() == 1
    readable(books)
    assert complaints == []
    for context in (ana, noor, omar):
        context.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_tabs_the_way_back_and_an_ended_session(browser: Browser, served: tuple[Team, str], language: str) -> None:
    team, address = served
    context = entered(browser, address, "ana", language)
    one, two = context.new_page(), context.new_page()
    for tab in (one, two):
        tab.goto(f"{address}/datasets/visits/ask")
        tab.fill("#sql", SQL)
        tab.fill("#price", {"en": "zcdp(0.012)", "ar": "zcdp(0.014)"}[language])
        tab.click("form#question button.main")
        tab.wait_for_url("**/answers/*")
    assert one.url == two.url  # the second is answered from what was kept
    entries = len(team.program("noor").get("/api/v1/datasets/visits/ledger").json()["entries"])
    one.go_back()
    one.click("form#question button.main")
    one.wait_for_url("**/answers/*")
    assert one.url == two.url
    assert len(team.program("noor").get("/api/v1/datasets/visits/ledger").json()["entries"]) == entries
    two.click("header form[action='/logout'] button")
    two.wait_for_url("**/login")
    one.goto(f"{address}/datasets/visits")
    assert "/login" in one.url
    assert one.locator("html").get_attribute("lang") == language
    context.close()


def test_reading_and_asking_need_no_script(browser: Browser, served: tuple[Team, str]) -> None:
    _, address = served
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/login")
    tab.fill("#name", "ana")
    tab.fill("#password", password("ana"))
    tab.click("main button")
    tab.goto(f"{address}/datasets/visits/ask")
    tab.fill("#sql", "SELECT COUNT(*) AS n FROM visits")
    tab.fill("#price", "zcdp(0.013)")
    tab.click("button[formaction$=preview]")
    assert "±" in tab.locator("#preview").inner_text()
    tab.click("form#question button.main")
    assert "/answers/" in tab.url
    assert "±" in tab.locator("main").inner_text()
    context.close()
