"""The expressions of Spark 4, in ANSI mode.

Every value of a question is a parameter, because `\\` escapes in Spark's literals. Integers and doubles are bound as
their texts and cast, so that no client changes them on the way. Nothing depends on the time zone of the session: times
have no zone (TIMESTAMP_NTZ), and functions that take other times are not used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction

from sitr.backends.bound import Bound
from sitr.dataset.schema import Column, Key, Kind, Quantised
from sitr.dataset.zone import CYCLE, FIRST, LAST, Zone
from sitr.errors import QuestionError
from sitr.questions.aggregate.spelling import Value

INTEGERS = ("tinyint", "smallint", "int", "bigint")
"""Types whose values compare with 64-bit integers without a cast."""

SHORT = 300
"""The length of an expression that may be written several times, which is quicker than a list for each row."""

FEW = 1_000
"""An owner of at most this many rows is no burden for one task."""

_OFFSETS = 2**20
"""More than twice the seconds of any offset from UTC."""
_LARGEST = "1.7976931348623157E308D"
_WIDE = "DECIMAL(38,0)"
_NAN = "CAST('NaN' AS DOUBLE)"


@dataclass(frozen=True, slots=True)
class SparkStep:
    """A step of a WITH clause."""

    name: str
    select: str
    once: bool


@dataclass(frozen=True, slots=True)
class SparkDialect:
    """A `Dialect` for one statement: it collects the parameters of the statement and its steps.

    Spark's least and greatest skip NULL, isnan(NULL) is false, and NaN equals NaN and is above all numbers.
    """

    bound: Bound = field(default_factory=Bound)
    steps_written: list[SparkStep] = field(default_factory=list)

    def identifier(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def literal(self, value: Value) -> str:
        match value:
            case bool():
                return "TRUE" if value else "FALSE"
            case int():
                return f"CAST({self._parameter(str(value))} AS BIGINT)"
            case float():
                text = repr(value) if math.isfinite(value) else str(value).replace("inf", "Infinity")
                return f"CAST({self._parameter(text)} AS DOUBLE)"
            case datetime():
                return f"CAST({self._parameter(value.isoformat(sep=' '))} AS TIMESTAMP_NTZ)"
            case date():
                return f"CAST({self._parameter(value.isoformat())} AS DATE)"
            case str():
                return self._parameter(value)

    def literals(self, values: Sequence[Value]) -> list[str]:
        return [self.literal(value) for value in values]

    def _parameter(self, text: str) -> str:
        return f":p{self.bound.add(text)}"

    def text(self, expression: str) -> str:
        return f"CAST({expression} AS STRING)"

    def identity(self, expression: str, type: str) -> str:  # noqa: ARG002 - all types have texts
        return self.text(expression)

    def number(self, expression: str) -> str:
        return f"try_cast({expression} AS DOUBLE)"

    def number_or(self, expression: str, missing: float) -> str:
        number = self.number(expression)
        return f"CASE WHEN {number} IS NULL OR isnan({number}) THEN {self.literal(missing)} ELSE {number} END"

    def integer(self, expression: str, type: str) -> str:
        return expression if type in INTEGERS else f"try_cast({expression} AS {_WIDE})"

    def moment(self, expression: str) -> str:
        return f"try_cast({expression} AS TIMESTAMP_NTZ)"

    def granules(self, expression: str, to: Quantised) -> str:
        """Clamped as a double, so that no cast can overflow; then as an integer, so that rounding stays inside."""
        low, high = float(to.lower * to.granularity), float(to.upper * to.granularity)

        def write(number: str) -> str:
            clamped = f"least(greatest({number}, {low!r}D), {high!r}D)"
            rounded = f"try_cast(round({clamped} / {float(to.granularity)!r}D) AS BIGINT)"
            # isnan(NULL) is false here, and NULL must not become the lower bound.
            known = f"{number} IS NOT NULL AND NOT isnan({number})"
            return f"CASE WHEN {known} THEN least(greatest({rounded}, {_long(to.lower)}), {_long(to.upper)}) END"

        return _once(self.number(expression), write)

    def key(self, column: Column) -> str:
        name = self.identifier(column.name)
        match column.kind:
            case Kind.INTEGER:
                # A cast takes 2^63, which does not fit, for the largest integer. Only then decimals tell them apart.
                whole, most = f"try_cast({name} AS BIGINT)", f"{2**63 - 1}L"
                exactly = f"try_cast({name} AS DECIMAL(20,0)) = {most}"
                return f"CASE WHEN {whole} < {most} OR {exactly} THEN {whole} END"
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
            case int() if type in INTEGERS or type.endswith(",0)"):
                return self.integer(expression, type)
            case int() | float():
                return self.number(expression)
            case str():
                return expression if type == "string" else self.text(expression)
            case datetime():
                return expression if type == "timestamp_ntz" else self.moment(expression)
            case date():
                return expression

    def like(self, expression: str, pattern: str) -> str:
        """As a regular expression that never goes back.

        Spark's own LIKE tries all ways to place the parts between several %, which takes a power of the length of a
        text. The first place of each part is always good enough, and an atomic group (?> ) tries no other.
        """
        first, *middle = (_as_regex(part) for part in pattern.split("%"))
        last = middle.pop() if middle else None
        inner = "".join(f"(?>.*?{part})" for part in middle if part)
        end = "" if last is None else f".*{last}"
        regex = rf"(?s)\A{first}{inner}{end}\z"
        return f"{self.text(expression)} RLIKE {self.literal(regex)}"

    def matches(self, expression: str, pattern: str, *, whole: bool) -> str:  # noqa: ARG002
        """Refused: Java's regular expressions can take a time that doubles with each character of a text."""
        raise no_patterns()

    def replaced(self, expression: str, old: str, new: str) -> str:
        return f"replace({expression}, {self.literal(old)}, {self.literal(new)})"

    def part(self, expression: str, between: str, number: int) -> str:
        return f"split_part({expression}, {self.literal(between)}, {number})"

    def cased(self, function: str, expression: str) -> str:
        return f"{function.lower()}({expression})"

    def same(self, one: str, other: str) -> str:
        return f"{one} <=> {other}"

    def order(self, salt: int, names: Sequence[str]) -> str:
        # xxhash64 leaves NULL out: with a flag before it, each value keeps its place.
        flagged = ", ".join(f"isnull({name}), {name}" for name in names)
        return f"xxhash64({salt}L, {flagged})"

    def lowest(self, most: int, *, source: str, of: Sequence[str], by: str, owned: int | None = None) -> str:
        """The rows of rank() at most `most` first, which each executor can reduce before rows are exchanged.

        Every row at or before one of them is one of them, so that counting among them gives the ranks of all rows. The
        hash is a column, so that rows are sorted by it once for both. Where nobody has many rows, reducing them first
        would only sort them once more.
        """
        hashed, number = (_free(name, by) for name in ("sitr_hash", "sitr_number"))
        window = f"OVER (PARTITION BY {', '.join(of)} ORDER BY {hashed})"
        rows = f"(SELECT *, {by} AS {hashed} FROM {source})"
        if owned is None or owned > FEW:
            rows = f"(SELECT * FROM {rows} QUALIFY rank() {window} <= {most})"
        counted = f"SELECT *, count(*) {window} AS {number} FROM {rows}"
        return f"SELECT * EXCEPT ({hashed}, {number}) FROM ({counted}) WHERE {number} <= {most}"

    def row_numbers(self, of: Sequence[str]) -> str:
        # Spark wants an order: the rows are equal in all of these columns.
        if not of:
            return "monotonically_increasing_id()"
        return f"row_number() OVER (PARTITION BY {', '.join(of)} ORDER BY {of[0]})"

    def semi_join(self, source: str, other: str, *, on: str) -> str:
        return f"{source} r LEFT SEMI JOIN {other} f ON {on}"

    def step(self, name: str, select: str, *, once: bool) -> str:
        self.steps_written.append(SparkStep(name, select, once))
        return f"{name} AS ({select})"

    def total(self, expression: str) -> str:
        return f"sum(CAST({expression} AS {_WIDE}))"

    def pairs(self, one: str, other: str) -> str:
        pair = f"array(CAST({one} AS BIGINT), CAST({other} AS BIGINT))"
        return f"CASE WHEN count(*) > 0 THEN collect_list({pair}) END"

    def whole(self, expression: str) -> str:
        return f"CAST({expression} AS BIGINT)"

    def wide(self, expression: str) -> str:
        return f"CAST({expression} AS {_WIDE})"

    def quotient(self, expression: str, by: int) -> str:
        if _WIDE not in expression:
            return f"({expression}) div {by}L"
        # A quotient of decimals is rounded, so the remainder goes first.
        return _once(
            f"CAST({expression} AS {_WIDE})", lambda value: f"CAST(({value} - {value} % {by}) / {by} AS {_WIDE})"
        )

    def steps(self, expression: str, first: float, times: float, by: float) -> str:
        start, factor, divisor = map(self.literal, (first, times, by))
        return f"floor(({expression} - {start}) * {factor} / {divisor})"

    def multiple(self, expression: str, unit: Fraction) -> str:
        factor, divisor = (self.literal(float(part)) for part in (unit.numerator, unit.denominator))
        return f"{self.number(expression)} * {factor} / {divisor}"

    def days(self, first: date, expression: str) -> str:
        return f"CAST(unix_date({expression}) AS BIGINT) - ({(first - date(1970, 1, 1)).days}L)"

    def seconds(self, first: datetime, expression: str) -> str:
        since = (first.date() - date(1970, 1, 1)).days * 86_400 + first.hour * 3600 + first.minute * 60 + first.second
        return f"{_seconds(expression)} - ({since}L)"

    def position(self, expression: str, keys: Sequence[Key]) -> str:
        """By the text of a key, which is different for different keys of one type.

        Spark makes one join of the sub-query with a small table that every executor gets, so that a row costs the same
        however many keys there are. The sub-query has one row, whatever the keys, so that it cannot fail.
        """
        name = _free("k", expression)  # a column of this name would be taken for a key inside the sub-query
        texts = self.literal(json.dumps([_text_of(key) for key in keys], ensure_ascii=False))
        listed = f"SELECT posexplode(from_json({texts}, 'array<string>')) AS ({name}_place, {name}_key)"
        return f"(SELECT min({name}_place) FROM ({listed}) AS {name} WHERE {name}_key = {self.text(expression)})"

    def once(self, expression: str, write: Callable[[str], str], *, always: bool = False) -> str:
        return _once(expression, write, short=0 if always else SHORT)

    def type_of(self, kind: Kind) -> str:
        return _COMPUTED[kind]

    def key_type(self, kind: Kind) -> str:
        return "bigint" if kind is Kind.INTEGER else _COMPUTED[kind]

    def present(self, expression: str) -> str:
        return f"nullif({expression}, {_NAN})"

    def computed(self, operator: str, left: str, right: str) -> str:
        match operator:
            case "/":
                return _finite(f"try_divide({left}, {right})")
            case "//":
                return _finite(_floored("floor", f"try_divide({left}, {right})"))
            case "%":
                return _finite(f"try_mod({left}, {right})")
        return _finite(f"({left}) {operator} ({right})")

    def power(self, expression: str, times: int) -> str:
        return _finite(f"power({expression}, {times}D)")

    def smooth(self, function: str, expression: str) -> str:
        return _finite(f"{function.lower()}({expression})")

    def floored(self, function: str, expression: str) -> str:
        return _floored(function.lower(), expression)

    def rounded(self, expression: str, places: int) -> str:
        return _finite(f"round({expression}, {places})")

    def cast(self, expression: str, kind: Kind, to: Kind) -> str:
        match kind, to:
            case (_, Kind.INTEGER):
                # A cast would take 2^63, which does not fit, for the largest integer.
                return _once(
                    f"round({self.number(expression)})",
                    lambda found: f"CASE WHEN {found} < 9.223372036854775807E18D THEN try_cast({found} AS BIGINT) END",
                )
            case (_, Kind.REAL):
                return _finite(self.number(expression))
            case (Kind.INTEGER, Kind.TEXT):
                return f"CAST(try_cast({expression} AS BIGINT) AS STRING)"
            case (_, Kind.TEXT):
                return self.text(expression)
            case (_, Kind.BOOLEAN):
                return f"try_cast({expression} AS BOOLEAN)"
            case (_, Kind.DATE):
                return self.in_calendar(f"try_cast({expression} AS DATE)", Kind.DATE)
            case _:
                return self.in_calendar(f"try_cast({expression} AS TIMESTAMP_NTZ)", Kind.TIMESTAMP)

    def in_calendar(self, expression: str, kind: Kind) -> str:
        found = expression if kind is Kind.DATE else self.moment(expression)
        return _once(found, lambda moment: f"CASE WHEN {_known(moment, kind)} THEN {moment} END")

    def utc(self, expression: str) -> str:
        # unix_micros counts from 1970 in UTC, whatever the time zone of the session is.
        since = f"timestampadd(MICROSECOND, unix_micros({expression}), TIMESTAMP_NTZ '1970-01-01 00:00:00')"
        return self.in_calendar(since, Kind.TIMESTAMP)

    def time(self, value: datetime) -> str:
        return f"TIMESTAMP_NTZ '{value.isoformat(sep=' ')}'"

    def offset(self, expression: str, of: Zone) -> str:
        """The last of a list of changes, found by halving. Each change is a number above the bits of its offset.

        A tree of CASE would have hundreds of branches, which Spark copies wherever the column is used, and compiles
        for minutes.
        """
        turns, repeats = of.turns(), of.since
        if len(turns) == 1:
            return str(of.first)
        numbers = ",".join(str(at * _OFFSETS + offset + _OFFSETS // 2) for at, offset in turns)
        listed = f"CAST(split({self._parameter(numbers)}, ',') AS ARRAY<BIGINT>)"
        halves = ", ".join(str(1 << bit) for bit in reversed(range((len(turns) - 1).bit_length())))

        def key(second: str) -> str:
            within = second
            if repeats is not None:
                again = f"{repeats}L + ({second} - ({repeats}L)) % {CYCLE}L"
                within = f"CASE WHEN {second} < {repeats}L THEN {second} ELSE {again} END"
            return _once(f"({within}) * {_OFFSETS}L + {_OFFSETS - 1}L", search, short=0)

        def search(key: str) -> str:
            after = f"CASE WHEN get({listed}, i + half) <= {key} THEN i + half ELSE i END"
            found = f"CAST(pmod(get({listed}, i), {_OFFSETS}L) - {_OFFSETS // 2}L AS INT)"
            return f"aggregate(array({halves}), 0, (i, half) -> {after}, i -> {found})"

        seconds = self.seconds(datetime(1970, 1, 1), expression)  # noqa: DTZ001
        return _once(f"least(greatest({seconds}, {FIRST}L), {LAST}L)", key, short=0)  # no number can overflow

    def moved(self, expression: str, seconds: str) -> str:
        return f"timestampadd(SECOND, {seconds}, {expression})"

    def substring(self, expression: str, first: int, length: int | None) -> str:
        return f"substr({expression}, {first})" if length is None else f"substr({expression}, {first}, {length})"

    def found(self, where: str, expression: str, text: str) -> str:
        return f"{where.lower().replace('_', '')}({expression}, {text})"

    def truncated(self, part: str, expression: str, kind: Kind) -> str:
        """Spark's date_trunc is for times with a zone. A time without one loses the smaller parts instead."""
        if part in _SMALLER:
            return _once(expression, lambda found: f"{found} - {_SMALLER[part].format(found)}")
        day = f"CAST({expression} AS DATE)"
        begin = day if part == "day" else f"trunc({day}, '{part}')"
        return begin if kind is Kind.DATE else f"CAST({begin} AS TIMESTAMP_NTZ)"

    def extracted(self, part: str, expression: str) -> str:
        if part in ("hour", "minute", "second"):
            return f"{part}({expression})"
        day = f"CAST({expression} AS DATE)"
        return _EXTRACTED.get(part, f"{part}({{}})").format(day)

    def difference(self, part: str, earlier: str, later: str) -> str:
        counted: Callable[[str], str] = _COUNTED[part]
        return f"({_once(later, counted)}) - ({_once(earlier, counted)})"

    def later(self, expression: str, count: str, part: str, kind: Kind) -> str:
        """NULL also for dates and numbers that lead far out of the calendar, where Spark's own sums could overflow."""
        number = self.number(count)
        if len(expression) + len(number) <= SHORT:
            return _later(f"({expression})", number, part, kind)
        body = _later("found.moment", "found.number", part, kind)
        return f"get(transform(array(struct({expression} AS moment, {number} AS number)), found -> {body}), 0)"


@dataclass(frozen=True, slots=True)
class PortableSparkDialect(SparkDialect):
    """Spark with the order of groups and rows that all engines can compute: see `PortableDuckDBDialect`."""

    def order(self, salt: int, names: Sequence[str]) -> str:
        texts = [self.text(name) for name in names]
        parts = ", ".join(f"coalesce(concat(char_length({text}), ':', {text}, ';'), 'n;')" for text in texts)
        return f"md5(concat('{salt};', {parts}))"


def no_patterns() -> QuestionError:
    """Regular expressions cannot be asked of Spark."""
    return QuestionError(
        given="REGEXP_MATCHES and REGEXP_FULL_MATCH cannot be used on Spark, whose regular expressions can take hours "
        "for a single row.",
        do="Use LIKE, STARTS_WITH, ENDS_WITH or CONTAINS; nothing was spent.",
    )


def _long(number: int) -> str:
    """An integer of 64 bits. The least one has no literal."""
    return f"CAST({number} AS BIGINT)"


def _once(expression: str, write: Callable[[str], str], *, short: int = SHORT) -> str:
    """What `write` makes of an expression, which is written once if it is long: nested calls would repeat it often."""
    if len(expression) <= short:
        return write(f"({expression})")
    return f"get(transform(array({expression}), found -> {write('found')}), 0)"


def _finite(expression: str) -> str:
    """NULL for what is not finite; NaN is above all numbers."""
    return _once(expression, lambda found: f"CASE WHEN abs({found}) <= {_LARGEST} THEN {found} END")


def _floored(function: str, expression: str) -> str:
    """Spark's own functions give integers, and fail where these do not fit. From 2^52 on every double is whole."""

    def write(found: str) -> str:
        # NaN and the infinities are not below 2^52 either.
        return f"CASE WHEN abs({found}) < 4503599627370496D THEN CAST({function}({found}) AS DOUBLE) ELSE {found} END"

    return _once(expression, write)


def _later(moment: str, number: str, part: str, kind: Kind) -> str:
    unit = _UNITS[part]
    most = 10_000 * 366 * 86_400 // unit if unit else 10_000 * 12
    inside = f"{number} BETWEEN -{most}D AND {most}D AND {_known(moment, kind)}"
    if not unit:
        months = f"try_cast(round({number}) * {_MONTHS[part]} AS INT)"
        added = f"add_months({moment}, {months})" if kind is Kind.DATE else f"{moment} + make_ym_interval(0, {months})"
    elif kind is Kind.DATE:
        added = f"date_add({moment}, try_cast(round({number}) * {unit // 86_400} AS INT))"
    else:
        seconds = f"try_cast(round({number}) * {unit} AS DECIMAL(18,6))"
        added = f"{moment} + make_dt_interval(0, 0, 0, {seconds})"
    return f"CASE WHEN {inside} THEN {added} END"


def _as_regex(part: str) -> str:
    """A part of a LIKE pattern between two %. Signs are escaped, so that they stand for themselves.

    >>> _as_regex("a_b.c")
    'a.b\\\\x2ec'
    """
    return "".join(
        "." if sign == "_" else sign if sign.isalnum() or not sign.isascii() else f"\\x{ord(sign):02x}" for sign in part
    )


def _text_of(key: Key) -> str:
    """The text of a key, as a cast writes it."""
    match key:
        case bool():
            return str(key).lower()
        case datetime():
            text = key.isoformat(sep=" ")
            return text.rstrip("0") if "." in text else text
    return str(key)


def _free(name: str, expression: str) -> str:
    """A name that no column in an expression has.

    >>> _free("k", "`k` + `Kk`")
    'kkk'
    """
    found = name
    while found in expression.lower():
        found += name
    return found


def _known(expression: str, kind: Kind) -> str:
    """Whether a date or time lies in the years 1 to 9999."""
    if kind is Kind.DATE:
        return f"{expression} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
    first, last = "TIMESTAMP_NTZ '0001-01-01 00:00:00'", "TIMESTAMP_NTZ '9999-12-31 23:59:59.999999'"
    return f"{expression} BETWEEN {first} AND {last}"


def _days(expression: str) -> str:
    """The days since the first Monday of the calendar, 0001-01-01; not negative in the calendar."""
    return f"CAST(unix_date(CAST({expression} AS DATE)) AS BIGINT) + 719162L"


def _seconds(expression: str) -> str:
    """The whole seconds since 1970."""
    day = f"CAST(unix_date(CAST({expression} AS DATE)) AS BIGINT) * 86400L"
    return f"({day} + hour({expression}) * 3600L + minute({expression}) * 60L + second({expression}))"


def _since_year_1(unit: int) -> Callable[[str], str]:
    return lambda expression: f"({_seconds(expression)} + {719_162 * 86_400}L) div {unit}L"


def _month_number(by: int) -> Callable[[str], str]:
    def number(expression: str) -> str:
        day = f"CAST({expression} AS DATE)"
        return f"CAST(year({day}) * 12 + month({day}) - 1 AS BIGINT) div {by}L"

    return number


_COMPUTED = {
    Kind.INTEGER: "double",
    Kind.REAL: "double",
    Kind.TEXT: "string",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp_ntz",
}
_SMALLER = {
    "hour": "make_dt_interval(0, 0, minute({0}), extract(SECOND FROM {0}))",
    "minute": "make_dt_interval(0, 0, 0, extract(SECOND FROM {0}))",
    "second": "make_dt_interval(0, 0, 0, extract(SECOND FROM {0}) - second({0}))",
}
"""What is left of a time after its beginning of an hour, a minute, a second."""
_EXTRACTED = {
    "week": "weekofyear({})",
    "dow": "(dayofweek({}) - 1)",
    "isodow": "(weekday({}) + 1)",
    "doy": "dayofyear({})",
}
_COUNTED: dict[str, Callable[[str], str]] = {
    "year": _month_number(12),
    "quarter": _month_number(3),
    "month": _month_number(1),
    "week": lambda expression: f"({_days(expression)}) div 7L",
    "day": _days,
    "hour": _since_year_1(3600),
    "minute": _since_year_1(60),
    "second": _since_year_1(1),
}
"""The number of each part's beginnings since the year 1, or of months since the year 0."""
_UNITS = {"year": 0, "quarter": 0, "month": 0, "week": 604_800, "day": 86_400, "hour": 3600, "minute": 60, "second": 1}
"""The seconds in a part; none for months, which differ."""
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
