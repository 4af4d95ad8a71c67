"""From what stands after FROM to a view, with every check; `view` proves that views keep each row's unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from sitr.dataclass import dataclass
from sitr.dataset.schema import GROUPABLE, NUMERIC, Column, Kind, Table
from sitr.errors import ForbiddenConstruct, QuestionError, UnknownName
from sitr.neighbors.unit import Person, Row
from sitr.questions.aggregate.expressions.expression import Call, Expression, Name
from sitr.questions.aggregate.expressions.ranges import Range
from sitr.questions.aggregate.expressions.registry import ROW_FUNCTIONS
from sitr.questions.aggregate.expressions.rules import range_of
from sitr.questions.aggregate.expressions.typed import TEMPORAL, Typed, column_typed
from sitr.questions.aggregate.naming import apart, internals, is_unit, leaf, qualified, with_null
from sitr.questions.aggregate.pairing import paired
from sitr.questions.aggregate.sources import Aliased, Among, Join, PersonCall, Select, Selected, Source, UnionAll
from sitr.questions.aggregate.spelling import identifier
from sitr.questions.aggregate.term import granules_of
from sitr.questions.aggregate.view import (
    Joined,
    Matching,
    OfPeople,
    Paired,
    PerPerson,
    PersonNumber,
    TableRows,
    Together,
    View,
    Visible,
    both,
    protected,
    used,
)

PERSON_FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")


MOST_MATCHES = 1_000
"""The most public rows that one row can match in all joins of a question together: the time of an answer must not show
that somebody's rows match many."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A column of a public table that must equal something; not `exactly` where both are compared as doubles."""

    column: str
    exactly: bool


@dataclass(frozen=True, slots=True)
class PublicTable:
    """A table that everybody may see. The keys of its columns are the values that they hold."""

    name: str
    columns: tuple[Column, ...]
    most: Callable[[tuple[Compared, ...]], int] = lambda _: MOST_MATCHES
    """How many rows, at most, one value of these columns matches; all rows, without columns."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The protected table, and what may be joined with it: public tables, which are opened when they are named, and
    other protected tables."""

    table: Table
    public: tuple[str, ...] = ()
    opened: Callable[[str], PublicTable] | None = None
    beside: tuple[Table, ...] = ()

    @property
    def protected(self) -> tuple[Table, ...]:
        """All protected tables."""
        return self.table, *self.beside

    def own(self, name: str) -> Table | None:
        """The protected table of this name, whatever its case."""
        return next((table for table in self.protected if table.name.lower() == name.lower()), None)

    def find(self, name: str) -> PublicTable | None:
        """The public table of this name, whatever its case."""
        found = [known for known in self.public if known.lower() == name.lower()]
        return self.opened(found[0]) if found and self.opened is not None else None


def view_of(source: Source, catalog: Catalog) -> View:
    """The rows that a question is about."""
    match source:
        case str():
            return _table(source, catalog)
        case Aliased(of, name):
            view = view_of(of, catalog)
            return replace(view, name=name, columns=tuple(replace(each, table=name) for each in view.columns))
        case Select():
            return _select(source, catalog)
        case Join():
            return _join(source, catalog)
        case UnionAll(parts):
            return _together([view_of(part, catalog) for part in parts])
        case Among():
            return _among(source, catalog)


def _table(name: str, catalog: Catalog) -> View:
    if (own := catalog.own(name)) is not None:
        return View.of(own)
    if catalog.find(name) is not None:
        raise QuestionError(
            given=f"The table {name} is public, so that a question about it alone needs no privacy.",
            do=f"Read it directly, or join it: FROM {identifier(catalog.table.name)} JOIN {identifier(name)} ON ….",
        )
    also = f" and the public tables {', '.join(catalog.public)}" if catalog.public else ""
    raise UnknownName(
        given=f"This budget answers questions about the table {catalog.table.name}{also}, not about {name!r}.",
        do=f"Write FROM {identifier(catalog.table.name)}.",
    )


