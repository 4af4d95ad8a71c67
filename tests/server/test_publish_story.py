"""Tables, a public page and synthetic rows in a real browser, in both languages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.server.browsing import entered, readable
from tests.server.conftest import Team

PRICES = {"en": "zcdp(0.015)", "ar": "zcdp(0.016)"}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("language", PRICES)
def test_compose_pay_and_show_to_everybody(browser: Browser, served: tuple[Team, str], language: str) -> None:
    _, address = served
    context = entered(browser, address, "noor", language)
    complaints: list[str] = []
    context.on("console", lambda message: complaints.append(message.text))
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/publish")
    tab.check("#table-0-1")
    tab.check("#table-1-4")
    tab.fill("#price", PRICES[language])
    tab.wait_for_selector("#preview table")
    readable(tab)
    tab.click("main form button.main")
    tab.wait_for_url("**/answers/*")
    tab.click("details summary >> nth=0")
    tab.fill("#address", f"visits-{language}")
    tab.click("details form button")
    tab.wait_for_url("**/publish")
    stranger = browser.new_context(locale=language)
    page = stranger.new_page()
    page.goto(f"{address}/public/visits-{language}")
    assert page.locator("html").get_attribute("lang") == language
    assert page.locator("table tbody tr").count() >= 9
    readable(page)
    stranger.close()
    tab.goto(f"{address}/datasets/visits/synthetic")
    tab.uncheck("#column-1")
    tab.fill("#price", PRICES[language])
    tab.wait_for_selector("#preview dl")
    tab.click("main form button.main")
    tab.wait_for_selector("button[name=file]")
    readable(tab)
    with tab.expect_download() as found:
        tab.click("button[name=file]")
    assert len(found.value.path().read_text(encoding="utf-8").splitlines()) == 1_001
    assert complaints == []
    context.close()
