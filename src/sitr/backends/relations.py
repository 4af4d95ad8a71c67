"""The rows of a view as what follows FROM: joins, one row for each person, parts put together.

`sitr.questions.aggregate.view` proves that these rows keep their unit. Here they are written so that no row can make
the statement fail, and so that the order of the rows does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sitr.backends.dialect import EVERYTHING, Dialect
from sitr.backends.expressions import Expressions
from sitr.dataset.schema import Kind
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.expressions.typed import Typed
from sitr.questions.aggregate.naming import apart, internals
from sitr.questions.aggregate.term import granules_of
from sitr.questions.aggregate.view import (
    Base,
    Joined,
    Matching,
    OfPeople,
    Paired,
    PerPerson,
    PersonNumber,
    TableRows,
    Together,
    View,
    used,
)

Types: TypeAlias = Mapping[str, str]
"""The engine's types of columns, by name."""


@dataclass(frozen=True, slots=True)
class FromRows:
    """What follows FROM, and the types of its columns."""

    source: str
    types: Types


@dataclass(frozen=True, slots=True)
class Relations:
    """Writes the rows of views; `table` is the protected table, and `public` are the public ones by name.

    `beside` are other protected tables by name. The salt decides which rows of a person with very many take part in a
    join of protected tables.
    """

    dialect: Dialect
    table: FromRows
    public: Mapping[str, FromRows]
    beside: Mapping[str, FromRows] = field(default_factory=dict)
    salt: int = 0

    def rows(self, base: Base, needed: set[str]) -> FromRows:
        """The rows with the unit and the columns that are `needed`."""
        match base:
            case TableRows(table):
                return self.beside.get(table, self.table)
            case PerPerson():
                return self._per_person(base, needed)
            case Joined():
                return self._joined(base, needed)
            case Matching() | OfPeople():
                return self._chosen(base, needed)
            case Paired():
                return self._paired(base, needed)
            case Together(views):
                parts = [self._selected(view, apart(views[0]), needed) for view in views]
                return FromRows(f"({' UNION ALL '.join(part.source for part in parts)}) AS parts", parts[0].types)

    def _inside(self, view: View, needed: set[str]) -> tuple[FromRows, Expressions]:
        found = self.rows(view.rows, needed | (used(view.where) if view.where is not None else set()))
        return found, Expressions(self.dialect, found.types)

    def _selected(self, view: View, names: list[str], needed: set[str]) -> FromRows:
        """The columns of a view under these names, all in the types that are computed with."""
        named = {name: each.typed for name, each in zip(names, view.columns, strict=True)}
        chosen = [(name, typed) for name, typed in named.items() if name in needed and name != _unit(view)]
        rows, write = self._inside(view, set().union(*(used(typed) for _, typed in chosen)))
        columns = [*self._person(view), *(f"{write.written(typed)} AS {self._name(name)}" for name, typed in chosen)]
        where = f" WHERE {write.written(view.where)}" if view.where is not None else ""
        types = {name: self.dialect.type_of(typed.kind) for name, typed in chosen}
        return FromRows(f"SELECT {', '.join(columns)} FROM {rows.source}{where}", self._with_unit(types, view, rows))

    def _person(self, view: View) -> list[str]:
        return [self._name(view.unit.column)] if isinstance(view.unit, Person) else []

    def _with_unit(self, types: dict[str, str], view: View, rows: FromRows) -> Types:
        unit = _unit(view)
        return types if unit is None else {**types, unit: rows.types.get(unit, "")}

    def _name(self, name: str) -> str:
        return self.dialect.identifier(name)

    def _per_person(self, base: PerPerson, needed: set[str]) -> FromRows:
        view = base.view
        keys = [(name, of) for name, of in base.keys]
        numbers = [(name, number, kind) for name, number, kind in base.numbers if name in needed]
        parts = [of for _, of in keys] + [number.of for _, number, _ in numbers if number.of is not None]
        rows, write = self._inside(view, set().union(*map(used, parts)))
        person = self._person(view)
        grouped = [write.grouped(of) for _, of in keys]
        selected = [f"{key} AS {self._name(name)}" for key, (name, _) in zip(grouped, keys, strict=True)]
        selected += [f"{self._number(number, write)} AS {self._name(name)}" for name, number, _ in numbers]
        conditions = [f"{person[0]} IS NOT NULL", *([f"({write.written(view.where)})"] if view.where else [])]
        types = {name: self.dialect.key_type(of.kind) for name, of in keys}
        types |= {name: self.dialect.type_of(kind) for name, _, kind in numbers}
        source = (
            f"(SELECT {', '.join([*person, *selected])} FROM {rows.source} WHERE {' AND '.join(conditions)} "
            f"GROUP BY {', '.join([*person, *grouped])}) AS people"
        )
        return FromRows(source, self._with_unit(types, view, rows))

    def _number(self, number: PersonNumber, write: Expressions) -> str:
        """An exact number of one person: integers are added, and at most one quotient is rounded."""
        of, say = number.of, self.dialect
        if of is None:
            return say.number("count(*)")
        if number.function == "COUNT":
            what = f"DISTINCT {write.grouped(of)}" if number.distinct else f"CASE WHEN {write.present(of)} THEN 1 END"
            return say.number(f"count({what})")
        if number.function in ("MIN", "MAX"):
            return f"{number.function.lower()}({write.written(of)})"
        to = granules_of(of, function=number.function, table="")
        granules = say.granules(write.raw(of), to)
        scaled = say.multiple(say.total(granules), to.granularity)
        return scaled if number.function == "SUM" else f"{scaled} / nullif({say.number(f'count({granules})')}, 0)"

    def _joined(self, base: Joined, needed: set[str]) -> FromRows:
        view, here = base.view, dict(base.columns)
        named = {name: each.typed for name, each in zip(internals(view), view.columns, strict=True)}
        left = [(name, typed) for name, typed in named.items() if name in needed and name != _unit(view)]
        on = used(base.on)
        inner, _ = self._inside(view, set().union(on - here.keys(), *(used(typed) for _, typed in left)))
        public = self.public[base.table]
        right = {name: there for name, there in here.items() if name in needed | on}
        types = {**inner.types, **{name: public.types.get(there, "") for name, there in right.items()}}
        write = Expressions(self.dialect, types)
        matched = ", ".join(f"{self._name(there)} AS {self._name(name)}" for name, there in right.items())
        columns = {
            **{name: self._name(name) for name in filter(None, [_unit(view)])},
            **{name: write.raw(typed) for name, typed in left},
            **{name: self._name(name) for name in right if name in needed},
        }
        where = f" WHERE {write.written(view.where)}" if view.where is not None else ""
        how = (
            f"{'LEFT JOIN' if base.outer else 'JOIN'} (SELECT {matched or '1 AS one'} FROM {public.source}) AS matched"
        )
        selected = ", ".join(f"{value} AS {self._name(name)}" for name, value in columns.items()) or "1 AS one"
        join = f"{how} ON ({write.written(base.on)}){where}"
        source = f"(SELECT {selected} FROM {inner.source} {join}) AS joined"
        if not isinstance(view.unit, Person):
            source = self._one_match(inner, selected, list(columns) or ["one"], join, list(right))
        kept = {name: self._type(typed, types) for name, typed in left}
        return FromRows(source, self._with_unit({**kept, **{name: types[name] for name in right}}, view, inner))

    def _chosen(self, base: Matching | OfPeople, needed: set[str]) -> FromRows:
        """The rows that a condition on other rows keeps; their values stay as they are."""
        view = base.view
        named = {name: each.typed for name, each in zip(internals(view), view.columns, strict=True)}
        kept = [(name, typed) for name, typed in named.items() if name in needed and name != _unit(view)]
        compared = used(base.by) if isinstance(base, Matching) else set[str]()
        matched = used(base.on) - set(dict(base.columns)) if isinstance(base, Matching) else set[str]()
        rows, write = self._inside(view, set().union(compared, matched, *(used(typed) for _, typed in kept)))
        columns = [*self._person(view), *(f"{write.raw(typed)} AS {self._name(name)}" for name, typed in kept)]
        conditions = [f"({write.written(view.where)})"] if view.where is not None else []
        conditions.append(self._matches(base, rows.types) if isinstance(base, Matching) else self._is_one_of(base))
        types = {
            name: rows.types.get(typed.column.name, "")
            if typed.column is not None
            else self.dialect.type_of(typed.kind)
            for name, typed in kept
        }
        source = (
            f"(SELECT {', '.join(columns) or '1 AS one'} FROM {rows.source} WHERE {' AND '.join(conditions)}) AS chosen"
        )
        return FromRows(source, self._with_unit(types, view, rows))

    def _is_one_of(self, base: OfPeople) -> str:
        """The sub-query has no NULL, which would make NOT IN drop everybody's rows."""
        (person,) = self._person(base.view)
        rows, write = self._inside(base.people, set())
        where = f" AND ({write.written(base.people.where)})" if base.people.where is not None else ""
        people = f"SELECT {person} FROM {rows.source} WHERE {person} IS NOT NULL{where}"
        return f"{person} {'NOT IN' if base.outside else 'IN'} ({people})"

    def _matches(self, base: Matching, types: Types) -> str:
        here, public = dict(base.columns), self.public[base.table]
        right = {name: there for name, there in here.items() if name in used(base.on)}
        write = Expressions(self.dialect, {**types, **{at: public.types.get(there, "") for at, there in right.items()}})
        listed = ", ".join(f"{self._name(there)} AS {self._name(name)}" for name, there in right.items()) or "1 AS one"
        exists = (
            f"EXISTS (SELECT 1 FROM (SELECT {listed} FROM {public.source}) AS matched WHERE {write.written(base.on)})"
        )
        return f"(NOT {exists} AND {write.present(base.by)})" if base.outside else exists

    def _paired(self, base: Paired, needed: set[str]) -> FromRows:
        wanted = needed | (used(base.on) if base.on is not None else set())
        ours, theirs = base.view.unit, base.other.unit
        assert isinstance(ours, Person)
        assert isinstance(theirs, Person)
        typed = {name: each.typed for name, each in zip(internals(base.other), base.other.columns, strict=True)}
        known = zip(internals(base.view), base.view.columns, strict=True)
        left = {name: each.typed for name, each in known if name in wanted and name != ours.column}
        right = {here: typed[there] for here, there in base.columns if here in wanted and here != base.identified}
        here = self._side("one_side", base.view, ours.column, left, most=base.most)
        there = self._side("other_side", base.other, base.identified, right, most=base.most)
        types = {**here.types, **there.types}
        same = self._same_unit(base, types)
        on = "" if base.on is None else f" AND ({Expressions(self.dialect, types).written(base.on)})"
        names = [ours.column, *(name for name in (*left, base.identified, *right) if name in needed)]
        source = (
            f"(SELECT {', '.join(map(self._name, names))} FROM {here.source} "
            f"{'LEFT JOIN' if base.outer else 'JOIN'} {there.source} ON {same}{on}) AS paired"
        )
        return FromRows(source, {name: types[name] for name in names})

    def _same_unit(self, base: Paired, types: Types) -> str:
        """Whether two units are equal: by a comparison that is one to one, and fails on no row, whatever the types."""
        assert isinstance(base.view.unit, Person)
        names = (base.view.unit.column, base.identified)
        one, other = map(self._name, names)
        first, second = (types[name] for name in names)
        if first == second:
            return f"{one} = {other}"
        if base.kind is Kind.INTEGER:
            return f"{self.dialect.integer(one, first)} = {self.dialect.integer(other, second)}"
        return f"{self.dialect.text(one)} = {self.dialect.text(other)}"

    def _side(self, name: str, view: View, unit: str, columns: Mapping[str, Typed], *, most: int) -> FromRows:
        """One side of a pair: the unit and these columns, in at most `most` rows of each unit, as a table `name`."""
        rows, write = self._inside(view, set().union(*map(used, columns.values())))
        (person,) = self._person(view)
        selected = [f"{person} AS {self._name(unit)}"]
        selected += [f"{write.raw(typed)} AS {self._name(name)}" for name, typed in columns.items()]
        where = f" AND ({write.written(view.where)})" if view.where is not None else ""
        select = f"SELECT {', '.join(selected)} FROM {rows.source} WHERE {person} IS NOT NULL{where}"
        types = {name: self._type(typed, rows.types) for name, typed in columns.items()}
        again = isinstance(view.rows, TableRows)  # a table is read again, and everything else is kept
        source = self._capped(select, unit, types, most=min(most, EVERYTHING), once=not again)
        return FromRows(f"{source} AS {name}", {**types, unit: rows.types.get(_unit(view) or "", "")})

    def _capped(self, select: str, unit: str, columns: Types, *, most: int, once: bool) -> str:
        """At most `most` rows of each unit, chosen by a hash of this unit's rows: see `sitr.backends.reading`.

        Rows are compared by texts that differ where values do. Few people have more rows, and only theirs are sorted.
        """
        say, person = self.dialect, self._name(unit)
        names = [person, *map(self._name, columns)]
        texts = [person, *(say.identity(self._name(name), type) for name, type in columns.items())]
        twin = "twin"
        while twin in {name.lower() for name in (unit, *columns)}:
            twin += "_"
        full = f"SELECT {person} FROM side GROUP BY {person} HAVING count(*) > {most}"
        numbered = (
            f"SELECT *, {say.row_numbers(texts)} AS {twin} FROM side "
            f"WHERE {person} IN (SELECT {person} FROM full_people)"
        )
        few = say.lowest(most, source="numbered", of=[person], by=say.order(self.salt, [*texts, twin]))
        steps = (
            say.step("side", select, once=once),
            say.step("full_people", full, once=True),
            say.step("numbered", numbered, once=False),
        )
        listed = ", ".join(names)
        return (
            f"(WITH {', '.join(steps)} "
            f"SELECT {listed} FROM side WHERE {person} NOT IN (SELECT {person} FROM full_people) "
            f"UNION ALL SELECT {listed} FROM ({few}) AS few)"
        )

    def _type(self, typed: Typed, types: Types) -> str:
        """The engine's type of a column as it is, or of an expression as it is computed."""
        if typed.column is not None and typed.column.name in types:
            return types[typed.column.name]
        return self.dialect.type_of(typed.kind)

    def _one_match(
        self, rows: FromRows, selected: str, columns: Sequence[str], join: str, matched: Sequence[str]
    ) -> str:
        """At most one match of each row: rows are numbered, so that no comparison of values has to be trusted."""
        taken = {name.lower() for name in (*rows.types, *columns, *matched)}
        number, place = (_free(name, taken) for name in ("row", "place"))
        order = f" ORDER BY {self.dialect.order(0, list(map(self._name, matched or [number])))}"
        numbered = f"(SELECT *, {self.dialect.row_numbers([])} AS {self._name(number)} FROM {rows.source}) AS numbered"
        ranked = f"row_number() OVER (PARTITION BY {self._name(number)}{order}) AS {self._name(place)}"
        listed = ", ".join(map(self._name, columns))
        return (
            f"(SELECT {listed} FROM (SELECT {selected}, {ranked} FROM {numbered} {join}) AS ranked "
            f"WHERE {self._name(place)} = 1) AS joined"
        )


def _free(name: str, taken: set[str]) -> str:
    """A name that no column has, in whatever case."""
    while name in taken:
        name += "_"
    return name


def _unit(view: View) -> str | None:
    return view.unit.column if isinstance(view.unit, Person) else None
