"""Arithmetic over aggregates: SUM(a)/COUNT(*), differences, shares, ROUND(AVG(x), 2).

It acts on what is released and costs nothing beyond its aggregates. Sums and multiples of measured numbers stay a
`Linear`, and quotients of two of these a `Quotient`, whose intervals know the noises together. Everything else is
computed with intervals, where each different part takes an equal share of the probability of a miss.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, TypeAlias, cast

from sitr.dataclass import dataclass
from sitr.dataset.schema import Column, Kind
from sitr.errors import QuestionError
from sitr.numbers import exact
from sitr.questions.aggregate.expressions.expression import (
    Aggregated,
    Call,
    Expression,
    Literal,
    Name,
    aggregates,
    spelled,
)
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.functions.choices import CHOICES
from sitr.questions.aggregate.functions.function import (
    Aggregate,
    AnyFormula,
    Arguments,
    BoundAggregate,
    End,
    Estimate,
    Same,
    largest_error,
    show,
)
from sitr.questions.aggregate.functions.joint import Joint
from sitr.questions.aggregate.functions.linear import Linear, Quotient
from sitr.questions.aggregate.functions.operators import Operators, OverRows
from sitr.questions.aggregate.functions.ranges import possible_quotient
from sitr.questions.aggregate.functions.spans import MIND_NULL, SPANS, Span, applied
from sitr.questions.aggregate.quantity import Quantity
from sitr.questions.aggregate.view import View, Visible


@dataclass(frozen=True, slots=True)
class Combined(Operators):
    """An expression of aggregates and literals."""

    of: Expression

    function: ClassVar[str] = "arithmetic"
    forms: ClassVar[tuple[str, ...]] = ("SUM(one) / COUNT(*)",)

    @classmethod
    def read(cls, arguments: Arguments, /) -> Combined | None:  # noqa: ARG003 - it is no function
        return None

    @property
    def expression(self) -> Expression:
        """The expression itself, so that arithmetic on it is flat."""
        return self.of

    def sql(self) -> str:
        return spelled(self.of)

    def name(self) -> str:
        return spelled(self.of)

    def bound(self, view: View, /) -> BoundAggregate:
        parts = {each: cast("Aggregate", each.of).bound(view) for each in aggregates(self.of)}
        _refuse_others(parts)
        typed = _checked(self.of, parts, view)
        resolved = _resolved(self.of, {each: Aggregated(part.aggregate) for each, part in parts.items()})
        terms = tuple(dict.fromkeys(term for part in parts.values() for term in part.terms))
        if any(isinstance(part.formula, OverRows) for part in parts.values()):
            whole = typed.kind is Kind.INTEGER
            return BoundAggregate(Combined(resolved), terms, _over_rows(parts.values()), whole, typed.step)
        formula = _simplified(self.of, parts, terms)
        if isinstance(formula, Placed):
            formula = Applied("COALESCE", (formula,))
        return BoundAggregate(Combined(resolved), terms, formula, typed.kind is Kind.INTEGER, typed.step)


def _over_rows(parts: Iterable[BoundAggregate]) -> OverRows:
    """The formula of an expression with windows, which sees all released rows."""
    windows = [pair for part in parts if isinstance(part.formula, OverRows) for pair in part.formula.windows]
    plain = [(Aggregated(part.aggregate), part) for part in parts if not isinstance(part.formula, OverRows)]
    return OverRows(tuple(windows), tuple(plain))


def _refuse_others(parts: dict[Aggregated, BoundAggregate]) -> None:
    """Dates are no numbers, ends have no interval, and some aggregates have several columns."""
    for each, part in parts.items():
        if part.parts or part.end or part.kind is not None:
            raise QuestionError(
                given=f"{spelled(each)} cannot be computed with.",
                do="Select it by itself, and compute with the answer, which costs nothing.",
            )


def _checked(of: Expression, parts: dict[Aggregated, BoundAggregate], view: View) -> Typed:
    """The type of the result. Every mistake in it is refused here, before the charge."""
    names = {each: Name(spelled(each)) for each in parts}
    columns = tuple((names[each].name, column_of(names[each].name, part)) for each, part in parts.items())
    for function in _functions(of):
        if function not in CHOICES:
            raise QuestionError(
                given=f"{function} cannot be applied to aggregates.",
                do=f"Use {', '.join(SPANS)} or CASE, or apply it to the columns inside the aggregate.",
            )
    inside = replace(view, columns=tuple(Visible(view.name, name, typed) for name, typed in columns), where=None)
    typed = inside.typed(_resolved(of, names))
    if typed.kind not in (Kind.INTEGER, Kind.REAL):
        raise QuestionError(
            given=f"{spelled(of)} is not a number.",
            do=f"Write CASE WHEN {spelled(of)} THEN 1 ELSE 0 END."
            if typed.kind is Kind.BOOLEAN
            else "Select numbers computed from aggregates.",
        )
    return typed


def column_of(name: str, part: BoundAggregate) -> Typed:
    """What is known about a column of an answer before it is released."""
    kind = Kind.INTEGER if part.whole else Kind.REAL
    return Typed(Column(name, kind), kind, (), None, None, part.step)


def _functions(of: Expression) -> Iterator[str]:
    if isinstance(of, Call):
        yield of.function
        for part in of.arguments:
            yield from _functions(part)


def _resolved(of: Expression, found: dict[Aggregated, Name] | dict[Aggregated, Aggregated]) -> Expression:
    """The expression with something else in place of each aggregate."""
    match of:
        case Aggregated():
            return found[of]
        case Call(function, arguments):
            return Call(function, tuple(_resolved(part, found) for part in arguments))
        case Name():
            raise QuestionError(
                given=f"{spelled(of)} stands outside of an aggregate.",
                do=f"Write for example SUM({spelled(of)}), or list it in GROUP BY and select it by itself.",
            )
    return of


@dataclass(frozen=True, slots=True)
class Placed:
    """A formula of some of the measured numbers."""

    formula: AnyFormula
    places: tuple[int, ...]

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        return show(self.formula, [numbers[place] for place in self.places], noise.only(self.places))


Leaf: TypeAlias = Linear | Quotient | Placed
"""A formula inside an expression whose interval knows the noises."""


def existing(leaf: Leaf, many: int) -> tuple[Linear, int] | None:
    """What decides, among this many measured numbers, whether a leaf is NULL, and from what size on it is not.

    A divisor may have either sign, and its size is 0. None if nothing decides it.
    """
    if isinstance(leaf, Quotient):
        return leaf.below, 0
    least = getattr(leaf.formula, "least_rows", None) if isinstance(leaf, Placed) else None
    if least is None or not isinstance(leaf, Placed):
        return None
    return Linear(tuple(Fraction(place == leaf.places[-1]) for place in range(many))), least


def may_be_null(leaf: Leaf, numbers: Sequence[Fraction], noise: Joint) -> bool:
    """Whether the exact number may be NULL: unless the interval of its count or its divisor excludes that.

    Quantiles may always be, for nothing is measured that counts their rows, and so may correlations, for a constant
    has none.
    """
    if isinstance(leaf, Linear):
        return False
    found = existing(leaf, len(numbers))
    if found is None:
        return True
    count, least = found
    shown = count.show_jointly(numbers, noise)
    return shown.low <= max(0, least - 1) and (least > 0 or shown.high >= 0)


@dataclass(frozen=True, slots=True)
class Applied:
    """A function of other formulas, with interval arithmetic."""

    function: str
    parts: tuple[Node, ...]

    def leaves(self) -> Iterator[Leaf]:
        """The formulas whose numbers are uncertain, each as often as it is used."""
        for part in self.parts:
            if isinstance(part, Applied):
                yield from part.leaves()
            elif not (isinstance(part, Linear) and part.fixed):
                yield part

    def show_jointly(self, numbers: Sequence[Fraction], noise: Joint, /) -> Estimate:
        leaves, shared = tuple(dict.fromkeys(self.leaves())), self._shared(noise)
        minds = self._minds_null()
        spans = {
            leaf: Span.of(leaf.show_jointly(numbers, shared), null=minds and may_be_null(leaf, numbers, shared))
            for leaf in leaves
        }
        return self._span(spans).estimate()

    def _minds_null(self) -> bool:
        """Whether there may be a number where a leaf is NULL."""
        own = self.function in MIND_NULL and len(self.parts) + (self.function == "IS NULL") > 1
        return own or any(isinstance(part, Applied) and part._minds_null() for part in self.parts)

    def _shared(self, noise: Joint) -> Joint:
        """An equal share of the probability of a miss for each leaf, and for each count that decides a NULL."""
        leaves = tuple(self.leaves())
        counts = [found[0] for leaf in leaves if (found := existing(leaf, len(noise.noises)))]
        return noise.share(Fraction(1, len({*leaves, *(counts if self._minds_null() else ())})))

    def _span(self, spans: dict[Leaf, Span]) -> Span:
        parts = []
        for part in self.parts:
            if isinstance(part, Applied):
                parts.append(part._span(spans))
            elif isinstance(part, Linear) and part.fixed:
                parts.append(Span.fixed(part.constant))
            else:
                parts.append(spans[part])
        return applied(self.function, parts, CHOICES)

    def largest_error(self, noise: Joint, /, *, rows: int | None = None) -> End:
        """Of sums and differences the sum of errors; of roundings one rounding more. Others depend on the data."""
        return self._error(self._shared(noise), rows)

    def _apart(self) -> End:
        """How far the values of a CASE lie apart, if they are constants."""
        chosen = [*self.parts[1::2], *(self.parts[-1:] if len(self.parts) % 2 else ())]
        values = [value for part in chosen if (value := _constant(part)) is not None]
        return max(values) - min(values) if len(values) == len(chosen) else math.inf

    def _error(self, noise: Joint, rows: int | None) -> End:
        if self.function == "CASE":
            return self._apart()
        errors = [_error_of(part, noise, rows) for part in self.parts]
        if any(isinstance(error, float) for error in errors):
            return math.inf
        if self.function in ("LEAST", "GREATEST") and not all(isinstance(leaf, Linear) for leaf in self.leaves()):
            return math.inf  # the exact number may be any of the parts that are not NULL
        match self.function, self.parts:
            case (("+" | "-" | "NEGATE" | "ABS" | "LEAST" | "GREATEST"), _):
                return sum(errors, Fraction(0))
            case "COALESCE", (_,):
                return errors[0]
            case "ROUND", (_, Linear(constant=places)):
                return errors[0] + Fraction(10) ** -int(places)
            case (("ROUND" | "FLOOR" | "CEIL"), (_,)):
                return errors[0] + 1
        return math.inf


def _error_of(part: Node, noise: Joint, rows: int | None) -> End:
    if isinstance(part, Applied):
        return part._error(noise, rows)
    if isinstance(part, Placed):
        return largest_error(part.formula, noise.only(part.places), rows=rows)
    return Fraction(0) if isinstance(part, Linear) and part.fixed else part.largest_error(noise, rows=rows)


def _constant(part: Node) -> Fraction | None:
    return part.constant if isinstance(part, Linear) and part.fixed else None


Node: TypeAlias = Linear | Quotient | Placed | Applied


def _simplified(of: Expression, parts: dict[Aggregated, BoundAggregate], terms: tuple[Quantity, ...]) -> Node:
    """The formula of an expression over all terms, as a `Linear` or a `Quotient` where it is one."""
    match of:
        case Literal(value):
            none = (Fraction(0),) * len(terms)
            if value is None:
                return Applied("NULLIF", (Linear(none), Linear(none)))
            return Linear(none, Fraction(int(value)) if isinstance(value, bool) else exact(value))  # type: ignore[arg-type]
        case Aggregated():
            return _placed(parts[of], terms)
    assert isinstance(of, Call)
    arguments = of.arguments
    if of.function == "/" and _is_null_if_zero(arguments[1]):
        arguments = (arguments[0], arguments[1].arguments[0])  # type: ignore[union-attr]
    found = tuple(_simplified(part, parts, terms) for part in arguments)
    return _folded(of.function, found, terms) or Applied(of.function, found)


def _is_null_if_zero(of: Expression) -> bool:
    """NULLIF(x, 0): a quotient by x is NULL where x is 0, with or without it."""
    match of:
        case Call("NULLIF", (_, Literal(0))):
            return True
    return False


def _placed(part: BoundAggregate, terms: tuple[Quantity, ...]) -> Node:
    places = tuple(terms.index(term) for term in part.terms)

    def spread(linear: Linear) -> Linear:
        weights = [Fraction(0)] * len(terms)
        for place, weight in zip(places, linear.weights, strict=True):
            weights[place] += weight
        return Linear(tuple(weights), linear.constant)

    match part.formula:
        case Same():
            return spread(Linear((Fraction(1),)))
        case Linear() as linear:
            return spread(linear)
        case Quotient(above, below, low, high, count):
            return Quotient(spread(above), spread(below), low, high, None if count is None else places[count])
    return Placed(part.formula, places)


def _folded(function: str, parts: tuple[Node, ...], terms: tuple[Quantity, ...]) -> Linear | Quotient | None:
    """Sums, multiples and quotients in their simplest form; None for anything else."""
    match function, parts:
        case "NEGATE", (Linear() as one,):
            return one.times(Fraction(-1))
        case "NEGATE", (Quotient() as one,):
            return one.mapped(Fraction(-1))
        case (("+" | "-"), (one, other)):
            return _added(one, other, Fraction(1 if function == "+" else -1))
        case "*", (Linear(fixed=True, constant=factor), (Linear() | Quotient()) as one):
            return one.times(factor) if isinstance(one, Linear) else one.mapped(factor)
        case "*", ((Linear() | Quotient()) as one, Linear(fixed=True, constant=factor)):
            return one.times(factor) if isinstance(one, Linear) else one.mapped(factor)
        case "/", ((Linear() | Quotient()) as one, Linear(fixed=True, constant=divisor)) if divisor:
            return one.times(1 / divisor) if isinstance(one, Linear) else one.mapped(1 / divisor)
        case "/", (Linear() as one, Linear(fixed=False) as other):
            low, high, count = possible_quotient(one, other, terms)
            return Quotient(one, other, low, high, count)
    return None


def _added(one: Node, other: Node, sign: Fraction) -> Linear | Quotient | None:
    match one, other:
        case Linear(), Linear():
            return one.plus(other, sign)
        case Quotient(), Linear(fixed=True, constant=shift):
            return one.mapped(Fraction(1), sign * shift)
        case Linear(fixed=True, constant=shift), Quotient():
            return other.mapped(sign, shift)
        case Quotient(), Quotient() if one.below == other.below:
            against = (other.low, other.high) if sign > 0 else (other.high, other.low)
            ends = list(zip((one.low, one.high), against, strict=True))
            low, high = (None if a is None or b is None else a + sign * b for a, b in ends)
            return Quotient(one.above.plus(other.above, sign), one.below, low, high, one.count)
    return None
