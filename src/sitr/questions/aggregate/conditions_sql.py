"""Conditions about rows of other tables: IN (SELECT …), EXISTS, and tables that are joined by commas.

They are read from the outermost AND of WHERE, where they choose rows. Elsewhere they stay refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sitr.questions.aggregate.places import same_text

Chosen = tuple[exp.Expr, exp.Expr, bool]
"""An expression, the sub-query whose values it is among, and whether it is outside of them instead."""


def _conjuncts(select: exp.Expr) -> list[exp.Expr]:
    where = select.args.get("where")
    return list(_parts(where.this)) if where is not None else []


def _parts(item: exp.Expr) -> Iterator[exp.Expr]:
    if not isinstance(item, exp.And):
        yield item
        return
    for part in item.flatten(unnest=False):
        nested = isinstance(part, exp.Paren) and isinstance(part.this, exp.And)
        yield from _parts(part.this) if nested else (part,)


def chosen_rows(select: exp.Select) -> tuple[exp.Expr | None, list[Chosen]]:
    """What is left of WHERE, and the conditions about other rows."""
    chosen = [(part, _chosen(part)) for part in _conjuncts(select)]
    found = [each for _, each in chosen if each is not None]
    if not found:
        where = select.args.get("where")
        return (None if where is None else where.this), []
    return _joined([part for part, each in chosen if each is None]), found


def _joined(rest: list[exp.Expr]) -> exp.Expr | None:
    """The conditions that are left, with AND between them; errors can still point at them."""
    if len(rest) < 2:
        return rest[0] if rest else None
    found = exp.and_(*rest, wrap=False)
    same_text(found, rest[0])
    return found


def _chosen(item: exp.Expr) -> Chosen | None:
    outside = False
    while isinstance(item, exp.Paren | exp.Not):
        outside ^= isinstance(item, exp.Not)
        item = item.this
    if isinstance(item, exp.In) and item.args.get("query") is not None:
        return item.this, _bare(item.args["query"]), outside
    if isinstance(item, exp.Exists):
        found = _correlated(_bare(item.this))
        return None if found is None else (*found, outside)
    return None


def _bare(query: exp.Expr) -> exp.Expr:
    return _bare(query.this) if isinstance(query, exp.Subquery) and not query.args.get("alias") else query


def _correlated(query: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """EXISTS (SELECT … FROM t AS b WHERE b.x = a.y AND …) is a.y IN (SELECT b.x FROM t AS b WHERE …)."""
    source = query.args.get("from_") if isinstance(query, exp.Select) else None
    if source is None or query.args.get("joins") or query.args.get("group") or not isinstance(source.this, exp.Table):
        return None
    here = source.this.alias_or_name.lower()
    for part in _conjuncts(query):
        if not isinstance(part, exp.EQ):
            continue
        sides = (part.this, part.expression), (part.expression, part.this)
        for inner, outer in sides:
            both = isinstance(inner, exp.Column) and isinstance(outer, exp.Column)
            if both and outer.table and outer.table.lower() != here and inner.table.lower() in ("", here):
                rest = [other for other in _conjuncts(query) if other is not part]
                return outer, _selecting(query, inner, rest)
    return None


def _selecting(query: exp.Expr, column: exp.Expr, rest: list[exp.Expr]) -> exp.Expr:
    """The sub-query that selects one column of the rows for which the rest holds."""
    found = exp.Select(expressions=[column.copy()], from_=query.args["from_"].copy())
    if rest:
        found.set("where", exp.Where(this=exp.and_(*rest, wrap=False)))
    same_text(found, query)
    return found


def give_conditions(select: exp.Select) -> None:
    """Give each table after a comma, or after CROSS JOIN, the equalities of WHERE that connect it with those before.

    An inner join keeps the pairs of rows for which both conditions hold, wherever they are written.
    """
    joins, source = select.args.get("joins") or [], select.args.get("from_")
    if source is None or not any(_is_bare(join) for join in joins):
        return
    known = {source.this.alias_or_name.lower()}
    waiting = [part for part in _conjuncts(select) if _connects(part)]
    given: list[exp.Expr] = []
    last = max(place for place, join in enumerate(joins) if _is_bare(join))
    for place, join in enumerate(joins):
        known.add(join.this.alias_or_name.lower())
        if not _is_bare(join):
            continue
        fits = [part for part in waiting if place == last or _tables(part) <= known]
        if not fits:
            continue
        waiting = [part for part in waiting if not any(part is each for each in fits)]
        given += fits
        join.set("kind", None)
        join.set("on", exp.and_(*fits, wrap=False))
    rest = [part for part in _conjuncts(select) if not any(part is each for each in given)]
    if given:
        select.set("where", exp.Where(this=exp.and_(*rest, wrap=False)) if rest else None)


def _is_bare(join: exp.Expr) -> bool:
    """Whether a join has no condition."""
    odd = join.args.get("on") or join.args.get("using") or join.args.get("side") or join.args.get("method")
    return not odd and str(join.args.get("kind") or "").upper() in ("", "CROSS")


def _connects(part: exp.Expr) -> bool:
    return isinstance(part, exp.EQ) and isinstance(part.this, exp.Column) and isinstance(part.expression, exp.Column)


def _tables(part: exp.Expr) -> set[str]:
    """The tables that an equality names; a name without a table may belong to any."""
    return {side.table.lower() or "?" for side in (part.this, part.expression)}
