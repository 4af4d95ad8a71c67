"""Where the parts of a question are in its text.

The parser notes where names, literals and functions start and end. The root of a tree remembers the text, so that an
error about any part of it can point at that part. Nothing here is needed for a question that has no mistake.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache

from sqlglot import Token, TokenType, exp

from sitr.errors import Excerpt
from sitr.questions.aggregate.dialect import QuestionDialect

_TEXT, _SKIPPED = "sitr_text", "sitr_skipped"
_VALUES = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER)
CLAUSES = frozenset(
    (
        *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET"),
        *("AND", "OR", "NOT", "AS", "IN", "LIKE", "BETWEEN", "IS", "NULL", "ASC", "DESC"),
    )
)
"""The words of the questions that can be asked."""


def remember(tree: exp.Expr, text: str, *, skipped: int = 0) -> None:
    """Note the text of a tree; its first `skipped` characters were not written by the user."""
    tree.meta.update({_TEXT: text, _SKIPPED: skipped})


def copied(item: exp.Expr) -> exp.Expr:
    """A copy of a part of a tree that remembers the text of the whole."""
    found = item.copy()
    same_text(found, item)
    return found


def same_text(tree: exp.Expr, item: exp.Expr) -> None:
    """Note that a tree was made of parts of the text that another one is in."""
    root = item.root()
    if isinstance(text := root.meta.get(_TEXT), str):
        remember(tree, text, skipped=root.meta[_SKIPPED])


def place(item: object) -> Excerpt | None:
    """Where a part of a tree is; None if that is not known.

    >>> tree = exp.maybe_parse("SELECT MEDIAN(x) FROM a USING SAMPLE 5", dialect=QuestionDialect)
    >>> remember(tree, "SELECT MEDIAN(x) FROM a USING SAMPLE 5")
    >>> print(place(tree.selects[0]))
    line 1: SELECT MEDIAN(x) FROM a USING SAMPLE 5
                   ^^^^^^^^^
    """
    if not isinstance(item, exp.Expr) or not isinstance(text := item.root().meta.get(_TEXT), str):
        return None
    tokens = _tokens(text)
    span = _span(item, tokens)
    if span is None:
        words = ("?",) if isinstance(item, exp.Placeholder) else (type(item).__name__.upper(), *_names(item))
        found = (place_of_word(item, word) for word in words)
        return next((each for each in found if each is not None), None) or place(item.parent)
    return between(text, tokens[span[0]], tokens[span[1]], skipped=item.root().meta[_SKIPPED])


def source(item: object) -> str | None:
    """A part of a tree as it was written, in one line; None if its place is not known, or it has a comment.

    >>> tree = exp.maybe_parse("SELECT string_agg(x,  ',') FROM a", dialect=QuestionDialect)
    >>> remember(tree, "SELECT string_agg(x,  ',') FROM a")
    >>> source(tree.selects[0])
    "string_agg(x, ',')"
    """
    if not isinstance(item, exp.Expr) or not isinstance(text := item.root().meta.get(_TEXT), str):
        return None
    tokens = _tokens(text)
    span = _span(item, tokens)
    if span is None or any(token.comments for token in tokens[span[0] : span[1] + 1]):
        return None
    return " ".join(text[tokens[span[0]].start : tokens[span[1]].end + 1].split())


@lru_cache(maxsize=2)
def _tokens(text: str) -> list[Token]:
    """The tokens of a text. A question can have many mistakes, and all of them are looked for in the same text."""
    return QuestionDialect().tokenize(text)


def _names(item: exp.Expr) -> tuple[str, ...]:
    """The names of a function that has no arguments, such as CURRENT_DATE."""
    return tuple(item.sql_names()) if isinstance(item, exp.Func) and not isinstance(item, exp.Anonymous) else ()


def place_of_word(tree: exp.Expr | None, word: str) -> Excerpt | None:
    """Where a word such as DISTINCT is for the first time in the text of a tree; None if it is not there."""
    if tree is None or not isinstance(text := tree.root().meta.get(_TEXT), str):
        return None
    found = next((token for token in _tokens(text) if token.text.upper() == word), None)
    return None if found is None else between(text, found, found, skipped=tree.root().meta[_SKIPPED])


def beginning(tree: exp.Expr) -> Excerpt | None:
    """The first word of the text of a tree."""
    tokens = _tokens(text := tree.meta[_TEXT])
    return between(text, tokens[0], tokens[0], skipped=tree.meta[_SKIPPED])


def between(text: str, first: Token, last: Token, *, skipped: int = 0) -> Excerpt | None:
    """The text from one token to another; None if it starts in what the user did not write."""
    start = first.start - skipped
    return None if start < 0 else Excerpt.of(text[skipped:], start, last.end + 1 - skipped)


def is_word(token: Token) -> bool:
    """Whether this is a word without quotes, whether it has a meaning in SQL or not."""
    return token.text[:1].isidentifier() and token.token_type not in (TokenType.IDENTIFIER, TokenType.STRING)


def _span(item: exp.Expr, tokens: list[Token]) -> tuple[int, int] | None:
    """The first and the last token of a part."""
    noted = [(node.meta["start"], node.meta["end"]) for node in item.walk() if "start" in node.meta]
    if not noted:
        return None
    start, end = min(start for start, _ in noted), max(end for _, end in noted)
    first = bisect_left(tokens, start, key=lambda token: token.start)
    last = bisect_right(tokens, end, key=lambda token: token.end) - 1
    return _widened(item, tokens, first, last) if first <= last else None


def _widened(item: exp.Expr, tokens: list[Token], first: int, last: int) -> tuple[int, int]:
    """With the words and brackets around the names and literals of a part, of which the parser notes nothing."""
    if isinstance(item, exp.Select | exp.SetOperation | exp.Subquery):
        while first and tokens[first].token_type is not TokenType.SELECT:
            first -= 1
    while first and _is_other_clause(tokens[first - 1]):
        first -= 1
    named = isinstance(item, exp.Func) and "start" in item.meta  # what is before its name is not a part of it
    inside = isinstance(item, exp.Func | exp.Query | exp.Paren | exp.Tuple) and not named
    if inside and first and tokens[first - 1].text == "(":
        first -= 1
        if isinstance(item, exp.Func) and first and is_word(tokens[first - 1]):
            first -= 1
    if named and first == last and last + 1 < len(tokens) and tokens[last + 1].text == "(":  # RANDOM()
        last += 1
    depth = sum(_bracket(token) for token in tokens[first : last + 1])
    while depth > 0 and last + 1 < len(tokens):
        last += 1
        depth += _bracket(tokens[last])
    return first, last


def _is_other_clause(token: Token) -> bool:
    """LIMIT, ORDER BY, LEFT, JOIN, …: belongs to the part that follows it."""
    return is_word(token) and token.token_type not in _VALUES and token.text.upper() not in CLAUSES


def _bracket(token: Token) -> int:
    return {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