def _select(select: Select, catalog: Catalog) -> View:
    """A sub-query that computes on rows needs no step of its own: its expressions take the place of its columns."""
    inner = view_of(select.table, catalog)
    if select.where is not None:
        inner = replace(inner, where=both(inner.where, inner.condition(select.where)))
    if select.group_by is not None:
        return _per_person(select, inner, catalog.table)
    if not select.columns:
        return inner
    columns = []
    for column in select.columns:
        if isinstance(column.of, PersonCall):
            raise _ungrouped(inner)
        columns.append(Visible(inner.name, column.name, inner.typed(column.of)))
    _refuse_repeated([column.name for column in columns])
    return replace(inner, columns=tuple(columns))


def _ungrouped(view: View) -> QuestionError:
    by = f"Add GROUP BY {identifier(view.unit.column)}" if isinstance(view.unit, Person) else "Leave the sub-query out"
    return QuestionError(
        given="A sub-query with an aggregate must group by the unit, because its rows must belong to one person each.",
        do=f"{by}.",
    )


def _per_person(select: Select, inner: View, table: Table) -> View:
    """SELECT patient_id, SUM(cost) AS total … GROUP BY patient_id: one row for each person, or person and key."""
    grouped = [inner.typed(key) for key in select.group_by or ()]
    unit = inner.unit
    if not isinstance(unit, Person) or not any(is_unit(key, unit) for key in grouped):
        raise _ungrouped(inner)
    keys: list[tuple[str, Typed]] = []
    numbers: list[tuple[str, PersonNumber, Kind]] = []
    columns: list[Visible] = []
    for column in select.columns:
        if isinstance(column.of, PersonCall):
            number, made = _number(column.of, inner, column.name, table)
            numbers.append((column.name, number, made.kind))
            columns.append(Visible(inner.name, column.name, made))
            continue
        of = inner.typed(column.of)
        if of not in grouped:
            raise QuestionError(
                given=f"The sub-query selects {of.text}, which GROUP BY does not list.",
                do="Add it to GROUP BY, or leave it out.",
            )
        made_leaf = leaf(unit.column if is_unit(of, unit) else column.name, of)
        columns.append(Visible(inner.name, column.name, made_leaf))
        if not is_unit(of, unit):
            keys.append((column.name, of))
    keys += [(f"{of.text}", of) for of in grouped if not is_unit(of, unit) and of not in [known for _, known in keys]]
    names = [unit.column, *(name for name, _ in keys), *(name for name, _, _ in numbers)]
    _refuse_repeated(names)
    for _, of in keys:
        _refuse_other_kinds(of)
    rows = PerPerson(inner, tuple(keys), tuple(numbers))
    return View(rows, tuple(columns), unit, inner.relation, inner.name)


def _refuse_other_kinds(of: Typed) -> None:
    if of.kind not in GROUPABLE:
        raise QuestionError(
            given=f"GROUP BY cannot use {of.text}, which has type {of.kind.value}.",
            do=f"Group by something of type {', '.join(kind.value for kind in GROUPABLE)}.",
        )


def _number(call: PersonCall, view: View, name: str, table: Table) -> tuple[PersonNumber, Typed]:
    """An aggregate of one person's rows, and the column that it makes.

    Its bounds are those of as many rows as a person may have in all groups of a question; beyond them it is clamped.
    """
    of = None if call.of is None else view.typed(call.of)
    most = Fraction(table.most_rows)
    if call.function == "COUNT":
        if call.distinct and of is not None:
            _refuse_other_kinds(of)
        found = Range(Fraction(0), most)
        return PersonNumber("COUNT", of, call.distinct), _made(name, Kind.INTEGER, found, Fraction(1), nullable=False)
    if of is None or call.distinct:
        raise QuestionError(
            given=f"{call.function} cannot have {'DISTINCT' if call.distinct else '*'} in a sub-query.",
            do=f"Write {call.function}(column).",
        )
    number = PersonNumber(call.function, of)
    if call.function in ("MIN", "MAX"):
        if of.kind not in (*NUMERIC, *TEMPORAL):
            raise _not_numbers(call.function, of)
        return number, _made(name, of.kind, range_of(of), of.step)
    granules = granules_of(of, function=call.function, table=view.name)  # exact sums need them
    low, high = granules.ends
    if call.function == "AVG":
        return number, _made(name, Kind.REAL, Range(low, high), None)
    total = Range(min(low, low * most), max(high, high * most))
    whole = granules.granularity.denominator == 1 and of.kind is Kind.INTEGER
    return number, _made(name, Kind.INTEGER if whole else Kind.REAL, total, granules.granularity)


