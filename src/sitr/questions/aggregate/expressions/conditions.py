"""The types of comparisons and of what joins them."""

from __future__ import annotations

from sitr.dataset.literals import writable
from sitr.dataset.schema import NUMERIC, Kind
from sitr.errors import QuestionError
from sitr.questions.aggregate.expressions.expression import COMPARISONS
from sitr.questions.aggregate.expressions.literals import fitting, mismatch
from sitr.questions.aggregate.expressions.rules import Rule, any_nullable, texts, truth, truths, wrong_count, wrong_type
from sitr.questions.aggregate.expressions.typed import Typed, refuse_zones

COMPARABLE = (*NUMERIC, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP)


def compared(function: str, parts: tuple[Typed, ...]) -> Typed:
    """Two values of one type. A literal takes the type of the other side."""
    left, right = parts
    if right.is_literal and not left.is_literal:
        right = fitting(right, left)
    elif left.is_literal and not right.is_literal:
        left = fitting(left, right)
    same = left.kind is right.kind or (left.kind in NUMERIC and right.kind in NUMERIC)
    for part in (left, right):
        if part.kind not in COMPARABLE:
            raise wrong_type(function, part, needs="values that can be compared")
    if not same:
        raise QuestionError(
            given=f"{left.called} has type {left.kind.value} and cannot be compared with {right.text}, which has type "
            f"{right.kind.value}.",
            do="Compare values of the same type, or CAST one of them.",
        )
    refuse_zones(function, (left, right))
    return truth(function, (left, right), nullable=any_nullable((left, right)))


def joined(function: str, parts: tuple[Typed, ...]) -> Typed:
    truths(function, parts)
    return truth(function, parts, nullable=any_nullable(parts))


def is_null(function: str, parts: tuple[Typed, ...]) -> Typed:
    """Never NULL itself. A real number that is NaN counts as missing everywhere else, but is not NULL here."""
    return truth(function, parts, nullable=False)


def one_of(function: str, parts: tuple[Typed, ...]) -> Typed:
    value, *others = parts
    if not others:
        raise QuestionError(given=f"IN needs at least one value for {value.text!r}.", do="List the values.")
    if not all(other.is_literal for other in others):
        raise QuestionError(given="IN needs a list of values.", do="Write the values themselves, such as IN (1, 2).")
    if value.kind not in COMPARABLE:
        raise mismatch(value, others[0].value)
    return truth(function, (value, *(fitting(other, value) for other in others)), nullable=value.nullable)


def like(function: str, parts: tuple[Typed, ...]) -> Typed:
    value, pattern = parts
    if value.kind is not Kind.TEXT:
        raise QuestionError(
            given=f"{function} needs a column of text, but {value.column.name!r} has type {value.kind.value}."
            if value.column is not None
            else f"{function} needs text, but {value.mentioned} has type {value.kind.value}.",
            do="Use another comparison, or another column.",
        )
    if not (pattern.is_literal and writable(pattern.value)):
        raise QuestionError(
            given=f"{function} needs a pattern of valid text in place of {pattern.text}.",
            do="Write the pattern in quotes, with % for any text and _ for any character.",
        )
    return truth(function, parts, nullable=value.nullable)


def searched(function: str, parts: tuple[Typed, ...]) -> Typed:
    """STARTS_WITH, ENDS_WITH and CONTAINS."""
    if len(parts) != 2:
        raise wrong_count(function, f"{function}(x, 'text')")
    texts(function, parts)
    return truth(function, parts, nullable=any_nullable(parts))


CONDITIONS: dict[str, Rule] = {
    **dict.fromkeys(COMPARISONS, compared),
    "AND": joined,
    "OR": joined,
    "NOT": joined,
    "IS NULL": is_null,
    "IN": one_of,
    "LIKE": like,
    "ILIKE": like,
    "STARTS_WITH": searched,
    "ENDS_WITH": searched,
    "CONTAINS": searched,
}
