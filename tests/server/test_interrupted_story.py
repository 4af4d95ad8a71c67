"""What goes wrong in a real browser: an expired session, a wrong role, too many requests, and a killed server."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error

from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.server.access import SESSION
from sitr.server.role import UserRole
from sitr.server.run import people_of
from sitr.session.dataset import open as open_description
from tests.server.browsing import entered, readable
from tests.server.conftest import SQL, Team, listening, password, team_in
from tests.server.test_run import free_port, running, settings_of

FORBIDDEN = {"en": "You may not do this", "ar": "لا يُسمح لك بهذا"}


@pytest.mark.parametrize("language", FORBIDDEN)
def test_a_session_that_ends_while_one_types_leads_to_the_login_and_back(
    browser: Browser, served: tuple[Team, str], language: str
) -> None:
    team, address = served
    context = entered(browser, address, "ana", language)
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    [session] = [each["value"] for each in context.cookies() if each["name"] == SESSION]
    team.people.end(session)
    tab.fill("#sql", SQL)
    tab.wait_for_url("**/login?then=/datasets/visits/ask")
    assert tab.locator("html").get_attribute("lang") == language
    tab.fill("#name", "ana")
    tab.fill("#password", password("ana"))
    tab.click("main button")
    tab.wait_for_url("**/datasets/visits/ask")
    context.close()


@pytest.mark.parametrize("language", FORBIDDEN)
def test_a_wrong_role_is_told_so(browser: Browser, served: tuple[Team, str], language: str) -> None:
    _, address = served
    context = entered(browser, address, "omar", language)
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    assert FORBIDDEN[language] in tab.locator("main").inner_text()
    assert tab.locator("form#question").count() == 0
    readable(tab)
    context.close()


@pytest.mark.parametrize("language", FORBIDDEN)
def test_a_form_from_before_the_last_login_is_refused_in_its_place(
    browser: Browser, served: tuple[Team, str], language: str
) -> None:
    """Somebody logs in again in another tab: the old form has another mark, and the page says so."""
    _, address = served
    context = entered(browser, address, "ana", language)
    old, new = context.new_page(), context.new_page()
    old.goto(f"{address}/datasets/visits/ask")
    new.goto(f"{address}/login")
    new.fill("#name", "ana")
    new.fill("#password", password("ana"))
    new.click("main button")
    new.wait_for_url(lambda url: "/login" not in url)
    old.fill("#sql", SQL)
    old.wait_for_selector("#preview .problem")
    assert FORBIDDEN[language] in old.locator("#preview").inner_text()
    old.click("form#question button.main")
    assert FORBIDDEN[language] in old.locator("main").inner_text()
    context.close()


def test_too_many_previews_are_refused_in_their_place(browser: Browser, tmp_path: Path) -> None:
    team = team_in(tmp_path, previews_per_minute=2)
    with listening(team) as address:
        context = entered(browser, address, "ana", "en")
        tab = context.new_page()
        tab.goto(f"{address}/datasets/visits/ask")
        tab.fill("#sql", SQL)
        for price in ("zcdp(0.01)", "zcdp(0.02)", "zcdp(0.03)"):
            with tab.expect_response("**/preview"):
                tab.fill("#price", price)
        tab.wait_for_selector("#preview .problem")
        assert "too often" in tab.locator("#preview").inner_text()
        assert tab.locator("html").get_attribute("lang") == "en"
        context.close()


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("language", FORBIDDEN)
def test_a_server_that_is_killed_in_the_middle_of_an_answer_charges_once(
    browser: Browser, tmp_path: Path, language: str
) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with running("--demo", port=port, folder=tmp_path) as process:
        settings = settings_of(tmp_path)
        people = people_of(settings)
        people.add("eva", UserRole.ANALYST, password("eva"))
        with acting("noor"):
            budget = open_description(settings.datasets["visits"]).budget()
            budget.allot("eva", "zcdp(0.1)")
            budget.assign("eva", Duty.ANALYST, account="eva")
        context = entered(browser, address, "eva", language)
        tab = context.new_page()
        tab.goto(f"{address}/datasets/visits/ask")
        tab.fill("#sql", SQL)
        tab.fill("#price", "zcdp(0.01)")
        tab.click("form#question button.main", no_wait_after=True)
        tab.wait_for_timeout(800)  # the answer leaves at its deadline, which is later
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    charged = len(budget.ledger.entries("visits"))
    assert charged <= 1
    with running("--demo", port=port, folder=tmp_path):
        tab = context.new_page()
        try:
            tab.goto(f"{address}/datasets/visits/ask")
        except Error:  # the browser still has the connection that was lost
            tab.goto(f"{address}/datasets/visits/ask")
        tab.fill("#sql", SQL)
        tab.fill("#price", "zcdp(0.01)")
        tab.click("form#question button.main")
        tab.wait_for_url("**/answers/*", timeout=60_000)
    entries = budget.ledger.entries("visits")
    assert len(entries) == charged + 1  # what was lost stays spent, and what is new is charged once
    assert budget.standing() == budget.ledger.check("visits")
    context.close()
