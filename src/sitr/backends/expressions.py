"""Expressions on rows as SQL: total, because an error on one row would be an answer about that row.

Numbers are doubles while they are computed with. NaN counts as missing, and so does every result that is not finite.
Text is VARCHAR, dates lie in the years 1 to 9999, and times have no zone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sitr.backends import zones
from sitr.backends.dialect import Dialect
from sitr.dataset.schema import NUMERIC, Column, Kind
from sitr.questions.aggregate.bind import GroupKey
from sitr.questions.aggregate.expressions.casts import TYPES
from sitr.questions.aggregate.expressions.expression import COMPARISONS
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, calendar, zone_of
from sitr.questions.aggregate.spelling import Value


@dataclass(frozen=True, slots=True)
class Expressions:
    """Writes expressions for one engine; `types` are the engine's types of the columns."""

    dialect: Dialect
    types: Mapping[str, str]

    def raw(self, typed: Typed) -> str:
        """The expression as it stands where values are clamped next: a column without any cast."""
        return self.quoted(typed.column) if typed.column is not None else self.written(typed)

    def grouped(self, of: Typed) -> str:
        """What rows are grouped by, in a type that answers can hold; NULL if it does not fit."""
        return self.dialect.key(of.column) if of.column is not None else self._computed_key(of)

    def key(self, key: GroupKey) -> str:
        """The same, with values beyond the bounds at the nearest bound if these say which keys there are."""
        of, found = key.of, self.grouped(key.of)
        if not key.clamped:
            return found
        assert of.low is not None
        assert of.high is not None
        ends = (of.low, of.high) if of.kind is Kind.TIMESTAMP else map(Fraction, of.whole_ends)
        low, high = (self.dialect.literal(calendar(end, of.kind) if of.kind in TEMPORAL else int(end)) for end in ends)
        return self.dialect.once(
            found, lambda x: f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END"
        )

    def _computed_key(self, of: Typed) -> str:
        found = self.written(of)
        if of.kind in TEMPORAL:
            return self.dialect.in_calendar(found, of.kind)
        return self.dialect.cast(found, Kind.REAL, Kind.INTEGER) if of.kind is Kind.INTEGER else found

    def present(self, typed: Typed) -> str:
        """Whether it has a value: it is neither NULL nor NaN."""
        if typed.column is not None and typed.kind is not Kind.REAL:
            return f"{self.quoted(typed.column)} IS NOT NULL"
        return f"({self.written(typed)}) IS NOT NULL"

    def written(self, typed: Typed) -> str:
        """The expression."""
        if isinstance(typed.what, Column):
            return self.leaf(typed.what)
        if typed.is_literal:
            return self.literal(typed)
        assert isinstance(typed.what, str)
        if typed.what in COMPARISONS:
            return self.compared(typed)
        if (write := _WRITTEN.get(typed.what)) is not None:
            return write(self, typed)
        return f"{typed.what.lower()}({', '.join(map(self.written, typed.parts))})"

    def quoted(self, column: Column) -> str:
        return self.dialect.identifier(column.name)

    def leaf(self, column: Column) -> str:
        """A column in the type that is computed with."""
        name = self.quoted(column)
        match column.kind:
            case Kind.INTEGER | Kind.REAL:
                return self.dialect.present(self.dialect.number(name))
            case Kind.TEXT:
                return self.dialect.text(name)
            case Kind.DATE | Kind.TIMESTAMP:
                return self.dialect.in_calendar(name, column.kind)
        return name

    def literal(self, typed: Typed) -> str:
        value = typed.value
        if value is None:
            return "NULL"
        return self.dialect.literal(float(value) if typed.kind is Kind.INTEGER else value)  # type: ignore[arg-type]

    def compared(self, typed: Typed) -> str:
        """A column and a literal are compared exactly, whatever the column's type. NaN is not above all numbers."""
        left, right = typed.parts
        if left.column is not None and right.is_literal and right.value is not None:
            return f"{self.exactly(left, right)} {typed.what} {self.dialect.literal(right.value)}"
        if left.column is not None and right.column is not None and left.kind is right.kind is Kind.INTEGER:
            return f"{self.dialect.key(left.column)} {typed.what} {self.dialect.key(right.column)}"
        return f"({self.written(left)}) {typed.what} ({self.written(right)})"

    def exactly(self, left: Typed, right: Typed) -> str:
        """A column in a type that compares exactly with a literal."""
        assert left.column is not None
        assert right.value is not None
        found = self.dialect.comparable(self.quoted(left.column), self.types.get(left.column.name, ""), right.value)
        return self.dialect.present(found) if left.kind is Kind.REAL else found

    def one_of(self, typed: Typed) -> str:
        """A value is compared with all literals of one type at once: engines plan long chains of OR slowly."""
        value, *others = typed.parts
        if value.column is None:
            # Engines may look literals up in a set, where -0.0 is not 0.0.
            found = f"({self.written(value)})" + (f" + {self.dialect.literal(0.0)}" if value.kind in NUMERIC else "")
            return f"{found} IN ({', '.join(map(self.written, others))})"
        listed: dict[str, list[Value]] = {}
        rest = []
        for other in others:
            if other.value is None:
                rest.append(self.compared(Typed("=", Kind.BOOLEAN, (value, other))))
                continue
            listed.setdefault(self.exactly(value, other), []).append(other.value)
        written = ((left, dict.fromkeys(self.dialect.literals(each))) for left, each in listed.items())
        return " OR ".join([*(f"{left} IN ({', '.join(each)})" for left, each in written), *rest])

    def operator(self, typed: Typed) -> str:
        left, right = typed.parts
        if left.kind in TEMPORAL:
            return self.on_dates(typed)
        return self.dialect.computed(str(typed.what), self.written(left), self.written(right))

    def on_dates(self, typed: Typed) -> str:
        """A date and a number of days, or the days between two dates."""
        left, right = typed.parts
        if right.kind is Kind.DATE:
            days = self.dialect.difference("day", self.written(right), self.written(left))
            return self.dialect.number(days)
        days = self.written(right) if typed.what == "+" else f"-({self.written(right)})"
        return self.dialect.in_calendar(self.dialect.later(self.written(left), days, "day", Kind.DATE), Kind.DATE)

    def clamped(self, typed: Typed) -> str:
        value, low, high = map(self.written, typed.parts)
        return self.dialect.once(
            value,
            lambda found: f"CASE WHEN {found} IS NOT NULL THEN least(greatest({found}, {low}), {high}) END",
        )

    def cases(self, typed: Typed) -> str:
        parts = [self.written(part) for part in typed.parts]
        branches = " ".join(f"WHEN {when} THEN {then}" for when, then in zip(parts[0::2], parts[1::2], strict=False))
        return f"CASE {branches}{f' ELSE {parts[-1]}' if len(parts) % 2 else ''} END"

    def cast(self, typed: Typed) -> str:
        part, word = typed.parts
        to = TYPES[str(word.value)]
        if part.kind is to or (part.kind in NUMERIC and to is Kind.REAL):
            return self.written(part)
        if to is Kind.TEXT and part.column is not None and part.kind not in TEMPORAL:
            return self.dialect.text(self.quoted(part.column))
        found = self.dialect.cast(self.written(part), part.kind, to)
        return self.dialect.number(found) if to is Kind.INTEGER else found

    def power(self, typed: Typed) -> str:
        value, times = self.written(typed.parts[0]), int(typed.parts[1].value or 0)  # type: ignore[arg-type]
        return self.dialect.power(value, times)

    def rounded(self, typed: Typed) -> str:
        places = int(typed.parts[1].value or 0) if len(typed.parts) == 2 else 0  # type: ignore[arg-type]
        return self.dialect.rounded(self.written(typed.parts[0]), places)

    def cut(self, typed: Typed) -> str:
        """SUBSTR, LEFT and RIGHT."""
        value, numbers = self.written(typed.parts[0]), [int(part.value or 0) for part in typed.parts[1:]]  # type: ignore[arg-type]
        if typed.what == "SUBSTR":
            return self.dialect.substring(value, numbers[0], numbers[1] if len(numbers) == 2 else None)
        return f"{str(typed.what).lower()}({value}, {numbers[0]})"

    def searched(self, typed: Typed) -> str:
        value, text = map(self.written, typed.parts)
        return self.dialect.found(str(typed.what), value, text)

    def truncated(self, typed: Typed) -> str:
        word, moment = typed.parts
        return self.dialect.truncated(str(word.value), self.written(moment), moment.kind)

    def extracted(self, typed: Typed) -> str:
        word, moment = typed.parts
        return self.dialect.number(self.dialect.extracted(str(word.value), self.written(moment)))

    def in_zone(self, typed: Typed) -> str:
        """The time in a zone. A column is named as often as needed, and every other expression is written once."""
        moment, word = typed.parts
        own, to = zone_of(moment), str(word.value)
        if own is None or own == to:
            return self.written(moment)
        if moment.column is not None:  # its source keeps it in the calendar
            return f"({zones.local(self.dialect, self.quoted(moment.column), to)})"
        return self.dialect.once(self.written(moment), lambda x: zones.local(self.dialect, x, to), always=True)

    def difference(self, typed: Typed) -> str:
        word, earlier, later = typed.parts
        return self.dialect.number(self.dialect.difference(str(word.value), self.written(earlier), self.written(later)))

    def later(self, typed: Typed) -> str:
        moment, count, word = typed.parts
        found, kind = self.written(moment), moment.kind
        if kind is Kind.DATE and typed.kind is Kind.TIMESTAMP:
            found = self.dialect.cast(found, Kind.DATE, Kind.TIMESTAMP)
        later = self.dialect.later(found, str(int(count.value or 0)), str(word.value), typed.kind)  # type: ignore[arg-type]
        return self.dialect.in_calendar(later, typed.kind)


