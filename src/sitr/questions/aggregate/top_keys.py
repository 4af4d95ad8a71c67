"""The most frequent keys in the spellings of BigQuery and Snowflake: groups, sorted by their noisy numbers, and cut.

A mechanism that picks k keys one after the other (peeling) pays for each of them, and its noise grows with k. Here each
person counts in few groups, so that noise on all groups at once costs no more than noise on one person's groups,
however many keys there are, and what is done with noisy numbers is free. So the sorted answer is the better mechanism,
and its intervals hold together for all keys that were compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from sitr.errors import QuestionError
from sitr.questions.aggregate.dialect import QuestionDialect
from sitr.questions.aggregate.spelling import identifier

_TOPS = {"APPROX_TOP_COUNT": 2, "APPROX_TOP_K": 2, "APPROX_TOP_SUM": 3, "TOP_K": 2}
"""The functions with their numbers of arguments."""

_LATER = (TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.UNION)
_DEEPER = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}


def spelled_out(sql: str) -> str:
    """The question with groups in place of APPROX_TOP_COUNT, APPROX_TOP_K, TOP_K or APPROX_TOP_SUM; else the same text.

    >>> spelled_out("SELECT APPROX_TOP_COUNT(ward, 3) FROM visits WHERE days > 3")
    'SELECT ward, COUNT(*) AS n FROM visits WHERE days > 3 GROUP BY 1 ORDER BY 2 DESC LIMIT 3'
    >>> spelled_out("SELECT APPROX_TOP_SUM(ward, cost, 3) AS total FROM visits")
    'SELECT ward, SUM(cost) AS total FROM visits GROUP BY 1 ORDER BY 2 DESC LIMIT 3'
    """
    if not any(name in sql.upper() for name in _TOPS):
        return sql
    try:
        tokens = [token for token in QuestionDialect().tokenize(sql) if token.token_type is not TokenType.SEMICOLON]
    except SqlglotError:  # the reader says what is wrong
        return sql
    called = [place for place, token in enumerate(tokens[:-1]) if _calls(token, tokens[place + 1])]
    if not called:
        return sql
    first = called[0]
    arguments, end = _arguments(tokens, first + 1, sql)
    name = tokens[first].text.upper()
    if len(arguments) != _TOPS[name] or not arguments[-1].isdecimal() or int(arguments[-1]) == 0:
        wanted = ("x, 10" if _TOPS[name] == 2 else "x, y, 10").replace("x", arguments[0] if arguments else "x")
        raise QuestionError(given=f"{name} needs a key and a number of keys.", do=f"Write {name}({wanted}).")
    key, *summed, most = arguments
    number = f"SUM({summed[0]})" if summed else "COUNT(*)"
    after = tokens[end + 1 :]
    alias = [token for token in after[: _place(after, TokenType.FROM)] if token.token_type is not TokenType.ALIAS]
    rest = after[_place(after, TokenType.FROM) :]
    if first != 1 or len(called) > 1 or len(alias) > 1 or not rest or _later(rest):
        raise QuestionError(
            given=f"{name} must be the only column of its question, without GROUP BY, ORDER BY and LIMIT.",
            do=f"Write SELECT {key}, {number} AS n FROM … GROUP BY {key} ORDER BY n DESC LIMIT {most}.",
        )
    named = identifier(alias[0].text) if alias else "n"
    text = sql[rest[0].start : rest[-1].end + 1]
    return f"SELECT {key}, {number} AS {named} {text} GROUP BY 1 ORDER BY 2 DESC LIMIT {most}"


def _calls(token: Token, following: Token) -> bool:
    return token.text.upper() in _TOPS and following.token_type is TokenType.L_PAREN


def _arguments(tokens: Sequence[Token], opening: int, sql: str) -> tuple[list[str], int]:
    """The texts between the commas of a call, and the place of the bracket that closes it."""
    parts, start, depth = [], opening + 1, 0
    for place in range(opening, len(tokens)):
        kind = tokens[place].token_type
        depth += _DEEPER.get(kind, 0)
        if depth == 0 or (kind is TokenType.COMMA and depth == 1):
            parts += [sql[tokens[start].start : tokens[place - 1].end + 1]] if place > start else []
            start = place + 1
        if depth == 0:
            return parts, place
    raise QuestionError(
        given=f"The bracket after {tokens[opening - 1].text} is not closed.", do="Add the missing bracket."
    )


def _place(tokens: Sequence[Token], kind: TokenType) -> int:
    return next((place for place, token in enumerate(tokens) if token.token_type is kind), len(tokens))


def _later(tokens: Sequence[Token]) -> bool:
    """Whether a part that the spelled-out question has itself is there already, outside brackets."""
    depth = 0
    for token in tokens:
        depth += _DEEPER.get(token.token_type, 0)
        if depth == 0 and token.token_type in _LATER:
            return True
    return False
