"""The login at an identity provider in a real browser: it is refused, the account is connected, and then it asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from sitr.server.oidc import CALLBACK
from tests.server.browsing import entered, readable
from tests.server.conftest import SQL, Team, free_port, listening, team_in
from tests.server.provider import CLIENT, SECRET, Identities, providing

REFUSED = {"en": "was not accepted", "ar": "لم يُقبل"}
ELSEWHERE = "a[href^='/login/oidc']"


@pytest.fixture
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, str, Identities]]:
    """A server and an identity provider, which both listen on this machine."""
    port = free_port()
    here = f"http://127.0.0.1:{port}"
    with providing(here + CALLBACK) as provider:
        settings = {"oidc_issuer": provider.address, "oidc_client": CLIENT, "oidc_secret": SECRET, "oidc_address": here}
        team = team_in(tmp_path_factory.mktemp("oidc"), **settings)
        with listening(team, port) as address:
            yield team, address, provider


@pytest.mark.parametrize("language", REFUSED)
def test_an_account_is_connected_and_then_asks(
    browser: Browser, both: tuple[Team, str, Identities], language: str
) -> None:
    team, address, provider = both
    provider.subject = "subject of ana"
    stranger = browser.new_context(locale=language)  # nobody has connected this identity yet
    tab = stranger.new_page()
    tab.goto(f"{address}/login")
    readable(tab)
    tab.click(ELSEWHERE)
    tab.wait_for_load_state()
    assert REFUSED[language] in tab.inner_text("main")
    assert not [each for each in stranger.cookies() if each["name"] == "__Host-sitr"]

    with_password = entered(browser, address, "ana", language)  # she connects her account, by an act
    tab = with_password.new_page()
    tab.goto(f"{address}/account")
    readable(tab)
    tab.click("a[href^='/account/identity']")
    tab.wait_for_url(f"{address}/account")
    assert tab.locator("a[href^='/account/identity']").count() == 0
    with_password.close()

    complaints: list[str] = []
    stranger.on("console", lambda message: complaints.append(message.text))
    tab = stranger.new_page()
    tab.goto(f"{address}/datasets/visits/ask")  # which leads to the login, and back
    tab.click(ELSEWHERE)
    tab.wait_for_url(f"{address}/datasets/visits/ask")
    tab.fill("#sql", SQL)
    tab.fill("#price", "zcdp(0.01)")
    tab.click("form#question button.main")
    tab.wait_for_url("**/answers/1")
    assert tab.locator("figure.chart svg").count() == 1
    assert complaints == []
    stranger.close()
    [entry] = team.program("ana").get("/api/v1/datasets/visits/answers").json()
    assert entry["by"] == "ana"
    assert len(provider.asked) == 3  # each login exchanged one code
