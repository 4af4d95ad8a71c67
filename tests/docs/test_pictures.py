"""The pictures of the server in the documentation are drawn by `dev/pictures.py`, which goes where they say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "pictures"
SHOWN = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]


def size(picture: Path) -> tuple[int, int]:
    """Its width and height."""
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def test_every_picture_is_shown_somewhere() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in SHOWN)
    shown = set(re.findall(r"pictures/([\w-]+\.(?:png|svg))", texts))
    assert {path.name for path in KEPT.iterdir()} == shown


@pytest.mark.slow
@pytest.mark.sample
def test_the_pictures_are_drawn_from_the_pages_as_they_are(browser: Browser, tmp_path: Path) -> None:
    drawn = tmp_path / "pictures"
    drawn.mkdir()
    runpy.run_path(str(ROOT / "dev" / "pictures.py"))["pictures"](browser, tmp_path, drawn)
    assert {path.name for path in drawn.iterdir()} == {path.name for path in KEPT.glob("*.png")}
    for path in drawn.iterdir():
        assert size(path) == size(KEPT / path.name), path.name
