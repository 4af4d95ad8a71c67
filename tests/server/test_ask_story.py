"""The page for a question, in a real browser: names at hand, a slider, errors that decide the price, one button."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Route

from tests.server.browsing import entered, readable
from tests.server.conftest import Team

INVENTED = {"en": "Invented values", "ar": "قيم مختلقة"}
REQUEST = {"en": "Request approval", "ar": "اطلب الموافقة"}


@pytest.mark.parametrize("language", INVENTED)
def test_the_answer_is_drawn_before_it_is_paid(browser: Browser, served: tuple[Team, str], language: str) -> None:
    team, address = served
    context = entered(browser, address, "ana", language)
    complaints: list[str] = []
    context.on("console", lambda message: complaints.append(message.text))
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    readable(tab)
    tab.locator("a.starter").nth(1).click()
    tab.wait_for_selector("#preview .imagined svg")
    assert tab.locator("#preview .badge").inner_text() == INVENTED[language]
    assert tab.locator("#preview .imagined tbody tr").count() == 9
    assert tab.locator("#preview .imagined svg line").count() > 27  # three lines of each whisker
    assert not tab.locator("#starters").is_visible()
    before = tab.locator("#preview .imagined tbody tr").first.inner_text()
    tab.locator("#slider").press("End")
    tab.wait_for_function(
        "before => document.querySelector('#preview .imagined tbody tr').innerText !== before", arg=before
    )
    dearest = tab.input_value("#price")
    tab.fill("#target", "n=400")
    tab.wait_for_function("before => document.querySelector('#price').value !== before", arg=dearest)
    assert "n" in tab.locator("#said").inner_text()  # said to those who do not see it
    readable(tab)
    assert len(team.program("noor").get("/api/v1/datasets/visits/ledger").json()["entries"]) == 0
    assert complaints == []
    context.close()


def test_names_complete_what_is_typed(browser: Browser, served: tuple[Team, str]) -> None:
    _, address = served
    context = entered(browser, address, "ana", "en")
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    tab.locator("#sql").press_sequentially("SELECT war")
    tab.locator("#names .chip", has_text="ward").click()
    assert tab.input_value("#sql") == "SELECT ward"
    tab.locator("#sql").press_sequentially(", COU")
    tab.locator("#sql").press("Control+Space")
    assert tab.input_value("#sql") == "SELECT ward, COUNT("
    tab.locator("#sql").press_sequentially("*) AS n FROM visits WHERE ward = 'Em")
    assert tab.locator("#names .chip").all_inner_texts() == ["'Emergency'"]
    readable(tab)
    tab.locator("#sql").press("Escape")
    assert not tab.locator("#names").is_visible()
    kinds = tab.locator(".shade span").evaluate_all("all => all.map(each => [each.textContent, each.className])")
    assert ["SELECT", "keyword"] in kinds
    assert ["ward", "name"] in kinds
    assert ["COUNT", "call"] in kinds
    tab.locator(".names button", has_text="days").click()
    assert tab.input_value("#sql").endswith("days")
    context.close()


@pytest.mark.parametrize("language", REQUEST)
def test_one_button_asks_or_requests(browser: Browser, served: tuple[Team, str], language: str) -> None:
    team, address = served
    office = team.app.app.state.office  # type: ignore[attr-defined]
    office.rule(team.user("noor"), "visits", approval="zcdp(0.02)")
    context = entered(browser, address, "ana", language)
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    tab.fill("#sql", f"SELECT COUNT(*) AS n FROM visits WHERE days = {len(language + REQUEST[language])}")
    tab.fill("#price", "zcdp(0.05)")
    tab.wait_for_selector("#act .buttons button[formaction$=request]")
    assert tab.locator("#act button.main").inner_text() == REQUEST[language]
    tab.fill("#reason", "For the report")
    readable(tab)
    assert tab.input_value("#reason") == "For the report"
    tab.fill("#price", "zcdp(0.01)")
    tab.wait_for_selector("#act details.request")
    tab.fill("#price", "zcdp(0.05)")
    tab.wait_for_selector("#act .buttons button[formaction$=request]")
    tab.fill("#reason", "For the report")
    tab.click("#act button.main")
    tab.wait_for_url("**/queue")
    assert "For the report" in tab.locator("main").inner_text()
    office.rule(team.user("noor"), "visits", approval="")
    context.close()


def test_a_request_is_made_once_however_quickly_it_is_clicked(browser: Browser, served: tuple[Team, str]) -> None:
    """A preview that is due after the click is a preview, and a second click is the same request."""
    team, address = served
    context = entered(browser, address, "ana", "en")
    before = len(team.program("ana").get("/api/v1/datasets/visits/requests").json())
    sent: list[str] = []
    context.on("request", lambda each: sent.append(each.url.rpartition("/")[2]) if each.method == "POST" else None)
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")

    def later(route: Route) -> None:
        tab.wait_for_timeout(900)  # longer than a preview waits
        route.continue_()

    tab.route("**/request", later)
    tab.fill("#sql", "SELECT COUNT(*) AS quickly FROM visits")
    tab.fill("#price", "zcdp(0.016)")
    tab.click("details.request summary")
    tab.fill("#reason", "Annual report")
    tab.click("details.request button")
    tab.wait_for_url("**/queue")
    assert sent.count("request") == 1
    tab.unroute("**/request")
    tab.go_back()
    tab.wait_for_url("**/ask")
    tab.fill("#price", "zcdp(rho=0.016)")
    tab.click("details.request summary")
    tab.fill("#reason", "Annual report")
    tab.dblclick("details.request button")
    tab.wait_for_url("**/queue")
    assert sent.count("request") > 1
    assert len(team.program("ana").get("/api/v1/datasets/visits/requests").json()) == before + 2  # two forms
    context.close()


def test_what_is_changed_on_the_way_back_is_another_question(browser: Browser, served: tuple[Team, str]) -> None:
    _, address = served
    context = entered(browser, address, "ana", "en")
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    found = []
    for days in (11, 12):
        tab.fill("#sql", f"SELECT COUNT(*) AS n FROM visits WHERE days > {days}")
        tab.fill("#price", "zcdp(0.001)")
        tab.click("form#question button.main")
        tab.wait_for_url("**/answers/*")
        found.append(tab.url)
        tab.go_back()
        tab.wait_for_url("**/ask")
    assert found[0] != found[1]
    context.close()


def test_caps_and_targets_need_no_script(browser: Browser, served: tuple[Team, str]) -> None:
    _, address = served
    context = entered(browser, address, "ana", "en", java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    tab.locator("a.starter").nth(1).click()
    assert "GROUP BY ward" in tab.input_value("#sql")
    tab.fill("#target", "n=400")
    tab.click("details summary >> nth=0")
    tab.fill("#max_groups", "1")
    tab.click("button[formaction$=preview]")
    assert "Invented values" in tab.locator("#preview").inner_text()
    assert "at most 1 group" in tab.locator("#preview").inner_text()
    assert tab.input_value("#max_groups") == "1"
    assert tab.input_value("#price").startswith("zcdp(")
    context.close()