def _joined(writer: Expressions, typed: Typed) -> str:
    return f" {typed.what} ".join(f"({writer.written(part)})" for part in typed.parts)


def _like(writer: Expressions, typed: Typed) -> str:
    value, pattern = typed.parts
    text = writer.quoted(value.column) if value.column is not None else writer.written(value)
    if typed.what == "ILIKE":
        return writer.dialect.like(writer.dialect.cased("LOWER", writer.dialect.text(text)), str(pattern.value).lower())
    return writer.dialect.like(text, str(pattern.value))


def _matches(writer: Expressions, typed: Typed) -> str:
    value, pattern = typed.parts
    whole = typed.what == "REGEXP_FULL_MATCH"
    return writer.dialect.matches(writer.written(value), str(pattern.value), whole=whole)


def _replaced(writer: Expressions, typed: Typed) -> str:
    value, old, new = typed.parts
    return writer.dialect.replaced(writer.written(value), str(old.value), str(new.value))


def _part(writer: Expressions, typed: Typed) -> str:
    value, between, number = typed.parts
    return writer.dialect.part(writer.written(value), str(between.value), int(number.value or 1))  # type: ignore[arg-type]


def _cased(writer: Expressions, typed: Typed) -> str:
    return writer.dialect.cased(str(typed.what), writer.written(typed.parts[0]))


