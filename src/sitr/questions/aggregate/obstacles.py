"""All obstacles of a question at once: each part that cannot be asked, where it is, why, and what to write instead.

A question without a mistake never comes here. Of any other, each part is checked by itself, from the outside inwards: a
part that passes has no obstacle, and of one that fails the smallest failing parts are the obstacles. A part that is
refused as such, like a window function, is one beside those inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from sqlglot import exp

from sitr.errors import DescriptionError, SitrError, UnknownName
from sitr.questions.aggregate.aggregate_sql import aggregate_of, holds_aggregate, over_aggregates
from sitr.questions.aggregate.bind import grouped, selected
from sitr.questions.aggregate.catalog import Catalog
from sitr.questions.aggregate.conditions_sql import chosen_rows
from sitr.questions.aggregate.dialect import sql_of
from sitr.questions.aggregate.expressions.expression import Call, Name
from sitr.questions.aggregate.from_clause import PARTS as SUB_QUERY
from sitr.questions.aggregate.from_clause import read_rows
from sitr.questions.aggregate.instead import dashed
from sitr.questions.aggregate.keys_sql import keys_of
from sitr.questions.aggregate.nodes import NamedKey
from sitr.questions.aggregate.places import copied, place
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.refusals import forbidden
from sitr.questions.aggregate.relations import view_of
from sitr.questions.aggregate.sets_sql import WITH, all_keys, holds_sets, is_mark
from sitr.questions.aggregate.spelling import identifier, literal
from sitr.questions.aggregate.sql import PARTS as QUESTION
from sitr.questions.aggregate.sql import check_listed
from sitr.questions.aggregate.view import View

MOST = 20
"""The most obstacles that are shown."""

Obstacle = tuple[exp.Expr, SitrError]
Check = Callable[[exp.Expr], object]

_NO_PARTS = (
    *(exp.Identifier, exp.Star, exp.Literal, exp.Interval, exp.Var, exp.DataType),
    *(exp.Tuple, exp.Array, exp.Null, exp.Query),
)
"""What is no part of its own: only what holds it can be right or wrong."""


def obstacles(tree: exp.Select, catalog: Catalog) -> list[SitrError]:
    """The errors of all parts of a question, in the order of its text, each with its place."""
    found: dict[tuple[str, str], SitrError] = {}
    selects = [each for each in tree.find_all(exp.Select) if each is tree or _is_source(each)]
    for select in selects:
        for part, error in _of_select(select, catalog, whole=select is tree):
            if error.excerpt is None:
                error.excerpt = place(part)
            found.setdefault((error.message, str(error.excerpt)), error)
    ordered = sorted(found.values(), key=_position)
    return ordered[:MOST]


def explained(error: SitrError, culprit: exp.Expr | None, view: View | None) -> SitrError:
    """The error, with other advice where a name is probably not meant as the name of a column."""
    if (
        isinstance(error, DescriptionError)
        and isinstance(culprit, exp.AggFunc)
        and isinstance(culprit.this, exp.Column)
    ):
        return _by_name(error, culprit.sql_name(), sql_of(culprit.this))
    if view is None or not isinstance(error, UnknownName) or not isinstance(culprit, exp.Column) or culprit.table:
        return error
    difference = culprit.parent
    while isinstance(difference, exp.Sub):
        name = dashed(difference)
        if name is not None and view.find(Name(name)):
            do = f"If {name} is the name of a column, write it in double quotes: {identifier(name)}."
            return UnknownName(given=error.given, do=do)
        difference = difference.parent
    compared = isinstance(culprit.parent, exp.EQ | exp.NEQ | exp.In) and culprit is culprit.parent.args.get(
        "expression"
    )
    quoted = isinstance(culprit.this, exp.Identifier) and bool(culprit.this.args.get("quoted"))
    if compared and (quoted or not error.do.startswith("Did you mean")):
        return UnknownName(given=error.given, do=f"Write text in single quotes: {literal(culprit.name)}.")
    return error


def _by_name(error: DescriptionError, function: str, name: str) -> SitrError:
    """The error for a column without bounds that a sub-query computes, under the name that it has there."""
    if not error.given.endswith(" needs bounds, but none follow from those of its columns."):
        return error
    do = f"Write {function}(CLAMP({name}, low, high)), with bounds from public knowledge."
    return DescriptionError(given=f"{function}({name}) needs bounds, but none follow from those of its columns.", do=do)


def _position(error: SitrError) -> tuple[int, int]:
    return (error.excerpt.line, error.excerpt.column) if error.excerpt is not None else (10**9, 0)


def _is_source(select: exp.Select) -> bool:
    """Whether rows come from this sub-query; others are refused as such, or read where they stand."""
    return isinstance(select.parent, exp.Subquery | exp.CTE) and select.find_ancestor(exp.From, exp.CTE) is not None


def _of_select(select: exp.Select, catalog: Catalog, *, whole: bool) -> Iterator[Obstacle]:
    for part, value in select.args.items():
        if value and part not in (QUESTION if whole else SUB_QUERY):
            yield select, forbidden(value[0] if isinstance(value, list) else value, part=part, of=select)
    view, error = _viewed(select, catalog)
    if error is not None:
        yield from _of_rows(select, catalog, error)
    for item, wrong in (
        *_of_where(select, view),
        *_of_keys(select, view, whole=whole),
        *_of_columns(select, view, whole=whole),
    ):
        yield item, explained(wrong, item, view)
    for name in ("having", "qualify") if whole else ():
        if (after := select.args.get(name)) is not None:
            yield from _smallest(after.this, over_aggregates)
    for ordered in (select.args.get("order") or exp.Order(expressions=[])).expressions if whole else ():
        yield from _smallest(ordered.this, over_aggregates)


def _viewed(select: exp.Select, catalog: Catalog) -> tuple[View | None, SitrError | None]:
    """What the question can name, and what is wrong with where its rows come from; WHERE has checks of its own."""
    bare = _with_earlier(select)
    bare.set("where", None)
    wrong: SitrError | None = None
    for each in (_with_earlier(select), bare):
        try:
            source, where = read_rows(each)  # type: ignore[arg-type]
            view = view_of(source, catalog)
        except SitrError as error:
            wrong = error
        else:
            for part in where.arguments if isinstance(where, Call) and where.function == "AND" else (where,):
                with suppress(SitrError):
                    view = selected(view, part)  # bounds may follow from it
            return view, None
    return None, wrong


def _with_earlier(select: exp.Select) -> exp.Expr:
    """A copy of a SELECT; one of a WITH clause with those that were named before it."""
    found, common = copied(select), select.find_ancestor(exp.With)
    if common is not None and select.args.get("with_") is None:
        earlier = []
        for each in common.expressions:
            if any(part is select for part in each.find_all(exp.Select)):
                break
            earlier.append(each.copy())
        found.set("with_", exp.With(expressions=earlier) if earlier else None)
    return found


def _of_rows(select: exp.Select, catalog: Catalog, error: SitrError) -> Iterator[Obstacle]:
    """What is wrong with FROM: each table that is not known, or the whole."""
    named = {each.alias.lower() for each in select.root().find_all(exp.CTE)}
    known = {catalog.table.name.lower(), *map(str.lower, catalog.public), *named}
    source = select.args.get("from_")
    first = source.this if source is not None else None
    unknown = False
    if isinstance(first, exp.Table) and first.name.lower() not in known:
        wrong = _error(lambda item: view_of(item.name, catalog), first)
        if wrong is not None:
            unknown = True
            yield first, wrong
    if not unknown or error.excerpt is not None:
        yield (source if source is not None else select), error


def _of_where(select: exp.Select, view: View | None) -> Iterator[Obstacle]:
    try:
        rest = chosen_rows(select)[0]
    except SitrError:
        rest = select.args["where"].this
    if rest is not None:
        yield from _smallest(rest, _row(view))


def _of_keys(select: exp.Select, view: View | None, *, whole: bool) -> Iterator[Obstacle]:
    group = select.args.get("group")
    if group is None:
        return
    for part, value in group.args.items():
        if value and part not in ("expressions", "all", *WITH):
            yield group, forbidden(value[0] if isinstance(value, list) else value, part=part, within="GROUP BY ")
    items = select.expressions
    for key in all_keys(group) if holds_sets(group) else group.expressions:
        at = int(key.name) if isinstance(key, exp.Literal) and key.name.isdecimal() else 0
        of = items[at - 1].unalias() if 1 <= at <= len(items) else key
        same = next((each.this for each in items if isinstance(each, exp.Alias) and each.alias == key.name), of)
        if isinstance(same, exp.Literal) or holds_aggregate(same):
            continue
        # A sub-query groups by person, which a whole question cannot.
        yield from _smallest(same, _row(view), whole=(lambda item: _check_key(item, view)) if whole else None)


def _check_key(item: exp.Expr, view: View | None) -> None:
    of = expression(item)
    if view is not None:
        grouped(NamedKey("key", of), view)


def _of_columns(select: exp.Select, view: View | None, *, whole: bool) -> Iterator[Obstacle]:
    for item in select.expressions:
        inner = item.unalias()
        if is_mark(item) or (not whole and (isinstance(inner, exp.Star) or inner.find(exp.AggFunc) is not None)):
            continue
        yield from _smallest(inner, _part(view), whole=_column(view))
    if whole and _error(lambda _: keys_of(select), select) is None:
        keys = keys_of(select)
        for item in select.expressions:
            inner = item.unalias()
            if not holds_aggregate(inner) and not isinstance(inner, exp.Star) and _error(expression, inner) is None:
                error = _error(lambda each: check_listed(each, keys), item)
                if error is not None:
                    yield item, error


def _row(view: View | None) -> Check:
    def check(item: exp.Expr) -> None:
        of = expression(item)
        if view is not None:
            view.typed(of)

    return check


def _column(view: View | None) -> Check:
    """A selected column, or a part of it: an aggregate, or something on rows."""

    def check(item: exp.Expr) -> None:
        if not holds_aggregate(item) and not isinstance(item, exp.Star | exp.Window):
            _row(view)(item)
            return
        aggregate = aggregate_of(item)
        if view is not None:
            aggregate.bound(view)

    return check


def _part(view: View | None) -> Check:
    """A part of a selected column, which may be a condition where the whole must be a number."""

    def check(item: exp.Expr) -> None:
        truth = isinstance(item, exp.Predicate | exp.Connector | exp.Not) and holds_aggregate(item)
        _column(view)(exp.case().when(copied(item), "1").else_("0") if truth else item)

    return check


def _error(check: Check, item: exp.Expr) -> SitrError | None:
    try:
        check(item)
    except SitrError as found:
        return found
    return None


def _smallest(item: exp.Expr, check: Check, *, whole: Check | None = None) -> Iterator[Obstacle]:
    """The smallest parts of an expression that fail; the whole may have a check of its own."""
    error = _error(whole or check, item)
    if error is None:
        return
    inside = [hit for part in _parts(item) for hit in _smallest(part, check)]
    if not inside or isinstance(item, exp.Window | exp.Query | exp.Exists):
        yield item, error
    yield from inside


def _parts(item: exp.Expr) -> Iterator[exp.Expr]:
    """The parts that could be asked by themselves."""
    called = item.this if isinstance(item, exp.Window) else None  # it is refused together with its window
    for part in item.iter_expressions():
        if isinstance(part, _NO_PARTS):
            continue
        if isinstance(part, exp.If) and isinstance(item, exp.Case):  # WHEN and THEN are no part of their own
            yield from _parts(part)
            continue
        if part is not called and isinstance(part, exp.Condition) and not isinstance(part, exp.Ordered):
            yield part
        else:
            yield from _parts(part)
