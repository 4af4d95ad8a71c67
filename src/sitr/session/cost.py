"""How much work the expressions of a reading are for each row, at most, from the question alone.

An expression may be evaluated for few rows only: in `id = 777 AND …` what follows AND is evaluated where the id is 777.
So the time of an answer would say whether somebody has this id, unless the deadline allows for all of it on every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from sitr.questions.aggregate.expressions.expression import Literal
from sitr.questions.aggregate.expressions.patterns import PATTERNS, parts
from sitr.questions.aggregate.expressions.texts import TEXTS
from sitr.questions.aggregate.expressions.typed import Typed

LETTERS = 10_000
"""The letters of a text that are allowed for: a pattern sees no more of them."""
_SEARCHED = frozenset({"LIKE", "ILIKE", "STARTS_WITH", "ENDS_WITH", "CONTAINS", "CAST", *TEXTS})


@dataclass(frozen=True, slots=True)
class Cost:
    """What is evaluated for a row: calls, columns and literals, and parts of patterns that see every letter of a text.

    Repetitions of patterns are written out. Another function of texts counts as a part for itself and one for each
    letter of its literals.
    """

    nodes: int = 0
    parts: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.nodes + other.nodes, self.parts + other.parts)


def cost(reading: Any) -> Cost:
    """Of all expressions anywhere in a reading."""
    return sum(map(_own, _expressions(reading)), Cost())


def _own(typed: Typed) -> Cost:
    """Of an expression without its parts."""
    texts = [part.value for part in typed.parts if part.is_literal]
    if typed.what in PATTERNS:
        return Cost(1, sum(parts(str(text)) for text in texts))
    if typed.what in _SEARCHED:
        return Cost(1, 1 + sum(len(str(text)) for text in texts))
    return Cost(1)


def _expressions(value: Any) -> Iterator[Typed]:
    """Every expression and every part of one, as often as it occurs."""
    if isinstance(value, Typed):
        yield value
        for part in value.parts:
            yield from _expressions(part)
    elif isinstance(value, Literal):
        return
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _expressions(each)
    elif isinstance(value, Mapping):
        yield from _expressions(tuple(value.values()))
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from _expressions(getattr(value, each.name))
