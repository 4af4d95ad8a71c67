"""Blocks of columns: nothing is lost, keys are repeated, and numbers stay in one piece."""

from __future__ import annotations

import pytest

from sitr.report.paper import PaperColumn, PaperTable, Role
from sitr.report.text.blocks import blocks
from sitr.report.text.terminal import as_text, grid

COLUMNS = (
    PaperColumn("ward", Role.KEY),
    PaperColumn("visits", Role.NUMBER),
    PaperColumn("95% interval", Role.INTERVAL),
    PaperColumn("cost", Role.NUMBER),
    PaperColumn("95% interval", Role.INTERVAL),
    PaperColumn("people with rows cut", Role.NUMBER),
)
ROWS = tuple(
    (
        ward,
        f"{place},234 ± 90",
        f"{place},144 to {place},324",
        f"1,{place}00,000 ± 450,000",
        "650,000 to 1,550,000",
        "8% ± 1%",
    )
    for place, ward in enumerate(("Emergency", "Surgery"), start=1)
)
TABLE = PaperTable(COLUMNS, lambda: iter(ROWS), len(ROWS))


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 200])
def test_every_column_is_in_one_block_and_keys_are_in_all(width: int) -> None:
    found = blocks(COLUMNS, ROWS, width)
    assert all(0 in block for block in found)
    assert sorted(place for block in found for place in block if place) == list(range(1, len(COLUMNS)))
    assert all((number in block) == (number + 1 in block) for block in found for number in (1, 3))
    assert (len(found) == 1) is (width > 99)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_numbers_are_whole_and_lines_keep_the_width(width: int) -> None:
    shown = as_text(grid(TABLE), width=width)
    assert all(cell in shown for row in ROWS for cell in row)
    assert max(map(len, shown.splitlines())) <= width


def test_a_column_that_is_too_wide_is_shown_all_the_same() -> None:
    shown = as_text(grid(TABLE), width=20).splitlines()
    assert max(map(len, shown)) <= 20
    for row in ROWS:
        letters = sorted("".join(cell.replace(" ", "") for cell in row[1:]))
        assert not [letter for letter in letters if letters.count(letter) > "".join(shown).count(letter)]
