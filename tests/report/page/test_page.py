"""The page in a real browser: it opens from a file, asks nobody for anything, fits the screen, is for all."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request

from sitr.dataset.publication import Publication
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.questions.aggregate.release import Release
from sitr.report.aggregate import answer, preview
from sitr.report.chart.aggregate import chart
from sitr.report.chart.svg import WIDTH, standalone
from sitr.report.page.html import FEW_ROWS, fragment, label, page
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import Words
from tests.report.conftest import (
    WARDS,
    Certified,
    empty,
    gaussian_with_threshold,
    hostile,
    many,
    planned,
    released,
)
from tests.report.words.arabic.conftest import PAPERS

WIDTHS = (390, 1280)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture
def opened(window: Page, tmp_path: Path) -> Iterator[Callable[[str, int], Page]]:
    """Opens a document from a file; afterwards there must have been no complaint and no request but for that file."""
    path = tmp_path / "page.html"
    complaints: list[str] = []
    requests: list[str] = []

    def written(message: ConsoleMessage) -> None:
        complaints.append(message.text)

    def failed(error: Error) -> None:
        complaints.append(str(error))

    def asked(request: Request) -> None:
        if request.url != path.as_uri():
            requests.append(request.url)

    def open_file(source: str, width: int) -> Page:
        path.write_text(source, encoding="utf-8")
        window.emulate_media(media="null", color_scheme="null")
        window.set_viewport_size({"width": width, "height": 900})
        window.goto(path.as_uri())
        return window

    window.goto("about:blank")
    window.on("console", written)
    window.on("pageerror", failed)
    window.on("request", asked)
    yield open_file
    window.remove_listener("console", written)
    window.remove_listener("pageerror", failed)
    window.remove_listener("request", asked)
    assert (complaints, requests) == ([], [])


def overflow(tab: Page) -> int:
    """How many pixels stick out of the window to the right."""
    return int(tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def load_axe(tab: Page) -> None:
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(axe_script())


@cache
def axe_script() -> str:
    return str(Axe().axe_script)


def violations(tab: Page, *rules: str) -> list[str]:
    """What axe-core finds, by all of its rules or by these."""
    load_axe(tab)
    return run(tab, "document", {"runOnly": list(rules)} if rules else {})


def run(tab: Page, part: str, options: dict[str, Any]) -> list[str]:
    """What axe-core, which is in the page, finds in a part of it. It need not find short selectors for the places."""
    quick = {"resultTypes": ["violations"], "selectors": False}
    found = tab.evaluate(f"options => axe.run({part}, options)", quick | options)["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


HIDDEN = """Math.max(...[...document.querySelectorAll('.scroll')].map(each => each.scrollWidth - each.clientWidth))"""
"""How many pixels of the widest table are out of sight."""


def undecided(tab: Page) -> list[str]:
    """Text in tables whose contrast axe-core neither passes nor fails, except single characters, which it never judges.

    It cannot see through the shadows at the edges of a table that scrolls, nor judge what is scrolled out of sight: so
    the shadows are left out, and the window is as wide as all columns need (a wider one would take seconds to paint).
    """
    size = tab.viewport_size
    assert size is not None
    style = tab.add_style_tag(content="* { max-width: none !important } .scroll { background-image: none !important }")
    width = size["width"]
    while (hidden := tab.evaluate(HIDDEN)) > 1:  # widths are rounded
        width += 2 * hidden
        assert width < 40_000
        tab.set_viewport_size({"width": width, "height": size["height"]})
    options = {"runOnly": ["color-contrast"], "resultTypes": ["violations", "incomplete"], "selectors": False}
    found = tab.evaluate("([within, options]) => axe.run({include: within}, options)", [[[".scroll"]], options])
    style.evaluate("each => each.remove()")
    tab.set_viewport_size(size)
    nodes = [node for kind in ("violations", "incomplete") for each in found[kind] for node in each["nodes"]]
    said = [(node["any"][0]["message"], node["html"][:200]) for node in nodes]
    return [f"{why}: {text}" for why, text in said if "too short" not in why]


def readable(tab: Page, widths: Iterable[int] = ()) -> bool:
    """Whether axe-core finds nothing, light or dark, at these widths or as wide as the window is.

    Only contrast depends on the colours. In tables that scroll it does not depend on the width, and only `undecided`
    can judge it.
    """
    others = {"rules": {"color-contrast": {"enabled": False}}}
    size = tab.viewport_size
    assert size is not None
    for scheme in ("dark", "light"):
        tab.emulate_media(color_scheme=scheme)
        for width in widths or (size["width"],):
            tab.set_viewport_size({"width": width, "height": size["height"]})
            load_axe(tab)
            assert run(tab, "{exclude: ['.scroll']}", {"runOnly": ["color-contrast"]}) == []
            assert scheme == "dark" or run(tab, "document", others) == []
        if tab.locator(".scroll").count():
            assert undecided(tab) == []
    return True


def test_a_page_fits_and_shows_its_chart(opened, certificate: Certified) -> None:
    tab = opened(page(answer(*certificate)), WIDTHS[0])
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
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


def long() -> Release:
    """Everything that a long table brings, in few rows: axe-core takes seconds for each hundred."""
    return many(4 * FEW_ROWS)


@pytest.mark.parametrize("made", [gaussian_with_threshold, empty, hostile, long])
def test_a_page_can_be_read_by_all(opened, certify, made: Callable[[], Release]) -> None:
    assert readable(opened(page(answer(*certify(made())), SAID), WIDTHS[0]), WIDTHS)


def test_a_label_fits_a_card(opened, certificate: Certified) -> None:
    tab = opened(label(answer(*certificate), SAID), WIDTHS[0])
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        assert overflow(tab) <= 0
        box = tab.locator("main").bounding_box()
        assert box is not None
        assert box["width"] <= 480


KINDS = (
    "aggregate, known",
    "histogram, flat",
    "histogram, tiles",
    "statistic, several",
    "statistic, random",
    "synthetic",
)
LANGUAGES: dict[str, Words] = {words.code: words for words in (ENGLISH, ARABIC)}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_page_card_and_fragment_can_be_read_by_all(opened, kind: str, language: str) -> None:
    """At both widths, light and dark, in both languages."""
    words = LANGUAGES[language]
    paper = PAPERS[kind](words=words)
    notebook = f"<main><h1>{kind}</h1>{fragment(paper)}</main>"
    head = f'<!DOCTYPE html><html lang="{language}"><meta charset=utf-8><title>A notebook</title>'
    shaded = "<style>:root{color-scheme:light dark}body{background:Canvas;color:CanvasText}</style><body>"
    for source in (page(paper, SAID), label(paper, SAID), f"{head}{shaded}{notebook}"):
        tab = opened(source, WIDTHS[0])
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 900})
            assert overflow(tab) <= 0
            assert tab.locator("svg").evaluate_all(OUTSIDE) == []
        assert readable(tab, WIDTHS)


def test_a_hostile_label_can_be_read_by_all(opened, make, certify) -> None:
    assert readable(opened(label(answer(*certify(make("hostile"))), SAID), WIDTHS[0]), WIDTHS)


def test_a_label_shows_the_caveats(opened, make, certify) -> None:
    said = Publication(caveats=("Two wards reported late.", "تأخر جناحان."))
    for words, heading in ((ENGLISH, "Caveats"), (ARABIC, "تنبيهات")):
        tab = opened(label(answer(*certify(make("known")), words=words), said), 390)
        part = tab.locator("dl > div").filter(has_text=heading)
        assert part.locator("dd").all_inner_texts() == list(said.caveats)
        assert violations(tab) == []
        assert tab.locator("dl > div").filter(has_text=heading).count() == 1
    assert "Caveats" not in label(answer(*certify(make("known"))))


EDGES = """async source => {
    const picture = new Image();
    picture.src = source;
    await picture.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [picture.width, picture.height];
    const pen = canvas.getContext('2d');
    pen.drawImage(picture, 0, 0);
    return [0, picture.width - 1].map(x => [...pen.getImageData(x, 0, 1, 1).data].slice(0, 3));
}"""
"""The colours of the first and of the last pixel of a picture."""


def shades(tab: Page, blank: Page) -> tuple[bool, bool]:
    """Whether the left and the right edge of the first table are shaded, seen in the gap above its first row."""
    box = tab.locator(".scroll").first.bounding_box()
    assert box is not None
    seen = tab.screenshot(clip={"x": box["x"], "y": box["y"] + 1, "width": box["width"], "height": 1})
    picture = f"data:image/png;base64,{base64.b64encode(seen).decode()}"
    left, right = blank.evaluate(EDGES, picture)
    ground = tab.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor")
    first, last = (f"rgb({', '.join(map(str, edge))})" != ground for edge in (left, right))
    return first, last


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("words", [ENGLISH, ARABIC], ids=["en", "ar"])
def test_a_wide_table_shows_at_which_edge_it_goes_on(
    opened, browser: Browser, make, certify, words: Words, scheme: Literal["light", "dark"]
) -> None:
    blank = browser.new_page()
    tab = opened(page(answer(*certify(make("known")), words=words)), 390)
    tab.emulate_media(color_scheme=scheme)
    first = tab.locator(".scroll").first
    assert first.evaluate("each => each.scrollWidth > each.clientWidth + 40")
    begin, end = (True, False) if words.direction == "rtl" else (False, True)
    assert shades(tab, blank) == (begin, end)
    first.evaluate("each => each.scrollBy(getComputedStyle(each).direction === 'rtl' ? -1e4 : 1e4, 0)")
    assert shades(tab, blank) == (end, begin)
    first.evaluate("each => each.scrollBy(getComputedStyle(each).direction === 'rtl' ? 60 : -60, 0)")
    assert shades(tab, blank) == (True, True)
    tab.set_viewport_size({"width": 1280, "height": 900})
    assert shades(tab, blank) == (False, False)
    blank.close()


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


def test_an_arabic_page_fits_and_can_be_read_by_all(opened, certify) -> None:
    tab = opened(page(answer(*certify(long()), words=ARABIC), SAID), WIDTHS[0])
    assert tab.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["ar", "rtl"]
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        assert overflow(tab) <= 0
    assert readable(tab, WIDTHS)


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


def test_pale_numbers_in_a_table_that_scrolls_would_be_found(opened, make, certify) -> None:
    """axe-core alone calls them undecided, because of the shadows at the edges."""
    pale = page(answer(*certify(make("known")))).replace("</style>", ".scroll td { color: #c0c0c0 }</style>", 1)
    tab = opened(pale, 360)
    assert not any("<td" in each for each in violations(tab, "color-contrast"))
    assert undecided(tab)


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


MANY_COLUMNS = (
    "SELECT ward, urgent, COUNT(*) AS number_of_visits, SUM(cost) AS total_cost_of_treatment, AVG(cost) AS mean_cost, "
    "COUNT(DISTINCT patient) AS people, STDDEV(cost) AS spread, SUM(change) AS change FROM visits GROUP BY ward, urgent"
)


@pytest.mark.parametrize("words", [ENGLISH, ARABIC], ids=["en", "ar"])
def test_a_table_of_six_numbers_fits_on_a_desk(opened, certify, words: Words) -> None:
    plan = planned(MANY_COLUMNS, ZeroConcentratedDP(0.5), keys={"ward": WARDS})
    cells: dict[tuple[Any, ...], tuple[int, ...]] = {
        (ward, urgent): tuple(9_000_000 for _ in plan.noisy) for ward in WARDS for urgent in (False, True)
    }
    tab = opened(page(answer(*certify(released(plan, cells)), words=words)), 1280)
    wide = tab.locator(".scroll.wide").first
    assert wide.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert overflow(tab) <= 0
    tab.set_viewport_size({"width": 390, "height": 900})
    assert overflow(tab) <= 0
