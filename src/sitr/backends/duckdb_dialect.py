"""The expressions of DuckDB."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from sitr.backends import zones
from sitr.dataset.schema import Column, Key, Kind, Quantised
from sitr.dataset.zone import Zone
from sitr.questions.aggregate.spelling import Value

PLAIN_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
"""Types whose values compare with 64-bit integers without a cast."""

MOST_LETTERS = 10_000
"""The part of a text in which a regular expression is looked for."""

SHORT = 300
"""The length of an expression that may be written twice, which is quicker than a list for each row."""


@dataclass(frozen=True, slots=True)
class DuckDBDialect:
    """A `Dialect`. DuckDB's least and greatest skip NULL, and isnan(NULL) is NULL."""

    def identifier(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: Value) -> str:
        match value:
            case bool():
                return "TRUE" if value else "FALSE"
            case int():
                return f"CAST({value} AS BIGINT)"  # not -n::BIGINT, which casts n before it negates: 2^63 does not fit
            case float():
                return f"{value!r}::DOUBLE" if math.isfinite(value) else f"'{value}'::DOUBLE"
            case datetime():
                return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
            case date():
                return f"DATE '{value.isoformat()}'"
            case str():
                return "'" + value.replace("'", "''") + "'"

    def literals(self, values: Sequence[Value]) -> list[str]:
        """The first integer has a type, which the others, being integers too, are brought into: a list is read as one.

        >>> DUCKDB.literals([1, -2, 3]), DUCKDB.literals([1, 2.5])
        (['CAST(1 AS BIGINT)', '-2', '3'], ['CAST(1 AS BIGINT)', '2.5::DOUBLE'])
        """
        if any(type(value) is not int for value in values):
            return [self.literal(value) for value in values]
        return [self.literal(value) for value in values[:1]] + [str(value) for value in values[1:]]

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS VARCHAR)"

    def identity(self, expression: str, type: str) -> str:
        # The least timestamp, and times beyond a day, have no text in DuckDB 2.0; nor has a list with one of them.
        whole = "TIME" not in type and not type.endswith("]") and "(" not in type.removeprefix("DECIMAL(")
        if whole and type:
            return self.text(expression)
        return f"CASE WHEN {expression} IS NOT NULL THEN {self.text(f'hash({expression})')} END"

    def number(self, expression: str) -> str:
        return f"TRY_CAST({expression} AS DOUBLE)"

    def number_or(self, expression: str, missing: float) -> str:
        number = self.number(expression)
        return f"CASE WHEN {number} IS NULL OR isnan({number}) THEN {self.literal(missing)} ELSE {number} END"

    def integer(self, expression: str, type: str) -> str:
        return expression if type in PLAIN_INTEGERS else f"TRY_CAST({expression} AS HUGEINT)"

    def moment(self, expression: str) -> str:
        return f"TRY_CAST({expression} AS TIMESTAMP)"

    def granules(self, expression: str, to: Quantised) -> str:
        """Clamped as a double, so that no cast can overflow; then as an integer, unless rounding stays inside.

        A quotient and its rounding never fall as the value grows, so they stay inside if those of both ends do.
        """
        low, high = float(to.lower * to.granularity), float(to.upper * to.granularity)
        number = self.number(expression)
        clamped = f"least(greatest({number}, {low!r}::DOUBLE), {high!r}::DOUBLE)"
        rounded = f"round({clamped} / {float(to.granularity)!r}::DOUBLE)::BIGINT"
        inside = rounded if stays_inside(to) else f"least(greatest({rounded}, {to.lower}), {to.upper})"
        return f"CASE WHEN NOT isnan({number}) THEN {inside} END"

    def key(self, column: Column) -> str:
        name = self.identifier(column.name)
        match column.kind:
            case Kind.INTEGER:
                return f"TRY_CAST({name} AS BIGINT)"
            case Kind.DATE | Kind.TIMESTAMP:
                return self.in_calendar(name, column.kind)
            case Kind.BOOLEAN:
                return name
            case _:
                return self.text(name)

    def comparable(self, expression: str, type: str, value: Value) -> str:
        match value:
            case bool():
                return expression
            case int() if type.endswith(("INT", "INTEGER")):
                return self.integer(expression, type)
            case int() | float():
                return self.number(expression)
            case str():
                return expression if type == "VARCHAR" else self.text(expression)
            case datetime():
                return expression if type == "TIMESTAMP" else self.moment(expression)
            case date():
                return expression

    def like(self, expression: str, pattern: str) -> str:
        return f"{self.text(expression)} LIKE {self.literal(pattern)}"

    def matches(self, expression: str, pattern: str, *, whole: bool) -> str:
        # DuckDB uses RE2, which reads each character once. A longer text is cut, so that none takes long.
        function = "regexp_full_match" if whole else "regexp_matches"
        return f"{function}(left({expression}, {MOST_LETTERS}), {self.literal(pattern)})"

    def replaced(self, expression: str, old: str, new: str) -> str:
        return f"replace({expression}, {self.literal(old)}, {self.literal(new)})"

    def part(self, expression: str, between: str, number: int) -> str:
        # DuckDB's split_part is a macro that writes its text twice.
        return self.once(
            expression,
            lambda x: (
                f"CASE WHEN {x} IS NOT NULL THEN coalesce(string_split({x}, {self.literal(between)})[{number}], '') END"
            ),
        )

    def cased(self, function: str, expression: str) -> str:
        return f"{function.lower()}({expression})"

    def same(self, one: str, other: str) -> str:
        return f"{one} IS NOT DISTINCT FROM {other}"

    def order(self, salt: int, names: Sequence[str]) -> str:
        # DuckDB's hash of several values ends in an XOR with the last one's own hash, which every salt shares: hashed
        # once more, the order of the groups is a fresh one for each person.
        return f"hash(hash({salt}::UBIGINT, {', '.join(names)}))"

    def lowest(
        self,
        most: int,
        *,
        source: str,
        of: Sequence[str],
        by: str,
        owned: int | None = None,  # noqa: ARG002
    ) -> str:
        # Without a frame, DuckDB counts all rows with an equal hash: the rank of both is the larger one.
        rank = f"count(*) OVER (PARTITION BY {', '.join(of)} ORDER BY {by})"
        return f"SELECT * FROM {source} QUALIFY {rank} <= {most}"

    def row_numbers(self, of: Sequence[str]) -> str:
        same = f"PARTITION BY {', '.join(of)}" if of else ""
        return f"row_number() OVER ({same})"

    def semi_join(self, source: str, other: str, *, on: str) -> str:
        return f"{source} r SEMI JOIN {other} f ON {on}"

    def step(self, name: str, select: str, *, once: bool) -> str:
        return f"{name} AS {'' if once else 'NOT '}MATERIALIZED ({select})"

    def total(self, expression: str) -> str:
        return f"sum({expression})"  # of BIGINT it is HUGEINT, and of HUGEINT too

    def pairs(self, one: str, other: str) -> str:
        return f"list([CAST({one} AS BIGINT), CAST({other} AS BIGINT)])"

    def whole(self, expression: str) -> str:
        return f"CAST({expression} AS BIGINT)"

    def wide(self, expression: str) -> str:
        return f"CAST({expression} AS HUGEINT)"

    def quotient(self, expression: str, by: int) -> str:
        return f"({expression}) // {by}"

    def steps(self, expression: str, first: float, times: float, by: float) -> str:
        start, factor, divisor = map(self.literal, (first, times, by))
        return self.whole(f"floor(({expression} - {start}) * {factor} / {divisor})")

    def multiple(self, expression: str, unit: Fraction) -> str:
        factor, divisor = (self.literal(float(part)) for part in (unit.numerator, unit.denominator))
        return f"{self.number(expression)} * {factor} / {divisor}"

    def days(self, first: date, expression: str) -> str:
        return f"date_diff('day', {self.literal(first)}, {expression})"

    def seconds(self, first: datetime, expression: str) -> str:
        return f"date_diff('second', {self.literal(first)}, {expression})"

    def position(self, expression: str, keys: Sequence[Key]) -> str:
        """By the text of a key, which is different for different keys of one type.

        DuckDB makes one hash join of the sub-query, so that a row costs the same however many keys there are, and
        whether or not it has one of them. The sub-query has one row, whatever the keys, so that it cannot fail.
        """
        name = "k"
        while name in expression.lower():  # a column of this name would be taken for a key inside the sub-query
            name += "k"
        texts = ", ".join(map(self._text_of, keys))
        listed = f"SELECT unnest([{texts}]) AS {name}_key, unnest(range({len(keys)})) AS {name}_place"
        matching = f"{name}_key = {self.text(expression)}"
        return f"(SELECT min({name}_place) FROM ({listed}) AS {name} WHERE {matching})"

    def _text_of(self, key: Key) -> str:
        """The text of a key, as `text` writes it."""
        if isinstance(key, datetime):
            return self.text(self.literal(key))
        return self.literal(str(key).lower() if isinstance(key, bool) else str(key))

    def once(self, expression: str, write: Callable[[str], str], *, always: bool = False) -> str:
        if len(expression) <= SHORT and not always:
            return write(f"({expression})")
        return f"list_transform([{expression}], lambda found: {write('found')})[1]"

    def type_of(self, kind: Kind) -> str:
        return _COMPUTED[kind]

    def key_type(self, kind: Kind) -> str:
        return "BIGINT" if kind is Kind.INTEGER else _COMPUTED[kind]

    def present(self, expression: str) -> str:
        return f"nullif({expression}, 'nan'::DOUBLE)"  # DuckDB holds NaN equal to NaN

    def computed(self, operator: str, left: str, right: str) -> str:
        # What DuckDB makes of a division by 0, infinity or NaN, is not finite.
        sign = "/" if operator == "//" else operator
        found = f"({left}) {sign} ({right})"
        return self._finite(f"floor({found})" if operator == "//" else found)

    def power(self, expression: str, times: int) -> str:
        return self._finite(f"power({expression}, {times}::DOUBLE)")

    def smooth(self, function: str, expression: str) -> str:
        return self._finite(f"{function.lower()}({expression})")

    def floored(self, function: str, expression: str) -> str:
        return f"{function.lower()}({expression})"

    def rounded(self, expression: str, places: int) -> str:
        return self._finite(f"round({expression}, {places})")

    def _finite(self, expression: str) -> str:
        """NULL for what is not finite. A long expression is written once: nested calls would double it each time.

        nullif(x, y) would not help: DuckDB makes a CASE of it that has x twice.
        """
        if len(expression) <= SHORT:
            return f"CASE WHEN isfinite({expression}) THEN {expression} END"
        return f"list_filter([{expression}], lambda found: isfinite(found))[1]"

    def cast(self, expression: str, kind: Kind, to: Kind) -> str:
        match kind, to:
            case (_, Kind.INTEGER):
                number = expression if kind is not Kind.TEXT else f"TRY_CAST({expression} AS DOUBLE)"
                return f"TRY_CAST(round(TRY_CAST({number} AS DOUBLE)) AS BIGINT)"
            case (_, Kind.REAL):
                return self._finite(f"TRY_CAST({expression} AS DOUBLE)")
            case (Kind.INTEGER, Kind.TEXT):
                return f"CAST(TRY_CAST({expression} AS BIGINT) AS VARCHAR)"
            case (_, Kind.TEXT):
                return self.text(expression)
            case (_, Kind.BOOLEAN):
                return f"TRY_CAST({expression} AS BOOLEAN)"
            case (_, Kind.DATE):
                return self.in_calendar(f"TRY_CAST({expression} AS DATE)", Kind.DATE)
            case _:
                return self.in_calendar(f"TRY_CAST({expression} AS TIMESTAMP)", Kind.TIMESTAMP)

    def in_calendar(self, expression: str, kind: Kind) -> str:
        if kind is Kind.DATE:
            first, last = "DATE '0001-01-01'", "DATE '9999-12-31'"
        else:
            first, last = "TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'"
            expression = self.moment(expression)
        return self.once(expression, lambda found: f"CASE WHEN {found} BETWEEN {first} AND {last} THEN {found} END")

    def utc(self, expression: str) -> str:
        # A cast to TIMESTAMP would use the time zone of the session; the cast here is for nanoseconds. This is NULL for
        # infinite times.
        since = f"epoch_us(TRY_CAST({expression} AS TIMESTAMP WITH TIME ZONE))"
        return self.in_calendar(f"make_timestamp({since})", Kind.TIMESTAMP)

    def time(self, value: datetime) -> str:
        return self.literal(value)

    def offset(self, expression: str, of: Zone) -> str:
        return zones.offset(self, expression, of)

    def moved(self, expression: str, seconds: str) -> str:
        return f"{expression} + to_seconds(CAST({seconds} AS BIGINT))"

    def substring(self, expression: str, first: int, length: int | None) -> str:
        return f"substr({expression}, {first})" if length is None else f"substr({expression}, {first}, {length})"

    def found(self, where: str, expression: str, text: str) -> str:
        return f"{where.lower()}({expression}, {text})"

    def truncated(self, part: str, expression: str, kind: Kind) -> str:
        type = "DATE" if kind is Kind.DATE else "TIMESTAMP"
        return f"TRY_CAST(date_trunc('{part}', {expression}) AS {type})"

    def extracted(self, part: str, expression: str) -> str:
        return f"date_part('{part}', {expression})"

    def difference(self, part: str, earlier: str, later: str) -> str:
        if part == "week":  # DuckDB counts other weeks than it truncates to
            first, last = (f"date_trunc('week', {each})" for each in (earlier, later))
            return f"date_diff('day', {first}, {last}) // 7"
        return f"date_diff('{part}', {earlier}, {later})"

    def later(self, expression: str, count: str, part: str, kind: Kind) -> str:
        number = f"TRY_CAST({count} AS {'BIGINT' if part in _TIMES else 'INTEGER'})"
        return f"TRY_CAST(TRY({expression} + to_{part}s({number})) AS {'DATE' if kind is Kind.DATE else 'TIMESTAMP'})"


