"""Who comes in a real browser: somebody who is invited, another site, another name, and the same form again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.session.dataset import open as open_description
from tests.server.browsing import entered
from tests.server.conftest import PRICE, SQL, Team, password

NAMES = {"en": "eva", "ar": "iman"}

ELSEWHERE = """<form method="post" action="{address}/datasets/visits/ask">
<input name="sql" value="SELECT COUNT(*) AS n FROM visits"><input name="price" value="zcdp(0.1)">
<input name="key" value="x"><input name="mark" value="{mark}"><button>Win</button></form>"""


@pytest.mark.parametrize("language", NAMES)
def test_who_is_invited_chooses_a_password_and_asks(browser: Browser, served: tuple[Team, str], language: str) -> None:
    team, address = served
    who = NAMES[language]
    admin = entered(browser, address, "admin", language)
    desk = admin.new_page()
    desk.goto(f"{address}/people")
    desk.fill("#who", who)
    desk.select_option("#role", "analyst")
    desk.click("main form.card button.main")
    link = desk.locator("p.done code").inner_text()

    own = browser.new_context(locale=language)
    tab = own.new_page()
    tab.goto(link)
    assert who in tab.locator("main").inner_text()
    tab.fill("#password", password(who))
    tab.click("main form button.main")
    tab.wait_for_url("**/login")
    tab.fill("#name", who)
    tab.fill("#password", password(who))
    tab.click("main button")
    tab.wait_for_url(f"{address}/")
    assert tab.locator("a[href='/datasets/visits']").count() == 0  # a steward has given no role yet

    with acting("noor"):
        budget = open_description(team.settings.datasets["visits"]).budget()
        budget.allot(who, "zcdp(0.02)")
        budget.assign(who, Duty.ANALYST, account=who)
    tab.goto(f"{address}/datasets/visits/ask")
    tab.fill("#sql", f"SELECT COUNT(*) AS {who} FROM visits")
    tab.fill("#price", PRICE)
    tab.click("form#question button.main")
    tab.wait_for_url("**/answers/*")
    desk.goto(link)
    assert desk.locator("#password").count() == 0  # it was used
    admin.close()
    own.close()


REFUSED = {"en": ("This was sent from another site.", "not known under this name"), "ar": ("موقع آخر", "بهذا الاسم")}


@pytest.mark.parametrize("language", REFUSED)
def test_other_sites_other_names_and_the_same_form_again(
    browser: Browser, served: tuple[Team, str], language: str
) -> None:
    team, address = served
    context = entered(browser, address, "ana", language)
    tab = context.new_page()
    tab.goto(f"{address}/datasets/visits/ask")
    mark = tab.locator("form#question input[name=mark]").get_attribute("value")
    ledger = open_description(team.settings.datasets["visits"]).budget().ledger
    before = len(ledger.entries("visits"))

    other = context.new_page()
    other.route("http://elsewhere.example/", lambda route: route.fulfill(
        content_type="text/html", body=ELSEWHERE.format(address=address, mark=mark)
    ))  # fmt: skip
    other.goto("http://elsewhere.example/")
    with other.expect_response(f"{address}/datasets/visits/ask") as refused:
        other.click("button")
    assert refused.value.status == 403  # even with a mark that somebody has seen
    assert REFUSED[language][0] in refused.value.text()

    named = other.goto(address.replace("127.0.0.1", "localhost") + "/datasets/visits")
    assert named is not None
    assert named.status == 421
    assert REFUSED[language][1] in named.text()

    tab.fill("#sql", SQL)
    tab.fill("#price", {"en": "zcdp(0.017)", "ar": "zcdp(0.018)"}[language])
    with tab.expect_request(lambda request: request.method == "POST" and request.url.endswith("/ask")) as sent:
        tab.click("form#question button.main")
    tab.wait_for_url("**/answers/*")
    assert len(ledger.entries("visits")) == before + 1
    again = context.request.post(
        sent.value.url,
        data=sent.value.post_data or "",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    assert again.url == tab.url
    assert len(ledger.entries("visits")) == before + 1
    context.close()