def _not_numbers(function: str, of: Typed) -> QuestionError:
    return QuestionError(
        given=f"{function} needs numbers, but {of.text} has type {of.kind.value}.",
        do="Count it, or choose another column.",
    )


def _made(name: str, kind: Kind, found: Range, step: Fraction | None, *, nullable: bool = True) -> Typed:
    return Typed(Column(name, kind), kind, (), found.low, found.high, step, nullable)


def _join(join: Join, catalog: Catalog) -> View:
    left = view_of(join.left, catalog)
    if (other := _protected(join.right, catalog)) is not None:
        return paired(join, _condition(join, left, other.name), left, other, other.name)
    name, public = _public(join.right, catalog)
    taken = {each.name.lower() for each in left.columns} | {known.lower() for known in _names(left, catalog)}
    here = {
        column.name: column.name if column.name.lower() not in taken else f"{name}.{column.name}"
        for column in public.columns
    }
    if name.lower() in {each.table.lower() for each in left.columns} or {at.lower() for at in here.values()} & taken:
        raise QuestionError(
            given=f"Several tables of the question are called {name!r}.", do="Give each of them another name with AS."
        )
    right = [
        Visible(name, column.name, replace(column_typed(column), what=replace(column, name=here[column.name])))
        for column in public.columns
    ]
    condition = _condition(join, left, name)
    on = replace(left, columns=(*left.columns, *right)).condition(condition)
    most = public.most(_compared(on, {at: there for there, at in here.items()}))
    _refuse_fan_out(on, most, left, public)
    if join.outer:
        right = [replace(each, typed=replace(each.typed, keys=with_null(each.typed))) for each in right]
    visible = [
        replace(each, typed=leaf(at, each.typed)) for each, at in zip(left.columns, internals(left), strict=True)
    ]
    columns = qualified([*visible, *right])
    spoken = replace(left, columns=columns).condition(condition).expression
    rows = Joined(
        left, public.name, name, tuple((at, there) for there, at in here.items()), on, spoken, join.outer, most
    )
    using = {known.lower() for known in join.using}
    shown = [each for each in columns if each.table != name or each.name.lower() not in using]
    return View(rows, qualified(shown), left.unit, left.relation, left.name)


def _names(view: View, catalog: Catalog) -> set[str]:
    """The names that the columns of a view's rows have, whether a question can name them or not."""
    unit = view.unit.column if isinstance(view.unit, Person) else ""
    match view.rows:
        case TableRows(table):
            return {column.name for own in catalog.protected if own.name == table for column in own.columns}
        case PerPerson(_, keys, numbers):
            return {unit, *(name for name, _ in keys), *(name for name, _, _ in numbers)}
        case Joined(inner, columns=columns) | Paired(inner, columns=columns):
            return {unit, *internals(inner), *(here for here, _ in columns)}
        case Together(views):
            return {unit, *apart(views[0])}
        case Matching(inner) | OfPeople(inner):
            return {unit, *internals(inner)}


def _protected(source: Source, catalog: Catalog) -> View | None:
    """The view on the right of a join if it is of a protected table, or None."""
    of = source.of if isinstance(source, Aliased) else source
    if isinstance(of, str):
        return view_of(source, catalog) if catalog.own(of) is not None else None
    return view_of(source, catalog)


def _public(source: Source, catalog: Catalog) -> tuple[str, PublicTable]:
    """The public table on the right of a join, and the name that it has in the question."""
    of, name = (source.of, source.name) if isinstance(source, Aliased) else (source, None)
    found = catalog.find(of) if isinstance(of, str) else None
    if found is None:
        what = of if isinstance(of, str) else "a sub-query"
        known = f" Declared here: {', '.join(catalog.public)}." if catalog.public else ""
        raise ForbiddenConstruct(
            given=f"A question cannot contain a join with {what} here: only public tables can be joined, and protected "
            f"tables whose budgets are given.{known}",
            do="Declare a public table when you protect the data: sitr protect … --public wards=wards.csv, or "
            'sitr.protect(…, public={"wards": "wards.csv"}). To join a protected table that has the same people, give '
            "its budget: sitr ask … --with patients.sitr.yaml, or budget.beside(patients).",
        )
    return name or found.name, found


