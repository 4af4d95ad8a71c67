"""The built documentation in a real browser: nothing is cut at any width, the search finds, and code can be copied.

The pages are built once. `SITR_PAGES` names a folder where they are built already.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = (390, 1280)

pytestmark = pytest.mark.slow

CUT = """() => {
    const wide = document.documentElement.clientWidth, found = [];
    const scrolls = element => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
    const inside = element => {
        for (let box = element.parentElement; box; box = box.parentElement) {
            const edges = box.getBoundingClientRect();
            if (scrolls(box) && edges.left >= -1 && edges.right <= wide + 1) return true;
        }
        return false;
    };
    const all = document.documentElement.scrollWidth;
    if (all > wide) found.push(`the page is ${all} wide`);
    for (const element of document.querySelectorAll('article *')) {
        const box = element.getBoundingClientRect(), style = getComputedStyle(element);
        if (!box.width || !box.height || style.visibility === 'hidden') continue;
        const out = box.right > wide + 1 || box.left < -1;
        if (out && !inside(element)) found.push(`outside: ${element.outerHTML.slice(0, 90)}`);
        if (style.overflowX === 'hidden' && element.scrollWidth > element.clientWidth + 1 && element.textContent.trim()
            && style.clipPath === 'none' && style.position !== 'absolute')
            found.push(`cut: ${element.outerHTML.slice(0, 90)}`);
    }
    return found.slice(0, 5);
}"""
"""What sticks out of the window without a box of its own that scrolls, and what such a box hides."""


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built pages."""
    if built := os.environ.get("SITR_PAGES"):
        return Path(built)
    folder = tmp_path_factory.mktemp("pages")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(ROOT / "docs"), str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def sources() -> list[str]:
    """Every page by the path of its source, without its ending."""
    found = [path for end in ("md", "rst", "ipynb") for path in (ROOT / "docs").rglob(f"*.{end}")]
    return sorted(str(path.relative_to(ROOT / "docs").with_suffix("")) for path in found if "_build" not in path.parts)


@pytest.mark.parametrize("name", sources())
def test_nothing_is_cut(tab: Page, pages: Path, name: str) -> None:
    tab.goto((pages / f"{name}.html").as_uri())
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate(CUT) == [], width
        box = tab.locator("article").bounding_box()
        assert box is not None
        assert box["width"] > min(0.8 * width, 600)  # nothing stands beside it that belongs below


def test_an_arabic_page_runs_from_right_to_left_and_its_code_from_left_to_right(tab: Page, pages: Path) -> None:
    tab.goto((pages / "tutorials" / "first-hour-ar.html").as_uri())
    direction = "each => getComputedStyle(each).direction"
    for kind, wanted in (("h1", "rtl"), ("p", "rtl"), ("p code", "ltr"), ("pre", "ltr")):
        assert tab.locator(f"article {kind}").evaluate_all(f"all => [...new Set(all.map({direction}))]") == [wanted]
    assert tab.locator("article h1").evaluate("each => each.closest('[lang]').lang") == "ar"


def test_cut_things_would_be_found(tab: Page) -> None:
    tab.set_viewport_size({"width": 390, "height": 900})
    tab.set_content("<article><table><td style='min-width:900px'>wide</table></article>")
    assert [each.partition(":")[0] for each in tab.evaluate(CUT)] == ["the page is 914 wide", *["outside"] * 4]
    tab.set_content("<article><p style='overflow:hidden;width:100px;white-space:nowrap'>A sentence that is cut off</p>")
    assert [each.partition(":")[0] for each in tab.evaluate(CUT)] == ["cut"]
    tab.set_content(
        "<article><div style='overflow-x:auto'><table><td style='min-width:900px'>wide</table></div></article>"
    )
    assert tab.evaluate(CUT) == []


@pytest.mark.parametrize("name", ["install", "how-to/publish-a-table", "tutorials/first-hour-ar"])
def test_code_can_be_copied(tab: Page, pages: Path, name: str) -> None:
    tab.goto((pages / f"{name}.html").as_uri())
    blocks = tab.locator("article div.highlight pre").count()
    assert blocks > 0
    assert tab.locator("article div.highlight button.copybtn").count() == blocks


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("mean", "how-to/ask-for-a-mean"),
        ("quantile", "reference/api"),
        ("PostgreSQL", "how-to/postgres"),
        ("install", "install"),
    ],
)
def test_the_search_finds(tab: Page, pages: Path, words: str, expected: str) -> None:
    tab.goto(f"{(pages / 'search.html').as_uri()}?q={words}")
    results = tab.locator("#search-results ul.search li a")
    results.first.wait_for()
    found = [each.get_attribute("href") or "" for each in results.all()]
    assert any(expected in each for each in found)
    named = [pages / re.sub(r"[?#].*", "", each) for each in found[:3]]
    assert any(words.lower() in page.read_text(encoding="utf-8").lower() for page in named)


def test_the_search_does_not_find_everything(tab: Page, pages: Path) -> None:
    tab.goto(f"{(pages / 'search.html').as_uri()}?q=xyzzyplugh")
    tab.get_by_text("did not match any documents").wait_for()
    assert tab.locator("#search-results ul.search li a").count() == 0


def test_the_pictures_of_the_gallery_were_made_by_the_build(tab: Page, pages: Path) -> None:
    tab.goto((pages / "gallery.html").as_uri())
    sizes = tab.evaluate("() => [...document.querySelectorAll('article img')].map(one => [one.naturalWidth, one.alt])")
    drawn = tab.locator("article svg, article object").count()
    assert len(sizes) + drawn >= 5
    assert all(width > 0 for width, _ in sizes), "a picture that cannot be loaded has no size"


@pytest.mark.parametrize("name", ["tutorials/notebook", "tutorials/training"])
def test_the_notebooks_were_executed(tab: Page, pages: Path, name: str) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    cells = text.count("```{code-cell}") - text.count("[remove-cell]") - text.count("[remove-input]")
    assert cells >= 3
    tab.goto((pages / f"{name}.html").as_uri())
    assert tab.locator("article div.cell div.cell_input").count() == cells
    assert tab.locator("article div.cell div.cell_output").count() >= cells / 2
    assert tab.locator("article .traceback").count() == 0
