"""The types of functions of text. Their time grows with the length of the text, and not faster."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sitr.dataset.schema import Key, Kind
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.rules import Rule, any_nullable, listed, texts, whole_literal, wrong_count
from sitr.questions.aggregate.expressions.typed import MOST_KEYS, Typed


def _mapped(keys: tuple[Key, ...] | None, function: Callable[[str], str]) -> tuple[Key, ...] | None:
    """The results for all keys, if they are plain ASCII: in other alphabets engines differ in upper and lower case."""
    if keys is None or not all(key is None or (isinstance(key, str) and key.isascii()) for key in keys):
        return None
    return listed(None if key is None else function(str(key)) for key in keys)


def changed(function: str, parts: tuple[Typed, ...]) -> Typed:
    """LOWER, UPPER, TRIM, LTRIM and RTRIM."""
    if len(parts) != 1:
        raise wrong_count(function, f"{function}(x)")
    texts(function, parts)
    (part,) = parts
    return Typed(function, Kind.TEXT, parts, nullable=part.nullable, keys=_mapped(part.keys, _CHANGES[function]))


_CHANGES: dict[str, Callable[[str], str]] = {
    "LOWER": str.lower,
    "UPPER": str.upper,
    "TRIM": lambda text: text.strip(" "),
    "LTRIM": lambda text: text.lstrip(" "),
    "RTRIM": lambda text: text.rstrip(" "),
}


def substring(function: str, parts: tuple[Typed, ...]) -> Typed:
    """SUBSTR(x, first, length): characters are counted from 1."""
    if len(parts) not in (2, 3):
        raise wrong_count(function, f"{function}(x, 1, 3)")
    texts(function, parts[:1])
    first = whole_literal(function, parts[1], least=1)
    length = whole_literal(function, parts[2], least=0) if len(parts) == 3 else 10**6
    keys = _mapped(parts[0].keys, lambda text: text[first - 1 : first - 1 + length])
    return Typed(function, Kind.TEXT, parts, nullable=parts[0].nullable, keys=keys)


def ends(function: str, parts: tuple[Typed, ...]) -> Typed:
    """LEFT(x, n) and RIGHT(x, n)."""
    if len(parts) != 2:
        raise wrong_count(function, f"{function}(x, 3)")
    texts(function, parts[:1])
    length = whole_literal(function, parts[1], least=0)

    def cut(text: str) -> str:
        return text[:length] if function == "LEFT" else text[max(len(text) - length, 0) :]

    return Typed(function, Kind.TEXT, parts, nullable=parts[0].nullable, keys=_mapped(parts[0].keys, cut))


def length(function: str, parts: tuple[Typed, ...]) -> Typed:
    """The number of characters."""
    if len(parts) != 1:
        raise wrong_count(function, f"{function}(x)")
    texts(function, parts)
    return Typed(function, Kind.INTEGER, parts, Fraction(0), None, Fraction(1), parts[0].nullable)


def together(function: str, parts: tuple[Typed, ...]) -> Typed:
    """Texts one after the other; NULL if one of them is NULL."""
    texts(function, parts)
    one, other = parts
    return Typed(function, Kind.TEXT, parts, nullable=any_nullable(parts), keys=_pairs(one, other))


def _pairs(one: Typed, other: Typed) -> tuple[Key, ...] | None:
    """All texts that two texts can make together, if they are public and not too many."""
    first, second = one.keys, other.keys
    if first is None or second is None or len(first) * len(second) > MOST_KEYS:
        return None
    pairs = ((None if a is None or b is None else f"{a}{b}") for a in first for b in second)
    return listed(pairs)


def replaced(function: str, parts: tuple[Typed, ...]) -> Typed:
    """REPLACE(x, old, new): `new` is not longer than `old`, so that no text grows, however often it is replaced."""
    if len(parts) != 3:
        raise wrong_count(function, f"{function}(x, 'old', 'new')")
    texts(function, parts)
    value, old, new = parts
    before, after = (part.value if part.is_literal else None for part in (old, new))
    if not (isinstance(before, str) and isinstance(after, str) and before and len(after) <= len(before)):
        raise QuestionError(
            given=f"{function} needs two texts in quotes, the second one not longer than the first, in place of "
            f"{old.text} and {new.text}.",
            do="Write for example REPLACE(x, 'old', 'new').",
        )
    keys = _mapped(value.keys, lambda text: text.replace(before, after))
    return Typed(function, Kind.TEXT, parts, nullable=value.nullable, keys=keys)


def part(function: str, parts: tuple[Typed, ...]) -> Typed:
    """SPLIT_PART(x, '-', 2): the second part of a text between the places of another one; empty if it has fewer."""
    if len(parts) != 3:
        raise wrong_count(function, f"{function}(x, '-', 1)")
    texts(function, parts[:2])
    value, between = parts[0], parts[1].value if parts[1].is_literal else None
    if not (isinstance(between, str) and between):
        raise QuestionError(
            given=f"{function} needs the text between two parts in quotes, in place of {parts[1].text}.",
            do="Write for example SPLIT_PART(x, '-', 1).",
        )
    number = whole_literal(function, parts[2], least=1, most=MOST_PARTS)
    keys = _mapped(value.keys, lambda text: (text.split(between) + [""] * number)[number - 1])
    return Typed(function, Kind.TEXT, parts, nullable=value.nullable, keys=keys)


MOST_PARTS = 1_000
"""The last part of a text that can be asked for."""


TEXTS: dict[str, Rule] = {
    **dict.fromkeys(_CHANGES, changed),
    "SUBSTR": substring,
    "LEFT": ends,
    "RIGHT": ends,
    "LENGTH": length,
    "||": together,
    "REPLACE": replaced,
    "SPLIT_PART": part,
}