def _condition(join: Join, left: View, right: str) -> Expression:
    if join.on is not None:
        return join.on
    parts: list[Expression] = []
    for name in join.using:
        column = left.find(Name(name))
        parts.append(Call("=", (Name(name, column[0].table if column else left.name), Name(name, right))))
    return parts[0] if len(parts) == 1 else Call("AND", tuple(parts))


def _compared(on: Typed, columns: dict[str, str]) -> tuple[Compared, ...]:
    """The columns of the public table that must equal something of the row, by their names there."""
    parts = on.parts if on.what == "AND" else (on,)
    found = {}
    for part in parts:
        if part.what == "=":
            for one, other in (part.parts, part.parts[::-1]):
                if one.column is not None and one.column.name in columns and not used(other) & columns.keys():
                    whole = other.column is not None and one.kind is other.kind is Kind.INTEGER
                    name = columns[one.column.name]
                    found[name] = Compared(name, whole or one.kind not in (*NUMERIC, *TEMPORAL))
    return tuple(found.values())


def _refuse_fan_out(on: Typed, most: int, left: View, public: PublicTable) -> None:
    """Refuse a join in which a row may match many public rows; where a row is a unit, more than one.

    This is for the reader of the answer, and for the time that it takes: the statement keeps one match of each row
    where a row is a unit, and caps are applied after the join where people are.
    """
    if isinstance(left.unit, Row) and most > 1:
        raise QuestionError(
            given=f"A row may match several rows of {public.name}, and would then count several times ({on.text}).",
            do="Join by columns that are unique in the public table, or protect people (unit=…) instead of rows.",
        )
    if (together := max(most, 1) * _fan_out(left)) > MOST_MATCHES:
        raise QuestionError(
            given=f"A row may match {together:,} rows of {public.name} and what is joined before it, more than the "
            f"{MOST_MATCHES:,} that are allowed ({on.text}).",
            do="Join by columns that are unique in the public table.",
        )


def _fan_out(view: View) -> int:
    """How many rows of public tables a row of a view may have matched."""
    match view.rows:
        case Joined(inner, most=most):
            return max(most, 1) * _fan_out(inner)
        case Paired(inner, other):
            return max(_fan_out(inner), _fan_out(other))
        case PerPerson(inner) | Matching(inner) | OfPeople(inner):
            return _fan_out(inner)
        case Together(views):
            return max(map(_fan_out, views))
        case TableRows():
            return 1


def _among(source: Among, catalog: Catalog) -> View:
    """The rows whose value is among those of a sub-query: about a public table, or about the same people."""
    view, among = view_of(source.of, catalog), source.among
    table = among.table if isinstance(among, Select) else None
    name = table.of if isinstance(table, Aliased) else table
    public = catalog.find(name) if isinstance(name, str) else None
    if public is not None and isinstance(among, Select):
        return _matching(view, source, among, public, catalog)
    return _of_people(view, source, view_of(among, catalog))


def _one_column(names: int) -> None:
    if names != 1:
        raise QuestionError(
            given=f"IN needs a sub-query with one column, and this one has {names}.", do="Select one column."
        )


def _of_people(view: View, source: Among, people: View) -> View:
    _one_column(len(people.columns))
    unit = view.unit
    if not isinstance(unit, Person):
        raise QuestionError(
            given="A row cannot be chosen by what other rows hold: here each row is protected by itself.",
            do="Leave the sub-query out, or protect people (unit=…) instead of rows.",
        )
    if not (is_unit(view.typed(source.by), unit) and is_unit(people.columns[0].typed, unit)):
        raise QuestionError(
            given="A sub-query after IN may only list people, because its rows must not mix different people.",
            do=f"Write {identifier(unit.column)} IN (SELECT {identifier(unit.column)} FROM …), or use a public table.",
        )
    if protected(people) != protected(view)[:1]:
        raise QuestionError(
            given="A sub-query after IN may only list people of the first protected table of the question.",
            do="Join the other table by the unit.",
        )
    # How the sub-query calls its table is no part of the question.
    columns = _as_leaves(view)
    spoken = replace(view, columns=columns).typed(source.by).expression
    rows = OfPeople(view, replace(people, columns=(), name=view.name), source.outside, spoken)
    return View(rows, columns, unit, view.relation, view.name)


