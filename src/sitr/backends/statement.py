"""A bounded query as one DuckDB statement.

The way through it, for a person as unit: *rows* (the unit, its keys, and the integers that the row adds) → *cells*
(one row per person and group) → at most `max_groups` cells of each person → at most `max_rows_per_group` rows of each
cell → totals. Few cells are over-full, so only their rows are read again and sorted. What is kept is chosen by a salted
hash of the person's own rows: another person's rows never change it, and the stability of the answer rests on that.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from sitr.dataset.schema import Column, Key, Kind, Quantised
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, Term
from sitr.questions.aggregate.nodes import And, Compare, Comparison, IsNull, Like, Not, OneOf, Or, Predicate, Value

_ONCE = ("cells", "chosen")
"""Steps that are used more than once and are dear to make. The rows are used twice too, but keeping a copy of them all
takes more memory than anything else: they are read again. Nothing in them is volatile, so both readings are equal."""

_PLAIN_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


def statement(query: BoundedQuery, *, source: str, types: Mapping[str, str], salt: int) -> str:
    """SELECT the keys, one integer per term, and the number of people, for each cell that has rows.

    `source` is what stands behind FROM, `types` are DuckDB's names for the types of its columns.
    """
    keys = [f"k{place}" for place in range(len(query.keys))]
    terms = [f"t{place}" for place in range(len(query.terms))]
    rows = _rows(query, source, types)
    if not isinstance(query.unit, Person):
        return f"WITH rows AS ({rows}) {_totals('rows', keys, terms)}"
    steps = [("rows", rows), ("cells", _cells(keys, query.terms)), *_few_groups(query, keys, salt)]
    steps += _few_rows(query, steps[-1][0], keys, salt)
    named = [f"{name} AS {'' if name in _ONCE else 'NOT '}MATERIALIZED ({step})" for name, step in steps]
    return f"WITH {', '.join(named)} {_totals(steps[-1][0], keys, terms)}"


def _rows(query: BoundedQuery, source: str, types: Mapping[str, str]) -> str:
    """One row per selected row: unit, keys and what it adds. Rows without a unit, or with a key not listed, are out."""
    selected = [f"{key_expression(key)} AS k{place}" for place, key in enumerate(query.keys)]
    selected += [f"{_adds(term)} AS t{place}" for place, term in enumerate(query.terms)]
    conditions = []
    if isinstance(query.unit, Person):
        selected.insert(0, f"{identifier(query.unit.column)} AS u")
        conditions.append(f"{identifier(query.unit.column)} IS NOT NULL")
    if query.where is not None:
        conditions.append(f"({_condition(query.where, types)})")
    conditions += [_among(key_expression(key), key.keys) for key in query.keys if key.keys is not None]
    return f"SELECT {', '.join(selected)} FROM {source}" + (f" WHERE {' AND '.join(conditions)}" if conditions else "")


def _cells(keys: list[str], terms: tuple[Term, ...]) -> str:
    """One row per person and group, with the number n of its rows."""
    sums = [f"{'1' if term.people else f'sum(t{place})'} AS t{place}" for place, term in enumerate(terms)]
    return f"SELECT {', '.join(['u', *keys, 'count(*) AS n', *sums])} FROM rows GROUP BY {', '.join(['u', *keys])}"


def _few_groups(query: BoundedQuery, keys: list[str], salt: int) -> list[tuple[str, str]]:
    """At most `max_groups` cells of each person."""
    if not keys or (query.cells is not None and query.cells <= query.max_groups):
        return []
    return [("chosen", f"SELECT * FROM cells QUALIFY {first(query.max_groups, ['u'], keys, salt)}")]


def _few_rows(query: BoundedQuery, cells: str, keys: list[str], salt: int) -> list[tuple[str, str]]:
    """At most `max_rows_per_group` rows of each cell.

    Rows of a cell that add the same are interchangeable: numbering them makes the choice uniform over rows, and still a
    function of the multiset of what the person's rows add.
    """
    cap = query.max_rows_per_group
    cell = ["u", *keys]
    terms = [(f"t{place}", term) for place, term in enumerate(query.terms)]
    values = [name for name, term in terms if term.column is not None]
    if not values:
        capped = [name if term.people else f"least(n, {cap}) AS {name}" for name, term in terms]
        return [("kept", f"SELECT {', '.join([*cell, *capped])} FROM {cells}")]
    same = " AND ".join(f"r.{name} IS NOT DISTINCT FROM f.{name}" for name in cell)
    twins = ", ".join(f"r.{name}" for name in [*cell, *values])
    sums = [f"{'1' if term.people else f'sum({name})'} AS {name}" for name, term in terms]
    return [
        ("full_cells", f"SELECT {', '.join(cell)} FROM {cells} WHERE n > {cap}"),
        (
            "numbered",
            f"SELECT r.*, row_number() OVER (PARTITION BY {twins}) AS twin "
            f"FROM rows r SEMI JOIN full_cells f ON {same}",
        ),
        ("sampled", f"SELECT * FROM numbered QUALIFY {first(cap, cell, [*values, 'twin'], salt)}"),
        (
            "kept",
            f"SELECT {', '.join([*cell, *(name for name, _ in terms)])} FROM {cells} WHERE n <= {cap} UNION ALL "
            f"SELECT {', '.join([*cell, *sums])} FROM sampled GROUP BY {', '.join(cell)}",
        ),
    ]


def first(most: int, of: list[str], which: list[str], salt: int) -> str:
    """Keep the `most` smallest hashes of each group; of two equal hashes at the border neither, so that a collision can
    neither exceed the cap nor let the order of the rows decide."""
    # DuckDB's hash of several values ends in an XOR with the last one's own hash, which every salt shares: hashed once
    # more, the order of the groups is a fresh one for each person.
    order = f"hash(hash({salt}::UBIGINT, {', '.join([*of, *which])}))"
    return f"count(*) OVER (PARTITION BY {', '.join(of)} ORDER BY {order}) <= {most}"


def _totals(step: str, keys: list[str], terms: list[str]) -> str:
    sums = [f"coalesce(sum({name}), 0)::HUGEINT" for name in terms]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, *sums, 'count(*)'])} FROM {step}{group}"


def _adds(term: Term) -> str:
    """The integer that one row adds to a term."""
    if term.column is None:
        return "1"
    column = identifier(term.column.name)
    if term.quantised is None:
        return f"CASE WHEN {column} IS NULL THEN 0 ELSE 1 END"
    return f"coalesce({granules(column, term.quantised)}, 0)"


def granules(column: str, to: Quantised) -> str:
    """Clamp as a double, so that no cast can overflow; count granules; clamp again as an integer, so that no rounding
    can leave the bounds. NULL and NaN give NULL; ±infinity gives a bound."""
    low, high = float(to.lower * to.granularity), float(to.upper * to.granularity)
    number = f"TRY_CAST({column} AS DOUBLE)"
    clamped = f"least(greatest({number}, {low!r}::DOUBLE), {high!r}::DOUBLE)"
    rounded = f"round({clamped} / {float(to.granularity)!r}::DOUBLE)::BIGINT"
    return f"CASE WHEN NOT isnan({number}) THEN least(greatest({rounded}, {to.lower}), {to.upper}) END"


def key_expression(column: Column) -> str:
    """A key in one of the few types that an answer can hold; what does not fit becomes NULL."""
    name = identifier(column.name)
    match column.kind:
        case Kind.INTEGER:
            return f"TRY_CAST({name} AS BIGINT)"
        case Kind.DATE:
            return f"CASE WHEN {name} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {name} END"
        case Kind.BOOLEAN:
            return name
        case _:
            return f"CAST({name} AS VARCHAR)"


def _among(expression: str, keys: tuple[Key, ...]) -> str:
    """The key is one of the public ones; NULL counts as a value."""
    values = [literal(key) for key in keys if key is not None]
    parts = [f"{expression} IN ({', '.join(values)})"] if values else []
    parts += [f"{expression} IS NULL"] if None in keys else []
    return f"({' OR '.join(parts)})"


def _condition(predicate: Predicate, types: Mapping[str, str]) -> str:
    match predicate:
        case And(parts):
            return " AND ".join(f"({_condition(part, types)})" for part in parts)
        case Or(parts):
            return " OR ".join(f"({_condition(part, types)})" for part in parts)
        case Not(part):
            return f"NOT ({_condition(part, types)})"
        case IsNull(column):
            return f"{identifier(column)} IS NULL"
        case Like(column, pattern):
            return f"CAST({identifier(column)} AS VARCHAR) LIKE {literal(pattern)}"
        case OneOf(column, values):
            equal = (_condition(Compare(column, Comparison.EQUAL, value), types) for value in values)
            return " OR ".join(equal)
        case Compare(column, comparison, value):
            return f"{_comparable(column, value, types)} {comparison.value} {literal(value)}"


def _comparable(column: str, value: Value, types: Mapping[str, str]) -> str:
    """The column in a type that compares with the literal without an error on any row."""
    name = identifier(column)
    match value:
        case bool():
            return name
        case int() if types[column] in _PLAIN_INTEGERS:
            return name
        case int() if types[column].endswith("INT"):
            return f"TRY_CAST({name} AS HUGEINT)"
        case int() | float():
            return f"TRY_CAST({name} AS DOUBLE)"
        case str():
            return name if types[column] == "VARCHAR" else f"CAST({name} AS VARCHAR)"
        case datetime():
            return name if types[column] == "TIMESTAMP" else f"TRY_CAST({name} AS TIMESTAMP)"
        case date():
            return name


def identifier(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Value) -> str:
    """A value as SQL."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return f"CAST({value} AS BIGINT)"  # not -n::BIGINT, which casts n before it negates: 2^63 would not fit
        case float():
            return f"{value!r}::DOUBLE"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return "'" + value.replace("'", "''") + "'"
