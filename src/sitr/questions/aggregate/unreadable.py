"""Texts that the parser cannot read: what is probably wrong with them, and where."""

from __future__ import annotations

import re

from sqlglot import Token, TokenType
from sqlglot.errors import ParseError, SqlglotError

from sitr.dataset.literals import shown
from sitr.errors import Excerpt, QuestionError, nearest
from sitr.questions.aggregate.dialect import QuestionDialect
from sitr.questions.aggregate.functions.registry import FUNCTIONS
from sitr.questions.aggregate.places import CLAUSES, between, is_word
from sitr.questions.aggregate.spelling import identifier

ALLOWED = "Write for example SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits WHERE days > 3 GROUP BY ward."

_WORDS = {word: word for word in (*sorted(CLAUSES), "DISTINCT")} | {"GROUP": "GROUP BY", "GROUPBY": "GROUP BY"}
"""The words of questions, by how they may be begun."""


def unreadable(error: Exception, sql: str, *, skipped: int = 0) -> QuestionError:
    """The error for a text that is not SQL, without the parser's own message.

    The first `skipped` characters of the text were not written by the user.
    """
    match error:
        case ParseError(errors=[{"line": int(line), "col": int(column)}, *_]):
            tokens = QuestionDialect().tokenize(sql)
            found = next((n for n, token in enumerate(tokens) if (token.line, token.col) == (line, column)), None)
            if found is not None:
                return _near(sql, tokens, found, skipped)
        case SqlglotError():
            return _unclosed(sql, skipped)
    return QuestionError(given="The SQL cannot be read.", do=ALLOWED)


def misspelled(sql: str) -> QuestionError | None:
    """The error for a text that starts with a word that is not SQL; None if it starts otherwise."""
    first = QuestionDialect().tokenize(sql)[0]
    return _not_known(sql, first, 0) if first.token_type is TokenType.VAR else None


def _near(sql: str, tokens: list[Token], at: int, skipped: int) -> QuestionError:
    """The mistake that made the parser stop at a token: there, or shortly before it."""

    def wrong(given: str, do: str, first: int = at, last: int = at) -> QuestionError:
        return QuestionError(given=given, do=do, excerpt=between(sql, tokens[first], tokens[last], skipped=skipped))

    if tokens[0].token_type is TokenType.VAR:
        return _not_known(sql, tokens[0], skipped)
    if (name := _broken_name(sql, tokens, at)) is not None:
        written = sql[tokens[name[0]].start : tokens[name[1]].end + 1]
        return wrong(
            f"The name {written} has signs that are not allowed in a bare name.",
            f"Write it in double quotes: {identifier(written)}.",
            *name,
        )
    for n in (at - 1, at, at - 2):
        if n > 0 and _may_be_misspelled(tokens[n], after=tokens[n - 1]) and _meant(tokens[n], call=tokens[n + 1 :][:1]):
            return _not_known(sql, tokens[n], skipped, call=tokens[n + 1 :][:1])
    if (bracket := _unmatched(tokens)) is not None:
        opening = tokens[bracket].token_type is TokenType.L_PAREN
        return wrong(
            f"The bracket is not {'closed' if opening else 'opened'}.",
            "Add the missing bracket." if opening else "Remove it, or add the opening bracket.",
            bracket,
            bracket,
        )
    text, before = tokens[at].text, tokens[at - 1]
    if at > 1 and before.text.upper() in FUNCTIONS and _ends_value(tokens[at - 2]):
        return wrong(f"A comma is missing before {before.text}.", "Add it.", at - 1, at - 1)
    if at == len(tokens) - 1 and (is_word(tokens[at]) or not text.isalnum()) and text.upper() in (*CLAUSES, "=", ","):
        return wrong(f"The SQL ends after {text}, where something must follow.", ALLOWED)
    if is_word(tokens[at]) and tokens[at].token_type is not TokenType.VAR and text.upper() not in CLAUSES:
        return wrong(f"The SQL cannot be read at {text}.", f'If this is a name, write it in double quotes: "{text}".')
    first, do = _two_words(sql, tokens, at)
    return wrong(f"The SQL cannot be read at {shown(text)}.", do, first)