def _as_leaves(view: View) -> tuple[Visible, ...]:
    """The columns of a view as columns of the rows that are made from it."""
    return tuple(
        replace(
            each, typed=replace(leaf(at, each.typed), shown=None if at == each.name else Name(each.name, each.table))
        )
        for each, at in zip(view.columns, internals(view), strict=True)
    )


def _free(name: str, taken: set[str]) -> str:
    while name.lower() in taken:
        name += "_"
    return name


def _matching(view: View, source: Among, among: Select, public: PublicTable, catalog: Catalog) -> View:
    """Each row is compared with the rows of a public table, and kept or dropped by itself."""
    if among.group_by is not None and len(among.group_by) != len(among.columns):
        raise QuestionError(
            given="A sub-query about a public table cannot group it here.", do="Select a column, with WHERE or without."
        )
    _one_column(len(among.columns))
    (selected,) = among.columns
    if isinstance(selected.of, PersonCall):
        raise QuestionError(
            given="A sub-query about a public table cannot group it here.", do="Select a column, with WHERE or without."
        )
    taken = {each.name.lower() for each in view.columns} | {known.lower() for known in _names(view, catalog)}
    here = {column.name: _free(f"{public.name}.{column.name}", taken) for column in public.columns}
    name = among.table.name if isinstance(among.table, Aliased) else public.name
    plain = replace(view, columns=tuple(Visible(name, each.name, column_typed(each)) for each in public.columns))
    inside = replace(
        view,
        columns=tuple(
            Visible(name, each.name, replace(column_typed(each), what=replace(each, name=here[each.name])))
            for each in public.columns
        ),
    )
    by, column = view.typed(source.by), inside.typed(selected.of)
    on = ROW_FUNCTIONS["="]("=", (by, column))
    if among.where is not None:
        on = both(on, inside.condition(among.where)) or on
    where = None if among.where is None else plain.condition(among.where).expression
    leaves = _as_leaves(view)
    spoken = replace(view, columns=leaves).typed(source.by).expression, plain.typed(selected.of).expression, where
    columns = tuple((at, there) for there, at in here.items())
    rows = Matching(view, public.name, columns, on, by, spoken, source.outside)
    return View(rows, leaves, view.unit, view.relation, view.name)


def _together(views: list[View]) -> View:
    first, *others = views
    if isinstance(first.unit, Row):
        raise QuestionError(
            given="UNION ALL could count a row twice, and here each row is protected by itself.",
            do="Join the conditions with OR, or protect people (unit=…) instead of rows.",
        )
    for other in others:
        if protected(other)[0] != protected(first)[0]:
            raise QuestionError(
                given=f"The parts of UNION ALL are about the people of different tables, {protected(first)[0]} and "
                f"{protected(other)[0]}.",
                do="Join the tables by the unit, or ask each of them by itself.",
            )
        if [each.typed.kind for each in other.columns] != [each.typed.kind for each in first.columns]:
            raise QuestionError(
                given="The parts of UNION ALL have different columns.",
                do="Select the same number of columns, of the same types, in all parts.",
            )
    _refuse_repeated([each.name for each in first.columns])
    for place, each in enumerate(first.columns):
        if len({is_unit(view.columns[place].typed, first.unit) for view in views}) > 1:
            raise QuestionError(
                given=f"The parts of UNION ALL have the unit and something else as the column {each.name!r}.",
                do="Select the unit at the same place in all parts.",
            )
    columns = tuple(
        Visible(first.name, each.name, _merged(each, name, [other.columns[place].typed for other in others]))
        for place, (each, name) in enumerate(zip(first.columns, apart(first), strict=True))
    )
    return View(Together(tuple(views)), columns, first.unit, first.relation, first.name)


