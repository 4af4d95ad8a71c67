"""A question that can be asked in place of one that cannot: the same text with as little changed as possible.

Each obstacle that has a usual way around it is rewritten, one after the other, until the question has none; otherwise
there is no such question. What is shown was read and checked like any question. Where a number must come from public
knowledge, the text has a placeholder and says so in a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from sqlglot import exp, parse_one

from sitr.dataset.schema import GROUPABLE, Kind
from sitr.errors import DescriptionError, SitrError, UnknownName, nearest
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.aggregate_sql import aggregate_of, holds_aggregate
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.date_formats import part_of_format
from sitr.questions.aggregate.dialect import QuestionDialect, sql_of
from sitr.questions.aggregate.expressions.expression import spelled
from sitr.questions.aggregate.functions.registry import function_of
from sitr.questions.aggregate.grouping_sets import bound_with_sets
from sitr.questions.aggregate.instead import CLOCKS, dashed
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.released_groups import (
    become,
    chosen_groups,
    first_in_parts,
    first_rows,
    numbered,
    of_groups,
    parts_of_one,
    rest,
)
from sitr.questions.aggregate.sets_sql import all_keys, holds_sets, is_mark
from sitr.questions.aggregate.sql import PARTS, parse, single_select

_TRIES = 12
BOUNDS = "replace 0 and 100 by public bounds"
"""The comment beside placeholders for bounds."""

Way = Callable[[exp.Select, SitrError, Catalog], bool]
"""A way around an obstacle: it changes the question, or returns that there is nothing to change."""


def equivalent(sql: str, catalog: Catalog) -> str | None:
    """A similar question that can be asked; None if none is found.

    >>> from sitr.dataset.schema import Kind, describe
    >>> from sitr.neighbors.relation import Relation
    >>> kinds = {"id": Kind.INTEGER, "ward": Kind.TEXT}
    >>> caps = {"max_groups": 1, "max_rows_per_group": 1, "bounds": {}, "granularity": {}, "keys": {}}
    >>> table = describe("visits", kinds=kinds, unit=Person("id"), relation=Relation.ADD_REMOVE, **caps)
    >>> equivalent("SELECT ward, COUNT(*) OVER (PARTITION BY wrad) AS n FROM visits", Catalog(table))
    'SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward'
    """
    try:
        tree = single_select(sql)
        _keep_formats(tree)
        _keep_zones(tree)
        for _ in range(_TRIES):
            text = _text(tree)
            error = _refused(text, catalog)
            if error is None:
                return text
            if not any(way(tree, error, catalog) for way in _WAYS):
                return None
    except Exception:  # noqa: BLE001 (odd texts break the parser in many ways, and this is only a proposal)
        return None
    return None


def _keep_formats(tree: exp.Select) -> None:
    """TO_CHAR with its format, which the parser would leave out; without one that is known, the month as a date."""
    for call in [*tree.find_all(exp.ToChar), *tree.find_all(exp.TimeToStr)]:
        of, pattern = call.this, call.args.get("format")
        if not isinstance(of, exp.Column):
            of, pattern = pattern, of
        if not isinstance(of, exp.Column) or not isinstance(pattern, exp.Literal):
            continue
        if (part := part_of_format(pattern.name)) is None:
            call.replace(exp.Anonymous(this="TO_CHAR", expressions=[of.copy(), pattern.copy()]))
        else:
            unit = exp.Literal.string(part)
            call.replace(exp.Anonymous(this="DATE_TRUNC", expressions=[unit, of.copy()]))


def _keep_zones(tree: exp.Select) -> None:
    """AT TIME ZONE for a zone inside of a function, which is written for times in UTC or left out otherwise."""
    for call in [*tree.find_all(exp.Date), *tree.find_all(exp.TimestampTrunc), *tree.find_all(exp.DateTrunc)]:
        zone = call.args.get("zone")
        if isinstance(zone, exp.Literal) and isinstance(call.this, exp.Column):
            call.set("this", exp.AtTimeZone(this=call.this.copy(), zone=zone.copy()))
            call.set("zone", None)


def _dashes(tree: exp.Select, _: SitrError, catalog: Catalog) -> bool:
    """hours-per-week is a name, and no difference, if there is such a column."""
    columns = {column.name.lower(): column.name for column in catalog.table.columns}
    found = [(each, dashed(each)) for each in tree.find_all(exp.Sub)]
    named = [(each, columns[name.lower()]) for each, name in found if name is not None and name.lower() in columns]
    for each, name in named:
        each.replace(exp.column(exp.to_identifier(name, quoted=True)))
    return bool(named)


def _text(tree: exp.Select) -> str:
    return sql_of(tree)


def _refused(text: str, catalog: Catalog) -> SitrError | None:
    try:
        bound_with_sets(parse(text), catalog.table, catalog=catalog)
    except SitrError as error:
        return error
    return None


def _renamed(tree: exp.Select, error: SitrError, _: Catalog) -> bool:
    """Columns with the same name get a number: a.ward and b.ward are ward and ward_2."""
    if "have the same name" not in error.given:
        return False
    names: list[str] = []
    for item in list(tree.expressions):
        name, number = item.alias_or_name.lower(), 1
        while name and (name if number == 1 else f"{name}_{number}") in names:
            number += 1
        if number > 1:
            item.replace(exp.alias_(item.unalias().copy(), f"{name}_{number}"))
        names.append(name if number == 1 else f"{name}_{number}")
    return len(set(names)) == len(names) and any(name.endswith("_2") for name in names)


def _other_parts(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """QUALIFY, FOR UPDATE, SAMPLE, DISTINCT ON and GROUPING SETS are left out."""
    found = [part for part, value in tree.args.items() if value and part not in PARTS]
    for part in found:
        tree.set(part, None)
    distinct, group = tree.args.get("distinct"), tree.args.get("group")
    if distinct is not None and distinct.args.get("on"):
        tree.set("distinct", None)
        tree.set("order", None)
        found.append("on")
    sets = group is not None and holds_sets(group)
    if sets and group is not None:
        tree.set("group", exp.Group(expressions=[each.copy() for each in all_keys(group)]))
        tree.set("expressions", [each for each in tree.expressions if not is_mark(each)])
    return bool(found or sets)


def _windows(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """An aggregate OVER (PARTITION BY k) is the aggregate by k; a rank becomes a count."""
    windows = [each for each in tree.find_all(exp.Window) if each.parent_select is tree and not _over_answers(each)]
    if not windows:
        return False
    if _without_running(tree, windows):
        return True
    keys = {key.sql(): key for window in windows for key in window.args.get("partition_by") or []}
    for window in windows:
        called, whole = window.this, window.parent
        nested = next((part for part in called.iter_expressions() if holds_aggregate(part)), None)
        if nested is not None and isinstance(whole, exp.Div) and window is whole.expression:
            whole.replace(whole.this)  # a share of a total: the total can be added up afterwards
        elif nested is not None and isinstance(called, exp.AggFunc):
            window.replace(nested)
        else:
            window.replace(called if function_of(called.sql_name()) else _count())
    items = [item for item in tree.expressions if holds_aggregate(item)]
    listed = [item for item in tree.expressions if not holds_aggregate(item) and item.unalias().sql() in keys]
    missing = [key for text, key in keys.items() if text not in [item.unalias().sql() for item in listed]]
    if not keys:
        listed = [item for item in tree.expressions if not holds_aggregate(item)] if tree.args.get("group") else []
    tree.set("expressions", [*(key.copy() for key in missing), *listed, *items])
    if keys:
        tree.set("group", exp.Group(expressions=[key.copy() for key in keys.values()]))
    tree.set("order", None)
    return True


def _over_answers(window: exp.Window) -> bool:
    """Whether a window sees released rows only, and can be asked."""
    try:
        aggregate_of(window)
    except SitrError:
        return False
    return True


def _without_running(tree: exp.Select, windows: list[exp.Window]) -> bool:
    """Running totals and differences to other rows can be computed from an answer, so their columns are left out."""
    ordered = [each for each in windows if each.args.get("order") and holds_aggregate(each.this)]
    running = [item for item in tree.expressions if any(each in ordered for each in item.find_all(exp.Window))]
    kept = [item for item in tree.expressions if not any(item is each for each in running)]
    if not running or not tree.args.get("group"):
        return False
    if not any(holds_aggregate(item) for item in kept):
        kept.append(exp.alias_(_count(), "n"))
    tree.set("expressions", kept)
    return True


def _share_of_total(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """COUNT(*) / (SELECT COUNT(*) FROM t) is COUNT(*) / SUM(COUNT(*)) OVER (), if the rows are the same."""
    changed = False
    for query in [each for item in tree.expressions for each in item.find_all(exp.Subquery)]:
        inner = query.this
        same = isinstance(inner, exp.Select) and inner.args.get("from_") == tree.args.get("from_")
        plain = same and not any(inner.args.get(part) for part in ("group", "joins", "having", "limit"))
        if plain and len(inner.expressions) == 1 and inner.args.get("where") == tree.args.get("where"):
            of = inner.expressions[0].unalias()
            query.replace(exp.Window(this=exp.Sum(this=of.copy())))
            changed = True
    return changed and bool(tree.args.get("group"))


def _single_numbers(tree: exp.Select, _: SitrError, catalog: Catalog) -> bool:
    """A number that a sub-query computes from all rows must be asked for first: then it is written out."""
    parts = [tree.args.get("where"), tree.args.get("having"), *tree.expressions]
    found = [each for part in parts if part is not None for each in part.find_all(exp.Subquery)]
    changed = False
    for each in found:
        inner = each.this
        alone = isinstance(inner, exp.Select) and not isinstance(each.parent, exp.In | exp.From)
        if alone and _refused(_text(inner), catalog) is None:
            divides = isinstance(each.parent, exp.Div) and each is each.parent.expression
            number = exp.Literal.number(int(divides))
            number.add_comments([f"replace {number.name} by the answer to {_text(inner)}"])
            each.replace(number)
            changed = True
    return changed


def _count() -> exp.Expr:
    return exp.Count(this=exp.Star())


def _names(tree: exp.Select, error: SitrError, catalog: Catalog) -> bool:
    """A misspelled name is the nearest one; a name in double quotes that is none is a text."""
    if not isinstance(error, UnknownName):
        return False
    columns = [column.name for column in catalog.table.columns]
    tables = {catalog.table.name, *catalog.public}
    aliases = {each.alias_or_name.lower() for each in tree.find_all(exp.Table, exp.Subquery, exp.CTE)}
    changed = False
    for table in tree.find_all(exp.Table):
        if table.name.lower() not in {name.lower() for name in tables} and not _is_named(tree, table.name):
            table.replace(exp.to_table(catalog.table.name))
            changed = True
    for column in list(tree.find_all(exp.Column)):
        if column.table and column.table.lower() not in aliases:
            column.set("table", None)
            changed = True
        if f"'{column.name}'" not in error.given:
            continue
        near = nearest(column.name, columns)
        compared = isinstance(column.parent, exp.EQ | exp.NEQ | exp.In) and column is not column.parent.this
        if compared and (near is None or column.this.args.get("quoted")):
            column.replace(exp.Literal.string(column.name))
        elif near is not None:
            column.set("this", exp.to_identifier(near))
        else:
            return False
        changed = True
    return changed


def _is_named(tree: exp.Select, name: str) -> bool:
    return any(each.alias.lower() == name.lower() for each in tree.find_all(exp.CTE))


def _no_aggregate(tree: exp.Select, _: SitrError, catalog: Catalog) -> bool:
    """SELECT * and single rows become a count, by the columns that can be keys."""
    if any(holds_aggregate(item) for item in tree.expressions):
        return False
    keys = [item for item in tree.expressions if _can_be_key(item.unalias(), catalog)]
    tree.set("expressions", [*keys, exp.alias_(_count(), "n")])
    tree.set("group", exp.Group(expressions=[key.unalias().copy() for key in keys]) if keys else None)
    tree.set("distinct", None)
    order = tree.args.get("order")
    if order is not None and not all(holds_aggregate(each) for each in order.expressions):
        tree.set("order", None)
    if not keys:
        tree.set("limit", None)
    return True


def _can_be_key(item: exp.Expr, catalog: Catalog) -> bool:
    """Whether it is a column by which people can be grouped, and not one that names them."""
    found = next((each for each in catalog.table.columns if each.name.lower() == item.name.lower()), None)
    unit = catalog.table.unit.column if isinstance(catalog.table.unit, Person) else None
    return isinstance(item, exp.Column) and found is not None and found.kind in GROUPABLE and found.name != unit


def _spelled(items: list[exp.Expr], group: exp.Expr | None, catalog: Catalog) -> bool:
    """A selected column that is unknown, and called nearly like a key of GROUP BY, is that key."""
    keys = [key.name for key in group.expressions if isinstance(key, exp.Column)] if group is not None else []
    known = {column.name.lower() for column in catalog.table.columns}
    found = [item.unalias() for item in items if item.unalias().name.lower() not in known]
    near = [(column, nearest(column.name, keys)) for column in found if isinstance(column, exp.Column)]
    for column, key in near:
        if key is not None:
            column.set("this", exp.to_identifier(key))
    return any(key is not None for _, key in near)


def _not_grouped(tree: exp.Select, error: SitrError, catalog: Catalog) -> bool:
    """A column that is selected beside aggregates is listed in GROUP BY, or left out if it cannot be a key."""
    group = tree.args.get("group")
    listed = [key.sql() for key in group.expressions] if group is not None else []
    missing = []
    for place, item in enumerate(tree.expressions, start=1):
        inner = item.unalias()
        if holds_aggregate(inner) or isinstance(inner, exp.Literal):
            continue
        named = isinstance(item, exp.Alias) and item.alias in listed
        if inner.sql() not in listed and str(place) not in listed and not named:
            missing.append(item)
    if not missing or "GROUP BY" not in error.message:
        return False
    if _spelled(missing, group, catalog):
        return True
    keep = [
        item for item in missing if not isinstance(item.unalias(), exp.Column) or _can_be_key(item.unalias(), catalog)
    ]
    dropped = [item for item in missing if not any(item is each for each in keep)]
    tree.set("expressions", [item for item in tree.expressions if not any(item is each for each in dropped)])
    keys = [*(group.expressions if group is not None else []), *(item.unalias().copy() for item in keep)]
    tree.set("group", exp.Group(expressions=keys) if keys else None)
    return True


_CALL = re.compile(r"^(\w+)\((.+)\) needs bounds")


def _bounds(tree: exp.Select, error: SitrError, _: Catalog) -> bool:
    """A sum without bounds is clamped, with placeholders."""
    if not isinstance(error, DescriptionError) or (found := _CALL.match(error.given)) is None:
        return False
    changed = False
    calls = [call for call in tree.find_all(exp.AggFunc) if isinstance(call.this, exp.Expr)]
    named = [call for call in calls if _plain(found[2]) in (_plain(sql_of(call.this)), _plain(_spelled_out(call.this)))]
    computed = [call for call in calls if call.sql_name() == found[1] and _is_computed(call.this, tree)]
    for call in named or computed:
        of = call.this
        if not isinstance(of, exp.Literal):
            ends = [exp.Literal.number(0), exp.Literal.number(100)]
            clamped = exp.Anonymous(this="CLAMP", expressions=[of.copy(), *ends])
            clamped.add_comments([BOUNDS])
            of.replace(clamped)
            changed = True
    return changed


def _spelled_out(item: exp.Expr) -> str:
    """An expression as errors spell it: LOG(2, x) is a quotient there. Empty if it cannot be read."""
    try:
        return spelled(expression(item))
    except SitrError:
        return ""


def _is_computed(item: exp.Expr, tree: exp.Select) -> bool:
    """Whether it is a column that a sub-query computes."""
    inner = [each for select in tree.find_all(exp.Select) if select is not tree for each in select.expressions]
    named = [each for each in inner if isinstance(each, exp.Alias) and each.alias.lower() == item.name.lower()]
    return isinstance(item, exp.Column) and any(not isinstance(each.this, exp.Column) for each in named)


def _plain(text: str) -> str:
    return re.sub(r"[\s()\"]", "", text).lower()


def _pairs(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """COUNT(DISTINCT a, b) counts different texts, and other aggregates take all values."""
    changed = False
    for distinct in list(tree.find_all(exp.Distinct)):
        parts = distinct.expressions
        parts = parts[0].expressions if len(parts) == 1 and isinstance(parts[0], exp.Tuple) else parts
        if isinstance(distinct.parent, exp.Sum | exp.Avg) and len(parts) == 1:
            distinct.replace(parts[0].copy())
            changed = True
        elif isinstance(distinct.parent, exp.Count) and len(parts) > 1:
            texts = [exp.cast(part.copy(), "VARCHAR") for part in parts]
            joined: exp.Expr = texts[0]
            for text in texts[1:]:
                joined = exp.DPipe(this=exp.DPipe(this=joined, expression=exp.Literal.string("|")), expression=text)
            distinct.set("expressions", [joined])
            changed = True
    return changed


def _other_functions(tree: exp.Select, error: SitrError, _: Catalog) -> bool:
    """Lists and modes become counts of different values, and texts are counted instead of summed."""
    for call in tree.find_all(exp.AggFunc):
        if isinstance(call, exp.Sum | exp.Avg) and isinstance(call.this, _TRUTH) and "type boolean" in error.given:
            call.replace(_of_truth(call, call.this))
            return True
        odd = isinstance(
            call, exp.GroupConcat | exp.ArrayAgg | exp.Mode | exp.AnyValue | exp.List | exp.First | exp.Last
        )
        texts = isinstance(call, exp.Sum | exp.Avg) and "needs a column of numbers" in error.given
        if (odd or texts) and isinstance(call.this, exp.Expr):
            column = next(call.find_all(exp.Column), None)
            if column is None or (texts and f"but {column.name!r} has type" not in error.given):
                continue
            whole = call.parent if isinstance(call.parent, exp.IgnoreNulls) else call
            if texts and call.this is column and error.given.endswith(f"has type {Kind.BOOLEAN.value}."):
                whole.replace(_of_truth(call, column))
                return True
            what = exp.Distinct(expressions=[column.copy()]) if odd else column.copy()
            whole.replace(exp.Count(this=what))
            return True
    return False


_TRUTH = (exp.Predicate, exp.Connector, exp.Not)


def _formulas(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """REGR_SLOPE, GEOMEAN and others in terms of aggregates that can be asked for; BOOL_OR becomes a count."""
    for call in tree.find_all(exp.Func):
        parts = list(call.iter_expressions())
        named = call.name.upper() if isinstance(call, exp.Anonymous | exp.AnonymousAggFunc) else call.sql_name()
        written = _FORMULAS.get((named, len(parts)))
        if written is not None:
            texts = [sql_of(part) if isinstance(part, exp.Column) else f"({sql_of(part)})" for part in parts]
            found = written.format(*texts)
            made = parse_one(f"SELECT {found}", dialect=QuestionDialect).expressions[0]
            inside = isinstance(call.parent, exp.Binary) and isinstance(made, exp.Binary)
            call.replace(exp.paren(made, copy=False) if inside else made)
            return True
    return False


_FORMULAS = {
    ("REGR_SLOPE", 2): "COVAR_POP({0}, {1}) / VAR_POP({1})",
    ("REGR_INTERCEPT", 2): "AVG({0}) - AVG({1}) * COVAR_POP({0}, {1}) / VAR_POP({1})",
    ("REGR_R2", 2): "CORR({0}, {1}) * CORR({0}, {1})",
    ("REGR_COUNT", 2): "COUNT_IF({0} IS NOT NULL AND {1} IS NOT NULL)",
    ("REGR_AVGX", 2): "AVG({1})",
    ("REGR_AVGY", 2): "AVG({0})",
    ("GEOMEAN", 1): "EXP(AVG(LN({0})))",
    ("GEOMETRIC_MEAN", 1): "EXP(AVG(LN({0})))",
    **dict.fromkeys((("BOOL_OR", 1), ("LOGICAL_OR", 1)), "COUNT_IF({0})"),
    **dict.fromkeys((("BOOL_AND", 1), ("LOGICAL_AND", 1), ("EVERY", 1)), "COUNT_IF(NOT {0})"),
    ("MAD", 1): "(QUANTILE({0}, 0.75) - QUANTILE({0}, 0.25)) / 2",
    ("RANGE", 1): "MAX({0}) - MIN({0})",
}
"""Functions with their numbers of arguments. Where values are missing, the two of a pair are counted apart."""


def _of_truth(call: exp.Expr, column: exp.Expr) -> exp.Expr:
    """The sum of true and false is a count, and their mean is a share; a missing value is neither."""
    if isinstance(call, exp.Sum):
        return exp.CountIf(this=column.copy())
    truth = exp.Case().when(column.copy(), exp.Literal.number(1)).when(exp.not_(column.copy()), exp.Literal.number(0))
    return exp.Avg(this=truth)


def _real_keys(tree: exp.Select, error: SitrError, _: Catalog) -> bool:
    """A key of real numbers is rounded down; FLOOR(x / 0.5) * 0.5 is numbered instead."""
    group = tree.args.get("group")
    if group is None or "GROUP BY cannot use" not in error.given or "type real" not in error.given:
        return False
    for key in list(group.expressions):
        at = int(key.name) - 1 if key.is_int else -1
        named = [item for place, item in enumerate(tree.expressions) if place == at or item.alias == key.name]
        of = named[0].unalias() if named else key
        if f"'{of.name}'" not in error.given and _plain(sql_of(of)) not in _plain(error.given):
            continue
        cells = of.this if isinstance(of, exp.Mul) and isinstance(of.this, exp.Floor) else _whole_cells(of)
        for item in list(tree.expressions):
            if item.unalias() == of:
                item.replace(exp.alias_(cells.copy(), item.alias_or_name))
        if not named:
            key.replace(cells.copy())
        return True
    return False


def _whole_cells(of: exp.Expr) -> exp.Expr:
    """Whole numbers of cells: ROUND(x, 2) becomes ROUND(x * 100), and everything else is rounded down."""
    digits = of.args.get("decimals") if isinstance(of, exp.Round) else None
    if isinstance(digits, exp.Literal) and digits.is_int and 0 < int(digits.name) < 10:
        inner = exp.paren(of.this.copy()) if isinstance(of.this, exp.Binary) else of.this.copy()
        return exp.Round(this=exp.Mul(this=inner, expression=exp.Literal.number(10 ** int(digits.name))))
    return exp.Floor(this=of.copy())


def _first_keys(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """MODE(x) alone is the first key by count, and ARG_MAX(x, y) the first by its largest y."""
    called = tree.expressions[0].unalias() if len(tree.expressions) == 1 else None
    if not isinstance(called, exp.Mode | exp.ArgMax | exp.ArgMin) or tree.args.get("group"):
        return False
    key, by, extreme = (
        called.this,
        called.args.get("expression"),
        exp.Min if isinstance(called, exp.ArgMin) else exp.Max,
    )
    number = exp.alias_(_count(), "n") if by is None else exp.alias_(extreme(this=by.copy()), "extreme")
    tree.set("expressions", [key.copy(), number])
    tree.set("group", exp.Group(expressions=[key.copy()]))
    largest = None if isinstance(called, exp.ArgMin) else True
    tree.set("order", exp.Order(expressions=[exp.Ordered(this=exp.column(number.alias), desc=largest)]))
    tree.set("limit", exp.Limit(expression=exp.Literal.number(1)))
    return True


def _today(tree: exp.Select, _: SitrError, catalog: Catalog) -> bool:
    """The date of today is written out, so that the question means the same tomorrow."""
    found = [*tree.find_all(exp.CurrentDate), *tree.find_all(exp.CurrentTimestamp)]
    found += [each for each in tree.find_all(exp.Anonymous) if each.name.upper() in CLOCKS]
    for each in found:
        dated = isinstance(each, exp.CurrentDate) or not any(of.kind is Kind.TIMESTAMP for of in catalog.table.columns)
        kind = "DATE" if dated else "TIMESTAMP"
        each.replace(exp.cast(exp.Literal.string(date.today().isoformat()), kind))  # noqa: DTZ011
    return bool(found)


def _buckets(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """TIME_BUCKET(INTERVAL 1 HOUR, t) is DATE_TRUNC('hour', t)."""
    changed = False
    for call in list(tree.find_all(exp.Func)):
        named = call.name.upper() if isinstance(call, exp.Anonymous) else call.sql_name()
        parts = list(call.iter_expressions())
        if named not in ("TIME_BUCKET", "DATE_BIN") or len(parts) != 2 or not isinstance(parts[0], exp.Interval):
            continue
        many, unit = parts[0].this, parts[0].args.get("unit")
        if isinstance(many, exp.Literal) and many.name == "1" and unit is not None:
            part = exp.Literal.string(unit.name.lower().rstrip("s"))
            call.replace(exp.Anonymous(this="DATE_TRUNC", expressions=[part, parts[1].copy()]))
            changed = True
    return changed


def _own_groups(tree: exp.Select, error: SitrError, catalog: Catalog) -> bool:
    """A group for each person is never shown, so the key that names people is left out."""
    group, unit = tree.args.get("group"), catalog.table.unit
    if "a group of its own for each person" not in error.given or group is None or not isinstance(unit, Person):
        return False
    who = unit.column.lower()

    def names_people(item: exp.Expr) -> bool:
        return not holds_aggregate(item) and {each.name.lower() for each in item.find_all(exp.Column)} == {who}

    gone = {each.alias_or_name.lower() for each in tree.expressions if names_people(each)} | {who}
    items = [each for each in tree.expressions if not names_people(each)]
    places = [str(at) for at, each in enumerate(tree.expressions, start=1) if names_people(each)]
    left = [each for each in group.expressions if not names_people(each)]
    keys = [each for each in left if each.name.lower() not in gone and each.sql() not in places]
    tree.set("expressions", items or [exp.alias_(_count(), "n")])
    tree.set("group", exp.Group(expressions=[each for each in keys if not each.is_int]) if keys else None)
    order = tree.args.get("order")
    if order is not None and (not keys or any(each.this.name.lower() in gone for each in order.expressions)):
        tree.set("order", None)
    if not keys:
        tree.set("limit", None)
    return True


def _side_by_side(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """SELECT (SELECT COUNT(*) FROM t) AS n, (SELECT MAX(x) FROM t) AS m is one question about t."""
    if tree.args.get("from_") is not None or not tree.expressions:
        return False
    found = [(each.unalias(), each.alias) for each in tree.expressions]
    inner = [each.this for each, _ in found if isinstance(each, exp.Subquery) and isinstance(each.this, exp.Select)]
    alone = [each for each in inner if len(each.expressions) == 1]
    if len(alone) != len(found) or any(rest(each) != rest(alone[0]) for each in alone):
        return False
    items = [each.expressions[0].unalias().copy() for each in alone]
    tree.set(
        "expressions", [exp.alias_(item, name) if name else item for item, (_, name) in zip(items, found, strict=True)]
    )
    for part, value in alone[0].args.items():
        if value and part != "expressions":
            tree.set(part, value.copy() if isinstance(value, exp.Expr) else value)
    return True


def _by_person(tree: exp.Select, error: SitrError, catalog: Catalog) -> bool:
    """A sub-query with aggregates groups by the unit too."""
    unit, changed = catalog.table.unit, False
    if not error.given.startswith("A sub-query with an aggregate") or not isinstance(unit, Person):
        return False
    for select in tree.find_all(exp.Select):
        if select is tree or not any(holds_aggregate(item) for item in select.expressions):
            continue
        group = select.args.get("group")
        keys = group.expressions if group is not None else []
        if all(key.name.lower() != unit.column.lower() for key in keys):
            person = exp.column(exp.to_identifier(unit.column))
            select.set("expressions", [person, *select.expressions])
            select.set("group", exp.Group(expressions=[person.copy(), *keys]))
            changed = True
    return changed


def _left_out(tree: exp.Select, _: SitrError, catalog: Catalog) -> bool:
    """As a last resort, columns that cannot be asked for are left out; of a key, the columns in it stay."""
    keep, instead = [], []
    for item in tree.expressions:
        inner = item.unalias()
        parts = {part: tree.args.get(part) for part in ("from_", "joins", "with_")}
        alone = exp.Select(expressions=[inner], **parts).copy()
        if not holds_aggregate(inner):
            alone.set("group", exp.Group(expressions=[inner.copy()]))
            alone.set("expressions", [exp.alias_(_count(), "n")])
        if isinstance(inner, exp.Column | exp.Literal) or _refused(_text(alone), catalog) is None:
            keep.append(item)
        elif not holds_aggregate(inner):
            instead += [each for each in inner.find_all(exp.Column) if _can_be_key(each, catalog)]
    if len(keep) == len(tree.expressions) or not any(holds_aggregate(item) for item in keep):
        return False
    gone = {text for item in tree.expressions if item not in keep for text in (item.alias, item.unalias().sql())}
    if (group := tree.args.get("group")) is not None:
        there = {each.unalias().sql() for each in keep}
        instead = list({each.sql(): each for each in instead if each.sql() not in there}.values())
        keys = [key for key in group.expressions if key.sql() not in gone and not key.is_int]
        keys += [each.copy() for each in instead]
        tree.set("group", exp.Group(expressions=keys) if keys else None)
        keep = [*(each.copy() for each in instead), *keep]
    tree.set("expressions", keep)
    return True


def _union(tree: exp.Select, _: SitrError, __: Catalog) -> bool:
    """UNION becomes UNION ALL."""
    unions = [each for each in tree.find_all(exp.Union) if each.args.get("distinct")]
    for each in unions:
        each.set("distinct", False)
    return bool(unions)


def _self_join(tree: exp.Select, error: SitrError, catalog: Catalog) -> bool:
    """Pairs of rows become people with several rows."""
    name, unit = catalog.table.name, catalog.table.unit
    tables = [each for each in tree.find_all(exp.Table) if each.name.lower() == name.lower()]
    if (
        "with itself" not in error.given
        or len(tables) < 2
        or not tree.args.get("joins")
        or not isinstance(unit, Person)
    ):
        return False
    person = exp.column(exp.to_identifier(unit.column))
    each = exp.select(person, exp.alias_(_count(), "rows_each")).from_(name).group_by(person.copy())
    found = exp.select(exp.alias_(_count(), "people")).from_(each.subquery("each_person")).where("rows_each > 1")
    become(tree, found)
    return True


_WAYS: tuple[Way, ...] = (
    _side_by_side,
    parts_of_one,
    first_rows,
    first_in_parts,
    _renamed,
    _share_of_total,
    _single_numbers,
    _other_parts,
    _windows,
    _self_join,
    _dashes,
    _names,
    _union,
    _pairs,
    _first_keys,
    _today,
    _buckets,
    _own_groups,
    of_groups,
    chosen_groups,
    numbered,
    _by_person,
    _formulas,
    _other_functions,
    _bounds,
    _no_aggregate,
    _real_keys,
    _not_grouped,
    _left_out,
)
