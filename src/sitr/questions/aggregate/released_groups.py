"""Ways to ask what depends on the numbers of whole groups: it follows from what is released, at no price."""

from __future__ import annotations

from sqlglot import exp

from sitr.errors import SitrError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.aggregate_sql import holds_aggregate
from sitr.questions.aggregate.catalog import Catalog


def of_groups(tree: exp.Select, _: SitrError, catalog: Catalog) -> bool:
    """The mean or sum of the numbers of all groups is a window over what is released, and their extremes come first."""
    inner, unit = _only_source(tree), catalog.table.unit
    group = inner.args.get("group") if inner is not None else None
    if inner is None or group is None or len(tree.expressions) != 1:
        return False
    item = tree.expressions[0]
    called, who = item.unalias(), unit.column.lower() if isinstance(unit, Person) else None
    if not isinstance(called, exp.Avg | exp.Sum | exp.Min | exp.Max) or not isinstance(called.this, exp.Column):
        return False
    named = [each for each in inner.expressions if each.alias_or_name == called.this.name and holds_aggregate(each)]
    if not named or any(key.name.lower() == who for key in group.expressions):
        return False
    if isinstance(called, exp.Avg | exp.Sum) and not isinstance(named[0].unalias(), exp.Count | exp.CountIf | exp.Sum):
        become(tree, inner)  # means of means can be computed from the answer
        return True
    if isinstance(called, exp.Min | exp.Max):
        inner.set(
            "order", exp.Order(expressions=[exp.Ordered(this=called.this, desc=isinstance(called, exp.Max) or None)])
        )
    else:
        window: exp.Expr = exp.Window(this=type(called)(this=named[0].unalias()))
        inner.set("expressions", [exp.alias_(window, item.alias) if item.alias else window])
    inner.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    become(tree, inner)
    return True


def _only_source(tree: exp.Select) -> exp.Select | None:
    """The one sub-query, in FROM or WITH, of a question that only selects from it."""
    others, common = rest(tree), tree.args.get("with_")
    source = tree.args["from_"].this if "from_" in others else None
    if common is not None and others.keys() == {"from_", "with_"} and isinstance(source, exp.Table):
        found = [each.this for each in common.expressions if each.alias.lower() == source.name.lower()]
        inner = found[0] if len(common.expressions) == 1 and found else None
    else:
        inner = source.this if others.keys() == {"from_"} and isinstance(source, exp.Subquery) else None
    return inner if isinstance(inner, exp.Select) else None


def chosen_groups(tree: exp.Select, _: SitrError, catalog: Catalog) -> bool:
    """SELECT * FROM (SELECT k, AVG(x) AS m … GROUP BY k) WHERE m > 40 is HAVING AVG(x) > 40."""
    inner, unit = _source(tree), catalog.table.unit
    who = unit.column.lower() if isinstance(unit, Person) else None
    if inner is None or any(map(holds_aggregate, tree.expressions)) or not any(map(holds_aggregate, inner.expressions)):
        return False
    group = inner.args.get("group")
    if group is None or any(key.name.lower() == who for key in group.expressions) or inner.args.get("limit"):
        return False
    made = {each.alias_or_name.lower(): each for each in inner.expressions}
    listed = [each.name.lower() for each in tree.expressions if isinstance(each, exp.Column)]
    every = len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Star)
    if not every and (len(listed) < len(tree.expressions) or not set(listed) <= made.keys()):
        return False
    conditions = [each.this for each in (inner.args.get("having"), tree.args.get("where")) if each is not None]
    found = inner.copy()
    found.set(
        "having", exp.Having(this=exp.and_(*(_in_full(each, made) for each in conditions))) if conditions else None
    )
    for part in ("order", "limit"):
        if (later := tree.args.get(part)) is not None:
            found.set(part, _in_full(later, made))
    found.set("expressions", found.expressions if every else [made[name].copy() for name in listed])
    if (common := tree.args.get("with_")) is not None:
        names = {each.name.lower() for each in found.find_all(exp.Table)}
        kept = [each.copy() for each in common.expressions if each.this is not inner]
        found.set("with_", exp.With(expressions=kept) if kept and names else None)
    become(tree, found)
    return True


def _source(tree: exp.Select) -> exp.Select | None:
    """The sub-query, in FROM or WITH, from which a question only chooses and sorts rows."""
    source, common = tree.args.get("from_"), tree.args.get("with_")
    if source is None or not rest(tree).keys() <= {"from_", "with_", "where", "order", "limit"}:
        return None
    of = source.this
    if isinstance(of, exp.Table) and common is not None:
        found = [each.this for each in common.expressions if each.alias.lower() == of.name.lower()]
        of = found[0] if found else None
    else:
        of = of.this if isinstance(of, exp.Subquery) else None
    return of if isinstance(of, exp.Select) else None


