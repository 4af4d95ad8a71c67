"""A steward registers a data set in a real browser, buys a suggestion of caps, and divides the budget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.server.browsing import entered, readable
from tests.server.conftest import Team, listening, team_in
from tests.server.test_registration import STAFF

REGISTER = {"en": "Register a data set", "ar": "سجّل مجموعة بيانات"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, str, Path]]:
    data = tmp_path_factory.mktemp("data")
    for language in REGISTER:
        (data / f"staff_{language}.csv").write_text(STAFF)
    team = team_in(tmp_path_factory.mktemp("home"), folders=(data,))
    with listening(team) as address:
        yield team, address, data


@pytest.mark.sampled(1)
@pytest.mark.parametrize("language", REGISTER)
def test_register_suggest_and_divide(browser: Browser, place: tuple[Team, str, Path], language: str) -> None:
    team, address, _ = place
    context = entered(browser, address, "noor", language)
    complaints: list[str] = []
    context.on("console", lambda message: complaints.append(message.text))
    tab = context.new_page()
    tab.goto(address)
    tab.get_by_role("link", name=REGISTER[language]).click()
    tab.get_by_text(f"staff_{language}.csv").click()
    readable(tab)
    tab.select_option("#unit", "person")
    tab.fill("#max_groups", "1")
    tab.fill("#max_rows_per_group", "1")
    tab.fill("[name=low-2]", "0")
    tab.fill("[name=high-2]", "9000")
    tab.fill("[name=keys-1]", "A, B")
    tab.click("main button.main")
    assert tab.locator(".problem").count() == 1  # the types are not confirmed, and what was typed is still there
    assert tab.input_value("[name=keys-1]") == "A, B"
    tab.check("#confirmed")
    tab.click("main button.main")
    tab.wait_for_url(f"**/datasets/staff_{language}")
    tab.fill("#for", "salary")
    tab.fill("#suggest-price", "zcdp(0.01)")
    tab.click("form[action$=suggest] button")
    tab.wait_for_url("**/answers/1")
    assert "--max-groups 1" in tab.locator("main").inner_text()
    tab.goto(f"{address}/datasets/staff_{language}")
    for account in ("team", "team/ana"):
        tab.fill("#share", account)
        tab.fill("#amount", "zcdp(0.2)")
        tab.click("form[action$=accounts] button")
        tab.wait_for_load_state()
    assert tab.locator("meter").count() == 2
    assert tab.locator("figure > svg").count() == 2  # the budget, and what was spent over time
    readable(tab)
    assert complaints == []
    context.close()
    assert team.browser("ana").get(f"/datasets/staff_{language}").status_code == 404