def _two_words(sql: str, tokens: list[Token], at: int) -> tuple[int, str]:
    """Two words side by side may be one name with a space: where it starts, and what to do; or else an example."""
    if at == 0 or any(token.token_type is not TokenType.VAR for token in tokens[at - 1 : at + 1]):
        return at, ALLOWED
    name = sql[tokens[at - 1].start : tokens[at].end + 1]
    return at - 1, f"If {name} is the name of a column, write it in double quotes: {identifier(name)}."


def _not_known(sql: str, token: Token, skipped: int, *, call: list[Token] | None = None) -> QuestionError:
    """A word that has no meaning where it stands: the first one, or one that is nearly a word of SQL."""
    begins = not sql[: token.start].strip()
    meant = nearest(token.text, ["SELECT"]) if begins else _meant(token, call=call or [])
    if begins and meant is None:
        given, do = f"A question starts with SELECT, not with {shown(token.text)}.", ALLOWED
    else:
        given, do = f"{token.text} is not known here.", f"Did you mean {meant}?"
    return QuestionError(given=given, do=do, excerpt=between(sql, token, token, skipped=skipped))


def _may_be_misspelled(token: Token, *, after: Token) -> bool:
    """Whether this could be a word of SQL: it is none as it stands, and it is not where a table is named."""
    return token.token_type is TokenType.VAR and len(token.text) > 1 and after.token_type is not TokenType.FROM


def _meant(token: Token, *, call: list[Token]) -> str | None:
    """The word that was meant, unless the token is one; a function only if a bracket follows."""
    words = FUNCTIONS if call and call[0].token_type is TokenType.L_PAREN else _WORDS
    near = nearest(token.text, words)
    return _WORDS.get(near, near) if near is not None and near != token.text.upper() else None


def _broken_name(sql: str, tokens: list[Token], at: int) -> tuple[int, int] | None:
    """The tokens of a name such as seattle-weather around this one, with no space between them, after FROM."""
    first = last = at
    while first > 0 and tokens[first - 1].end + 1 == tokens[first].start:
        first -= 1
    while last + 1 < len(tokens) and tokens[last].end + 1 == tokens[last + 1].start:
        last += 1
    named = first > 0 and tokens[first - 1].token_type is TokenType.FROM
    plain = re.fullmatch(r"\w[\w@#&+%:./-]*", sql[tokens[first].start : tokens[last].end + 1])
    return (first, last) if named and first < last and plain else None


def _unmatched(tokens: list[Token]) -> int | None:
    """The first bracket that is closed but not opened, or else the last one that is opened but not closed."""
    opened: list[int] = []
    for number, token in enumerate(tokens):
        if token.token_type is TokenType.L_PAREN:
            opened.append(number)
        elif token.token_type is TokenType.R_PAREN:
            if not opened:
                return number
            opened.pop()
    return opened[-1] if opened else None


def _ends_value(token: Token) -> bool:
    return token.token_type in (TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.NUMBER)


_PIECES = re.compile(
    r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|`(?:[^`]|``)*+`|--[^\n]*|/\*.*?\*/|(?P<open>['"`]|/\*)|.""",
    re.DOTALL,
)


def _unclosed(sql: str, skipped: int) -> QuestionError:
    """The error for a quote or a comment that is not closed."""
    for piece in _PIECES.finditer(sql):
        if piece["open"]:
            what, start = "comment" if piece["open"] == "/*" else "quote", piece.start() - skipped
            return QuestionError(
                given=f"The {what} is not closed.",
                do=f"Add {'*/' if what == 'comment' else piece['open']} at its end.",
                excerpt=Excerpt.of(sql[skipped:], start, start + len(piece["open"])),
            )
    return QuestionError(given="The SQL cannot be read.", do=ALLOWED)
