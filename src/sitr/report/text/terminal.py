"""Papers on a terminal, and as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from itertools import compress, islice

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from sitr.dataclass import dataclass
from sitr.report.figures import all_digits, displayed
from sitr.report.paper import Facts, Paper, PaperColumn, PaperTable, Role
from sitr.report.text.blocks import blocks
from sitr.report.words.words import Words, in_words

MOST_ROWS = 50
"""The most rows that a text shows, unless it must show all of them."""

FEW_ROWS = 10
"""The most rows that a short text shows."""

EIGHTHS = " ▏▎▍▌▋▊▉█"
"""The ends of bars, in eighths of a character."""


def render(paper: Paper, *, most: int | None = MOST_ROWS, exact: bool = False) -> RenderableType:
    """A paper: the question of a preview, the answer, and its facts; all rows if `most` is None.

    `exact` numbers have all their digits.
    """
    parts: list[RenderableType] = []
    if not paper.private:
        parts.append(Text(paper.words.not_private(), style="bold white on red"))
    if paper.receipt is None and paper.question:
        parts.append(Text(displayed(paper.words.question(paper.question)), style="italic"))
    if paper.value:
        parts.append(Text(displayed(all_digits(paper.value) if exact else paper.value), style="bold"))
    for name, part in paper.parts:
        parts += [_titled(name, part), *([Text(displayed(part.value), style="bold")] if part.value else [])]
        parts += [*_shown(part, most=most, exact=exact), *_bias(part), Text("")]
    parts += _shown(paper, most=most, exact=exact)
    if (prices := paper.prices()) is not None:
        parts += [Text(paper.words.other_prices()), *_first_rows(prices, paper.words, most=most, exact=exact)]
    return Group(*parts, facts(paper.facts, words=paper.words))


def _titled(name: str, paper: Paper) -> Text:
    """The name of one of several answers, and its question."""
    return Text(displayed(f"{name}: {paper.words.question(paper.question)}"), style="italic")


def _bias(paper: Paper) -> list[RenderableType]:
    """What is known about the bias of one of several answers, which must stand beside its numbers."""
    return [Text(displayed(sentence)) for name, sentence in paper.facts if name == "bias"]


def _shown(paper: Paper, *, most: int | None, exact: bool) -> list[RenderableType]:
    """The first rows of the table, and what is said about it."""
    if paper.table is None:
        return []
    return [*_first_rows(paper.table, paper.words, most=most, exact=exact), *map(Text, paper.table.notes())]


def _first_rows(table: PaperTable, words: Words, *, most: int | None, exact: bool) -> list[RenderableType]:
    """The first rows, and how many there are."""
    parts: list[RenderableType] = [grid(table, most=most, exact=exact)]
    if most is not None and most < table.size:
        parts.append(Text(words.more(most, table.size)))
    return parts


def brief(paper: Paper, line: str) -> RenderableType:
    """The first rows of an answer and one line about it."""
    parts: list[RenderableType] = []
    if not paper.private:
        parts.append(Text(paper.words.not_private(), style="bold white on red"))
    if paper.value:
        parts.append(Text(displayed(paper.value), style="bold"))
    for name, part in ((None, paper), *paper.parts):
        parts += [_titled(name, part)] if name is not None else []
        if part.table is not None:
            parts.append(grid(part.table, most=FEW_ROWS))
            if part.table.size > FEW_ROWS:
                parts.append(Text(paper.words.more(FEW_ROWS, part.table.size)))
    return Group(*parts, Text(line))


@dataclass(frozen=True, slots=True)
class Fitted:
    """A table whose columns are shown in blocks, one below the other, where a terminal has no room for all of them."""

    columns: tuple[PaperColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    ruled: bool

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._block(dict.fromkeys(range(len(self.columns)))))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, block in enumerate(blocks(self.columns, self.rows, options.max_width)):
            if number:
                yield Text("")
            yield self._block(block)

    def _block(self, widths: Mapping[int, int | None]) -> Grid:
        columns = [self.columns[place] for place in widths]
        made = Grid(box=SIMPLE_HEAD if self.ruled else None, show_edge=False, pad_edge=False)
        if not self.ruled:
            made.header_style = "dim"
        for column, width in zip(columns, widths.values(), strict=True):
            right = column.role in (Role.NUMBER, Role.INTERVAL)
            # Text, not str: rich would read a name in square brackets as markup.
            heading = Text(displayed(column.heading))
            # Words that are longer than the column go on in the next line: a name that is cut cannot be copied.
            made.add_column(
                heading,
                justify="right" if right else "left",
                overflow="fold",
                width=width,
            )
        bars = [column.role is Role.BAR for column in columns]
        rows = [[row[place] for place in widths] for row in self.rows]
        longest = max((len(cell) for row in rows for cell in compress(row, bars)), default=0)
        for row in rows:
            made.add_row(
                *(
                    ShortBar(cell, longest) if bar else Text(displayed(cell))
                    for cell, bar in zip(row, bars, strict=True)
                )
            )
        return made


def grid(table: PaperTable, *, most: int | None = None, exact: bool = False) -> Fitted:
    """A table with its first rows; `exact` numbers have all their digits."""
    shown = [column.terminal for column in table.columns]
    rows = (map(all_digits, row) if exact else row for row in islice(table.rows(), most))
    return Fitted(
        tuple(compress(table.columns, shown)), tuple(tuple(compress(row, shown)) for row in rows), table.ruled
    )


@dataclass(frozen=True, slots=True)
class ShortBar:
    """A bar of a chart, which becomes shorter where there is little room, like the `longest` one beside it."""

    text: str
    longest: int

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, max(1, self.longest))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = min(options.max_width, self.longest)
        eighths = 8 * self.text.count(EIGHTHS[-1]) + sum(map(EIGHTHS.index, self.text.strip(EIGHTHS[-1])))
        eighths = eighths if room == self.longest else eighths * room // self.longest
        yield Text(EIGHTHS[-1] * (eighths // 8) + EIGHTHS[eighths % 8].strip(), style="blue")


def facts(facts: Facts, *, words: Words | None = None) -> Grid:
    """Labelled sentences, one below the other."""
    words = in_words(words)
    made = Grid.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, sentence in facts:
        made.add_row(Text(words.label(name)), Text(displayed(sentence)))
    return made


def show(renderable: RenderableType, *, out: Console) -> None:
    """Print to a terminal as it is, and to a file or a pipe without trailing spaces."""
    if out.is_terminal:
        out.print(renderable)
    else:
        with out.capture() as held:
            out.print(renderable)
        out.print(Text("\n".join(line.rstrip() for line in held.get().splitlines())), soft_wrap=True)


def as_text(renderable: RenderableType, *, width: int = 100) -> str:
    """Plain text without colours, for `str(…)` and logs.

    `force_jupyter=False`: in a notebook, rich would otherwise display the text and leave the file empty.

    >>> as_text(Text("left", style="bold red"))
    'left'
    """
    file = StringIO()
    out = Console(file=file, width=width, color_system=None, force_terminal=False, force_jupyter=False, highlight=False)
    show(renderable, out=out)
    return file.getvalue().strip("\n")
