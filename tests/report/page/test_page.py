"""The page in a real browser: it opens from a file, asks nobody for anything, fits the screen, is for all."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, sync_playwright

from sitr.dataset.publication import Publication
from sitr.questions.aggregate.release import Release
from sitr.report.aggregate import answer, preview
from sitr.report.chart.aggregate import chart
from sitr.report.chart.svg import WIDTH, standalone
from sitr.report.page.html import FEW_ROWS, fragment, label, page
from sitr.report.words.arabic.arabic import ARABIC
from tests.report.conftest import Certified

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
WIDTHS = (390, 1280)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

assert CHROMIUM, "these tests drive a real browser: run `bash dev/test`, or as root `apt-get install -y chromium`"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[[str, int], Page]]:
    """Opens a document from a file; afterwards there must have been no complaint and no request but for that file."""
    context = browser.new_context()
    complaints: list[str] = []
    requests: list[str] = []

    def open_file(source: str, width: int) -> Page:
        path = tmp_path / "page.html"
        path.write_text(source, encoding="utf-8")
        tab = context.new_page()
        tab.set_viewport_size({"width": width, "height": 900})
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url) if request.url != path.as_uri() else None)
        tab.goto(path.as_uri())
        return tab

    yield open_file
    context.close()
    assert (complaints, requests) == ([], [])


def overflow(tab: Page) -> int:
    """How many pixels stick out of the window to the right."""
    return int(tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def violations(tab: Page) -> list[str]:
    found = Axe().run(tab).response["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_fits_and_shows_its_chart(opened, certificate: Certified, width: int) -> None:
    tab = opened(page(answer(*certificate)), width)
    assert overflow(tab) <= 0
    for picture in tab.locator("figure > svg").all():
        assert picture.is_visible()
        box = picture.bounding_box()
        assert box is not None
        assert box["width"] > 0.75 * min(width, 900)
        assert box["height"] > 40
    assert tab.locator("figure > svg").count() == (3 if len(certificate.release.keys) > FEW_ROWS else 2)


OUTSIDE = """pictures => pictures.flatMap(picture => {
    const frame = picture.getBoundingClientRect();
    return [...picture.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < frame.left - 1 || box.right > frame.right + 1;
    }).map(text => text.textContent);
})"""
"""Labels that stick out of their pictures."""

SAID = Publication(
    title="Visits by ward", organisation="City hospital", contact="a@b", purpose="Beds", caveats=("Late.",)
)


@pytest.mark.parametrize("name", ["known", "gaussian_with_threshold", "empty", "hostile", "many"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_can_be_read_by_all(opened, make: Callable[[str], Release], certify, name: str, width: int) -> None:
    tab = opened(page(answer(*certify(make(name))), SAID), width)
    for scheme in SCHEMES:
        tab.emulate_media(color_scheme=scheme)
        assert violations(tab) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_label_fits_a_card_and_can_be_read_by_all(opened, certificate: Certified, width: int) -> None:
    tab = opened(label(answer(*certificate), SAID), width)
    assert overflow(tab) <= 0
    box = tab.locator("main").bounding_box()
    assert box is not None
    assert box["width"] <= 480
    for scheme in SCHEMES:
        tab.emulate_media(color_scheme=scheme)
        assert violations(tab) == []


def test_a_page_is_dark_where_the_reader_wants_it_and_light_on_paper(opened, make, certify) -> None:
    tab = opened(page(answer(*certify(make("known")))), 1280)
    shade = "getComputedStyle(document.querySelector('main')).backgroundColor"
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(shade) == "rgb(22, 30, 38)"
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(shade) == "rgb(255, 255, 255)"


def test_a_page_turns_around_for_other_languages(opened, make, certify) -> None:
    tab = opened(page(answer(*certify(make("known")))).replace('dir="ltr">\n<head>', 'dir="rtl">\n<head>'), 390)
    assert tab.evaluate("document.documentElement.dir") == "rtl"
    assert overflow(tab) <= 0
    number = tab.locator("td.n bdi").first
    assert number.evaluate("each => getComputedStyle(each).direction") == "ltr"


@pytest.mark.parametrize("width", WIDTHS)
def test_an_arabic_page_fits_and_can_be_read_by_all(opened, make, certify, width: int) -> None:
    tab = opened(page(answer(*certify(make("many")), words=ARABIC), SAID), width)
    assert tab.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["ar", "rtl"]
    assert overflow(tab) <= 0
    for scheme in SCHEMES:
        tab.emulate_media(color_scheme=scheme)
        assert violations(tab) == []


def test_an_arabic_chart_begins_at_the_right(opened, make, certify) -> None:
    tab = opened(page(answer(*certify(make("many")), words=ARABIC)), 390)
    assert tab.locator("figure > svg").evaluate_all(OUTSIDE) == []
    first = tab.locator("figure > svg").first
    frame, label_box = first.bounding_box(), first.locator("text").first.bounding_box()
    assert frame is not None
    assert label_box is not None
    assert label_box["x"] > frame["x"] + frame["width"] / 2


def test_an_arabic_sentence_that_begins_with_a_formula_runs_from_the_right(opened, make, certify) -> None:
    """Browsers look for the first letter inside isolates, too, so the page must say it."""
    tab = opened(label(answer(*certify(make("known")), words=ARABIC)), 390)
    left = tab.locator("dd bdi").filter(has_text="من \u2066ε").first
    assert left.evaluate("each => getComputedStyle(each).direction") == "rtl"


def test_a_warning_can_be_read_by_all(opened, make, certify) -> None:
    release = make("ungrouped")
    tab = opened(page(answer(*certify(release, private=False))), 1280)
    assert tab.get_by_role("alert").is_visible()
    assert violations(tab) == []


def test_text_in_the_chart_stays_in_the_chart(opened, make, certify) -> None:
    """No label sticks out of its picture, not even on a narrow screen."""
    for name in ("known", "gaussian_with_threshold", "many"):
        tab = opened(page(answer(*certify(make(name)))), 360)
        assert tab.locator("figure > svg").evaluate_all(OUTSIDE) == []


def test_faults_would_be_found(opened, make, certify) -> None:
    """The same page with pale text and a wide table that does not scroll."""
    source = (
        page(answer(*certify(make("known"))))
        .replace("--soft: #51606f", "--soft: #b0b8c0")
        .replace("overflow-x: auto", "")
    )
    tab = opened(source, 360)
    assert overflow(tab) > 0
    assert any(each.startswith("color-contrast") for each in violations(tab))


def test_paper_gets_every_word(opened, make, certify) -> None:
    tab = opened(page(answer(*certify(make("known")))), 1280)
    tab.emulate_media(media="print")
    tab.set_viewport_size({"width": 640, "height": 900})  # A4 between its margins
    assert overflow(tab) <= 0
    for table in tab.locator(".scroll").all():
        assert table.evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.parametrize("name", ["known", "many", "hostile", "empty"])
def test_fragments_fit_a_narrow_notebook(opened, make, certify, name: str) -> None:
    certificate = certify(make(name))
    body = fragment(answer(*certificate)) + fragment(preview(certificate.release.plan, certificate.receipt.standing))
    tab = opened(f"<!DOCTYPE html><meta charset=utf-8><body style='background:#111;color:#eee'>{body}", 360)
    assert overflow(tab) <= 0
    assert tab.locator("svg").first.is_visible()


def test_a_chart_in_a_file_scales_as_an_image(
    opened: Callable[[str, int], Page], make: Callable[[str], Release]
) -> None:
    picture = base64.b64encode(standalone(chart(make("known"))).encode()).decode()
    images = [
        f'<img alt="" {size} src="data:image/svg+xml;base64,{picture}">' for size in ("", f'width="{WIDTH // 2}"')
    ]
    tab = opened("".join(images), 1280)
    natural, halved = tab.evaluate("[...document.images].map(one => [one.width, one.height])")
    assert natural[0] == WIDTH
    assert halved == [WIDTH // 2, pytest.approx(natural[1] / 2, abs=1)]