def _is_null(writer: Expressions, typed: Typed) -> str:
    (part,) = typed.parts
    return f"{writer.quoted(part.column)} IS NULL" if part.column is not None else f"({writer.written(part)}) IS NULL"


def _whole(writer: Expressions, typed: Typed) -> str:
    """LENGTH and SIGN, as doubles: integers could overflow where they are computed with."""
    return writer.dialect.number(f"{str(typed.what).lower()}({writer.written(typed.parts[0])})")


def _smooth(writer: Expressions, typed: Typed) -> str:
    return writer.dialect.smooth(str(typed.what), writer.written(typed.parts[0]))


def _floored(writer: Expressions, typed: Typed) -> str:
    return writer.dialect.floored(str(typed.what), writer.written(typed.parts[0]))


_WRITTEN: dict[str, Callable[[Expressions, Typed], str]] = {
    **dict.fromkeys(("+", "-", "*", "/", "//", "%"), Expressions.operator),
    "AND": _joined,
    "OR": _joined,
    "NOT": lambda writer, typed: f"NOT ({writer.written(typed.parts[0])})",
    "NEGATE": lambda writer, typed: f"-({writer.written(typed.parts[0])})",
    "||": lambda writer, typed: " || ".join(f"({writer.written(part)})" for part in typed.parts),
    "IS NULL": _is_null,
    "IN": Expressions.one_of,
    "LIKE": _like,
    "ILIKE": _like,
    **dict.fromkeys(("REGEXP_MATCHES", "REGEXP_FULL_MATCH"), _matches),
    **dict.fromkeys(("LOWER", "UPPER"), _cased),
    "REPLACE": _replaced,
    "SPLIT_PART": _part,
    "CLAMP": Expressions.clamped,
    "CASE": Expressions.cases,
    "CAST": Expressions.cast,
    "POWER": Expressions.power,
    "ROUND": Expressions.rounded,
    **dict.fromkeys(("SQRT", "LN", "LOG10", "EXP"), _smooth),
    **dict.fromkeys(("FLOOR", "CEIL"), _floored),
    **dict.fromkeys(("LENGTH", "SIGN"), _whole),
    **dict.fromkeys(("SUBSTR", "LEFT", "RIGHT"), Expressions.cut),
    **dict.fromkeys(("STARTS_WITH", "ENDS_WITH", "CONTAINS"), Expressions.searched),
    "DATE_TRUNC": Expressions.truncated,
    "AT TIME ZONE": Expressions.in_zone,
    "EXTRACT": Expressions.extracted,
    "DATE_DIFF": Expressions.difference,
    "DATE_ADD": Expressions.later,
}
"""How calls are written that are not functions of the same name in every engine."""