def _merged(first: Visible, name: str, others: list[Typed]) -> Typed:
    """A column of several parts: all of their values are possible."""
    found, same = range_of(first.typed), all(other == first.typed for other in others)
    for other in others:
        found = found.union(range_of(other))
    keys = [each.possible for each in (first.typed, *others)]
    listed = None if None in keys else tuple(dict.fromkeys(key for some in keys for key in some or ()))
    column = first.typed.column
    quantised = column.quantised if column is not None and same else None
    kept = tuple(sorted(listed, key=lambda key: key is None)) if listed is not None else None
    made = Column(name, first.typed.kind, quantised, kept if quantised is None else column.keys if column else None)
    spoken = None if name == first.name else Name(first.name)
    step = first.typed.step if same else None
    return Typed(made, made.kind, (), found.low, found.high, step, keys=made.keys, shown=spoken)


def _refuse_repeated(names: list[str]) -> None:
    lowered = [name.lower() for name in names]
    if repeated := {name for name in names if lowered.count(name.lower()) > 1}:
        raise QuestionError(
            given=f"Several columns of a sub-query have the same name: {', '.join(sorted(repeated))}.",
            do="Name them with AS.",
        )


def tables(view: View) -> Iterator[str]:
    """The public tables that a view reads."""
    match view.rows:
        case Joined(inner, table) | Matching(inner, table):
            yield table
            yield from tables(inner)
        case Paired(inner, other):
            yield from tables(inner)
            yield from tables(other)
        case PerPerson(inner):
            yield from tables(inner)
        case OfPeople(inner, people):
            yield from tables(inner)
            yield from tables(people)
        case Together(views):
            for each in views:
                yield from tables(each)
        case TableRows():
            return


def source_of(view: View) -> Source:
    """What stands after FROM to read the rows of a view, with resolved names."""
    match view.rows:
        case TableRows(table):
            return table
        case PerPerson(inner, keys, numbers):
            assert isinstance(view.unit, Person)
            unit = Name(view.unit.column)
            columns = [Selected(view.unit.column, unit), *(Selected(name, of.expression) for name, of in keys)]
            columns += [Selected(name, _call(number)) for name, number, _ in numbers]
            return Select(
                source_of(inner),
                tuple(columns),
                None if inner.where is None else inner.where.expression,
                (unit, *(of.expression for _, of in keys)),
            )
        case Joined(inner, table, name, _, _, spoken, outer):
            right = table if name.lower() == table.lower() else Aliased(table, name)
            return Join(_named_source(inner, inner.name), right, spoken, outer=outer)
        case Paired(inner, other, name, spoken=spoken, outer=outer):
            return Join(_named_source(inner, inner.name), _named_source(other, name), spoken, outer=outer)
        case Together(views):
            return UnionAll(tuple(map(_listed_source, views)))
        case Matching(inner, table, spoken=(by, column, where), outside=outside):
            listed = Select(table, (Selected(_column_name(column), column),), where)
            return Among(_named_source(inner, inner.name), by, listed, outside)
        case OfPeople(inner, people, outside, by):
            assert isinstance(view.unit, Person)
            unit = Name(view.unit.column)
            where = None if people.where is None else people.where.expression
            others = Select(source_of(people), (Selected(unit.name, unit),), where)
            return Among(_named_source(inner, inner.name), by, others, outside)


def _column_name(column: Expression) -> str:
    return column.name if isinstance(column, Name) else "value"


def _named_source(view: View, name: str) -> Source:
    """The rows of a view under a name, which a table may have already."""
    source = _selected_source(view)
    if isinstance(source, Join) and all(each.table == name for each in view.columns):  # a sub-query
        source = _listed_source(view)
    named = isinstance(source, Join) or (isinstance(source, str) and source.lower() == name.lower())
    return source if named else Aliased(source, name)


def _call(number: PersonNumber) -> PersonCall:
    return PersonCall(number.function, None if number.of is None else number.of.expression, number.distinct)


def _selected_source(view: View) -> Source:
    """The rows of a view with its own columns; the rows themselves where nothing is computed, renamed or left out."""
    plain = view.where is None and all(each.typed.column is not None for each in view.columns)
    source = source_of(view) if plain else None
    renamed = any(each.typed.column is None or each.typed.column.name != each.name for each in view.columns)
    return _listed_source(view) if source is None or (renamed and not isinstance(source, Join)) else source


def _listed_source(view: View) -> Source:
    """The rows of a view with its columns, one by one."""
    columns = tuple(Selected(each.name, each.typed.expression) for each in view.columns)
    return Select(source_of(view), columns, None if view.where is None else view.where.expression)
