"""From SQL to expressions on rows, through an allow-list: a construct that is not named here cannot be asked."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from datetime import date, datetime
from functools import reduce

from sqlglot import exp

from sitr.dataset.literals import shortened, shown
from sitr.errors import QuestionError
from sitr.questions.aggregate.dialect import QuestionParser
from sitr.questions.aggregate.expressions.casts import TYPES
from sitr.questions.aggregate.expressions.expression import Aggregated, Call, Expression, Literal, Name
from sitr.questions.aggregate.moments_sql import MOMENTS, bare_part, later, word
from sitr.questions.aggregate.places import place
from sitr.questions.aggregate.refusals import forbidden, refuse_other_parts
from sitr.questions.aggregate.spelling import Value
from sitr.questions.aggregate.synonyms import DATE_FORMATS, SYNONYMS, written_date

AGGREGATE = "sitr_aggregate"
"""Under this name, a placeholder notes the aggregate that was read already and stood in its place."""


def expression(item: exp.Expr) -> Expression:
    """The expression on a row."""
    if isinstance(item, exp.Paren):
        return expression(item.this)
    if (reader := _READERS.get(type(item))) is not None:
        return reader(item)
    if (synonym := SYNONYMS.get(type(item)) or MOMENTS.get(type(item))) is not None:
        return synonym(item, expression)
    if (simple := _SIMPLE.get(type(item))) is not None:
        function, *parts = simple
        refuse_other_parts(item, *parts, *_MARKS.get(type(item), ()))
        found = [item.args.get(part) for part in parts]
        if found[0] is None:  # the parser reads a lone @ as an absolute value
            raise forbidden(item)
        return Call(function, tuple(expression(part) for part in found if part is not None))
    raise forbidden(item)


_SIMPLE: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Add: ("+", "this", "expression"),
    exp.Sub: ("-", "this", "expression"),
    exp.Mul: ("*", "this", "expression"),
    exp.Div: ("/", "this", "expression"),
    exp.SafeDivide: ("/", "this", "expression"),
    exp.IntDiv: ("//", "this", "expression"),
    exp.Mod: ("%", "this", "expression"),
    exp.Pow: ("POWER", "this", "expression"),
    exp.DPipe: ("||", "this", "expression"),
    exp.EQ: ("=", "this", "expression"),
    exp.NEQ: ("<>", "this", "expression"),
    exp.LT: ("<", "this", "expression"),
    exp.LTE: ("<=", "this", "expression"),
    exp.GT: (">", "this", "expression"),
    exp.GTE: (">=", "this", "expression"),
    exp.Not: ("NOT", "this"),
    exp.Abs: ("ABS", "this"),
    exp.Floor: ("FLOOR", "this"),
    exp.Ceil: ("CEIL", "this"),
    exp.Sign: ("SIGN", "this"),
    exp.Sqrt: ("SQRT", "this"),
    exp.Ln: ("LN", "this"),
    exp.Exp: ("EXP", "this"),
    exp.Round: ("ROUND", "this", "decimals"),
    exp.Nullif: ("NULLIF", "this", "expression"),
    exp.Lower: ("LOWER", "this"),
    exp.Upper: ("UPPER", "this"),
    exp.Length: ("LENGTH", "this"),
    exp.Substring: ("SUBSTR", "this", "start", "length"),
    exp.Left: ("LEFT", "this", "expression"),
    exp.Right: ("RIGHT", "this", "expression"),
    exp.SplitPart: ("SPLIT_PART", "this", "delimiter", "part_index"),
    exp.StartsWith: ("STARTS_WITH", "this", "expression"),
    exp.EndsWith: ("ENDS_WITH", "this", "expression"),
    exp.Contains: ("CONTAINS", "this", "expression"),
}
"""How the parser calls functions and operators, what they are called here, and their parts."""

_MARKS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Div: ("typed", "safe"),
    exp.DPipe: ("safe",),
    exp.Least: ("ignore_nulls",),
    exp.Greatest: ("ignore_nulls",),
    exp.Concat: ("safe", "coalesce"),
    exp.TryCast: ("safe",),
}
"""Marks that the parser sets itself, and that are no part of the question."""


def _name(item: exp.Column) -> Name:
    if not isinstance(item.this, exp.Identifier):
        raise forbidden(item)
    refuse_other_parts(item, "this", "table")
    return Name(item.name, item.table or None)


def _and_or(item: exp.Expr) -> Call:
    function = "AND" if isinstance(item, exp.And) else "OR"
    return Call(function, tuple(expression(part) for part in item.flatten()))


def _is(item: exp.Expr) -> Expression:
    """IS NULL, IS TRUE and IS FALSE, each perhaps with NOT."""
    what = item.expression
    if isinstance(what, exp.Null):
        return _negated(item, Call("IS NULL", (expression(item.this),)))
    if isinstance(what, exp.Boolean):
        known = Call("COALESCE", (expression(item.this), Literal(not what.this)))
        return _negated(item, Call("=", (known, Literal(bool(what.this)))))
    raise forbidden(item)


def _negated(item: exp.Expr, found: Expression) -> Expression:
    """The parser stores the NOT of NOT LIKE inside the LIKE."""
    refuse_other_parts(item, "this", "expression", "negate")
    return Call("NOT", (found,)) if item.args.get("negate") else found


def _between(item: exp.Expr) -> Expression:
    refuse_other_parts(item, "this", "low", "high")
    value = expression(item.this)
    low, high = expression(item.args["low"]), expression(item.args["high"])
    return Call("AND", (Call(">=", (value, low)), Call("<=", (value, high))))


def _in(item: exp.Expr) -> Expression:
    if item.args.get("query"):
        raise forbidden(item.args["query"])
    refuse_other_parts(item, "this", "expressions")
    return Call("IN", (expression(item.this), *(Literal(value(part)) for part in item.expressions)))


def _like(item: exp.Expr) -> Expression:
    pattern = item.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        raise forbidden(item)
    function = "LIKE" if isinstance(item, exp.Like) else "ILIKE"
    return _negated(item, Call(function, (expression(item.this), Literal(pattern.name))))


def _compare(item: exp.Expr) -> Expression:
    """With a literal on the left, the sides are exchanged: 1 < x and x > 1 are the same question."""
    refuse_other_parts(item, "this", "expression")
    function, left, right = _SIMPLE[type(item)][0], expression(item.this), expression(item.expression)
    if isinstance(left, Literal) and not isinstance(right, Literal):
        return Call(_MIRRORED.get(function, function), (right, left))
    return Call(function, (left, right))


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _negative(item: exp.Expr) -> Expression:
    """A negative number is a literal."""
    of = expression(item.this)
    if isinstance(of, Literal) and type(of.value) in (int, float):
        return Literal(-of.value)  # type: ignore[operator]
    return Call("NEGATE", (of,))


def _case(item: exp.Expr) -> Expression:
    refuse_other_parts(item, "this", "ifs", "default")
    compared = expression(item.this) if item.this is not None else None
    parts: list[Expression] = []
    for branch in item.args["ifs"]:
        when = expression(branch.this)
        parts += [when if compared is None else Call("=", (compared, when)), expression(branch.args["true"])]
    if item.args.get("default") is not None:
        parts.append(expression(item.args["default"]))
    return Call("CASE", tuple(parts))


def _if(item: exp.Expr) -> Expression:
    refuse_other_parts(item, "this", "true", "false")
    parts = [item.this, item.args["true"], *([item.args["false"]] if item.args.get("false") is not None else [])]
    return Call("CASE", tuple(map(expression, parts)))


def _listed(function: str) -> Callable[[exp.Expr], Expression]:
    def read(item: exp.Expr) -> Expression:
        refuse_other_parts(item, "this", "expressions", *_MARKS.get(type(item), ()))
        return Call(function, tuple(map(expression, [item.this, *item.expressions])))

    return read


def _concat(item: exp.Expr) -> Expression:
    """CONCAT takes NULL for an empty text, which || does not."""
    refuse_other_parts(item, "expressions", *_MARKS[exp.Concat])
    parts = [Call("COALESCE", (expression(part), Literal(""))) for part in item.expressions]
    return reduce(lambda one, other: Call("||", (one, other)), parts)


def _trim(item: exp.Expr) -> Expression:
    refuse_other_parts(item, "this", "position")
    function = {"LEADING": "LTRIM", "TRAILING": "RTRIM"}.get(str(item.args.get("position")), "TRIM")
    return Call(function, (expression(item.this),))


def _log(item: exp.Expr) -> Expression:
    """LOG(x) and LOG10(x) are decimal logarithms, and LOG(2, x) is a quotient of natural ones."""
    refuse_other_parts(item, "this", "expression")
    if item.expression is None:
        return Call("LOG10", (expression(item.this),))
    base, of = expression(item.this), expression(item.expression)
    if base == Literal(10):
        return Call("LOG10", (of,))
    return Call("/", (Call("LN", (of,)), Call("LN", (base,))))


def _cast(item: exp.Expr) -> Expression:
    if (literal := _dated(item)) is not None:
        return Literal(literal)
    to = item.args["to"]
    refuse_other_parts(item, "this", "to", *_MARKS[exp.TryCast])
    refuse_other_parts(to, "this", "nested", "expressions", *(("kind",) if is_real(to) else ()))
    name = "DOUBLE" if is_real(to) else _TYPES.get(to.this)
    if name is None or (to.expressions and name not in ("DOUBLE", "VARCHAR")):
        raise forbidden(item)
    found, places = Call("CAST", (expression(item.this), Literal(name))), places_of(to)
    return found if places is None else Call("ROUND", (found, Literal(places)))


_KINDS = exp.DataType.Type
_TYPES = {
    **dict.fromkeys((_KINDS.TINYINT, _KINDS.SMALLINT, _KINDS.INT, _KINDS.BIGINT), "INTEGER"),
    **dict.fromkeys((_KINDS.VARCHAR, _KINDS.TEXT, _KINDS.CHAR), "VARCHAR"),
    _KINDS.BOOLEAN: "BOOLEAN",
    _KINDS.DATE: "DATE",
    **dict.fromkeys((_KINDS.TIMESTAMP, _KINDS.TIMESTAMPNTZ, _KINDS.DATETIME), "TIMESTAMP"),
}
assert {*_TYPES.values(), "DOUBLE"} == set(TYPES)


def is_real(to: exp.DataType) -> bool:
    """Whether a type holds real numbers; FLOAT64 is BigQuery's."""
    named = to.this is _KINDS.USERDEFINED and str(to.args.get("kind")).upper() == "FLOAT64"
    return named or to.this in (_KINDS.FLOAT, _KINDS.DOUBLE, _KINDS.DECIMAL, _KINDS.BIGDECIMAL)


