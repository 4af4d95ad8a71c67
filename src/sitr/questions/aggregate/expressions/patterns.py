r"""Regular expressions of a small language that every engine reads alike, in a time that grows only with the text.

A pattern has letters and signs, `.`, classes such as `[a-z_]` and `[^0-9]`, `\d`, `\w` and `\s`, `^` and `$`, brackets,
`|`, and the repetitions `*`, `+`, `?`, `{2}` and `{2,5}`. It has no back-references and no look-around, so that it is a
regular language: an automaton reads each character once, whatever the text is. DuckDB's RE2 works so, and it refuses a
pattern only when it is read, never on a row. Everything that it could refuse is refused here, before the charge. The
time for a character grows with the size of the automaton, so the length of a pattern is limited, with all repetitions
by numbers written out, and so is the part of a text that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from sitr.dataset.literals import shown
from sitr.dataset.schema import Kind
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.rules import Rule, truth, wrong_count, wrong_type
from sitr.questions.aggregate.expressions.typed import Typed

LONGEST = 200
"""The most characters of a pattern."""

LARGEST = 200
"""The most parts of a pattern, with all repetitions by numbers written out."""

_ESCAPED = frozenset(".*+?()[]{}|^$\\/-")
_CLASSES = frozenset("dws")
_SPECIAL = frozenset("*+?{}|()[]\\")


@dataclass(slots=True)
class _Reader:
    """Reads a pattern from left to right. Each method returns the number of parts, with repetitions written out."""

    pattern: str
    at: int = 0

    def next(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        found = self.next()
        self.at += 1
        return found

    def whole(self) -> None:
        self.choice(depth=0)
        if self.at < len(self.pattern):
            raise QuestionError(given="a bracket is not opened", do="")

    def choice(self, depth: int) -> int:
        if depth > 10:
            raise QuestionError(given="brackets are nested too deeply", do="")
        parts = self.sequence(depth)
        while self.next() == "|":
            self.take()
            parts += self.sequence(depth)
        return self.limited(parts)

    def sequence(self, depth: int) -> int:
        parts = 1
        while self.next() not in ("", "|", ")"):
            parts = self.limited(parts + self.repeated(depth))
        return parts

    def limited(self, parts: int) -> int:
        if parts > LARGEST + 1:
            raise QuestionError(given=f"it has more than {LARGEST} parts when repetitions are written out", do="")
        return parts

    def repeated(self, depth: int) -> int:
        anchor = self.next() in ("^", "$")
        parts = self.part(depth)
        if self.next() not in ("*", "+", "?", "{"):
            return parts
        if anchor:
            raise QuestionError(given="^ and $ cannot be repeated", do="")
        parts *= self.numbers() if self.take() == "{" else 1
        if self.next() in ("*", "+", "?", "{"):
            raise QuestionError(given="a repetition is repeated", do="")
        return parts

    def numbers(self) -> int:
        end = self.pattern.find("}", self.at)
        low, comma, high = self.pattern[self.at : end].partition(",") if end >= 0 else ("", "", "")
        if not _number(low) or (comma and high and not _number(high)):
            raise QuestionError(given="the numbers in { } are in the wrong order", do="")
        self.at = end + 1
        if high and int(low) > int(high):
            raise QuestionError(given="the numbers in { } are in the wrong order", do="")
        return max(int(high or low), 1)

    def part(self, depth: int) -> int:
        sign = self.take()
        match sign:
            case "(":
                if self.next() == "?":
                    raise QuestionError(given="(? is not known here", do="")
                parts = self.choice(depth + 1)
                if self.take() != ")":
                    raise QuestionError(given="a bracket is not closed", do="")
                return parts
            case "[":
                self.set()
            case "\\":
                self.escaped()
            case _ if sign in _SPECIAL:
                raise QuestionError(given=f"{sign} has nothing before it", do="")
        return 1

    def set(self) -> None:
        if self.next() == "^":
            self.take()
        if self.next() in ("]", ""):
            raise QuestionError(given="a class [ ] is empty", do="")
        while (sign := self.take()) != "]":
            if sign in ("", "["):
                raise QuestionError(given="a class [ ] is not closed, or has another [ in it", do="")
            first = self.escaped() if sign == "\\" else sign
            if self.next() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.take()
                sign = self.take()
                last = self.escaped() if sign == "\\" else sign
                if len(first) != 1 or len(last) != 1 or last == "[" or first > last:
                    raise QuestionError(given="a range in a class [ ] is in the wrong order", do="")

    def escaped(self) -> str:
        sign = self.take()
        if sign in _CLASSES:
            return "\\" + sign
        if sign not in _ESCAPED or not sign:
            raise QuestionError(given=f"\\{sign} is not known here", do="")
        return sign


def _number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 3


def parts(pattern: str) -> int:
    """The parts of a pattern that can be used, with repetitions by numbers written out.

    >>> parts("a[ab]{13}c"), parts("(ab){2,5}|c")
    (16, 18)
    """
    return _Reader(pattern).choice(depth=0)


def odd(pattern: str) -> str | None:
    r"""Why a pattern cannot be used; None if it can.

    >>> odd(r"^(a|b)+\d{2,3}$"), odd("(a"), odd("a{9}{9}")
    (None, 'a bracket is not closed', 'a repetition is repeated')
    """
    if len(pattern) > LONGEST:
        return f"it has more than {LONGEST} characters"
    if not all(sign.isprintable() for sign in pattern):
        return "it has characters that cannot be printed"
    try:
        _Reader(pattern).whole()
    except QuestionError as refused:  # the question's own error says what to do about it
        return refused.given
    return None


def matched(function: str, parts: tuple[Typed, ...]) -> Typed:
    """REGEXP_MATCHES(x, pattern), somewhere in the text, and REGEXP_FULL_MATCH, the whole text."""
    if len(parts) != 2:
        raise wrong_count(function, f"{function}(x, '^a+$')")
    value, pattern = parts
    if value.kind is not Kind.TEXT:
        raise wrong_type(function, value, needs="text")
    text = pattern.value if pattern.is_literal else None
    why = odd(text) if isinstance(text, str) else "it is not a text"
    if why is not None:
        raise QuestionError(
            given=f"{function} cannot use the pattern {shown(text)}: {why}.",
            do="Use letters, ., classes such as [a-z], \\d, \\w, \\s, ( ), |, *, + and ?, or LIKE.",
        )
    return truth(function, parts, nullable=value.nullable)


PATTERNS: dict[str, Rule] = dict.fromkeys(("REGEXP_MATCHES", "REGEXP_FULL_MATCH"), matched)
