"""The pages about the five texts: every row of their first table is a line that runs, with what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_examples import blocks

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "texts"
PAGES = [path for path in sorted(FOLDER.glob("*.md")) if path.stem != "index"]
HEADING = "| in the text | shown by | prints |"
ROW = re.compile(r"\| (?P<what>[^|]+) \| `(?P<line>[^|]+)` \| `(?P<printed>[^|]+)` \|")


def rows(page: Path) -> list[tuple[str, str, str]]:
    """What the text says, the line that shows it, and what it prints."""
    text = page.read_text()
    table = text[text.index(HEADING) :].split("\n\n")[0].splitlines()[2:]
    found = [ROW.fullmatch(row) for row in table]
    assert all(found), [row for row, each in zip(table, found, strict=True) if not each]
    return [(each["what"], each["line"], each["printed"]) for each in found if each]


def outputs(page: Path) -> dict[str, str]:
    """For every line of the examples what is printed below it: nothing, a value, or the last line of an error."""
    found: dict[str, str] = {}
    for block in blocks(page):
        if block.language == "python":
            for part in re.split(r"^>>> ", block.text, flags=re.MULTILINE)[1:]:
                line, *below = part.strip().split("\n")
                found[line] = re.sub(r"^sitr\.errors\.", "", below[-1].replace("...", "…")) if below else ""
    return found


def test_there_is_a_page_for_each_of_the_five_texts() -> None:
    assert [page.stem for page in PAGES] == ["concentrated", "flavors", "histograms", "random", "sensitivity"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_row_is_a_line_that_runs_and_prints_what_the_row_says(page: Path) -> None:
    shown, seen = rows(page), outputs(page)
    assert len(shown) >= 12
    for what, line, printed in shown:
        *before, last = line.split("; ")
        assert all(each in seen for each in before), what
        assert seen[last] == printed, what


def test_a_row_with_another_output_would_be_found(tmp_path: Path) -> None:
    """The broken twin."""
    page = tmp_path / "page.md"
    page.write_text(f"{HEADING}\n|---|---|---|\n| a sum | `1 + 1` | `3` |\n\n```python\n>>> 1 + 1\n2\n\n```\n")
    ((_, line, printed),) = rows(page)
    assert outputs(page)[line] == "2" != printed


def test_random_privacy_is_never_abbreviated() -> None:
    assert not [page.stem for page in PAGES if re.search(r"\bRDP\b", page.read_text())]
