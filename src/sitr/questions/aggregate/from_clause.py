"""From SQL to what stands after FROM and WITH, through an allow-list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from sitr.errors import ForbiddenConstruct, QuestionError
from sitr.questions.aggregate.conditions_sql import chosen_rows, give_conditions
from sitr.questions.aggregate.expressions.expression import Expression, Name
from sitr.questions.aggregate.places import copied, place
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.refusals import forbidden, refuse_other_parts
from sitr.questions.aggregate.sources import (
    PERSON_FUNCTIONS,
    Aliased,
    Among,
    Join,
    PersonCall,
    Select,
    Selected,
    Source,
    UnionAll,
)

Named = Mapping[str, Source]
"""The sub-queries that WITH names, in lower case."""


PARTS = ("expressions", "from_", "joins", "where", "group", "having", "with_", "distinct")
"""The parts that a sub-query can have."""


def read_rows(select: exp.Select, outer: Named | None = None) -> tuple[Source, Expression | None]:
    """What the rows of a SELECT come from, and the condition on each of them.

    Conditions about other rows, such as IN (SELECT …), are a part of where the rows come from.
    """
    give_conditions(select)
    named = _with(select, outer or {})
    clause = select.args.get("from_")
    if clause is None:
        raise QuestionError(given="The question has no FROM.", do="Add FROM and the name of the table.")
    found = _source(clause.this, named)
    for join in select.args.get("joins") or ():
        found = _join(found, join, named)
    rest, chosen = chosen_rows(select)
    for of, among, outside in chosen:
        found = Among(found, expression(of), _query(among, named), outside)
    return found, expression(rest) if rest is not None else None


def _with(select: exp.Select, outer: Named) -> Named:
    named = dict(outer)
    clause = select.args.get("with_")
    if clause is None:
        return named
    refuse_other_parts(clause, "expressions", within="WITH ")
    for each in clause.expressions:
        refuse_other_parts(each, "this", "alias")
        if each.args["alias"].columns:
            raise forbidden(each.args["alias"])
        named[each.alias.lower()] = _query(each.this, named)
    return named


def _source(item: exp.Expr, named: Named) -> Source:
    """A table, a sub-query, or the name of one that WITH has defined."""
    if isinstance(item, exp.Subquery):
        refuse_other_parts(item, "this", "alias")
        return _aliased(_query(item.this, named), item)
    if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
        raise forbidden(item)
    refuse_other_parts(item, "this", "alias", "db", "catalog")  # the schema of a table says nothing here
    known = None if item.args.get("db") else named.get(item.name.lower())
    if known is not None:
        return Aliased(known, item.alias or item.name)
    return _aliased(item.name, item)


def _aliased(source: Source, item: exp.Expr) -> Source:
    alias = item.args.get("alias")
    if alias is None:
        return source
    if alias.columns:
        raise forbidden(alias)
    return Aliased(source, item.alias)


def _query(item: exp.Expr, named: Named) -> Source:
    """A SELECT, or several with UNION ALL between them."""
    if isinstance(item, exp.Subquery):
        refuse_other_parts(item, "this")
        return _query(item.this, named)
    if isinstance(item, exp.Union):
        refuse_other_parts(item, "this", "expression", "distinct")
        if item.args.get("distinct"):
            raise QuestionError(
                given="A question cannot contain UNION, which removes rows that other people have too.",
                do="Write UNION ALL.",
                excerpt=place(item),
            )
        parts = [_query(part, named) for part in (item.this, item.expression)]
        return UnionAll(
            tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, UnionAll) else (part,)))
        )
    if not isinstance(item, exp.Select):
        raise forbidden(item)
    return _select(item, named)


def _select(item: exp.Select, outer: Named) -> Source:
    refuse_other_parts(item, *PARTS)
    _choose_inside(item)
    (source, where), group = read_rows(item, outer), item.args.get("group")
    keys: tuple[Expression, ...] | None = None
    if group is not None:
        refuse_other_parts(group, "expressions", within="GROUP BY ")
        keys = tuple(_key(key, item.expressions) for key in group.expressions)
    starred = len(item.expressions) == 1 and isinstance(item.expressions[0], exp.Star)
    if not starred and any(map(_computes, item.expressions)):
        return _computed(item, source, where, keys)
    columns = () if starred else tuple(map(_column, item.expressions))
    if item.args.get("distinct"):
        if keys is not None or starred or item.args["distinct"].args.get("on"):
            raise forbidden(item.args["distinct"], part="distinct", of=item)
        keys = tuple(column.of for column in columns if not isinstance(column.of, PersonCall))
    if starred and keys is not None:
        raise forbidden(item.expressions[0])
    having = item.args.get("having")
    if having is None:
        plain = isinstance(source, Among) and starred and where is None
        return source if plain else Select(source, columns, where, keys)
    if keys is None or starred:
        raise forbidden(having)
    return _kept(Select(source, columns, where, keys), having.this)


def _choose_inside(item: exp.Select) -> None:
    """Put the condition of an aggregate into it: SUM(x) FILTER (WHERE c) is SUM(CASE WHEN c THEN x END)."""
    for part in [*item.expressions, item.args.get("having")]:
        for call in [] if part is None else list(part.find_all(exp.Filter, exp.CountIf)):
            if isinstance(call, exp.CountIf):
                made: exp.Func = exp.Count(this=exp.case().when(call.this.copy(), "1"))
            elif isinstance(call.this, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max):
                made, condition = call.this.copy(), call.expression.this.copy()
                of = made.this if not isinstance(made.this, exp.Distinct) else made.this.expressions[0]
                chosen = exp.case().when(condition, "1" if isinstance(of, exp.Star) else of.copy())
                of.replace(chosen)
            else:
                raise forbidden(call.this)
            call.replace(made)


def _computes(item: exp.Expr) -> bool:
    """Whether a column of a sub-query computes with aggregates: SUM(x) / COUNT(*)."""
    inner = item.unalias().unnest()
    return not isinstance(inner, exp.AggFunc) and inner.find(exp.AggFunc) is not None


def _computed(
    item: exp.Select, source: Source, where: Expression | None, keys: tuple[Expression, ...] | None
) -> Select:
    """A sub-query that computes with aggregates selects from one that has them as columns."""
    if item.args.get("distinct"):
        raise forbidden(item.args["distinct"], part="distinct", of=item)
    columns = [_column(each) for each in item.expressions if not _computes(each)]
    own = {column.name.lower() for column in columns if column.of == Name(column.name)}
    window = next((found for each in item.expressions for found in each.find_all(exp.Window)), None)
    if window is not None:
        raise forbidden(window)
    names = [each.alias or each.sql() for each in item.expressions if _computes(each)]
    found: list[Selected] = []
    for each in item.expressions:
        if not _computes(each):
            name = _column(each).name
            found.append(Selected(name, Name(name)))
            continue
        for used in each.find_all(exp.Column):
            if used.find_ancestor(exp.AggFunc) is None and (used.table or used.name.lower() not in own):
                raise QuestionError(
                    given=f"The sub-query computes with {used.sql()}, but does not select it by itself.",
                    do=f"Select {used.sql()} too, or compute with it inside an aggregate.",
                    excerpt=place(used),
                )
        columns, condition = _with_calls(columns, copied(each.unalias()), names)
        found.append(Selected(each.alias or each.sql(), expression(condition)))
    having = item.args.get("having")
    if having is not None and keys is None:
        raise forbidden(having)
    if having is not None:
        columns, condition = _with_calls(columns, copied(having.this), names)
    kept = None if having is None else expression(condition)
    return Select(Select(source, tuple(columns), where, keys), tuple(found), kept)


def _with_calls(columns: list[Selected], item: exp.Expr, names: list[str]) -> tuple[list[Selected], exp.Expr]:
    """The columns with all aggregates of an expression, which has their names instead; `names` are taken."""
    columns = list(columns)
    for part in [part for part in item.walk() if isinstance(part, exp.AggFunc)]:
        call = _person_call(part)
        same = next((known for known in columns if known.of == call), None)
        if same is None:
            taken = {name.lower() for name in (*names, *(known.name for known in columns))}
            free = (f"{call.function.lower()}_{number}" for number in range(len(taken) + 1))
            same = Selected(next(name for name in free if name not in taken), call)
            columns.append(same)
        named = exp.column(exp.to_identifier(same.name, quoted=True))
        if part is item:
            item = named
        else:
            part.replace(named)
    return columns, item


def _kept(each: Select, having: exp.Expr) -> Select:
    """Only the people for whom HAVING holds: a condition on the rows of another sub-query, which has its numbers."""
    columns, condition = _with_calls(list(each.columns), copied(having), [])
    inner = replace(each, columns=tuple(columns))
    return Select(inner, tuple(Selected(known.name, Name(known.name)) for known in each.columns), expression(condition))


def _key(item: exp.Expr, items: list[exp.Expr]) -> Expression:
    """A key of a sub-query: an expression, or the number or the name of a selected column."""
    if isinstance(item, exp.Literal) and item.name.isdecimal() and 1 <= int(item.name) <= len(items):
        return expression(items[int(item.name) - 1].unalias())
    found = expression(item)
    for selected in items:
        if isinstance(selected, exp.Alias) and isinstance(found, Name) and selected.alias.lower() == found.name.lower():
            return expression(selected.this)
    return found


def _column(item: exp.Expr) -> Selected:
    inner, alias = (item.this, item.alias) if isinstance(item, exp.Alias) else (item, None)
    of: Expression | PersonCall
    if isinstance(inner, exp.AggFunc):
        of = _person_call(inner)
        default = of.function.lower() + (f"_{of.of.name}" if isinstance(of.of, Name) else "")
    else:
        of = expression(inner)
        default = of.name if isinstance(of, Name) else inner.sql()
    return Selected(alias or default, of)


def _person_call(item: exp.Expr) -> PersonCall:
    function = item.sql_name() if isinstance(item, exp.Func) else ""
    if function not in PERSON_FUNCTIONS:
        raise forbidden(item)
    refuse_other_parts(item, "this", "big_int")
    this, distinct = item.this, False
    if isinstance(this, exp.Distinct):
        refuse_other_parts(this, "expressions")
        if len(this.expressions) != 1:
            raise forbidden(item)
        this, distinct = this.expressions[0], True
    if function == "COUNT" and isinstance(this, exp.Star | exp.Literal):
        return PersonCall("COUNT", None, distinct)
    return PersonCall(function, expression(this), distinct)


def _join(left: Source, join: exp.Expr, named: Named) -> Join:
    side, kind = str(join.args.get("side") or "").upper(), str(join.args.get("kind") or "").upper()
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER", "CROSS") or join.args.get("method"):
        raise forbidden(join, part="joins")
    refuse_other_parts(join, "this", "side", "kind", "on", "using")
    on, using = join.args.get("on"), join.args.get("using") or []
    if on is None and not using:
        raise ForbiddenConstruct(
            given="A question cannot contain a join without a condition.",
            do="Add ON and what the tables have in common.",
            excerpt=place(join),
        )
    names = tuple(each.name for each in using)
    right = _source(join.this, named)
    return Join(left, right, expression(on) if on is not None else None, names, outer=side == "LEFT")
