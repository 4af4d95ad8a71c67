"""What to write instead of SQL that cannot be asked: one sentence for each construct."""

from __future__ import annotations

from sqlglot import exp

from sitr.errors import nearest
from sitr.questions.aggregate.expressions.casts import TYPES
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.functions.registry import FUNCTIONS, written
from sitr.questions.aggregate.spelling import literal
from sitr.questions.aggregate.unreadable import ALLOWED

_ONE_TABLE = (
    "Ask about the protected table, alone or joined with public tables, or about sub-queries that keep each person's "
    "rows apart."
)
_ROW = "Use arithmetic, CASE, CAST, COALESCE, text functions such as LOWER, or date functions such as DATE_TRUNC."
_CAST = f"Cast to one of {', '.join(TYPES)}."
_LIKE = "Use LIKE, with % for any text and _ for any character."
_PATTERN = "Write the pattern in quotes: REGEXP_MATCHES(x, '^a+$')."
_TODAY = "Write the date itself: DATE '2024-12-31'."
CLOCKS = ("NOW", "TODAY", "GETDATE", "SYSDATE")
"""Other names of the time of the question."""
_AFTERWARDS = "Ask for each aggregate by itself and compute with the answer, which costs nothing."

_PARTS = {
    "joins": _ONE_TABLE,
    "laterals": _ONE_TABLE,
    "with_": _ONE_TABLE,
    "qualify": "Sort with ORDER BY and cut with LIMIT; a condition on aggregates without OVER goes after HAVING.",
    "on": "Leave it out: every group is shown once.",
    "alias": "Leave the second name out.",
    "db": "Write the name of the table alone; a name with a dot needs double quotes.",
}
_KINDS = {
    "Subquery": _ONE_TABLE,
    "Select": _ONE_TABLE,
    "Union": _ONE_TABLE,
    "Intersect": _ONE_TABLE,
    "Except": _ONE_TABLE,
    "Exists": _ONE_TABLE,
    "Star": "Say what to count or sum, such as COUNT(*) AS n.",
    "Window": "Over released rows, write SUM(COUNT(*)) OVER () or RANK() OVER (ORDER BY COUNT(*) DESC); over rows of "
    "people, leave OVER out, and list keys in GROUP BY.",
    "Is": "Write IS NULL or IS NOT NULL.",
    "Placeholder": "Write the value itself.",
    "Parameter": "Write the value itself.",
    "SimilarTo": _PATTERN,
    "RegexpLike": _PATTERN,
    "RegexpFullMatch": _PATTERN,
    "Glob": _LIKE,
    **dict.fromkeys(("CurrentDate", "CurrentTimestamp", "CurrentTime"), _TODAY),
    **dict.fromkeys(("Rand", "Uuid"), "Leave it out: an answer has random noise already."),
    "Cast": _CAST,
    "TryCast": _CAST,
}


def instead(item: object, *, part: str = "") -> str:
    """What to do about a construct that is refused.

    >>> instead(exp.maybe_parse("SELECT COUNT(*) OVER () FROM a").selects[0])
    'Over released rows, write SUM(COUNT(*)) OVER () or RANK() OVER (ORDER BY COUNT(*) DESC); over rows of people, ...'
    """
    if part:
        return _PARTS.get(part, ALLOWED)
    match item:
        case exp.Binary() if isinstance(item, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod):
            return _AFTERWARDS
        case exp.Column() if item.find_ancestor(exp.Where):
            return f"Write text in single quotes: {literal(item.name)}."
        case exp.Func() if not isinstance(item, exp.Connector) and type(item).__name__ not in _KINDS:
            return _function(item)
    return _KINDS.get(type(item).__name__, ALLOWED)


def _function(call: exp.Func) -> str:
    """Another function, or what can be asked about a column in place of its quantiles, extremes and so on."""
    name = call.name.upper() if isinstance(call, exp.Anonymous) else call.sql_name()
    if name in CLOCKS:
        return _TODAY
    within = exp.Where, exp.Group, *(() if isinstance(call, exp.AggFunc) else (exp.AggFunc,))
    on_rows = call.find_ancestor(*within) is not None or _is_key(call)
    if name in FUNCTIONS and not on_rows:
        return f"Write {written(name)}."
    near = nearest(name, (*(() if on_rows else FUNCTIONS), *filter(str.isidentifier, ROW_FUNCTIONS)))
    if near is not None and isinstance(call, exp.Anonymous):
        return f"Did you mean {near}?"
    if on_rows:
        return _ROW
    if isinstance(call, exp.AggFunc) and isinstance(call.this, exp.Column):
        name = call.this.name
        return f"Ask for a histogram of {name} (in Python: budget.histogram({name!r})), or for {written()}."
    return f"Ask for {written()}."


def _is_key(call: exp.Func) -> bool:
    """Whether it is in a selected column that GROUP BY names by its alias or its place."""
    select = call.parent_select
    group = select.args.get("group") if select is not None else None
    if select is None or group is None:
        return False
    keys = {key.name.lower() for key in group.expressions if isinstance(key, exp.Column | exp.Literal)}
    for place, item in enumerate(select.expressions, start=1):
        if any(part is call for part in item.find_all(exp.Func)):
            return str(place) in keys or item.alias.lower() in keys
    return False


def dashed(difference: exp.Sub) -> str | None:
    """The name with dashes that was read as a difference, such as hours-per-week."""
    names = sorted(difference.find_all(exp.Identifier), key=lambda name: name.meta.get("start", 0))
    name = "-".join(name.name for name in names)
    touching = names and names[-1].meta.get("end", 0) - names[0].meta.get("start", 0) + 1 == len(name)
    return name if touching and len(names) > 1 else None
