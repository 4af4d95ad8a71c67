"""Rules about rows as they are declared, checked against public information only: contradictions are refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sitr import arguments
from sitr.dataset.cells import Categories, Drawable, Granular, Rule, short
from sitr.dataset.schema import NUMERIC, Key, Kind, Table, public_keys
from sitr.errors import QuestionError
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.expressions.expression import names
from sitr.questions.aggregate.frame import Expr
from sitr.questions.aggregate.view import View
from sitr.questions.synthetic.structure import Derived, Lookup, Ordered, Structure

Map = Mapping[str, Mapping[Key, Key]]
"""A public table: by the name of the other column, the value of each of its keys."""

EXAMPLE = '{"month": sitr.column("day").dt.month(), "region": {"district": {"Irbid": "North"}}}'


def structure(
    table: Table,
    axes: tuple[Drawable, ...],
    *,
    derived: Mapping[str, Expr | Map] | None = None,
    ordered: Sequence[tuple[str, str]] = (),
    together: Sequence[Collection[str]] = (),
) -> Structure:
    """The rules, after checking that they name columns that can follow them, and that some row can follow all."""
    cut = {axis.column.name: axis for axis in axes}
    found = {name: _derived(table, cut, name, of, derived or {}) for name, of in (derived or {}).items()}
    order = _sorted({name: _used(each) & found.keys() for name, each in found.items()})
    if order is None:
        raise QuestionError(
            given=f"The derived columns {', '.join(map(repr, found))} need each other.",
            do="Let one of them be measured instead.",
        )
    return Structure(tuple(found[name] for name in order), _ordered(cut, ordered), _together(cut, together))


def derived_names(table: Table, derived: object) -> tuple[str, ...]:
    """The names of derived columns, after checking that the table has them."""
    if derived is None:
        return ()
    arguments.mapping(derived, name="derived", example=EXAMPLE)
    assert isinstance(derived, Mapping)
    known = {column.name for column in table.columns}
    for name in derived:
        if name not in known:
            raise table.no_column(name)
        if isinstance(table.unit, Person) and name == table.unit.column:
            raise QuestionError(
                given=f"The column {name!r} identifies a person and is never imitated.", do="Leave it out."
            )
    return tuple(derived)


def _derived(
    table: Table, cut: Mapping[str, Drawable], name: str, of: Expr | Map, all_derived: Mapping[str, object]
) -> Derived:
    column = next(column for column in table.columns if column.name == name)
    if isinstance(of, Mapping):
        made, kind = Derived(column, _lookup(cut, column.kind, name, of)), column.kind
    elif isinstance(of, Expr):
        typed = View.of(table).typed(of.expression)
        made, kind = Derived(column, typed), typed.kind
    else:
        raise QuestionError(
            wanted=f"an expression or a public table for the derived column {name!r}",
            given=repr(of),
            do=f"Write for example derived={EXAMPLE}.",
        )
    used = _used(made)
    if not used or not used <= cut.keys() | all_derived.keys() - {name}:
        wrong = next(iter(sorted(used - (cut.keys() | all_derived.keys() - {name}))), name)
        raise QuestionError(
            given=f"The derived column {name!r} uses {wrong!r}, which is not one of the other columns of a row."
            if used
            else f"The derived column {name!r} uses no column.",
            do="Derive it from columns that are imitated or derived themselves.",
        )
    if kind is not column.kind and not (kind is Kind.INTEGER and column.kind is Kind.REAL):
        raise QuestionError(
            given=f"The rule for {name!r} gives {kind.value}, and the column holds {column.kind.value}.",
            do="Cast the result, or correct the rule.",
        )
    return made


def _lookup(cut: Mapping[str, Drawable], kind: Kind, name: str, of: Map) -> Lookup:
    """A public table, which must have a value for every key of the other column."""
    if len(of) != 1 or not isinstance(entries := next(iter(of.values())), Mapping) or not entries:
        raise QuestionError(
            wanted=f"one other column with a value for each of its keys, for the derived column {name!r}",
            given=repr(of),
            do='Write for example {"district": {"Irbid": "North", "Aqaba": "South"}}.',
        )
    (source,) = of
    axis = cut.get(source)
    if not isinstance(axis, Categories):
        raise QuestionError(
            given=f"The public table for {name!r} is about {source!r}, which is not an imitated column with keys.",
            do=f"Give keys for {source!r}, or write the rule as an expression.",
        )
    public_keys(source, axis.column.kind, list(entries))  # of the type of the column
    public_keys(name, kind, list(dict.fromkeys(entries.values())))
    if missing := [key for key in axis.keys if key not in entries]:
        raise QuestionError(
            given=f"The public table for {name!r} has no value for {missing[0]!r}, which is a key of {source!r}.",
            do="Add it, or remove the key.",
        )
    return Lookup(source, tuple(entries), tuple(entries.values()))


def _used(made: Derived) -> set[str]:
    return {made.of.source} if isinstance(made.of, Lookup) else {each.name for each in names(made.of.expression)}


def _ordered(cut: Mapping[str, Drawable], pairs: Sequence[tuple[str, str]]) -> tuple[Ordered, ...]:
    arguments.several(pairs, name="ordered", example='[("admitted", "discharged")]')
    found = [_pair(cut, pair) for pair in pairs]
    after: dict[str, set[str]] = {name: set() for each in found for name in (each.lower, each.upper)}
    for each in found:
        after[each.upper].add(each.lower)
    order = _sorted(after)
    if order is None:
        raise QuestionError(
            given="The ordered pairs go in a circle, so that all of its columns would be equal.",
            do="Leave one pair out, or derive one column from the other.",
        )
    place = {name: number for number, name in enumerate(order)}
    lows: dict[str, int] = {}
    for each in sorted(set(found), key=lambda pair: (place[pair.lower], place[pair.upper])):
        lower, upper = cut[each.lower], cut[each.upper]
        assert isinstance(lower, Granular)
        assert isinstance(upper, Granular)
        low = max(lows.get(each.lower, lower.lower), lows.get(each.upper, upper.lower), lower.lower)
        lows[each.upper] = max(low, upper.lower)
        if low > upper.upper:
            raise QuestionError(
                given=f"No value of {each.lower!r} is at most one of {each.upper!r}, which ends at "
                f"{short(upper.value(upper.upper))}.",
                do="Correct the bounds or the order.",
            )
    return tuple(sorted(set(found), key=lambda pair: (place[pair.lower], place[pair.upper])))


def _pair(cut: Mapping[str, Drawable], pair: object) -> Ordered:
    if not isinstance(pair, tuple | list) or len(pair) != 2 or pair[0] == pair[1]:
        raise QuestionError(
            wanted="pairs of two columns, of which the first is at most the second",
            given=repr(pair),
            do='Write for example ordered=[("admitted", "discharged")].',
        )
    axes = [cut.get(name) for name in pair]
    for name, axis in zip(pair, axes, strict=True):
        if not isinstance(axis, Granular):
            raise QuestionError(
                given=f"The ordered pair {pair[0]!r} and {pair[1]!r} needs bounds for {name!r}, which has none here.",
                do="Order imitated columns of numbers, dates or timestamps that have bounds.",
            )
    one, other = axes
    assert isinstance(one, Granular)
    assert isinstance(other, Granular)
    numbers = one.column.kind in NUMERIC and other.column.kind in NUMERIC
    if one.granularity != other.granularity or not (numbers or one.column.kind is other.column.kind):
        raise QuestionError(
            given=f"The values of {pair[0]!r} and {pair[1]!r} are of different types or granularities.",
            do="Give both the same granularity when you protect the data, or leave the pair out.",
        )
    return Ordered(*pair)


def _together(cut: Mapping[str, Drawable], groups: Sequence[Collection[str]]) -> tuple[tuple[str, ...], ...]:
    arguments.several(groups, name="together", example='[("dep_delay", "arr_delay")]')
    found: list[tuple[str, ...]] = []
    for group in groups:
        listed = () if isinstance(group, str) else tuple(dict.fromkeys(group))
        if len(listed) < 2 or not all(name in cut for name in listed):
            raise QuestionError(
                wanted="two or more imitated columns that are NULL together",
                given=repr(group),
                do='Write for example together=[("dep_delay", "arr_delay")].',
            )
        if never := [name for name in listed if cut[name].missing is not Rule.CELL]:
            raise QuestionError(
                given=f"The column {never[0]!r} is never NULL, so it cannot be NULL together with others.",
                do="Leave it out of the group, or allow NULL in it.",
            )
        found.append(listed)
    return tuple(found)


def _sorted(needs: Mapping[str, set[str]]) -> list[str] | None:
    """The names, each after those that it needs; None if they need each other."""
    order: list[str] = []
    left = dict(needs)
    while left:
        ready = [name for name, needed in left.items() if not needed & left.keys()]
        if not ready:
            return None
        order += ready
        left = {name: needed for name, needed in left.items() if name not in ready}
    return order
