"""The expressions of PostgreSQL 15 and later.

PostgreSQL has no cast that gives NULL instead of an error, and arithmetic of doubles raises errors. CASE is computed in
order, apart from constants, so every expression that could fail stands in a CASE whose condition excludes the failure.
Columns come in the types that `postgres_columns` gives them, so that a number is never a text here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from hashlib import sha256

from sitr.backends import postgres_arithmetic as arithmetic
from sitr.backends import postgres_dates as dates
from sitr.backends import postgres_texts as texts
from sitr.backends import zones
from sitr.backends.bound import Bound
from sitr.backends.postgres_arithmetic import INFINITY, double, half_away
from sitr.backends.postgres_patterns import translated
from sitr.dataset.schema import NUMERIC, Column, Key, Kind, Quantised
from sitr.dataset.zone import Zone
from sitr.questions.aggregate.spelling import Value

LONGEST_NAME = 63
"""The most bytes of a name; PostgreSQL cuts longer ones."""

MOST_LETTERS = 10_000
"""The part of a text in which a regular expression is looked for."""

SHORT = 60
"""The length of an expression that may be written several times; a longer one is computed in a sub-query."""

C = 'COLLATE "C"'
"""Texts are compared by their bytes, whatever the collation of a column or of the database."""

_NAN = "CAST('NaN' AS double precision)"


@dataclass(frozen=True, slots=True)
class PostgresDialect:
    """A `Dialect` for one statement, whose values are `bound`.

    `letters` is a collation that knows upper and lower case.

    least and greatest skip NULL, and NaN equals NaN and is above infinity.
    """

    bound: Bound = field(default_factory=Bound)
    letters: str = '"default"'

    def identifier(self, name: str) -> str:
        if len(encoded := name.encode(errors="replace")) > LONGEST_NAME:
            name = f"{encoded[:30].decode(errors='ignore')} {sha256(encoded).hexdigest()[:24]}"
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: Value) -> str:
        type = next(type for kind, type in _TYPES if isinstance(value, kind))
        if isinstance(value, str):
            # No text of PostgreSQL has the character 0, and none should have this one, which Unicode never assigns.
            value = value.replace("\0", "\ufdd0")
        return f"CAST(${self.bound.add(value) + 1} AS {type}){f' {C}' if isinstance(value, str) else ''}"

    def literals(self, values: Sequence[Value]) -> list[str]:
        return [self.literal(value) for value in values]

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS text) {C}"

    def identity(self, expression: str, type: str) -> str:  # noqa: ARG002 - all types have texts
        return self.text(expression)

    def number(self, expression: str) -> str:
        return f"CAST({expression} AS double precision)"

    def number_or(self, expression: str, missing: float) -> str:
        number = self.number(expression)
        return f"coalesce(nullif({number}, {_NAN}), {self.literal(missing)})"

    def integer(self, expression: str, type: str) -> str:  # noqa: ARG002 - all integers compare exactly
        return expression

    def moment(self, expression: str) -> str:
        return f"CAST({expression} AS timestamp)"

    def granules(self, expression: str, to: Quantised) -> str:
        """Less than a quarter of a granule is 0, because a quotient that underflows is an error."""
        low, high, step = (float(each * to.granularity) for each in (to.lower, to.upper, 1))
        lowest, highest, size = map(self.literal, (low, high, step))

        def body(v: str) -> str:
            clamped = f"least(greatest({v}, {lowest}), {highest})"
            counted = (
                f"CASE WHEN abs({clamped}) < {double(step / 4)} THEN 0 ELSE {half_away(f'({clamped} / {size})')} END"
            )
            inside = f"least(greatest(CAST({counted} AS bigint), {to.lower}), {to.upper})"
            return f"CASE WHEN {v} <= {INFINITY} THEN {inside} END"

        return self._with(body, self.number(expression))

    def key(self, column: Column) -> str:
        name = self.identifier(column.name)
        match column.kind:
            case Kind.INTEGER:
                # 2^63 fits into no type of integers, so that decimals and doubles are compared exactly with it.
                return f"CASE WHEN {name} >= {-(2**63)} AND {name} < {2**63} THEN CAST({name} AS bigint) END"
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
            case int() if type in ("smallint", "integer", "bigint") or type.startswith("numeric"):
                return self.integer(expression, type)
            case int() | float():
                return self.number(expression)
            case str():
                return self.text(expression)
            case datetime():
                inside = f"CASE WHEN {dates.within(expression, Kind.DATE)} THEN {expression} END"
                return self.moment(inside if type == "date" else expression)
            case date():
                return expression

    def like(self, expression: str, pattern: str) -> str:
        return f"{self.text(expression)} LIKE {self.literal(pattern)} ESCAPE ''"

    def matches(self, expression: str, pattern: str, *, whole: bool) -> str:
        # The first condition has only constants: a pattern that PostgreSQL refused would fail whatever the rows are.
        sign = self.literal(f"^({translated(pattern)})$" if whole else translated(pattern))
        return f"CASE WHEN ('' ~ {sign}) IS NOT NULL THEN left({expression}, {MOST_LETTERS}) ~ {sign} END"

    def replaced(self, expression: str, old: str, new: str) -> str:
        return f"replace({expression}, {self.literal(old)}, {self.literal(new)})"

    def part(self, expression: str, between: str, number: int) -> str:
        return f"split_part({expression}, {self.literal(between)}, {number})"

    def cased(self, function: str, expression: str) -> str:
        return f"{function.lower()}(({expression}) COLLATE {self.letters}) {C}"

    def same(self, one: str, other: str) -> str:
        # NULL equals NULL in arrays, and arrays can be hashed; a join on IS NOT DISTINCT FROM compares all pairs.
        return f"ARRAY[{one}] = ARRAY[{other}]"

    def order(self, salt: int, names: Sequence[str]) -> str:
        # The hash takes 12 bytes at a time, and mixes the last of them less than the others: these hold nothing.
        return f"hashtextextended(({_parts(names)} || '{'.' * 12}') {C}, CAST({salt} AS bigint))"

    def lowest(
        self,
        most: int,
        *,
        source: str,
        of: Sequence[str],
        by: str,
        owned: int | None = None,  # noqa: ARG002
    ) -> str:
        rank = "sitr_rank"
        while rank in source or rank in by:
            rank += "_"
        ranked = f"SELECT *, count(*) OVER (PARTITION BY {', '.join(of)} ORDER BY {by}) AS {rank} FROM {source}"
        return f"SELECT * FROM ({ranked}) AS ranked WHERE {rank} <= {most}"

    def row_numbers(self, of: Sequence[str]) -> str:
        same = f"PARTITION BY {', '.join(of)}" if of else ""
        return f"row_number() OVER ({same})"

    def semi_join(self, source: str, other: str, *, on: str) -> str:
        return f"(SELECT r.* FROM {source} r WHERE EXISTS (SELECT 1 FROM {other} f WHERE {on})) r"

    def step(self, name: str, select: str, *, once: bool) -> str:
        return f"{name} AS {'' if once else 'NOT '}MATERIALIZED ({select})"

    def total(self, expression: str) -> str:
        return f"sum(CAST({expression} AS numeric))"

    def pairs(self, one: str, other: str) -> str:
        return f"array_agg(ARRAY[CAST({one} AS bigint), CAST({other} AS bigint)])"

    def whole(self, expression: str) -> str:
        return f"CAST({expression} AS bigint)"

    def wide(self, expression: str) -> str:
        return f"CAST({expression} AS numeric)"

    def quotient(self, expression: str, by: int) -> str:
        return f"div(CAST({expression} AS numeric), {by})"

    def steps(self, expression: str, first: float, times: float, by: float) -> str:
        start, factor, divisor = map(self.literal, (first, times, by))

        def body(v: str) -> str:
            # So small a difference is in the first cell, and its quotient could underflow.
            counted = f"floor(({v} - {start}) * {factor} / {divisor})"
            return f"CAST(CASE WHEN abs({v} - {start}) < {double(1e-290)} THEN 0 ELSE {counted} END AS bigint)"

        return self._with(body, expression)

    def multiple(self, expression: str, unit: Fraction) -> str:
        """The sizes that fit into a double are known before anything is multiplied."""
        factor, divisor = (self.literal(float(part)) for part in (unit.numerator, unit.denominator))
        most = int(arithmetic.LARGEST) // unit.numerator
        beyond = f"sign({expression}) * {INFINITY}"
        return (
            f"CASE WHEN abs({expression}) <= {most} THEN {self.number(expression)} * {factor} / {divisor} "
            f"WHEN ({expression}) IS NOT NULL THEN {self.number(beyond)} END"
        )

    def days(self, first: date, expression: str) -> str:
        return f"CASE WHEN isfinite({expression}) THEN {expression} - {self.literal(first)} END"

    def seconds(self, first: datetime, expression: str) -> str:
        start = int((first - datetime(1970, 1, 1)).total_seconds())  # noqa: DTZ001 - without a zone, as the column
        counted = f"CAST(floor(extract(epoch FROM {expression}) - ({start})) AS bigint)"
        return f"CASE WHEN isfinite({expression}) THEN {counted} END"

    def position(self, expression: str, keys: Sequence[Key]) -> str:
        """The keys of an object of JSON are sorted, so that a search takes the same time for every text."""
        places: dict[str, int] = {}
        for place, key in enumerate(keys):
            places.setdefault(_text_of(key), place)
        listed = self.bound.add(json.dumps({key: place for key, place in places.items() if "\0" not in key}))
        return f"CAST(CAST(${listed + 1} AS jsonb) ->> CAST({expression} AS text) AS integer)"

    def once(self, expression: str, write: Callable[[str], str], *, always: bool = False) -> str:
        return self._with(write, f"({expression})", short=0 if always else SHORT)

    def type_of(self, kind: Kind) -> str:
        return _COMPUTED[kind]

    def key_type(self, kind: Kind) -> str:
        return "bigint" if kind is Kind.INTEGER else _COMPUTED[kind]

    def present(self, expression: str) -> str:
        return f"nullif({expression}, {_NAN})"

    def computed(self, operator: str, left: str, right: str) -> str:
        def body(a: str, b: str) -> str:
            match operator:
                case "+" | "-":
                    return arithmetic.added(a, operator, b)
                case "*":
                    return arithmetic.product(a, b)
                case "%":
                    return arithmetic.remainder(a, b)
                case _:
                    found = arithmetic.quotient(a, b)
                    return f"floor({found})" if operator == "//" else found

        return self._with(body, self.number(left), self.number(right))

    def power(self, expression: str, times: int) -> str:
        return self._with(lambda a: arithmetic.power(a, times), self.number(expression))

    def smooth(self, function: str, expression: str) -> str:
        return self._with(lambda a: arithmetic.smooth(function, a), self.number(expression))

    def floored(self, function: str, expression: str) -> str:
        return f"{function.lower()}({expression})"

    def rounded(self, expression: str, places: int) -> str:
        """Numbers of 2^53 steps and more are multiples of the step, or nearly so, and stay as they are."""
        step = self.literal(10.0 ** abs(places))

        def body(a: str) -> str:
            if places < 0:
                nearest = arithmetic.product(f"{half_away(f'({a} / {step})')}", step)
                small = f"abs({a}) < {double(0.1)}"
            else:
                nearest = f"{half_away(f'({a} * {step})')} / {step}"
                small = f"abs({a}) < {double(10.0 ** -(places + 1))}"
            large = f"abs({a}) >= {double(2.0**53 * 10.0**-places)}"
            found = f"CASE WHEN {small} THEN 0 WHEN {large} THEN {a} ELSE {nearest} END"
            return f"CASE WHEN {arithmetic.finite(a)} THEN {found} END"

        return self._with(body, self.number(expression))

    def cast(self, expression: str, kind: Kind, to: Kind) -> str:
        match kind, to:
            case (_, Kind.INTEGER | Kind.REAL):
                return self._cast_to_number(expression, kind, to)
            case (Kind.INTEGER, Kind.TEXT):
                return self.text(self._cast_to_number(expression, Kind.REAL, Kind.INTEGER))
            case (Kind.TEXT, Kind.BOOLEAN):
                return self._with(texts.truth, expression, type="text")
            case (_, Kind.TEXT):
                return self.text(expression)
            case (_, Kind.BOOLEAN):
                return f"({expression}) <> 0" if kind in NUMERIC else expression
            case (Kind.TEXT, Kind.DATE):
                return self._with(texts.day, expression, type="text")
            case (Kind.TEXT, _):
                return self._with(texts.moment, expression, type="text")
            case _:
                return f"CAST({self.in_calendar(expression, kind)} AS {_COMPUTED[to]})"

    def _cast_to_number(self, expression: str, kind: Kind, to: Kind) -> str:
        if kind is Kind.BOOLEAN:
            type = "double precision" if to is Kind.REAL else "bigint"
            return f"CAST(CAST({expression} AS integer) AS {type})"
        number = self._with(texts.number, expression, type="text") if kind is Kind.TEXT else self.number(expression)
        if to is Kind.REAL:
            return self._with(lambda a: f"CASE WHEN {arithmetic.finite(a)} THEN {a} END", number)
        fits = f"{double(-(2.0**63))} AND {double(2.0**63 - 2048)}"
        return self._with(lambda a: f"CASE WHEN {a} BETWEEN {fits} THEN CAST({half_away(a)} AS bigint) END", number)

    def in_calendar(self, expression: str, kind: Kind) -> str:
        return self._with(
            lambda x: f"CASE WHEN {dates.within(x, kind)} THEN {x} END",
            expression,
            type="date" if kind is Kind.DATE else "timestamp",
        )

    def utc(self, expression: str) -> str:
        # PostgreSQL knows UTC without any table of time zones.
        return self.in_calendar(f"{expression} AT TIME ZONE 'UTC'", Kind.TIMESTAMP)

    def time(self, value: datetime) -> str:
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"

    def offset(self, expression: str, of: Zone) -> str:
        return zones.offset(self, expression, of)

    def moved(self, expression: str, seconds: str) -> str:
        return f"{expression} + make_interval(secs => {seconds})"

    def substring(self, expression: str, first: int, length: int | None) -> str:
        return f"substr({expression}, {first})" if length is None else f"substr({expression}, {first}, {length})"

    def found(self, where: str, expression: str, text: str) -> str:
        match where:
            case "STARTS_WITH":
                return f"starts_with({expression}, {text})"
            case "ENDS_WITH":
                return self._with(
                    lambda whole, end: f"right({whole}, length({end})) = {end} {C}", expression, text, type="text"
                )
        return f"strpos({expression}, {text}) > 0"

    def truncated(self, part: str, expression: str, kind: Kind) -> str:
        return self._with(lambda x: dates.truncated(part, x, kind), expression, type=_COMPUTED[kind])

    def extracted(self, part: str, expression: str) -> str:
        return self._with(lambda x: dates.extracted(part, x), expression)

    def difference(self, part: str, earlier: str, later: str) -> str:
        return self._with(lambda one, other: dates.difference(part, one, other), earlier, later)

    def later(self, expression: str, count: str, part: str, kind: Kind) -> str:
        return self._with(
            lambda x, n: dates.later(x, n, part, kind), f"CAST({expression} AS {_COMPUTED[kind]})", self.number(count)
        )

    def _with(self, body: Callable[..., str], *expressions: str, type: str | None = None, short: int = SHORT) -> str:
        """`body` of short expressions as they are, and of the columns of a sub-query where they are long.

        Nested calls would double a long expression each time. OFFSET keeps PostgreSQL from writing it out again.
        """
        given = [each if type is None else f"CAST({each} AS {type})" for each in expressions]
        if all(len(each) <= short for each in given):
            return body(*given)
        names = [f"x{place}" for place in range(len(given))]
        columns = ", ".join(f"{each} AS {name}" for each, name in zip(given, names, strict=True))
        return f"(SELECT {body(*(f'o.{name}' for name in names))} FROM (SELECT {columns} OFFSET 0) AS o)"


@dataclass(frozen=True, slots=True)
class PortablePostgresDialect(PostgresDialect):
    """PostgreSQL with the order of groups and rows that all engines can compute: see `PortableDuckDBDialect`."""

    def order(self, salt: int, names: Sequence[str]) -> str:
        return f"md5('{salt};' || {_parts(names)}) {C}"


def _parts(names: Sequence[str]) -> str:
    """The values in one text: of each the number of its characters, its text, or that it is missing."""
    given = [f"CAST({name} AS text)" for name in names]
    return " || ".join(f"coalesce(char_length({each}) || ':' || {each} || ';', 'n;')" for each in given)


def _text_of(key: Key) -> str:
    """The text of a key, as PostgreSQL writes it."""
    if isinstance(key, datetime):
        text = key.isoformat(sep=" ")
        return text.rstrip("0") if key.microsecond else text
    return str(key).lower() if isinstance(key, bool) else str(key)


_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "bigint"),
    (float, "double precision"),
    (datetime, "timestamp"),
    (date, "date"),
    (str, "text"),
)
"""The types of values; the first that fits."""

_COMPUTED = {
    Kind.INTEGER: "double precision",
    Kind.REAL: "double precision",
    Kind.TEXT: "text",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp without time zone",
}
