"""A real browser on a server that listens on this machine: to log in, and to see that everybody can read a page."""

from __future__ import annotations

from functools import cache
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, BrowserContext, Page

from tests.server.conftest import password

WIDTHS = (390, 1280)

QUICK = {"resultTypes": ["violations"], "selectors": False}
"""No message shows the selectors for what axe-core finds, and to look for them takes a fifth of its time."""


@cache
def axe_script() -> str:
    return str(Axe().axe_script)


def entered(browser: Browser, address: str, name: str, language: str, **options: Any) -> BrowserContext:
    """A browser in which somebody has logged in. It complains about anything that the policy of pages forbids."""
    context = browser.new_context(locale=language, **options)
    tab = context.new_page()
    tab.goto(f"{address}/login")
    tab.fill("#name", name)
    tab.fill("#password", password(name))
    tab.click("main button")
    tab.wait_for_url(lambda url: "/login" not in url)
    tab.close()
    return context


def readable(tab: Page) -> None:
    """Nothing sticks out at either width, and axe-core finds nothing, light or dark."""
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    for scheme in ("dark", "light"):
        tab.emulate_media(color_scheme=scheme)
        if not tab.evaluate("'axe' in window"):
            tab.evaluate(axe_script())
        rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
        found = tab.evaluate("options => axe.run(options)", QUICK | rules)["violations"]
        assert [(each["id"], node["html"][:150]) for each in found for node in each["nodes"]] == []