def stays_inside(to: Quantised) -> bool:
    """Whether the rounded quotient of a clamped double is between the bounds in granules, whatever the double is."""
    ends = (_rounded(float(end) / float(to.granularity)) for end in to.ends)
    return all(to.lower <= end <= to.upper for end in ends)


def _rounded(quotient: float) -> int:
    """Half away from zero, as DuckDB rounds.

    >>> [_rounded(each) for each in (0.5, -2.5, 0.49999999999999994, 2.0**53 + 2)]
    [1, -3, 0, 9007199254740994]
    """
    exact = Fraction(quotient)
    whole = math.floor(abs(exact) + Fraction(1, 2))
    return whole if exact >= 0 else -whole


_COMPUTED = {
    Kind.INTEGER: "DOUBLE",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
_TIMES = ("hour", "minute", "second")
"""The parts of a time, whose functions take longer integers."""

DUCKDB = DuckDBDialect()


@dataclass(frozen=True, slots=True)
class PortableDuckDBDialect(DuckDBDialect):
    """DuckDB with the order of groups and rows that all engines can compute, which is slower than its own hash.

    It is the order of md5 as hexadecimal text of: the salt and ";", and for each value the number of its characters,
    ":", the value as text and ";", or "n;" for NULL. With it, the integers that two engines read are equal.
    """

    def order(self, salt: int, names: Sequence[str]) -> str:
        texts = [self.text(name) for name in names]
        parts = " || ".join(f"coalesce(length({text}) || ':' || {text} || ';', 'n;')" for text in texts)
        return f"md5('{salt};' || {parts})"


PORTABLE = PortableDuckDBDialect()
