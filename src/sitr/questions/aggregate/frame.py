"""Questions in Python calls: the arguments of `group_by(…).agg(…)` and `where(…)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from sitr.dataclass import dataclass
from sitr.dataset.literals import shown
from sitr.errors import InvalidUse, QuestionError
from sitr.namespace import Later
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name, spelled
from sitr.questions.aggregate.frame_aggregates import Aggregates
from sitr.questions.aggregate.frame_parts import Moments, Texts, plain, value_or_expression
from sitr.questions.aggregate.spelling import Value

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Text: TypeAlias = str
"""The class `Expr` has a property of this name."""


def column(name: str) -> Expr:
    """A column to compute or compare with: `column("days") > 3`, `column("cost") / 100`.

    >>> ((column("days") > 3) & ~column("ward").is_null()).text
    '(days > 3) AND (NOT (ward IS NULL))'
    """
    if not isinstance(name, str):
        raise QuestionError(wanted="the name of a column", given=shown(name), do='Write sitr.column("cost").')
    return Expr(Name(name))


@dataclass(frozen=True, slots=True, eq=False)
class Expr(Aggregates):
    """An expression on rows. Operators compute and compare; conditions are joined with & and |, and negated with ~.

    In operators, Python values are literals: `column("ward") == "Surgery"`.
    """

    expression: Expression

    __hash__ = None  # type: ignore[assignment]  # == makes a condition, so it cannot compare the keys of a dict

    @property
    def text(self) -> Text:
        """The expression as SQL."""

        return spelled(self.expression)

    def __bool__(self) -> bool:
        raise InvalidUse(
            given="Conditions are joined with &, | and ~, not with `and`, `or`, `not` or a chain of comparisons.",
            do="Write (a > 1) & (b < 2).",
        )

    def __and__(self, other: Expr) -> Expr:
        return Expr(Call("AND", (self.expression, other.expression)))

    def __or__(self, other: Expr) -> Expr:
        return Expr(Call("OR", (self.expression, other.expression)))

    def __invert__(self) -> Expr:
        return self._call("NOT")

    def __eq__(self, value: object) -> Expr:  # type: ignore[override]
        return self._call("=", value)

    def __ne__(self, value: object) -> Expr:  # type: ignore[override]
        return self._call("<>", value)

    def __lt__(self, value: object) -> Expr:
        return self._call("<", value)

    def __le__(self, value: object) -> Expr:
        return self._call("<=", value)

    def __gt__(self, value: object) -> Expr:
        return self._call(">", value)

    def __ge__(self, value: object) -> Expr:
        return self._call(">=", value)

    def __add__(self, value: object) -> Expr:
        return self._call("+", value)

    def __radd__(self, value: object) -> Expr:
        return Expr(value_or_expression(value))._call("+", self)

    def __sub__(self, value: object) -> Expr:
        return self._call("-", value)

    def __rsub__(self, value: object) -> Expr:
        return Expr(value_or_expression(value))._call("-", self)

    def __mul__(self, value: object) -> Expr:
        return self._call("*", value)

    def __rmul__(self, value: object) -> Expr:
        return Expr(value_or_expression(value))._call("*", self)

    def __truediv__(self, value: object) -> Expr:
        return self._call("/", value)

    def __rtruediv__(self, value: object) -> Expr:
        return Expr(value_or_expression(value))._call("/", self)

    def __floordiv__(self, value: object) -> Expr:
        return self._call("//", value)

    def __mod__(self, value: object) -> Expr:
        return self._call("%", value)

    def __pow__(self, times: int) -> Expr:
        return self._call("POWER", times)

    def __neg__(self) -> Expr:
        return self._call("NEGATE")

    def abs(self) -> Expr:
        """The size of a number."""
        return self._call("ABS")

    def round(self, decimals: int = 0) -> Expr:
        """Rounded to a number of decimal places, half away from zero."""
        return self._call("ROUND", decimals)

    def floor(self) -> Expr:
        """Rounded down to a whole number."""
        return self._call("FLOOR")

    def ceil(self) -> Expr:
        """Rounded up to a whole number."""
        return self._call("CEIL")

    def clip(self, lower: float, upper: float) -> Expr:
        """Values beyond these public numbers count as the nearest of them."""
        return self._call("CLAMP", lower, upper)

    def sign(self) -> Expr:
        """−1, 0 or 1."""
        return self._call("SIGN")

    def sqrt(self) -> Expr:
        """The square root; NULL of a negative number."""
        return self._call("SQRT")

    def log(self) -> Expr:
        """The natural logarithm; NULL of numbers that have none."""
        return self._call("LN")

    def log10(self) -> Expr:
        """The decimal logarithm."""
        return self._call("LOG10")

    def exp(self) -> Expr:
        """e to this power."""
        return self._call("EXP")

    def least(self, *others: object) -> Expr:
        """The smallest of this number and others; NULLs are skipped."""
        return self._call("LEAST", *others)

    def greatest(self, *others: object) -> Expr:
        """The largest of this number and others; NULLs are skipped."""
        return self._call("GREATEST", *others)

    def null_if(self, value: object) -> Expr:
        """NULL where it equals this value."""
        return self._call("NULLIF", value)

    def fill_null(self, value: object) -> Expr:
        """This value where there is none."""
        return self._call("COALESCE", value)

    def cast(self, type: Text) -> Expr:
        """As "integer", "double", "varchar", "boolean", "date" or "timestamp"; NULL where that is impossible."""
        return self._call("CAST", type.upper() if isinstance(type, str) else type)

    @property
    def str(self) -> Texts[Expr]:
        """Functions of text."""
        return Texts(self)

    @property
    def dt(self) -> Moments[Expr]:
        """Functions of dates and times."""
        return Moments(self)

    def is_not_null(self) -> Expr:
        """There is a value."""
        return ~self.is_null()

    def is_between(self, low: object, high: object) -> Expr:
        """`low ≤ value ≤ high`."""
        return (self >= low) & (self <= high)

    def is_in(self, values: Iterable[Value]) -> Expr:
        """The value is one of these."""
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise QuestionError(
                wanted="a list of values",  # not a text, whose letters would be the values
                given=shown(values),
                do="Write is_in([…]), even for one value.",
            )
        return Expr(Call("IN", (self.expression, *(Literal(plain(value)) for value in values))))

    def like(self, pattern: Text) -> Expr:
        """The text matches a pattern with % and _."""
        return self._call("LIKE", pattern)

    def ilike(self, pattern: Text) -> Expr:
        """The same, whatever the case of the letters."""
        return self._call("ILIKE", pattern)

    def is_null(self) -> Expr:
        """There is no value."""
        return self._call("IS NULL")

    def _made(self, call: Call) -> Expr:
        return Expr(call)

    def _call(self, function: Text, *others: object) -> Expr:
        return Expr(Call(function, (self.expression, *map(value_or_expression, others))))


@dataclass(frozen=True, slots=True)
class When:
    """The beginning of `when(condition).then(value)`."""

    parts: tuple[Expression, ...]
    condition: Expression

    def then(self, value: object) -> Then:
        """The value where the condition is true; text is a value, not the name of a column."""
        parts = (*self.parts, self.condition, value_or_expression(value))
        return Then(Call("CASE", parts), parts)


@dataclass(frozen=True, slots=True, eq=False)
class Then(Expr):
    """A choice that may go on with `when` or end with `otherwise`; without it, the rest is NULL."""

    parts: tuple[Expression, ...] = ()

    def when(self, condition: Expr) -> When:
        """Another condition, which is looked at where the ones before it are not true."""
        return When(self.parts, _condition(condition))

    def otherwise(self, value: object) -> Expr:
        """The value where no condition is true."""
        return Expr(Call("CASE", (*self.parts, value_or_expression(value))))


def when(condition: Expr) -> When:
    """A value that depends on conditions.

    >>> when(column("age") < 18).then("child").otherwise("adult").text
    "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END"
    """
    return When((), _condition(condition))


def _condition(given: object) -> Expression:
    if not isinstance(given, Expr):
        raise QuestionError(wanted="a condition", given=shown(given), do='Write when(sitr.column("age") < 18).')
    return given.expression


Operand: TypeAlias = "str | Expr"
"""What an aggregate is of: the name of a column, or an expression."""


def operand(of: Operand) -> Expression:
    """The expression; a text is the name of a column."""
    if isinstance(of, Expr):
        return of.expression
    if isinstance(of, str):
        return Name(of)
    raise QuestionError(
        wanted="the name of a column, or an expression",
        given=shown(of),
        do='Write for example sum("cost") or sum(sitr.column("cost") / 100).',
    )
