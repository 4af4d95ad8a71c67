"""BigQuery's spelling of private questions, rewritten into the one that Sitr reads.

`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 1e-6, …)` says in the text what Sitr takes as the price
and the caps: `max_groups_contributed` is max_groups, and `max_rows_contributed` is max_rows, the rows of a person in
the whole question. `contribution_bounds_per_group => (low, high)` and `CLAMPED BETWEEN low AND high` clamp the total of
each person, as SUM_PER_PERSON does; of means, quantiles and variances they clamp the values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from sitr.dataclass import dataclass
from sitr.dataset.literals import shortened
from sitr.errors import QuestionError, suggestion
from sitr.questions.aggregate.dialect import QuestionDialect

_MODES = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")
_OPTIONS = ("epsilon", "delta", "max_groups_contributed", "max_rows_contributed", "privacy_unit_column", "kappa")
_PER_GROUP, _PER_ROW = "CONTRIBUTION_BOUNDS_PER_GROUP", "CONTRIBUTION_BOUNDS_PER_ROW"
_MARKS = (*_MODES, "ANON_", "=>", "CLAMPED", "TOP")
"""A text without any of these has nothing of BigQuery's. It need not be cut into words: long lists take long."""
_TOTALS = ("SUM", "COUNT")
"""Functions whose bounds clamp the total of a person."""


@dataclass(frozen=True, slots=True)
class Options:
    """What OPTIONS says about the price, the caps and the unit."""

    epsilon: float | None = None
    delta: float | None = None
    max_groups: int | None = None
    max_rows: int | None = None
    unit: str | None = None


def without_unit(sql: str) -> str:
    """The question without its privacy_unit_column.

    >>> without_unit("SELECT WITH ANONYMIZATION OPTIONS(epsilon=1, privacy_unit_column=city) ANON_COUNT(*) FROM visits")
    'SELECT WITH ANONYMIZATION OPTIONS(epsilon=1) ANON_COUNT(*) FROM visits'
    """
    named = r"privacy_unit_column\s*=\s*(?:[\w.]+|`[^`]*`|\"[^\"]*\")"
    return re.sub(rf"\s*,\s*{named}|{named}\s*,?\s*", "", sql, count=1, flags=re.IGNORECASE)


def rewritten(sql: str) -> tuple[str, Options | None]:
    """The question as Sitr reads it, and its options; the same text and None if nothing in it is BigQuery's.

    >>> rewritten("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) ANON_COUNT(*) AS n FROM visits")
    ('SELECT COUNT(*) AS n FROM visits', Options(epsilon=1.0, delta=None, max_groups=None, max_rows=None, unit=None))
    >>> rewritten("SELECT SUM(cost, contribution_bounds_per_group => (0, 9)) FROM visits")[0]
    'SELECT SUM_PER_PERSON(cost, 0, 9) FROM visits'
    """
    letters = sql.upper()
    if not any(mark in letters for mark in _MARKS):
        return sql, None
    try:
        tokens = QuestionDialect().tokenize(sql)
    except SqlglotError:  # the reader says what is wrong
        return sql, None
    found: Options | None = None
    for place in range(len(tokens) - 2, -1, -1):
        mode = tokens[place + 1 : place + 3]
        if tokens[place].token_type is TokenType.SELECT and _texts(mode) in [("WITH", each) for each in _MODES]:
            end, found = _options(tokens, place + 3, sql)
            sql = sql[: mode[0].start].rstrip() + " " + sql[end:].lstrip()
    tokens = tokens if found is None else QuestionDialect().tokenize(sql)
    top = _top(sql, tokens)
    return _functions(top, tokens if top is sql else QuestionDialect().tokenize(top)), found


def _top(sql: str, tokens: Sequence[Token]) -> str:
    """SELECT TOP 5 … is SELECT … LIMIT 5, as SQL Server and Snowflake write it.

    >>> rewritten("SELECT TOP 5 ward, COUNT(*) FROM visits GROUP BY ward;")[0]
    'SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 5'
    """
    if _texts(tokens[:2]) != ("SELECT", "TOP") or tokens[2:3] == [] or tokens[2].token_type is not TokenType.NUMBER:
        return sql
    rest = sql[tokens[2].end + 1 :].strip().rstrip(";").rstrip()
    return f"{tokens[0].text} {rest} LIMIT {tokens[2].text}"


def _texts(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.text.upper() for token in tokens)


