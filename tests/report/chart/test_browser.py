"""Charts in a real browser: no words cover others or leave the picture, on a telephone and on a desk, in any place."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from sitr.language import Language, speaking
from sitr.report.chart.svg import WIDTH, standalone, svg, text
from tests.report.chart.pictures import PICTURES

WIDTHS = (390, 1280)
Form = Literal["inline", "image"]
FORMS: tuple[Form, ...] = ("inline", "image")

FAULTS = """picture => {
    const frame = picture.getBoundingClientRect(), found = [];
    const texts = [...picture.querySelectorAll('text')];
    const boxes = texts.map(text => [text.firstChild.data, text.getBoundingClientRect()]);
    boxes.forEach(([words, box], place) => {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
            box.bottom > frame.bottom + 1) found.push(`outside: ${words}`);
        for (const [other, its] of boxes.slice(place + 1)) {
            const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
            const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
            if (across > 1 && down > 1) found.push(`covered: ${words} / ${other}`);
        }
    });
    return found;
}"""


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


@cache
def picture(name: str, language: Language = Language.ENGLISH) -> str:
    with speaking(language):
        return PICTURES[name]()


def shown(tab: Page, drawn: str, width: int, form: Form) -> list[str]:
    """What is wrong with a chart inside a page, or with its file, scaled like an image to the width of the page."""
    tab.set_viewport_size({"width": width, "height": 900})
    scaled = standalone(drawn).replace(f' width="{WIDTH}" height=', ' width="100%" data-height=', 1)
    tab.set_content(f'<!DOCTYPE html><body style="margin:16px">{drawn if form == "inline" else scaled}')
    return list(tab.locator("body > svg").evaluate(FAULTS))


@pytest.mark.sampled(22)
@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("name", PICTURES)
def test_no_words_cover_others_or_leave_the_picture(tab: Page, name: str, language: Language) -> None:
    """Inside a page and scaled like an image, on a telephone and on a desk, in both directions."""
    drawn = picture(name, language)
    assert f'direction="{"rtl" if language is Language.ARABIC else "ltr"}"' in drawn
    for form, width in product(FORMS, WIDTHS):
        assert shown(tab, drawn, width, form) == [], (form, width)


@pytest.mark.parametrize("form", ["inline", "image"])
def test_faults_would_be_found(tab: Page, form: Form) -> None:
    covering = [text("A word", x=40, y=20), text("Another", x=41, y=24)]
    leaving = [text("A word that leaves the picture to the right", x=99, y=50)]
    found = shown(tab, svg("Broken", "In words.", [*covering, *leaving], height=80), 390, form)
    assert found == ["covered: A word / Another", "outside: A word that leaves the picture to the right"]


def test_a_chart_that_is_not_mirrored_would_be_found(tab: Page) -> None:
    """The anchors of a chart from right to left, with its words at the places of one from left to right."""
    drawn = picture("answer, known").replace('direction="ltr"', 'direction="rtl"')
    assert shown(tab, drawn, 390, "inline") != []


def image(drawn: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(standalone(drawn).encode()).decode()}"


INK = """async ([source, width, margin]) => {
    const picture = new Image();
    picture.src = source;
    await picture.decode();
    const scale = width / (picture.naturalWidth - 2 * margin), canvas = document.createElement('canvas');
    canvas.width = Math.ceil(picture.naturalWidth * scale);
    canvas.height = Math.ceil(picture.naturalHeight * scale);
    const pen = canvas.getContext('2d');
    pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const {data} = pen.getImageData(0, 0, canvas.width, canvas.height);
    const near = Math.floor(margin * scale) - 1, right = canvas.width - near, bottom = canvas.height - near;
    let ink = 0, covered = 0, outside = 0;
    for (let y = 0; y < canvas.height; y++) for (let x = 0; x < canvas.width; x++) {
        const alpha = data[4 * (y * canvas.width + x) + 3];
        ink += alpha > 20;
        covered += alpha > 0.5 * 255;
        outside += alpha > 20 && (x < near || y < near || x > right || y > bottom);
    }
    return [ink > 0, covered, outside];
}"""
"""Whether there is ink, how many pixels have the ink of two texts, and how many are outside of the picture."""

MARGIN = 60
SHARP = (3 * (WIDTHS[0] - 32), WIDTHS[1] - 32)
"""The pixels of a picture between margins: telephones have three for each of the page."""


def inked(tab: Page, drawn: str, width: int) -> tuple[bool, int, int]:
    """Only the words of a chart as `<img>`, each as a whole 40% black, in a frame that shows what would be cut.

    Where two words cover each other, both inks add up; letters of one word do not.
    """
    words = re.sub(r"<style>.*?</style>|<(?:rect|line|polyline)[^>]*/>", "", standalone(drawn))
    words = re.sub(r'fill-opacity="[^"]*"', 'fill-opacity="1" opacity="0.4"', words.replace("currentColor", "#000"))
    size = re.search(r'viewBox="0 0 (\d+) ([\d.]+)"', words)
    assert size is not None
    wide, high = float(size[1]) + 2 * MARGIN, float(size[2]) + 2 * MARGIN
    inner = words.replace("<svg ", f'<svg x="{MARGIN}" y="{MARGIN}" overflow="visible" ', 1)
    framed = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{high:g}">{inner}</svg>'
    source = f"data:image/svg+xml;base64,{base64.b64encode(framed.encode()).decode()}"
    ink, covered, outside = tab.evaluate(INK, [source, width, MARGIN])
    return ink, covered, outside


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("name", PICTURES)
def test_an_image_has_all_of_its_words_and_none_over_another(tab: Page, name: str, language: Language) -> None:
    """The pixels of `<img>`, which the page cannot look into, on a telephone and on a desk."""
    for width in SHARP:
        assert inked(tab, picture(name, language), width) == (True, 0, 0), width


def test_words_over_others_and_cut_words_would_be_found_in_an_image(tab: Page) -> None:
    def words(*parts: str) -> tuple[bool, int, int]:
        return inked(tab, svg("Broken", "In words.", parts, height=80), SHARP[0])

    assert words(text("A word", x=40, y=20), text("Another", x=70, y=24)) == (True, 0, 0)
    _, covered, outside = words(text("A word", x=40, y=20), text("Another", x=41, y=22))
    assert covered > 5
    assert outside == 0
    _, covered, outside = words(text("A word that leaves the picture to the right", x=99, y=50))
    assert covered == 0
    assert outside > 5
    assert words(text("A word below", x=10, y=90))[2] > 5


@pytest.mark.parametrize("width", WIDTHS)
def test_an_image_keeps_its_proportions(tab: Page, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    tab.set_content("".join(f'<img alt="" style="max-width:100%" src="{image(picture(name))}">' for name in PICTURES))
    tab.wait_for_function("[...document.images].every(one => one.complete)")
    for drawn, natural, shape in tab.evaluate(
        "[...document.images].map(one => [one.width, one.naturalWidth, one.height / one.width - "
        "one.naturalHeight / one.naturalWidth])"
    ):
        assert natural == WIDTH
        assert drawn <= width
        assert abs(shape) < 0.02


BRIGHTNESS = """async () => {
    const one = document.images[0];
    await one.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [one.naturalWidth, one.naturalHeight];
    const pen = canvas.getContext('2d');
    pen.drawImage(one, 0, 0);
    const {data} = pen.getImageData(0, 0, canvas.width, canvas.height);
    const grey = [];
    for (let place = 0; place < data.length; place += 4) {
        if (data[place + 3] === 255) grey.push(Math.round((data[place] + data[place + 1] + data[place + 2]) / 3));
    }
    grey.sort((one, other) => one - other);
    return [grey[0], grey[Math.floor(grey.length / 2)], grey[grey.length - 1]];
}"""
"""The darkest, the median and the brightest of the pixels that are not transparent."""


def test_an_image_has_its_own_colours_light_or_dark(tab: Page) -> None:
    """Most pixels are background; letters stand out from it, whatever the page is like."""
    source = f'<body style="margin:0"><img alt="" src="{image(picture("answer, known"))}">'
    tab.emulate_media(color_scheme="light")
    tab.set_content(source)
    darkest, ground, _ = tab.evaluate(BRIGHTNESS)
    assert ground == 255
    assert darkest < 60
    tab.emulate_media(color_scheme="dark")
    tab.set_content(source)
    _, ground, brightest = tab.evaluate(BRIGHTNESS)
    assert ground < 40
    assert brightest > 200
    tab.emulate_media(color_scheme="light")


def test_a_file_is_dark_where_the_reader_wants_it_and_black_on_paper(browser: Browser, tmp_path: Path) -> None:
    tab = browser.new_page()
    path = tmp_path / "chart.svg"
    path.write_text(standalone(picture("answer, known")), encoding="utf-8")
    tab.goto(path.as_uri())
    colours = "[getComputedStyle(document.documentElement)].map(one => [one.color, one.backgroundColor])[0]"
    tab.emulate_media(color_scheme="dark")
    assert tab.evaluate(colours) == ["rgb(232, 237, 242)", "rgb(22, 30, 38)"]
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate(colours) == ["rgb(0, 0, 0)", "rgba(0, 0, 0, 0)"]
    tab.emulate_media(media="screen", color_scheme="light")
    assert tab.evaluate(colours) == ["rgb(26, 35, 44)", "rgb(255, 255, 255)"]
    tab.close()


def test_a_chart_in_a_page_takes_the_colours_of_the_page(tab: Page) -> None:
    tab.set_content(f'<body style="color:rgb(1, 2, 3)">{picture("answer, known")}')
    assert tab.evaluate("getComputedStyle(document.querySelector('text')).fill") == "rgb(1, 2, 3)"


def test_an_image_is_printed_in_light_colours(tab: Page) -> None:
    """Readers who prefer dark pages do not want black sheets of paper."""
    tab.emulate_media(color_scheme="dark")
    tab.set_content(f'<body style="margin:0"><img alt="" src="{image(picture("answer, known"))}">')
    tab.evaluate("document.images[0].decode()")
    printed = tab.pdf(print_background=True)
    tab.emulate_media(color_scheme="light")
    streams = re.findall(rb"FlateDecode.*?stream\r?\n(.*?)endstream", printed, re.DOTALL)
    fills = {fill for stream in streams for fill in re.findall(rb"([\d.]+) [\d.]+ [\d.]+ rg", _inflated(stream))}
    assert b".102" in fills  # the ink of a light page
    assert b".0863" not in fills  # the ground of a dark one
    assert b".9098" not in fills  # and its ink


def _inflated(stream: bytes) -> bytes:
    return zlib.decompressobj().decompress(stream)
