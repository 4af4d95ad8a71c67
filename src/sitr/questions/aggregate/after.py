"""HAVING, ORDER BY and LIMIT: what is done with released rows, checked before the charge.

It sees noisy numbers and released keys only, so it costs nothing; an aggregate that appears only here is measured and
paid like any other. But which rows are shown then depends on the noise, and the largest of many noisy numbers is mostly
too large. So the intervals of an answer that was selected or sorted by noisy numbers hold *together*, with the stated
probability, for all cells that were measured, shown or not: then they hold for the shown ones, however these were
chosen. If C cells were measured and J columns are shown, each interval misses with an equal share 1/(C·J) of the
probability of a miss (union bound).

C must not be a secret. With public keys it is a public number. With unknown keys it is the number of released keys:
these were chosen with noise of their own, which is independent of the noise of the columns, and given the released
keys, the noise of each of their cells is drawn afresh. So for each possible set of released keys the intervals hold
together with the stated probability, and hence on the whole. A limit by keys alone, or by position, depends on no noise
and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date
from fractions import Fraction
from typing import Any, TypeAlias, cast

from sitr.dataclass import dataclass
from sitr.dataset.schema import Column
from sitr.errors import QuestionError, SitrError, unknown_name
from sitr.numbers import exact
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, Name, aggregates
from sitr.questions.aggregate.expressions.rules import truths
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.functions.combined import Combined, column_of
from sitr.questions.aggregate.functions.function import Aggregate, BoundAggregate
from sitr.questions.aggregate.functions.over import windows_of
from sitr.questions.aggregate.functions.spans import SPANS, Span, applied
from sitr.questions.aggregate.nodes import After
from sitr.questions.aggregate.view import View, Visible

Released: TypeAlias = str | bool | date | Fraction | None
"""A value of a released row."""


@dataclass(frozen=True, slots=True)
class BoundOrder:
    """One part of ORDER BY, checked."""

    by: Typed
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class BoundAfter:
    """What is done with released rows. `hidden` are the columns that are measured and not shown, by name.

    `by_noise` says that noisy numbers decide which rows are shown, or in which order.
    """

    having: Typed | None = None
    order: tuple[BoundOrder, ...] = ()
    limit: int | None = None
    offset: int = 0
    hidden: tuple[tuple[str, BoundAggregate], ...] = ()
    by_noise: bool = False

    @property
    def idle(self) -> bool:
        """Whether all rows are shown, in the order of their keys."""
        return self.having is None and not self.order and self.limit is None and not self.offset

    def places(self, rows: Sequence[Mapping[str, Released]]) -> tuple[int, ...]:
        """The places of the rows that are shown, in order. Ties keep the order of the keys."""
        found = [place for place, row in enumerate(rows) if self.having is None or value_of(self.having, row) is True]
        for order in reversed(self.order):
            values = {place: value_of(order.by, rows[place]) for place in found}
            known = [place for place in found if values[place] is not None]
            known.sort(key=cast("Callable[[int], Any]", values.__getitem__), reverse=order.descending)
            unknown = [place for place in found if values[place] is None]
            found = [*unknown, *known] if order.nulls_first else [*known, *unknown]
        end = None if self.limit is None else self.offset + self.limit
        return tuple(found[self.offset : end])


AS_RELEASED = BoundAfter()
"""All rows, in the order of their keys."""


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """The keys and the columns of an answer, which HAVING and ORDER BY can name."""

    view: View
    keys: tuple[tuple[str, Typed], ...]
    columns: tuple[tuple[str, BoundAggregate], ...]

    def bound(self, after: After) -> tuple[After, BoundAfter]:
        """The same with the names of the answer, for texts; and checked, for the rows."""
        reader = _AnswerReader(self)
        having = None if after.having is None else reader.resolved(after.having)
        orders = [reader.resolved(order.by) for order in after.order]
        hidden = tuple(reader.hidden.items())
        measured = {name for name, _ in (*self.columns, *hidden)}
        checked = None if having is None else self._checked(having[1], hidden, "HAVING")
        if checked is not None:
            truths("HAVING", (checked,))
            self._refuse_windows(checked, hidden)
        ordered = tuple(
            BoundOrder(self._checked(by, hidden, "ORDER BY"), order.descending, order.nulls_first)
            for (_, by), order in zip(orders, after.order, strict=True)
        )
        used = {name for typed in (checked, *(order.by for order in ordered)) for name in _names(typed)}
        resolved = After(
            None if having is None else having[0],
            tuple(replace(order, by=by) for (by, _), order in zip(orders, after.order, strict=True)),
            after.limit,
            after.offset,
        )
        found = BoundAfter(checked, ordered, after.limit, after.offset, hidden, bool(used & measured))
        return resolved, found

    def _refuse_windows(self, having: Typed, hidden: Sequence[tuple[str, BoundAggregate]]) -> None:
        """HAVING chooses the rows that windows see, whether these are columns of the answer or not."""
        windowed = [name for name, column in (*self.columns, *hidden) if windows_of(column)]
        if found := [name for name in _names(having) if name in windowed]:
            raise QuestionError(
                given=f"HAVING cannot use {found[0]}, which follows from all rows that HAVING leaves.",
                do="Sort by it with ORDER BY, and cut with LIMIT.",
            )

    def _checked(self, of: Expression, hidden: Sequence[tuple[str, BoundAggregate]], part: str) -> Typed:
        keys = [(name, Typed(Column(name, key.kind), key.kind, (), keys=key.keys)) for name, key in self.keys]
        columns = [(name, column_of(name, column)) for name, column in (*self.columns, *hidden)]
        visible = tuple(Visible(self.view.name, name, typed) for name, typed in (*keys, *columns))
        inside = replace(self.view, columns=visible, where=None)
        typed = inside.typed(of)
        for function in _functions(typed):
            if function not in _VALUES and function not in SPANS:
                raise QuestionError(
                    given=f"{part} cannot use {function}.", do="Use it in GROUP BY, and name the key here."
                )
        return typed


@dataclass(slots=True)
class _AnswerReader:
    """Names the parts of HAVING and ORDER BY by the columns of the answer, and collects aggregates that it lacks."""

    answer: AnswerColumns
    hidden: dict[str, BoundAggregate] = field(default_factory=dict)

    def resolved(self, of: Expression) -> tuple[Expression, Expression]:
        """The expression as it is written, and with a name in place of each aggregate."""
        if (key := self._key(of)) is not None:
            return key, key
        match of:
            case Literal():
                return of, of
            case Name():
                found = self._name(of)
                return found, found
            case Call(function, arguments) if not self._computed(of):
                parts = [self.resolved(part) for part in arguments]
                return Call(function, tuple(one for one, _ in parts)), Call(function, tuple(two for _, two in parts))
        return self._aggregate(cast("Aggregate", of.of) if isinstance(of, Aggregated) else Combined(of))

    def _computed(self, of: Call) -> bool:
        """Whether it is arithmetic over aggregates and literals alone."""
        return any(True for _ in aggregates(of)) and _only_numbers(of)

    def _aggregate(self, aggregate: Aggregate) -> tuple[Expression, Expression]:
        column = aggregate.bound(self.answer.view)
        for name, shown in self.answer.columns:
            if shown.aggregate == column.aggregate:
                return Name(name), Name(name)
        name = column.aggregate.sql()
        self.hidden[name] = column
        written = column.aggregate.of if isinstance(column.aggregate, Combined) else Aggregated(column.aggregate)
        return written, Name(name)

    def _name(self, name: Name) -> Name:
        known = [*(each for each, _ in self.answer.columns), *(each for each, _ in self.answer.keys)]
        for same in (str.__eq__, lambda one, other: one.lower() == other.lower()):
            found = [each for each in known if name.table is None and same(each, name.name)]
            if found:
                return Name(found[0])
        raise unknown_name(name.name, known, lacks="HAVING and ORDER BY see only keys, columns and aggregates, not")

    def _key(self, of: Expression) -> Name | None:
        """The key that this expression is."""
        if isinstance(of, Literal) or any(True for _ in aggregates(of)):
            return None
        if isinstance(of, Name) and of.table is None and any(name == of.name for name, _ in self.answer.columns):
            return None
        try:
            found = self.answer.view.typed(of).expression
        except SitrError:
            return None
        return next((Name(name) for name, key in self.answer.keys if key.expression == found), None)


def _only_numbers(of: Expression) -> bool:
    match of:
        case Call(function, arguments):
            return function in SPANS and all(map(_only_numbers, arguments))
        case Literal(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(of, Aggregated)


def _names(typed: Typed | None) -> Iterator[str]:
    if typed is not None:
        if typed.column is not None:
            yield typed.column.name
        for part in typed.parts:
            yield from _names(part)


def _functions(typed: Typed) -> Iterator[str]:
    if isinstance(typed.what, str):
        yield typed.what
    for part in typed.parts:
        yield from _functions(part)


def value_of(typed: Typed, row: Mapping[str, Released]) -> Released:
    """The value of an expression in a released row; NULL wherever SQL has it, and never an error."""
    if typed.column is not None:
        return row[typed.column.name]
    if typed.is_literal:
        return plain(typed.value)
    function = str(typed.what)
    parts = [value_of(part, row) for part in typed.parts]
    if function in _VALUES:
        return _VALUES[function](parts)
    spans = [Span(None, 0, 0, null=True) if part is None else Span.fixed(cast("Fraction", part)) for part in parts]
    return applied(function, spans).value


def plain(value: object) -> Released:
    """Numbers as fractions; all else as it is."""
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return exact(value)
    return cast("Released", value)


def _compared(holds: Callable[[Any, Any], bool]) -> Callable[[Sequence[Released]], Released]:
    def compare(parts: Sequence[Released]) -> Released:
        one, other = parts
        return None if one is None or other is None else holds(one, other)

    return compare


def _and(parts: Sequence[Released]) -> Released:
    return False if False in parts else None if None in parts else True


def _or(parts: Sequence[Released]) -> Released:
    return True if True in parts else None if None in parts else False


def _not(parts: Sequence[Released]) -> Released:
    return None if parts[0] is None else not parts[0]


def _in(parts: Sequence[Released]) -> Released:
    value, *others = parts
    return None if value is None else value in others


def _case(parts: Sequence[Released]) -> Released:
    for when, then in zip(parts[0::2], parts[1::2], strict=False):
        if when is True:
            return then
    return parts[-1] if len(parts) % 2 else None


def _like(parts: Sequence[Released], *, fold: bool = False) -> Released:
    text, pattern = parts
    if not isinstance(text, str) or not isinstance(pattern, str):
        return None
    return matches(text.lower() if fold else text, pattern.lower() if fold else pattern)


def matches(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern with % and _, in a time of at most the product of both lengths.

    >>> matches("surgery", "s%r_"), matches("surgery", "s_r")
    (True, False)
    """
    reached = {0}
    for sign in pattern:
        if sign == "%":
            reached = set(range(min(reached), len(text) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(text) and sign in ("_", text[at])}
    return len(text) in reached


def _on_text(function: Callable[[str], str]) -> Callable[[Sequence[Released]], Released]:
    return lambda parts: function(parts[0]) if isinstance(parts[0], str) else None


_VALUES: dict[str, Callable[[Sequence[Released]], Released]] = {
    "=": _compared(lambda one, other: one == other),
    "<>": _compared(lambda one, other: one != other),
    "<": _compared(lambda one, other: one < other),
    "<=": _compared(lambda one, other: one <= other),
    ">": _compared(lambda one, other: one > other),
    ">=": _compared(lambda one, other: one >= other),
    "AND": _and,
    "OR": _or,
    "NOT": _not,
    "IN": _in,
    "IS NULL": lambda parts: parts[0] is None,
    "LIKE": _like,
    "ILIKE": lambda parts: _like(parts, fold=True),
    "LOWER": _on_text(str.lower),
    "UPPER": _on_text(str.upper),
    "CASE": _case,
    "COALESCE": lambda parts: next((part for part in parts if part is not None), None),
    "NULLIF": lambda parts: None if parts[0] == parts[1] else parts[0],
}
"""The functions of released values that are not arithmetic."""
