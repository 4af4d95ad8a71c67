"""From SQL to the keys of a question: what GROUP BY lists, GROUP BY ALL and DISTINCT, and constants beside them."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sitr.errors import QuestionError
from sitr.questions.aggregate.aggregate_sql import holds_aggregate
from sitr.questions.aggregate.expressions.expression import Call, Expression, Literal, Name, names, spelled
from sitr.questions.aggregate.nodes import GroupingMark, NamedKey
from sitr.questions.aggregate.places import place
from sitr.questions.aggregate.reader import expression
from sitr.questions.aggregate.refusals import refuse_other_parts
from sitr.questions.aggregate.sets_sql import WITH, all_keys, groupings, holds_sets, is_mark, mark_name


def keys_of(select: exp.Select) -> tuple[NamedKey, ...]:
    """The keys, each with its name in the answer. A constant that is selected is a key with one value."""
    listed = _listed(select)
    found = [_key(item, list(select.expressions)) for item in listed]
    if len({key.of for key in found}) < len(found):
        raise QuestionError(
            given=f"GROUP BY lists a key more than once: {', '.join(spelled(key.of) for key in found)}.",
            do="Remove the repeated key.",
            excerpt=place(select.args.get("group")),
        )
    beside = any(map(holds_aggregate, select.expressions))
    constants = [_named_key(item) for item in select.expressions if beside and _is_constant(item.unalias())]
    return (*found, *(key for key in constants if key.of not in [each.of for each in found]))


def _is_constant(item: exp.Expr) -> bool:
    """Whether it has one value for all rows: literals, and what is computed from them alone."""
    if isinstance(item, exp.Literal):
        return True
    computed = isinstance(item, exp.Binary | exp.Neg | exp.Cast | exp.Paren | exp.Anonymous) and not is_mark(item)
    return computed and not holds_aggregate(item) and item.find(exp.Column, exp.Star, exp.Query) is None


def _listed(select: exp.Select) -> list[exp.Expr]:
    """What GROUP BY lists; with ALL, and with DISTINCT but without aggregates, all columns that are no aggregates."""
    group, distinct = select.args.get("group"), select.args.get("distinct")
    plain = [item.unalias() for item in select.expressions if not _is_shown_number(item)]
    if group is None:
        return plain if distinct is not None and len(plain) == len(select.expressions) else []
    refuse_other_parts(group, "expressions", "all", *WITH, within="GROUP BY ")
    if group.args.get("all"):
        return plain
    if holds_sets(group):
        return all_keys(group)
    _show_keys(select, group)
    return list(group.expressions)


def sets_of(select: exp.Select, keys: tuple[NamedKey, ...]) -> tuple[tuple[int, ...], ...]:
    """The keys of each grouping by number, as CUBE, ROLLUP or GROUPING SETS list them; none without these."""
    group, found = select.args.get("group"), [key.of for key in keys]
    if group is None or not keys or not holds_sets(group):
        return ()
    listed = [[found.index(_key(item, list(select.expressions)).of) for item in each] for each in groupings(group)]
    return tuple(dict.fromkeys(tuple(sorted(set(each))) for each in listed))


def marks_of(select: exp.Select, keys: tuple[NamedKey, ...]) -> tuple[GroupingMark, ...]:
    """GROUPING(key) among the selected columns."""
    return tuple(_mark(item, select, keys) for item in select.expressions if is_mark(item))


def _mark(item: exp.Expr, select: exp.Select, keys: tuple[NamedKey, ...]) -> GroupingMark:
    listed = [_key(each, list(select.expressions)).of for each in item.unalias().expressions]
    found = [key.of for key in keys]
    if not listed or not holds_sets(select.args.get("group")) or not all(of in found for of in listed):
        raise QuestionError(
            given="GROUPING(key) needs a key of CUBE, ROLLUP or GROUPING SETS.",
            do="Name a key that GROUP BY lists there, or leave it out.",
            excerpt=place(item),
        )
    return GroupingMark(mark_name(item), tuple(found.index(of) for of in listed))


def _is_shown_number(item: exp.Expr) -> bool:
    inner = item.unalias()
    return holds_aggregate(inner) or isinstance(inner, exp.Star | exp.Literal)


def _show_keys(select: exp.Select, group: exp.Expr) -> None:
    """ANY_VALUE of a key is the key: all rows of a group have the same one."""
    for item in select.expressions:
        found = item.unalias()
        inner = found.this if isinstance(found, exp.IgnoreNulls) else found
        if isinstance(inner, exp.AnyValue) and any(inner.this == key for key in group.expressions):
            named = isinstance(item, exp.Alias)
            found.replace(inner.this.copy() if named else exp.alias_(inner.this.copy(), inner.this.name))


def _refuse_aggregate(listed: exp.Expr, item: exp.Expr) -> None:
    if holds_aggregate(listed):
        raise QuestionError(
            given="GROUP BY lists an aggregate, which is known only after the rows are grouped.",
            do="Group by columns, or by expressions on rows; HAVING and ORDER BY can use aggregates.",
            excerpt=place(item),
        )


def _key(item: exp.Expr, items: list[exp.Expr]) -> NamedKey:
    if isinstance(item, exp.Literal) and not item.is_string and item.name.isdecimal():
        if not 1 <= int(item.name) <= len(items):
            raise QuestionError(
                given=f"GROUP BY {item.name} names no column: SELECT has {len(items)}.",
                do="Use the number of a selected column, or its name.",
                excerpt=place(item),
            )
        _refuse_aggregate(items[int(item.name) - 1], item)
        return _named_key(items[int(item.name) - 1])
    if isinstance(item, exp.Column) and not item.table:
        for selected in items:
            named = isinstance(selected, exp.Alias) and selected.alias.lower() == item.name.lower()
            if named and not holds_aggregate(selected):
                return _named_key(selected)
    _refuse_aggregate(item, item)
    of = expression(item)
    for selected in items:
        if not _is_shown_number(selected) and alike(expression(selected.unalias()), of):
            return replace(_named_key(selected), of=of)
    return NamedKey(default_name(of), of)


def _named_key(selected: exp.Expr) -> NamedKey:
    of = expression(selected.unalias())
    return NamedKey(selected.alias if isinstance(selected, exp.Alias) else default_name(of), of)


def alike(one: Expression, other: Expression) -> bool:
    """Whether both are the same, where one of them may leave out the names of the tables: ward and visits.ward.

    A name without its table must stand for one column only, so it is the one that the other expression names.

    >>> alike(Name("ward"), Name("ward", "visits")), alike(Name("ward", "a"), Name("ward", "b"))
    (True, False)
    """
    if one == other:
        return True
    bare = any(all(name.table is None for name in names(each)) for each in (one, other))
    return bare and _without_tables(one) == _without_tables(other)


def _without_tables(of: Expression) -> Expression:
    match of:
        case Name(name):
            return Name(name)
        case Call(function, arguments):
            return Call(function, tuple(map(_without_tables, arguments)))
    return of


def default_name(of: Expression) -> str:
    """The name of a key that has none."""
    return of.name if isinstance(of, Name) else str(of.value) if isinstance(of, Literal) else spelled(of)
