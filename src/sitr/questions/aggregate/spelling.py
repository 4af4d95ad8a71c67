"""Names and literals as SQL, in one spelling."""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache

from sqlglot import TokenType, exp, parse_one
from sqlglot.errors import ParseError

from sitr.questions.aggregate.dialect import QuestionDialect

Value = str | int | float | bool | date | datetime
"""A literal in a question."""


def identifier(name: str) -> str:
    """A name, in quotes if it needs them.

    >>> identifier("ward"), identifier("hours-per-week")
    ('ward', '"hours-per-week"')
    """
    return name if _plain(name) else _quoted(name)


def literal(value: Value) -> str:
    """A value.

    >>> literal("it's"), literal(date(2024, 2, 29))
    ("'it''s'", "DATE '2024-02-29'")
    """
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return repr(value)
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@lru_cache(maxsize=1024)
def _plain(name: str) -> bool:
    """Whether a name needs no quotes: it is not a keyword, and the parser reads it as it reads the quoted name."""
    if not (name.isascii() and name.isidentifier()):
        return False
    if [token.token_type for token in QuestionDialect().tokenize(name)] != [TokenType.VAR]:
        return False
    question = "SELECT {0}, SUM({0}) AS {0} FROM {0} WHERE {0} < 1 AND {0} IS NULL GROUP BY {0}"
    try:
        return _tree(question.format(name)) == _tree(question.format(_quoted(name)))
    except ParseError:
        return False


def _tree(sql: str) -> exp.Expr:
    """The parser's tree, without the difference between bare and quoted names."""
    tree = parse_one(sql, dialect=QuestionDialect)
    for name in tree.find_all(exp.Identifier):
        name.set("quoted", False)
    return tree
