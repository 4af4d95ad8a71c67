"""Literals in the type of what they are compared with."""

from __future__ import annotations

from datetime import UTC, date, datetime

from sitr.dataset.literals import shown, storable, writable
from sitr.dataset.schema import Kind
from sitr.dataset.zone import zone
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.typed import Typed, literal_typed, zone_of
from sitr.questions.aggregate.spelling import Value


def fitting(literal: Typed, other: Typed) -> Typed:
    """The literal as a plain value of the other expression's type. Beside a date, text is read as a date."""
    value = literal.value
    if value is None:
        raise QuestionError(
            given=f"{other.called} is compared with NULL, which is never true.",
            do=f"Write {other.text} IS NULL or {other.text} IS NOT NULL.",
        )
    try:
        temporal = other.kind in (Kind.DATE, Kind.TIMESTAMP)
        plain = _temporal(value, other) if temporal else _atomic(value, other.kind)
    except (ValueError, OverflowError):
        plain = None
    if plain is None:
        raise mismatch(other, value)
    return literal_typed(plain)


def _atomic(value: Value, kind: Kind) -> Value | None:
    """Numbers become plain Python numbers: a NumPy float prints differently, and backends get printed literals."""
    match kind, value:
        case (Kind.BOOLEAN, bool()):
            return value
        case (Kind.TEXT, str()) if writable(value):
            return value
        case (Kind.INTEGER | Kind.REAL, int() | float()) if not isinstance(value, bool) and storable(value):
            return int(value) if isinstance(value, int) else float(value)
    return None


def _temporal(value: Value, other: Typed) -> Value | None:
    """Beside moments, a time with an offset is the time in the zone in which they are read."""
    match other.kind, value:
        case (Kind.DATE, str()):
            return date.fromisoformat(value)
        case (Kind.DATE, date()) if not isinstance(value, datetime):
            return value
        case (Kind.TIMESTAMP, str() | date()):
            moment = datetime.fromisoformat(str(value))
            if moment.tzinfo is None:
                return moment
            read_in = zone_of(other)
            return None if read_in is None else zone(read_in).local(moment.astimezone(UTC).replace(tzinfo=None))
    return None


WRITTEN = {
    Kind.INTEGER: "Write a number between -2^63 and 2^63.",
    Kind.REAL: "Write a number between -2^63 and 2^63.",
    Kind.TEXT: "Write text in quotes.",
    Kind.BOOLEAN: "Write true or false.",
    Kind.DATE: "Write a date like '2024-01-31', whatever the format in the file.",
    Kind.TIMESTAMP: "Write a time like '2024-01-31 09:30:00', without a time zone.",
}


def mismatch(other: Typed, value: object) -> QuestionError:
    """The error for a value that cannot be compared with an expression."""
    return QuestionError(
        given=f"{other.called} has type {other.kind.value} and cannot be compared with {shown(value)}.",
        do=WRITTEN.get(other.kind, "Columns of this type can only be compared with NULL."),
    )
