"""The types and ranges of casts. A value that does not fit is NULL."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from sitr.dataset.schema import NUMERIC, Key, Kind
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.ranges import Range, whole
from sitr.questions.aggregate.expressions.rules import Rule, listed, range_of
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed

TYPES = {
    "INTEGER": Kind.INTEGER,
    "DOUBLE": Kind.REAL,
    "VARCHAR": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIMESTAMP": Kind.TIMESTAMP,
}
"""The types that can be cast to, by their names in one spelling."""

_ALLOWED = {
    Kind.INTEGER: (*NUMERIC, Kind.TEXT, Kind.BOOLEAN),
    Kind.REAL: (*NUMERIC, Kind.TEXT, Kind.BOOLEAN),
    Kind.TEXT: (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE),
    Kind.BOOLEAN: (Kind.TEXT, Kind.BOOLEAN),
    Kind.DATE: (Kind.TEXT, *TEMPORAL),
    Kind.TIMESTAMP: (Kind.TEXT, *TEMPORAL),
}
"""Which types can become another type. Real numbers and times have no text that is the same on all engines."""


def cast(function: str, parts: tuple[Typed, ...]) -> Typed:
    """CAST(x AS type)."""
    part, word = parts
    kind = TYPES.get(str(word.value)) if word.is_literal else None
    if kind is None:
        raise QuestionError(
            given=f"CAST needs a type in place of {word.text}.",
            do="Cast to integer, double, varchar, boolean, date or timestamp.",
        )
    if part.kind not in _ALLOWED[kind]:
        raise QuestionError(
            given=f"{part.called} has type {part.kind.value}, which cannot be cast to {kind.value}.",
            do="Leave the cast out, or use another column.",
        )
    found = _range(part, kind)
    same = part.kind is kind
    keys = part.keys if same else (False, True, None) if kind is Kind.BOOLEAN else None
    if kind is Kind.TEXT and not same and part.possible is not None:
        keys = listed(None if key is None else _text(key) for key in part.possible)
    if {part.kind, kind} == set(TEMPORAL) and part.possible is not None:
        keys = listed((*(None if key is None else _moment(key, kind) for key in part.possible), None))
    step = Fraction(1) if kind is Kind.INTEGER else part.step if kind is Kind.REAL else None
    nullable = part.nullable or not (same or (part.kind in NUMERIC and kind is Kind.REAL))
    return Typed(function, kind, parts, found.low, found.high, step, nullable, keys)


def _text(key: Key) -> str:
    """A whole number, a truth value or a date as all engines write it."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def _moment(key: Key, kind: Kind) -> date:
    """A date as its midnight, or a time as its date."""
    assert isinstance(key, date)
    if kind is Kind.TIMESTAMP:
        return datetime(key.year, key.month, key.day)  # noqa: DTZ001
    return date(key.year, key.month, key.day)


def _range(part: Typed, kind: Kind) -> Range:
    found = range_of(part)
    if part.kind is kind or (part.kind in NUMERIC and kind is Kind.REAL):
        return found
    if part.kind is Kind.REAL and kind is Kind.INTEGER:
        return whole(found)
    if part.kind is Kind.BOOLEAN:
        return Range(Fraction(0), Fraction(1)) if kind in NUMERIC else Range()
    if part.kind is Kind.DATE and kind is Kind.TIMESTAMP:
        return found.mapped(lambda end: end * 86_400)
    if part.kind is Kind.TIMESTAMP and kind is Kind.DATE:
        return found.mapped(lambda end: Fraction(end // 86_400))
    return Range()


CASTS: dict[str, Rule] = {"CAST": cast}