def places_of(to: exp.DataType) -> int | None:
    """The decimal places of NUMERIC(p, s), and of NUMERIC(p), which has none; None for other types.

    NUMERIC keeps them all. The parser reads it as NUMERIC(18, 3), because DuckDB does.
    """
    written = [each.name for each in to.expressions]
    if to.this not in (_KINDS.DECIMAL, _KINDS.BIGDECIMAL) or written in ([], ["18", "3"]):
        return None
    return int(written[1]) if len(written) == 2 else 0


def _dated(item: exp.Expr) -> date | None:
    """DATE '…', TIMESTAMP '…' or TIMESTAMPTZ '…' with an offset, which the parser reads as casts of text."""
    text, to = item.this, item.args["to"]
    if not (isinstance(text, exp.Literal) and text.is_string) or to.expressions:
        return None
    try:
        if to.this is _KINDS.DATE:
            return date.fromisoformat(text.name)
        if to.this in (_KINDS.TIMESTAMP, _KINDS.TIMESTAMPNTZ):
            return datetime.fromisoformat(text.name)
        if to.this is _KINDS.TIMESTAMPTZ and (moment := datetime.fromisoformat(text.name)).tzinfo is not None:
            return moment
    except ValueError:
        raise QuestionError(
            wanted="a date that exists, such as '2024-12-31' or '2024-12-31 09:30:00'",
            given=shown(text.name),
            do="Write year, month and day, then the time if there is one.",
            excerpt=place(text),
        ) from None
    return None


