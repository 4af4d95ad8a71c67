"""A table that is wider than the terminal, in blocks of columns, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from sitr.report.paper import PaperColumn, Role

BETWEEN = 3
"""The characters between two columns."""

LONGEST = 24
"""A text or a name with longer words goes on in the next line instead of taking more room."""


def blocks(columns: Sequence[PaperColumn], rows: Sequence[tuple[str, ...]], width: int) -> list[dict[int, int | None]]:
    """The columns of each block by their places, with their widths: the keys, and as many others as fit.

    Numbers are not broken, and an interval stands beside its number. If the keys and one column do not fit, they are a
    block all the same, without widths. A table with texts or bars has none either.

    >>> columns = [PaperColumn("ward", Role.KEY), PaperColumn("visits", Role.NUMBER), PaperColumn("cost", Role.NUMBER)]
    >>> blocks(columns, [("A", "1,234 ± 90", "56,789 ± 1,200")], 30)
    [{0: 4, 1: 10}, {0: 4, 2: 14}]
    >>> blocks(columns, [("A", "1,234 ± 90", "56,789 ± 1,200")], 40)
    [{0: 4, 1: 10, 2: 14}]
    """
    cells = [[row[place] for row in rows] for place in range(len(columns))]
    least = [_least(column, below) for column, below in zip(columns, cells, strict=True)]
    whole = [max(map(len, (column.heading, *below))) for column, below in zip(columns, cells, strict=True)]
    keys = [place for place, column in enumerate(columns) if column.role is Role.KEY]
    found = [list(keys)]
    for unit in _units(columns):
        if len(found[-1]) > len(keys) and _room([*found[-1], *unit], least, width) < 0:
            found.append(list(keys))
        found[-1] += unit
    give = any(column.role in (Role.TEXT, Role.BAR) for column in columns)  # texts and bars give way
    return [dict.fromkeys(sorted(block)) if give else _widths(sorted(block), least, whole, width) for block in found]


def _units(columns: Sequence[PaperColumn]) -> list[list[int]]:
    """The columns that are no keys, each with the interval that follows it."""
    found: list[list[int]] = []
    for place, column in enumerate(columns):
        if column.role is Role.INTERVAL and found and found[-1][-1] == place - 1:
            found[-1].append(place)
        elif column.role is not Role.KEY:
            found.append([place])
    return found


def _least(column: PaperColumn, cells: Sequence[str]) -> int:
    """The least width of a column in which nothing is broken that should not be."""
    if column.role is Role.BAR:
        return 1
    words = [word for cell in (column.heading, *cells) for word in cell.split()]
    longest = min(LONGEST, max(map(len, words), default=0))
    whole = cells if column.role in (Role.NUMBER, Role.INTERVAL) else ()
    return max(longest, *map(len, whole), 1)


def _room(block: Sequence[int], widths: Sequence[int], width: int) -> int:
    """What these columns leave of the width."""
    return width + BETWEEN - sum(widths[place] + BETWEEN for place in block)


def _widths(block: Sequence[int], least: Sequence[int], whole: Sequence[int], width: int) -> dict[int, int | None]:
    """The widths of a block: what columns need, and the rest of the room for those that would break least."""
    room = _room(block, least, width)
    found: dict[int, int | None] = dict.fromkeys(block)
    if room < 0:
        return found
    for place in sorted(block, key=lambda place: whole[place] - least[place]):
        more = min(room, max(0, whole[place] - least[place]))
        found[place] = least[place] + more
        room -= more
    return found