def _options(tokens: list[Token], place: int, sql: str) -> tuple[int, Options]:
    """The options, and where the text goes on after them."""
    if place >= len(tokens) or tokens[place].text.upper() != "OPTIONS":
        return tokens[place - 1].end + 1, Options()
    last = _closing(tokens, place + 1)
    said: dict[str, str] = {}
    for part in _arguments(tokens, place + 2, last, sql):
        name, _, value = part.partition("=")
        said[name.strip().lower()] = value.strip()
    for name in said:
        if name not in _OPTIONS:
            raise QuestionError(given=f"OPTIONS has {name!r}, which is not known here.", do=suggestion(name, _OPTIONS))
    groups = said.get("max_groups_contributed") or said.get("kappa")
    unit = said.get("privacy_unit_column")
    made = Options(
        _number(said.get("epsilon"), "epsilon"),
        _number(said.get("delta"), "delta"),
        _whole(groups, "max_groups_contributed"),
        _whole(said.get("max_rows_contributed"), "max_rows_contributed"),
        unit.strip('`"').rpartition(".")[2].strip('`"') if unit else None,
    )
    return tokens[last].end + 1, made


def _closing(tokens: list[Token], opening: int) -> int:
    """The bracket that closes the one at this place."""
    depth = 0
    for place in range(opening, len(tokens)):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(tokens[place].token_type, 0)
        if depth == 0:
            return place
    raise QuestionError(given="The bracket after OPTIONS is not closed.", do="Add the missing bracket.")


def _arguments(tokens: list[Token], first: int, last: int, sql: str) -> list[str]:
    """The texts between the commas of a call."""
    parts, start, depth = [], first, 0
    for place in range(first, last + 1):
        kind = tokens[place].token_type
        if place == last or (kind is TokenType.COMMA and depth == 0):
            if place > start:
                parts.append(sql[tokens[start].start : tokens[place - 1].end + 1])
            start = place + 1
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(kind, 0)
    return parts


def _number(text: str | None, name: str) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise QuestionError(
            given=f"OPTIONS has {name} = {shortened(text or '')}, which is no number.", do="Write a number."
        ) from None


def _whole(text: str | None, name: str) -> int | None:
    number = _number(text, name)
    if number is not None and (number != int(number) or number < 1):
        raise QuestionError(
            given=f"OPTIONS has {name} = {shortened(text or '')}.", do="Write a whole number of at least 1."
        )
    return None if number is None else int(number)


def _functions(sql: str, tokens: list[Token]) -> str:
    """The calls with bounds, and those that begin with ANON_, from the last to the first, so that places stay right."""
    for place in range(len(tokens) - 2, -1, -1):
        if tokens[place + 1].token_type is not TokenType.L_PAREN:
            continue
        name, plain = tokens[place].text.upper(), tokens[place].text.upper().removeprefix("ANON_")
        last = _matching(tokens, place + 1)
        if last is None:
            return sql
        parts = _arguments(tokens, place + 2, last, sql)
        bounds = next((found for part in parts if (found := _bounds(part)) is not None), None)
        if name == plain and bounds is None:
            continue
        parts = [bare for part in parts if (bare := _bare(part))]
        call = _call({"QUANTILES": "APPROX_QUANTILES"}.get(plain, plain), parts, bounds)
        sql = sql[: tokens[place].start] + call + sql[tokens[last].end + 1 :]
        tokens = QuestionDialect().tokenize(sql)
    return sql


def _matching(tokens: list[Token], opening: int) -> int | None:
    try:
        return _closing(tokens, opening)
    except QuestionError:  # the reader says which bracket it is
        return None


_NAMED = re.compile(rf"\s*({_PER_GROUP}|{_PER_ROW})\s*=>\s*\((.+),(.+)\)\s*", re.IGNORECASE | re.DOTALL)
_CLAMPED = re.compile(r"(.*?)\s+CLAMPED\s+BETWEEN\s+(\S+)\s+AND\s+(\S+)\s*", re.IGNORECASE | re.DOTALL)


def _bounds(part: str) -> tuple[str, str] | None:
    found = _NAMED.fullmatch(part) or _CLAMPED.fullmatch(part)
    return None if found is None else (found[2].strip(), found[3].strip())


def _bare(part: str) -> str:
    """The argument without its bounds; empty if it is nothing else."""
    if _NAMED.fullmatch(part):
        return ""
    clamped = _CLAMPED.fullmatch(part)
    return clamped[1] if clamped else part


def _call(name: str, parts: list[str], bounds: tuple[str, str] | None) -> str:
    if bounds is None:
        return f"{name}({', '.join(parts)})"
    low, high = bounds
    first, *others = parts or ["*"]
    if name == "COUNT":
        first = "1" if first.strip() == "*" else f"CASE WHEN {first} IS NOT NULL THEN 1 END"
    if name in _TOTALS:
        return f"SUM_PER_PERSON({first}, {low}, {high})"
    return f"{name}({', '.join([f'CLAMP({first}, {low}, {high})', *others])})"