def _unless_null(item: exp.Expr) -> Expression:
    """NVL2(x, a, b): a where x has a value, and else b."""
    refuse_other_parts(item, "this", "true", "false")
    parts = (item.this, item.args.get("false"), item.args.get("true"))
    if any(part is None for part in parts):
        raise forbidden(item)
    of, null, known = map(expression, parts)
    return Call("CASE", (Call("IS NULL", (of,)), null, known))


def _plus(item: exp.Expr) -> Expression:
    """A sum, a difference, or a date with an interval added or taken away."""
    left, right = item.this, item.expression
    if isinstance(left, exp.Interval) and isinstance(item, exp.Add):
        left, right = right, left
    if not isinstance(right, exp.Interval):
        refuse_other_parts(item, "this", "expression")
        return Call(_SIMPLE[type(item)][0], (expression(item.this), expression(item.expression)))
    return later(expression(left), right, sign=-1 if isinstance(item, exp.Sub | exp.DateSub) else 1)


_CHOICES: dict[tuple[str, int], tuple[str, *tuple[int, ...]]] = {
    ("IFF", 3): ("CASE",),
    ("ISNULL", 1): ("IS NULL",),
    ("ISNULL", 2): ("COALESCE",),
    ("ZEROIFNULL", 1): ("COALESCE", 0),
}
"""Other names of choices, with their numbers of arguments, and what follows these."""


