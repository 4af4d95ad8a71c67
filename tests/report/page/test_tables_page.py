"""A publication as a page in a real browser: for all, in both languages and schemes, with and without its script."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from sitr.dataset.publication import Publication
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.language import Language, speaking
from sitr.questions.tables.quality import QualityRule
from sitr.report import tables as report
from sitr.report.page.tables_page import page
from tests.report.page.test_page import opened, overflow, readable
from tests.report.test_tables import made, receipt

__all__ = ["opened"]

pytestmark = pytest.mark.filterwarnings("ignore::sitr.errors.NotPrivate")

RULE = QualityRule(good=0.001, fair=0.05, poor=0.1)
WHO = Publication(title="Visits <i>", organisation="City hospital", caveats=("Late.",))


def written(language: Language = Language.ENGLISH, *, withhold: bool = True) -> str:
    publication = made(ZeroConcentratedDP(0.02))
    with speaking(language):
        paper = report.answer(publication, receipt(publication))
        return page(publication, rule=RULE, withhold=withhold, paper=paper, who=WHO, certificate="certificate.html")


def test_a_page_has_every_table_and_says_what_is_left_out() -> None:
    found = written()
    assert found.count("<table") == found.count("<svg") == 3
    assert "too uncertain" in found
    assert "too uncertain</td>" not in written(withhold=False)
    assert 'href="certificate.html"' in found
    assert "Visits &lt;i&gt;" in found
    assert "&lt;b&gt;" in found
    assert "<b>" not in found


def test_only_the_script_of_the_page_is_allowed() -> None:
    found = written()
    (script,) = re.findall(r"<script>(.*?)</script>", found, re.DOTALL)
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{allowed}'" in found
    assert "default-src 'none'" in found


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_fits_and_can_be_read_by_all(opened, language: Language, width: int) -> None:
    tab = opened(written(language), width)
    assert overflow(tab) <= 0
    assert readable(tab)


def test_keys_are_not_broken_where_there_are_many_numbers(opened) -> None:
    """The table scrolls instead."""
    tab = opened(written(), 390)
    found = tab.evaluate(
        "[...document.querySelectorAll('.wide th bdi')].map(each => getComputedStyle(each).overflowWrap)"
    )
    assert found
    assert {*found} == {"break-word"}


def test_tables_are_sorted_by_their_headings(opened) -> None:
    tab = opened(written(withhold=False), 1280)
    head = tab.locator("table").first.locator("thead th").nth(2)

    def numbers() -> list[float]:
        return [
            float(cell.get_attribute("data-value"))
            for cell in tab.locator("table").first.locator("tbody td:nth-child(3)").all()
        ]

    first = numbers()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers() == sorted(first)
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert numbers() == sorted(first, reverse=True)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") is None
    assert numbers() == first


def test_a_page_needs_no_script(browser, tmp_path) -> None:
    context = browser.new_context(java_script_enabled=False)
    (tmp_path / "page.html").write_text(written(), encoding="utf-8")
    tab = context.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    assert tab.locator("table").count() == 3
    assert tab.locator("button").count() == 0
    assert not tab.locator(".sorting").is_visible()
    context.close()
