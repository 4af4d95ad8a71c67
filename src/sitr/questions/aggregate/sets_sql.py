"""From SQL to groupings: CUBE, ROLLUP and GROUPING SETS in GROUP BY, and GROUPING(key) among the columns."""

from __future__ import annotations

import math
from itertools import combinations, product

from sqlglot import exp

from sitr.errors import QuestionError
from sitr.questions.aggregate.dialect import sql_of
from sitr.questions.aggregate.places import copied, place

SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)

WITH = ("rollup", "cube")
"""The parts of GROUP BY in which the parser notes WITH ROLLUP and WITH CUBE."""

MOST = 64
"""The most groupings of a question."""

Keys = list[exp.Expr]


def holds_sets(group: exp.Expr | None) -> bool:
    """Whether GROUP BY has several groupings."""
    if group is None:
        return False
    return any(group.args.get(part) for part in WITH) or any(isinstance(each, SETS) for each in group.expressions)


def groupings(group: exp.Expr) -> list[Keys]:
    """The keys of each grouping, in order, each grouping once.

    Several parts of GROUP BY stand for all combinations of their groupings.

    >>> query = exp.maybe_parse("SELECT 1 FROM t GROUP BY a, ROLLUP (b, c)")
    >>> [[key.sql() for key in keys] for keys in groupings(query.args["group"])]
    [['a', 'b', 'c'], ['a', 'b'], ['a']]
    """
    rolled = [part for part in WITH if group.args.get(part)]
    if rolled:  # GROUP BY a, b WITH ROLLUP
        parts = [_alternatives(rolled[0], [[key] for key in group.expressions], group)]
    else:
        parts = [_sets(each) for each in group.expressions]
    if math.prod(map(len, parts)) > MOST:  # before any of them is made
        raise _too_many(group)
    found: dict[frozenset[str], Keys] = {}
    for chosen in product(*parts):
        keys = {_text(key): key for some in chosen for key in some}
        found.setdefault(frozenset(keys), list(keys.values()))
    return list(found.values())


def _too_many(item: exp.Expr) -> QuestionError:
    return QuestionError(
        wanted=f"at most {MOST} groupings",
        given="more of them in CUBE, ROLLUP or GROUPING SETS",
        do="List the groupings that you need in GROUPING SETS.",
        excerpt=place(item),
    )


def all_keys(group: exp.Expr) -> Keys:
    """The keys of all groupings, each once."""
    return list({_text(key): key for keys in groupings(group) for key in keys}.values())


def _text(key: exp.Expr) -> str:
    return sql_of(key, comments=False).lower()


def _sets(item: exp.Expr) -> list[Keys]:
    """The groupings that one part of GROUP BY stands for."""
    match item:
        case exp.GroupingSets():
            return [keys for each in item.expressions for keys in _sets(each)]
        case exp.Rollup():
            return _alternatives("rollup", [_keys(each) for each in item.expressions], item)
        case exp.Cube():
            return _alternatives("cube", [_keys(each) for each in item.expressions], item)
    return [_keys(item)]


def _alternatives(kind: str, parts: list[Keys], item: exp.Expr) -> list[Keys]:
    """All beginnings of a list, or all its parts; the longest first."""
    if (len(parts) if kind == "rollup" else 2 ** min(len(parts), MOST)) > MOST:
        raise _too_many(item)
    if kind == "rollup":
        return [[key for part in parts[:many] for key in part] for many in range(len(parts), -1, -1)]
    chosen = (some for many in range(len(parts), -1, -1) for some in combinations(parts, many))
    return [[key for part in some for key in part] for some in chosen]


def _keys(item: exp.Expr) -> Keys:
    if isinstance(item, exp.Tuple):
        return list(item.expressions)
    return [item.this if isinstance(item, exp.Paren) else item]


# The marks of rows that are for all values of a key


def is_mark(item: exp.Expr) -> bool:
    """Whether it is GROUPING(key)."""
    return isinstance(item.unalias(), exp.Grouping | exp.GroupingId)


def mark_name(item: exp.Expr) -> str:
    """The name of a selected GROUPING(key) in the answer."""
    if isinstance(item, exp.Alias):
        return item.alias
    return "_".join(["grouping", *(key.name or "key" for key in item.expressions)])


def name_marks(select: exp.Select) -> None:
    """GROUPING(key) after HAVING and ORDER BY is about the selected column."""
    named = {_text(item.unalias()): mark_name(item) for item in select.expressions if is_mark(item)}
    for part in ("having", "order"):
        after = select.args.get(part)
        for mark in [] if after is None else [*after.find_all(exp.Grouping, exp.GroupingId)]:
            if _text(mark) not in named:
                raise QuestionError(
                    given=f"{_text(mark).upper()} is not among the selected columns.",
                    do="Select it as well, and name its column here.",
                    excerpt=place(mark),
                )
            found = exp.column(exp.to_identifier(named[_text(mark)], quoted=True))
            found.meta.update(copied(mark).meta)
            mark.replace(found)
