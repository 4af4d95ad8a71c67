"""How much work the expressions of a reading are for each row, at most, from the question alone.

An expression may be evaluated for few rows only: in `id = 777 AND …` what follows AND is evaluated where the id is 777.
So the time of an answer would say whether somebody has this id, unless the deadline allows for all of it on every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from sitr.dataclass import dataclass
from sitr.dataset.schema import Kind
from sitr.questions.aggregate.expressions.expression import Literal
from sitr.questions.aggregate.expressions.patterns import PATTERNS, parts
from sitr.questions.aggregate.expressions.texts import TEXTS
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.view import TableRows, Visible
from sitr.questions.synthetic.diary import Diary
from sitr.questions.synthetic.sheet import Sheet
from sitr.questions.tables.records import Records

LONGEST = 10_000
"""The letters of a text that a pattern sees."""
BLOCK = 16
"""The letters of a literal that are searched for in one pass, at most: LIKE compares each with each of a text."""
AXIS = 5
"""The nodes that a column counts for where its cells are looked up."""
_SEARCHED = frozenset({"LIKE", "ILIKE", "STARTS_WITH", "ENDS_WITH", "CONTAINS", "CAST", *TEXTS})


@dataclass(frozen=True, slots=True)
class Cost:
    """What is evaluated for a row: calls, columns and literals, and passes over all letters of a text.

    A regular expression has a pass for each of its parts, with repetitions written out, because an automaton may be in
    all of them at once. Another function of texts has one pass for itself and one for each 16 letters of its literals.
    A column that is looked up in cells of a grid counts as several. Columns of a table that no expression uses are not
    read. `scans` is how often the rows of a protected table are read.
    """

    nodes: int = 0
    letters: int = 0
    scans: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.nodes + other.nodes, self.letters + other.letters, self.scans + other.scans)


def cost(reading: Any) -> Cost:
    """Of all expressions anywhere in a reading, or in several."""
    if isinstance(reading, tuple):
        return sum(map(cost, reading), Cost())
    listed = isinstance(reading, Sheet | Diary | Records)
    axes = len(reading.axes) if listed else len(getattr(getattr(reading, "grid", None), "axes", ()))
    counted = reading.passes if isinstance(reading, Records) else 0
    return sum(map(_own, _expressions(reading)), Cost(nodes=AXIS * axes + counted, scans=max(1, _tables(reading))))


def _own(typed: Typed) -> Cost:
    """Of an expression without its parts."""
    texts = [str(part.value) for part in typed.parts if part.is_literal]
    if typed.what in PATTERNS:
        return Cost(1, sum(map(parts, texts)))
    if typed.what in _SEARCHED and any(part.kind is Kind.TEXT and not part.is_literal for part in typed.parts):
        return Cost(1, 1 + sum(-(-len(text) // BLOCK) for text in texts))
    return Cost(1)


def _tables(value: Any) -> int:
    """How often a protected table is read in a view, and in the views that it is made of."""
    if isinstance(value, TableRows):
        return 1
    if isinstance(value, list | tuple):
        return sum(map(_tables, value))
    if is_dataclass(value) and not isinstance(value, type | Typed):
        return sum(_tables(getattr(value, each.name)) for each in fields(value))
    return 0


def _expressions(value: Any) -> Iterator[Typed]:
    """Every expression and every part of one, as often as it occurs."""
    if isinstance(value, Typed):
        yield value
        for part in value.parts:
            yield from _expressions(part)
    elif isinstance(value, Literal) or (isinstance(value, Visible) and value.typed.column is not None):
        return
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _expressions(each)
    elif isinstance(value, Mapping):
        yield from _expressions(tuple(value.values()))
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from _expressions(getattr(value, each.name))
