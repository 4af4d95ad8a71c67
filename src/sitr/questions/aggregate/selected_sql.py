"""What analysts write over aggregates in other databases, in terms of what Sitr reads: the tree is changed in place.

- `SELECT SUM(cost) AS s, s / COUNT(*) AS mean`: the name of an aggregate that stands further left, as in Snowflake and
  DuckDB. A key of the same name comes first.
- `COUNT(*)::float`, `CAST(AVG(x) AS NUMERIC(10, 2))`: a cast changes how a number is stored; one to whole numbers or to
  decimal places rounds.
- `RATIO_TO_REPORT(COUNT(*)) OVER ()` is the share of a total, `DIV0(a, b)` a quotient that is 0 where b is 0, and
  `APPROX_QUANTILES(x, 4)[OFFSET(2)]` one of several quantiles.
- `ORDER BY ALL` is the order of all columns, from left to right.
- `COUNT(x > 1), COUNT(x > 2)`, which have no names and would have the same, are `count` and `count_2`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from sqlglot import exp

from sitr.errors import SitrError
from sitr.questions.aggregate.aggregate_sql import aggregate_of, holds_aggregate, is_aggregate
from sitr.questions.aggregate.places import copied
from sitr.questions.aggregate.reader import is_real, places_of
from sitr.questions.aggregate.sets_sql import SETS

_KINDS = exp.DataType.Type
_WHOLE = (_KINDS.TINYINT, _KINDS.SMALLINT, _KINDS.INT, _KINDS.BIGINT)
_PLACES = ("OFFSET", "SAFE_OFFSET", "ORDINAL", "SAFE_ORDINAL")


def settle(select: exp.Select) -> None:
    """Write all of these as Sitr reads them, the inner ones first."""
    for item in reversed(list(select.walk())):
        _rewrite(item)
    _order_by_all(select)
    _name_earlier(select)
    _name_apart(select)


def _rewrite(item: exp.Expr) -> None:
    found: exp.Expr | None = None
    match item:
        case exp.Cast() if holds_aggregate(item.this):
            found = _converted(item.this, item.args["to"])
        case exp.Bracket(this=exp.ApproxQuantiles() as several, expressions=[exp.Anonymous() as at]):
            found = _one_quantile(several, at)
        case exp.Window(this=exp.Anonymous(expressions=[of]) as call) if call.name.upper() == "RATIO_TO_REPORT":
            item.set("this", exp.Sum(this=of.copy()))
            found = exp.Div(this=_bracketed(of), expression=copied(item))
        case exp.Anonymous(expressions=[above, below]) if item.name.upper() in ("DIV0", "DIV0NULL"):
            found = _divided(above, below, missing=item.name.upper() == "DIV0NULL")
    if found is not None:
        found.meta.update(item.meta)
        item.replace(found)


def _converted(of: exp.Expr, to: exp.DataType) -> exp.Expr | None:
    """A number as another type; None for types that are no numbers."""
    if to.this in _WHOLE:
        return exp.Round(this=of.copy())
    if not is_real(to):
        return None
    if (places := places_of(to)) is not None:
        return exp.Round(this=of.copy(), decimals=exp.Literal.number(places) if places else None)
    return _bracketed(of)


def _one_quantile(several: exp.ApproxQuantiles, at: exp.Anonymous) -> exp.Expr | None:
    """The quantile at a place of the n + 1 quantiles at 0, 1/n, …, 1."""
    parts = (several.args.get("expression"), *at.expressions)
    numbers = [int(part.name) for part in parts if isinstance(part, exp.Literal) and part.name.isdecimal()]
    if at.name.upper() not in _PLACES or len(numbers) != 2 or not several.this:
        return None
    many, place = numbers[0], numbers[1] - at.name.upper().endswith("ORDINAL")
    if not 0 <= place <= many or many == 0:
        return None
    of = several.this.copy()
    if place in (0, many):
        return exp.Max(this=of) if place else exp.Min(this=of)
    return exp.Anonymous(this="QUANTILE", expressions=[of, exp.Literal.number(float(Fraction(place, many)))])


def _divided(above: exp.Expr, below: exp.Expr, *, missing: bool) -> exp.Expr:
    """A quotient that is 0 where the divisor is, and perhaps where it is missing."""
    quotient = exp.Div(this=_bracketed(above), expression=_bracketed(below))
    zero = exp.Literal.number(0)
    if holds_aggregate(below):
        return exp.Coalesce(this=quotient, expressions=[zero])
    none: exp.Expr = exp.EQ(this=_bracketed(below), expression=zero.copy())
    if missing:
        none = exp.Or(this=none, expression=exp.Is(this=_bracketed(below), expression=exp.Null()))
    return exp.Case().when(none, zero).else_(quotient)


def _bracketed(item: exp.Expr) -> exp.Expr:
    """A copy that can stand beside an operator."""
    alone = isinstance(item, exp.Column | exp.Literal | exp.Paren) or is_aggregate(item)
    return item.copy() if alone else exp.Paren(this=item.copy())


def _order_by_all(select: exp.Select) -> None:
    order = select.args.get("order")
    if order is None or [type(each.this) for each in order.expressions] != [exp.Var]:
        return
    (one,) = order.expressions
    if one.this.name.upper() == "ALL":
        places = [exp.Literal.number(place) for place in range(1, len(select.expressions) + 1)]
        order.set("expressions", [exp.Ordered(**{**one.args, "this": place}) for place in places])


def _name_earlier(select: exp.Select) -> None:
    """Put each aggregate in place of its name, where the name stands outside of aggregates and further right.

    What GROUP BY lists is left alone, and so are the columns of which it is made: SUM(age) AS age, age / 10 AS decade.
    GROUP BY ALL lists every column without an aggregate.
    """
    group = select.args.get("group")
    keys = {name.name.lower() for name in group.find_all(exp.Column)} if group is not None else set[str]()
    known: dict[str, exp.Expr] = {}
    for place, item in enumerate(select.expressions, 1):
        for name in () if group is not None and _is_key(item, place, group) else _outside(item):
            of = known.get(name.name.lower())
            if of is not None and name is not item and not name.table and name.name.lower() not in keys:
                name.replace(_bracketed(of))
        if isinstance(item, exp.Alias) and holds_aggregate(item.this) and item.this.find(exp.Window) is None:
            known[item.alias.lower()] = item.this


def _is_key(item: exp.Expr, place: int, group: exp.Expr) -> bool:
    """Whether GROUP BY lists a column: by its name, by its place, or because ALL does."""
    if group.args.get("all"):
        return not holds_aggregate(item)
    listed = [part for part in group.walk() if isinstance(part.parent, (exp.Group, exp.Tuple, exp.Paren, *SETS))]
    names = {item.alias.lower(), str(place)} - {""}
    return any(each == item.unalias() or each.name.lower() in names for each in listed)


def _name_apart(select: exp.Select) -> None:
    """Give an aggregate without a name one with a number, if another column has its usual name."""
    named = [item.alias_or_name for item in select.expressions if isinstance(item, exp.Alias | exp.Column)]
    taken = {name.lower() for name in named}
    unnamed = [item for item in select.expressions if not isinstance(item, exp.Alias | exp.Star)]
    found = [item for item in unnamed if holds_aggregate(item)]
    for item in found if len(found) > 1 else ():
        with suppress(SitrError):  # what cannot be read is refused later
            usual = aggregate_of(item).name()
            numbered = (usual if number == 1 else f"{usual}_{number}" for number in range(1, len(taken) + 2))
            name = next(each for each in numbered if each.lower() not in taken)
            taken.add(name.lower())
            if name != usual:
                item.replace(exp.alias_(item.copy(), name, quoted=True))


def _outside(item: exp.Expr) -> Iterator[exp.Column]:
    """The names that stand outside of aggregates and sub-queries."""
    if isinstance(item, exp.Column):
        yield item
    elif not is_aggregate(item) and not isinstance(item, exp.Window | exp.Filter | exp.Query):
        for part in list(item.iter_expressions()):
            yield from _outside(part)
