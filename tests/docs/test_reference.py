"""The API reference has every public name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import sitr

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api"


def test_every_part_has_a_page() -> None:
    lines = [line for page in PAGES.glob("*.md") for line in page.read_text().splitlines()]
    documented = {line.removeprefix(".. automodule:: sitr.") for line in lines if "automodule" in line}
    assert documented == {name for name, home in sitr._HOMES.items() if not home}


def test_every_name_at_the_top_is_on_a_page() -> None:
    text = "".join(page.read_text() for page in PAGES.glob("*.md"))
    for name, home in sitr._HOMES.items():
        if not home:
            continue
        part = import_module(f"sitr.{home.partition('.')[0]}")
        assert name in getattr(part, "__all__", ()) or home == "errors" or f" sitr.{name}\n" in text, name