def _anonymous(item: exp.Expr) -> Expression:
    """Functions that the parser does not know."""
    name, arguments = item.name.upper(), item.expressions
    if name == "CLAMP":
        return Call("CLAMP", tuple(map(expression, arguments)))
    match name, arguments:
        case "DATE_PART", [part, of] if isinstance(part, exp.Literal) or bare_part(part):
            return Call("EXTRACT", (word(part), expression(of)))
        case "DATEADD", [part, exp.Literal() | exp.Neg() as many, of] if bare_part(part):
            return Call("DATE_ADD", (expression(of), expression(many), word(part)))
        case "TO_DATE", [of]:
            return Call("CAST", (expression(of), Literal("DATE")))
    if (chosen := _CHOICES.get((name, len(arguments)))) is not None:
        function, *beside = chosen
        return Call(function, (*map(expression, arguments), *map(Literal, beside)))
    if name in DATE_FORMATS:
        return written_date(item, arguments, expression)
    if name in QuestionParser.FUNCTIONS:  # it is known, but has more arguments than anywhere
        raise QuestionError(
            given=f"{name} has the wrong number of arguments.", do="Look it up in the reference.", excerpt=place(item)
        )
    raise forbidden(item)


def _aggregated(item: exp.Expr) -> Aggregated:
    if AGGREGATE not in item.meta:  # a ? of the user
        raise forbidden(item)
    return Aggregated(item.meta[AGGREGATE])


def _literal(item: exp.Expr) -> Literal:
    return Literal(value(item))


_READERS: dict[type[exp.Expr], Callable[[exp.Expr], Expression]] = {
    exp.Column: _name,  # type: ignore[dict-item]
    exp.Literal: _literal,
    exp.Boolean: _literal,
    exp.Null: lambda _: Literal(None),
    exp.Neg: _negative,
    exp.And: _and_or,
    exp.Or: _and_or,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), _compare),
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _listed("COALESCE"),
    exp.Least: _listed("LEAST"),
    exp.Greatest: _listed("GREATEST"),
    exp.Concat: _concat,
    exp.Trim: _trim,
    exp.Log: _log,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Nvl2: _unless_null,
    exp.Add: _plus,
    exp.Sub: _plus,
    exp.DateAdd: _plus,
    exp.DateSub: _plus,
    exp.Anonymous: _anonymous,
    exp.Placeholder: _aggregated,
}


def value(item: exp.Expr) -> Value | None:
    """A literal: text, number, truth value, DATE '…', TIMESTAMP '…' or NULL."""
    found: Expression | None
    match item:
        case exp.Literal(is_string=True):
            return str(item.name)
        case exp.Literal():
            return _number(item)
        case exp.Boolean():
            return bool(item.this)
        case exp.Neg() | exp.Cast() | exp.Null() | exp.Paren():
            found = expression(item)
            if isinstance(found, Literal):
                return found.value
    raise forbidden(item)


def _number(literal: exp.Literal) -> int | float:
    try:
        number = int(literal.name) if literal.name.isdecimal() else float(literal.name)
    except ValueError:  # 1e, or thousands of digits
        number = math.nan
    if not abs(number) <= sys.float_info.max:
        raise QuestionError(
            wanted="a number that a double can hold",
            given=shortened(literal.name),
            do="Write it like 12, 0.5 or 1e-3.",
            excerpt=place(literal),
        )
    return number