def _in_full(item: exp.Expr, made: dict[str, exp.Expr]) -> exp.Expr:
    """With what columns stand for in place of their names."""
    found = exp.Paren(this=item.copy())
    for column in list(found.find_all(exp.Column)):
        if (of := made.get(column.name.lower())) is not None:
            column.replace(of.unalias().copy())
    inner: exp.Expr = found.this
    return inner


def parts_of_one(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """(SELECT COUNT(*) FROM t WHERE c) / (SELECT COUNT(*) FROM t) is COUNT(*) FILTER (WHERE c) / COUNT(*) FROM t."""
    if tree.args.get("from_") is not None:
        return False
    queries = [each for item in tree.expressions for each in item.find_all(exp.Subquery)]
    inner = [each.this for each in queries if isinstance(each.this, exp.Select) and len(each.this.expressions) == 1]
    plain = [each for each in inner if rest(each).keys() <= {"from_", "where"} and holds_aggregate(each.expressions[0])]
    if not queries or len(plain) < len(queries) or len({each.args["from_"].sql() for each in plain}) > 1:
        return False
    for query, select in zip(queries, plain, strict=True):
        found, where = select.expressions[0].unalias().copy(), select.args.get("where")
        if where is not None and not isinstance(found, exp.AggFunc):
            return False
        query.replace(exp.Filter(this=found, expression=where.copy()) if where is not None else exp.paren(found))
    tree.set("from_", plain[0].args["from_"].copy())
    return True


def first_rows(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 3 is ORDER BY n DESC LIMIT 3."""
    qualify = tree.args.get("qualify")
    compared = qualify.this if qualify is not None else None
    if not isinstance(compared, exp.LTE | exp.LT | exp.EQ):
        return False
    window, number = _named_window(tree, compared.this), compared.expression
    if window is None:
        return False
    ranked = isinstance(window.this, exp.RowNumber | exp.Rank | exp.DenseRank) and window.args.get("order")
    whole = isinstance(number, exp.Literal) and number.name.isdecimal()
    if not ranked or not whole or window.args.get("partition_by"):
        return False
    many = int(number.name) - isinstance(compared, exp.LT)
    tree.set("qualify", None)
    tree.set("order", window.args["order"].copy())
    tree.set("limit", exp.Limit(expression=exp.Literal.number(many)))
    return True


def _named_window(tree: exp.Select, item: exp.Expr) -> exp.Window | None:
    """The window that QUALIFY compares, by itself or by the name of its column."""
    named = (each.this for each in tree.expressions if isinstance(each, exp.Alias) and each.alias == item.name)
    found = next(named, item) if isinstance(item, exp.Column) else item
    return found if isinstance(found, exp.Window) else None


def first_in_parts(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """The place of a row within its part, by which QUALIFY chooses rows, is shown instead."""
    qualify = tree.args.get("qualify")
    compared = qualify.this if qualify is not None else None
    window = compared.this if isinstance(compared, exp.Binary) else None
    ranked = isinstance(window, exp.Window) and isinstance(window.this, exp.RowNumber | exp.Rank | exp.DenseRank)
    if not ranked or not isinstance(window, exp.Window) or not window.args.get("order") or not tree.args.get("group"):
        return False
    tree.set("qualify", None)
    tree.set("expressions", [*tree.expressions, exp.alias_(window.copy(), "place")])
    return True


def numbered(tree: exp.Select, error: SitrError, _: Catalog) -> bool:
    """A condition on aggregates becomes 1 or 0, and the texts among which a CASE chooses become numbers."""
    if not error.given.endswith("is not a number."):
        return False
    changed = False
    for item in tree.expressions:
        inner = item.unalias()
        if not holds_aggregate(inner):
            continue
        if isinstance(inner, exp.Predicate | exp.Connector | exp.Not):
            inner.replace(exp.case().when(inner.copy(), "1").else_("0"))
            changed = True
        changed = _numbered_texts(inner) or changed
    return changed


def _numbered_texts(item: exp.Expr) -> bool:
    numbers: dict[str, int] = {}
    for choice in item.find_all(exp.Case):
        for found in [*(each.args["true"] for each in choice.args["ifs"]), choice.args.get("default")]:
            if isinstance(found, exp.Literal) and found.is_string:
                number = exp.Literal.number(numbers.setdefault(found.name, 1 + len(numbers)))
                number.add_comments([found.name])
                found.replace(number)
    return bool(numbers)


def rest(select: exp.Select) -> dict[str, object]:
    """The parts of a SELECT besides its columns."""
    return {part: value for part, value in select.args.items() if value and part != "expressions"}


def become(tree: exp.Select, other: exp.Select) -> None:
    """Take all parts of another SELECT in place of one's own."""
    found = dict(other.args)
    for part in list(tree.args):
        tree.set(part, None)
    for part, value in found.items():
        tree.set(part, value)
