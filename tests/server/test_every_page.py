"""Every page there is, found by its route, in both languages, light and dark, on a phone, by keyboard and in print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from playwright.sync_api import Browser, ConsoleMessage, Page

from sitr.server.access import Allowed
from sitr.server.role import UserRole
from tests.server.browsing import entered, readable
from tests.server.conftest import NAMES, PRICE, SQL, Team, listening, mark, password, team_in
from tests.server.test_access import ROUTES, ids, method, rules

FILES = (".svg", ".csv", ".json", "/certificate", "/flavors", "/static/{name}", "/language")
"""Pictures, downloads, documents with tests of their own, and parts of pages."""

FILLED = {"name": "visits", "number": "1", "token": "{token}", "address": "by-ward"}

LANGUAGES = ("en", "ar")


def is_page(route: APIRoute) -> bool:
    found = method(route) == "GET" and not route.path.startswith("/api/") and not route.path.endswith(FILES)
    return found and "oidc" not in route.path and "identity" not in route.path  # with a provider: test_oidc_story


PAGES = [route for route in ROUTES if is_page(route)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, str, dict[str, str]]]:
    """A server on which something has happened: answers, a request, a public page, and somebody who is invited."""
    data: Path = tmp_path_factory.mktemp("data")
    (data / "staff.csv").write_text("id,team\n1,a\n2,b\n")
    team = team_in(tmp_path_factory.mktemp("filled"), folders=(data,))
    ana, place = team.program("ana"), "/api/v1/datasets/visits"
    for price in (PRICE, "zcdp(0.02)"):
        assert ana.post(f"{place}/ask", json={"sql": SQL, "price": price}).status_code == 200
    assert ana.post(f"{place}/requests", json={"sql": SQL, "price": PRICE, "reason": "Report"}).status_code == 201
    noor = team.browser("noor")
    form = {"mark": mark(noor.get("/datasets/visits/answers/1")), "address": "by-ward"}
    assert noor.post("/datasets/visits/answers/1/public", data=form).status_code == 303
    invited = team.people.invite("eva", UserRole.ANALYST, by="admin")
    with listening(team) as address:
        yield team, address, FILLED | {"token": invited}


def reader(route: APIRoute) -> str:
    """Who reads a page: whoever sees most of it; nobody for pages that need no account."""
    rule = rules(route)[0]
    if not isinstance(rule, Allowed):
        return ""
    return next(name for name in ("noor", "omar", "ana", "admin") if NAMES[name] in rule.roles)


def test_the_pages_are_found() -> None:
    assert len(PAGES) >= 17
    assert {reader(route) for route in PAGES} >= {"", "noor", "admin"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_can_be_read_by_all(
    browser: Browser, filled: tuple[Team, str, dict[str, str]], language: str
) -> None:
    _, address, values = filled
    direction, complaints = "rtl" if language == "ar" else "ltr", list[str]()

    def heard(message: ConsoleMessage) -> None:
        complaints.append(message.text)

    for name in ("", "noor", "admin"):
        context = entered(browser, address, name, language) if name else browser.new_context(locale=language)
        context.on("console", heard)
        tab = context.new_page()
        for route in PAGES:
            if reader(route) != name:
                continue
            found = tab.goto(address + route.path.format(**values))
            assert found is not None
            assert found.status == 200, ids(route)
            assert tab.locator("html").get_attribute("dir") == direction
            readable(tab)
            in_order(tab)
        assert complaints == []
        context.close()


ORDER = """() => [...document.querySelectorAll("tr")].flatMap(row => {
  const cells = [...row.cells].map(each => each.getBoundingClientRect()).filter(each => each.width);
  const rising = getComputedStyle(row).direction === "ltr";
  const wrong = cells.some((each, place) => place && (rising ? each.left < cells[place - 1].left - 1
                                                             : each.right > cells[place - 1].right + 1));
  return wrong ? [row.innerText] : [];
}).concat([...document.querySelectorAll("bdi[dir=ltr]")].flatMap(each => {
  const text = each.firstChild;
  if (each.childNodes.length !== 1 || text.nodeType !== 3 || text.length < 2) return [];
  const at = place => {
    const range = document.createRange();
    range.setStart(text, place);
    range.setEnd(text, place + 1);
    return range.getBoundingClientRect();
  };
  const first = at(0), last = at(text.length - 1);
  return first.width && first.top === last.top && first.left > last.left ? [text.data] : [];
}))"""
"""Rows whose cells do not run in the direction of the page, and names and numbers whose letters are turned around."""


def in_order(tab: Page) -> None:
    """What stands beside what else is where readers of the language look for it."""
    assert tab.evaluate(ORDER) == []


def test_a_wrong_order_is_found(browser: Browser) -> None:
    tab = browser.new_page()
    tab.set_content('<html dir=rtl><table><tr dir=rtl style="direction: rtl"><td>a<td>b</table><bdi dir=ltr>ab</bdi>')
    in_order(tab)
    tab.set_content(
        '<bdi dir=ltr><!----></bdi><bdi dir=ltr style="direction: rtl; unicode-bidi: bidi-override">ab</bdi>'
    )
    with pytest.raises(AssertionError, match="ab"):
        in_order(tab)
    tab.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_is_asked_by_keyboard_alone(
    browser: Browser, filled: tuple[Team, str, dict[str, str]], language: str
) -> None:
    """Log in, go to the question, type it with its completion, ask, and reach the certificate; no mouse."""
    _, address, _ = filled
    context = browser.new_context(locale=language)
    tab = context.new_page()
    tab.goto(f"{address}/login")
    to(tab, "#name")
    tab.keyboard.type("ana")
    to(tab, "#password")
    tab.keyboard.type(password("ana"))
    tab.keyboard.press("Enter")
    tab.wait_for_url(lambda url: "/login" not in url)
    to(tab, "a[href='/datasets/visits'], a[href='/datasets/visits/ask']")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/datasets/visits*")
    to(tab, "a[href='/datasets/visits/ask']")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/datasets/visits/ask")
    to(tab, "#sql")
    tab.keyboard.type(f"SELECT COUNT(*) AS n_{language} FROM vis")
    tab.keyboard.press("Control+Space")
    assert tab.locator("#sql").input_value().endswith("FROM visits")
    to(tab, "#slider")
    tab.keyboard.press("Home")
    tab.wait_for_selector("#preview table")
    to(tab, "form#question button.main")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/answers/*")
    to(tab, "a[href$='/certificate']")
    with tab.expect_response("**/certificate") as written:
        tab.keyboard.press("Enter")
    assert written.value.status == 200
    context.close()


def to(tab: Page, target: str) -> None:
    """Press the tab key until something is reached; it must be seen that it is."""
    for _ in range(80):
        tab.keyboard.press("Tab")
        if tab.evaluate("target => document.activeElement.matches(target)", target):
            outline = tab.evaluate(
                "(() => { const s = getComputedStyle(document.activeElement);"
                " return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== 'none'; })()"
            )
            assert outline, f"{target} does not show that it is reached"
            return
    raise AssertionError(f"{target} cannot be reached")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_is_printed_without_what_can_only_be_clicked(
    browser: Browser, filled: tuple[Team, str, dict[str, str]], language: str
) -> None:
    _, address, _ = filled
    context = entered(browser, address, "ana", language)
    tab = context.new_page()
    tab.emulate_media(media="print", color_scheme="dark")
    tab.set_viewport_size({"width": 700, "height": 900})  # a sheet of A4
    tab.goto(f"{address}/datasets/visits/answers/1")
    for part in ("header.top", "a.button", "nav"):
        assert not any(each.is_visible() for each in tab.locator(part).all()), part
    assert tab.locator("table").first.is_visible()
    assert tab.locator("figure.chart svg").is_visible()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    context.close()
