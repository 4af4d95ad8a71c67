"""A reading as one SQL statement: the tree in the words of a dialect.

Few of a person's groups are over-full, so the statement groups the rows first, and reads and sorts only the rows of
over-full groups again. This is quicker than ranking all rows, and it keeps the same ones. Where all rows of a person
are capped too, every group of a person with more rows is over-full.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time

from sitr.backends import relations
from sitr.backends.cell_numbers import cell_number
from sitr.backends.dialect import EVERYTHING, Dialect
from sitr.backends.expressions import Expressions
from sitr.backends.reading import FewGroups, FewInTotal, FewRows, Histories, Listing, Rows, Totals, Tree
from sitr.backends.values import (
    CellNumber,
    Cut,
    Different,
    Double,
    EachPerson,
    EachRow,
    Flag,
    Granules,
    Key,
    PersonTotal,
    Tallied,
    Value,
)
from sitr.dataset.schema import MOST_STEPS, Column, Kind
from sitr.neighbors.period import Period
from sitr.questions.aggregate.bind import GroupKey
from sitr.questions.aggregate.expressions.multiples import WHOLE, progression
from sitr.questions.aggregate.expressions.typed import Typed, column_typed, literal_typed
from sitr.questions.aggregate.second_cap import SecondCap
from sitr.questions.aggregate.view import used

_KEPT = ("cells", "chosen")
"""Steps whose rows the engine keeps, because they are used more than once and are expensive to compute. The rows
themselves are used twice too, but a copy of all of them takes more memory than anything else: they are read again.
Nothing in them is volatile, so both readings are equal."""


def statement(
    tree: Tree,
    *,
    dialect: Dialect,
    source: str,
    types: Mapping[str, str],
    salt: int,
    public: Mapping[str, relations.FromRows] | None = None,
    beside: Mapping[str, relations.FromRows] | None = None,
) -> str:
    """SELECT what the tree describes. `source` is what follows FROM; `types` are the engine's types of its columns.
    A column without a type makes the statement fail when it runs, as every other change of the source does. `public`
    are the public tables that are joined, by name, and `beside` the other protected ones.

    Totals come as the keys k0, k1, …, the sums t0, t1, … and the number of people; a listing comes as t0, t1, …,
    histories as the person, the place and t0, t1, …. A tally comes as pairs of a value and its number of rows, or as
    NULL.
    """
    tree = _within_reach(tree)
    written = writer(tree, dialect=dialect, source=source, types=types, salt=salt, public=public, beside=beside)
    if isinstance(tree, Histories):
        return written.histories(tree)
    return written.totals(tree) if isinstance(tree, Totals) else written.listing(tree)


def writer(
    tree: Tree,
    *,
    dialect: Dialect,
    source: str,
    types: Mapping[str, str],
    salt: int,
    public: Mapping[str, relations.FromRows] | None = None,
    beside: Mapping[str, relations.FromRows] | None = None,
) -> Writer:
    """Writes the parts of a statement about the rows of the tree, joined and put together as it says."""
    rows = tree.rows
    if rows.period is not None:  # before anything else: all that follows reads these rows only
        source = _within(rows.period, source, types, dialect)
    if rows.base is not None:
        writes = relations.Relations(dialect, relations.FromRows(source, types), public or {}, beside or {}, salt)
        found = writes.rows(rows.base, _needed(rows))
        source, types = found.source, found.types
    return Writer(dialect, source, types, salt)


def _within(period: Period, source: str, types: Mapping[str, str], dialect: Dialect) -> str:
    """The rows whose date lies in a period. A date that is NULL, infinite or beyond the calendar lies in none."""
    dated = types.get(period.column, "").lower() == "date"
    first, after = period.ends if dated else (datetime.combine(day, time.min) for day in period.ends)
    column = column_typed(Column(period.column, Kind.DATE if dated else Kind.TIMESTAMP))
    ends = ((">=", first), ("<", after))
    limits = [Typed(sign, Kind.BOOLEAN, (column, literal_typed(end))) for sign, end in ends]
    conditions = " AND ".join(map(Expressions(dialect, types).written, limits))
    return f"(SELECT * FROM {source} WHERE {conditions}) AS period_rows"


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the steps of a statement about the rows of one source."""

    dialect: Dialect
    source: str
    types: Mapping[str, str]
    salt: int

    def totals(self, tree: Totals) -> str:
        node, rows, total = tree.few, tree.rows, tree.most
        if node is None:
            return self.every_row(rows)
        keys = _keys(rows)
        steps = [("rows", self.rows(rows)), ("cells", self.cells(rows, most=node.most))]
        if isinstance(node.of, FewGroups):
            order = self.dialect.order(self.salt, ["u", *keys])
            chosen = self.dialect.lowest(node.of.most, source="cells", of=["u"], by=order, owned=_groups(rows))
            steps.append(("chosen", chosen))
        cells = steps[-1][0]
        steps += self.few_rows(node, cells=cells, total=total)
        sums = [(name, self.total(name)) for name, value in _named(rows.values) if not _apart(value)]
        beyond = [] if tree.lost is None else [self.rows_lost(tree.lost, node, cells=cells, total=total)]
        if tree.beyond:
            beyond.append(f"(SELECT count(*) FROM ({_lost(node, total=total)}) AS lost)")
        if not any(map(_apart, rows.values)):
            source, people = _people("kept", keys, tree.once)
            every = ", ".join([*keys, *(sum_ for _, sum_ in sums), *beyond, people])
            return f"WITH {', '.join(self.written(steps))} SELECT {every} FROM {source}{_group(keys)}"
        sides = {
            name: self.different(node, name, cells=cells if total is None else "kept", total=total)
            if isinstance(value, Different)
            else self.tally(node, name)
            for name, value in _named(rows.values)
            if _apart(value)
        }
        if any(isinstance(value, Tallied) for value in rows.values):
            steps += self.kept_rows(node, cells=cells, total=total)
        return self.beside("kept", rows, steps, sums, sides, beyond, tree.once)

    def rows_lost(self, second: SecondCap, node: FewRows, *, cells: str, total: int | None) -> str:
        """The number of rows left out of all people of whom a row is kept, each counted up to a second cap."""
        kept = f"least(n, {node.most})"
        own = f"SELECT u, n AS had, {kept} AS has FROM cells"
        if cells != "cells":
            own = f"SELECT u, n AS had, 0 AS has FROM cells UNION ALL SELECT u, 0 AS had, {kept} AS has FROM {cells}"
        has = self.dialect.total("has") if total is None else f"least({self.dialect.total('has')}, {total})"
        rows, most = min(second.rows, EVERYTHING), min(second.most, EVERYTHING)
        lost = f"least(greatest(least({self.dialect.total('had')}, {rows}) - {has}, 0), {most})"
        each = f"SELECT {lost} AS lost FROM ({own}) o WHERE u IN (SELECT u FROM kept) GROUP BY u"
        return f"(SELECT {self.total('lost')} FROM ({each}) e)"

    def every_row(self, rows: Rows) -> str:
        """The totals where each row is a person: all rows are kept."""
        keys, sides = _keys(rows), {}
        sums = []
        for name, value in _named(rows.values):
            if isinstance(value, Tallied):
                sides[name] = self.listed("rows", keys, name)
            elif isinstance(value, Different):
                sums.append((name, f"count(DISTINCT {name})"))
            else:
                sums.append((name, "count(*)" if isinstance(value, EachRow) else self.total(name)))
        steps = [("rows", self.rows(rows))]
        if sides:
            return self.beside("rows", rows, steps, sums, sides)
        every = ", ".join([*keys, *(total for _, total in sums), "count(*)"])
        return f"WITH rows AS ({steps[0][1]}) SELECT {every} FROM rows{_group(keys)}"

    def beside(
        self,
        kept: str,
        rows: Rows,
        steps: Sequence[tuple[str, str]],
        sums: Sequence[tuple[str, str]],
        sides: Mapping[str, str],
        beyond: Sequence[str] = (),
        once: Sequence[int] = (),
    ) -> str:
        """The sums of the step `kept`, joined with what was computed apart from them for each group."""
        keys = _keys(rows)
        named = [f"{total} AS {name}" for name, total in sums]
        source, people = _people(kept, keys, once)
        whole = f"SELECT {', '.join([*keys, *named, f'{people} AS people'])} FROM {source}{_group(keys)}"
        steps = [*steps, ("sums", whole), *((f"{name}_apart", select) for name, select in sides.items())]
        columns = [f"{name}_apart.{name}" if name in sides else f"sums.{name}" for name in _names(rows.values)]
        columns = [
            f"coalesce({column}, 0)" if isinstance(value, Different) else column
            for column, value in zip(columns, rows.values, strict=True)
        ]
        joins = [
            f" LEFT JOIN {name}_apart ON "
            + (" AND ".join(self.dialect.same(f"sums.{key}", f"{name}_apart.{key}") for key in keys) or "TRUE")
            for name in sides
        ]
        selected = ", ".join([*(f"sums.{key}" for key in keys), *columns, *beyond, "sums.people"])
        return f"WITH {', '.join(self.written(steps))} SELECT {selected} FROM sums{''.join(joins)}"

    def written(self, steps: Sequence[tuple[str, str]]) -> list[str]:
        """The steps of a WITH clause. Under a cap on all rows, two more of them are used more than once."""
        again = _KEPT + (("many", "kept") if "many" in dict(steps) else ())
        return [self.dialect.step(name, step, once=name in again) for name, step in steps]

    def tally(self, node: FewRows, name: str) -> str:
        return self.listed("kept_rows", _keys(node.rows), name)

    def listed(self, source: str, keys: Sequence[str], name: str) -> str:
        """For each group, its values that are not NULL with their numbers of rows."""
        each = f"SELECT {', '.join([*keys, name])}, count(*) AS n FROM {source} WHERE {name} IS NOT NULL"
        each += f" GROUP BY {', '.join([*keys, name])}"
        pairs = f"{self.dialect.pairs(name, 'n')} AS {name}"
        return f"SELECT {', '.join([*keys, pairs])} FROM ({each}) e{_group(keys)}"

    def kept_rows(self, node: FewRows, *, cells: str, total: int | None) -> list[tuple[str, str]]:
        """The kept rows themselves: those of cells that are not over-full, and the sampled ones."""
        keys = _keys(node.rows)
        cell = ["u", *keys]
        wanted = [*keys, *(name for name, value in _named(node.rows.values) if isinstance(value, Tallied))]
        few = self.dialect.semi_join("rows", "few_cells", on=self.same(cell))
        return [
            ("few_cells", f"SELECT {', '.join(cell)} FROM {cells} WHERE {_few(node, total=total)}"),
            (
                "kept_rows",
                f"SELECT {', '.join(f'r.{name}' for name in wanted)} FROM {few} "
                f"UNION ALL SELECT {', '.join(wanted)} FROM sampled",
            ),
        ]

    def different(self, node: FewRows, name: str, *, cells: str, total: int | None) -> str:
        """For each group, how many different values its people keep: at most `most` of each person, `total` in all."""
        keys = _keys(node.rows)
        cell = ["u", *keys]
        own = ", ".join(f"r.{part}" for part in [*cell, name])
        chosen = self.dialect.semi_join("rows", cells, on=self.same(cell))
        values = f"(SELECT DISTINCT {own} FROM {chosen} WHERE r.{name} IS NOT NULL) d"
        order = self.dialect.order(self.salt, [*cell, name])
        few = self.dialect.lowest(node.most, source=values, of=cell, by=order)
        if total is not None:
            few = self.dialect.lowest(total, source=f"({few}) d", of=["u"], by=order)
        return f"SELECT {', '.join([*keys, f'count(DISTINCT {name}) AS {name}'])} FROM ({few}) e{_group(keys)}"

    def same(self, cell: Sequence[str]) -> str:
        """Rows r and f are of the same person and group."""
        return " AND ".join(self.dialect.same(f"r.{name}", f"f.{name}") for name in cell)

    def listing(self, tree: Listing) -> str:
        rows, names = tree.rows, _names(tree.rows.values)
        if tree.few is None:
            return f"SELECT {', '.join(names)} FROM ({self.rows(rows)}) AS r"
        cell = ["u", *_keys(rows)]
        numbered = self.numbered(f"({self.rows(rows)}) r", _named(rows.values), cell, names)
        few = self.sampled(tree.few.most, f"({numbered}) AS numbered", cell, names)
        return f"SELECT {', '.join(names)} FROM ({few}) AS few"

    def histories(self, tree: Histories) -> str:
        """The first rows of each person by (order, hash), with the number of the person and the place of the row."""
        rows, names, node = tree.rows, _names(tree.rows.values), tree.few
        assert node is not None, "each row is a person"
        numbered = self.numbered(f"({self.rows(rows)}) r", _named(rows.values), ["u"], names)
        hashed = f"SELECT *, {self.dialect.order(self.salt, ['u', *names, 'twin'])} AS h FROM ({numbered}) AS numbered"
        own = names if tree.order is None else names[:-1]
        # A row without an order comes after all others.
        order = "h" if tree.order is None else f"coalesce({names[-1]}, {MOST_STEPS}), h"
        # Without a frame, all rows with an equal order and hash are counted: the rank of both is the larger one.
        place = f"count(*) OVER (PARTITION BY u ORDER BY {order}) AS place"
        placed = f"SELECT *, {place} FROM ({hashed}) AS hashed"
        names = [f"CAST(u AS {self.dialect.type_of(Kind.TEXT)}) AS name"] if tree.named else []
        listed = ", ".join(["dense_rank() OVER (ORDER BY u) AS person", "place", *own, *names])
        return f"SELECT {listed} FROM ({placed}) AS placed WHERE place <= {node.most}"

    def cells(self, rows: Rows, *, most: int) -> str:
        """One row for each person and group, with the number n of its rows and the person's own sums."""
        cell, cut = ["u", *_keys(rows)], f"CASE WHEN count(*) > {most} THEN 1 ELSE 0 END"
        sums = [self.own(name, value, cut=cut) for name, value in _named(rows.values) if not _apart(value)]
        return f"SELECT {', '.join([*cell, 'count(*) AS n', *sums])} FROM rows GROUP BY {', '.join(cell)}"

    def own(self, name: str, value: Value, *, cut: str, again: bool = False) -> str:
        """What one person has of a value in one group; `cut` says whether rows of it are left out.

        If it is counted `again`, each row has what is said about all rows of the person in the group.
        """
        if isinstance(value, Cut):
            return f"{cut} AS {name}"
        if isinstance(value, EachPerson):
            return f"{'1' if value.where is None else f'max({name})'} AS {name}"
        if isinstance(value, PersonTotal):
            return f"{f'max({name})' if again else self.person_total(value, name)} AS {name}"
        return f"{self.dialect.total(name)} AS {name}"

    def person_total(self, value: PersonTotal, name: str, over: str = "") -> str:
        """One person's sum, clamped; a person without values has none."""
        clamped = f"least(greatest({self.dialect.total(name)}{over}, {value.to.lower}), {value.to.upper})"
        return f"CASE WHEN count({name}){over} > 0 THEN {clamped} ELSE 0 END"

    def total(self, name: str) -> str:
        """Without keys there is one group, which may have no rows."""
        return f"coalesce({self.dialect.total(name)}, 0)"

    def few_rows(self, node: FewRows, *, cells: str, total: int | None) -> list[tuple[str, str]]:
        """At most `most` rows of each person's group, from the step `cells` with the sums and the number n of rows.

        With `total`, this is the most rows of a person in all: the groups of people with more are counted again.
        """
        named, cell = _named(node.rows.values), ["u", *_keys(node.rows)]
        alike = EachRow | EachPerson | Cut | PersonTotal | Different
        values = [name for name, value in named if not isinstance(value, alike)]
        tallied = [(name, value) for name, value in named if isinstance(value, Tallied)]
        named = [(name, value) for name, value in named if not _apart(value)]
        if not values and total is None:
            capped = [f"least(n, {node.most}) AS {n}" if isinstance(value, EachRow) else n for n, value in named]
            return [("kept", f"SELECT {', '.join([*cell, *capped])} FROM {cells}")]
        full = self.dialect.semi_join("rows", "full_cells", on=self.same(cell))
        cut = "1" if total is None else "CASE WHEN count(*) < max(n) THEN 1 ELSE 0 END"
        sums = [self.own(name, value, cut=cut, again=True) for name, value in named]
        few, many, sampled = _few(node, total=total), [], self.sampled(node.most, "numbered", cell, values)
        if total is not None:
            many = [("many", f"SELECT u FROM {cells} GROUP BY u HAVING sum(least(n, {node.most})) > {total}")]
            order = self.dialect.order(self.salt, [*cell, *values, "twin"])
            sampled = self.dialect.lowest(total, source=f"({sampled}) s", of=["u"], by=order)
        return [
            *many,
            ("full_cells", f"SELECT {', '.join(cell)} FROM {cells} WHERE NOT ({few})"),
            ("numbered", self.numbered(full, [*named, *tallied], cell, values, counted=total is not None)),
            ("sampled", sampled),
            (
                "kept",
                f"SELECT {', '.join([*cell, *(name for name, _ in named)])} FROM {cells} WHERE {few} "
                f"UNION ALL SELECT {', '.join([*cell, *sums])} FROM sampled GROUP BY {', '.join(cell)}",
            ),
        ]

    def numbered(
        self,
        source: str,
        named: Sequence[tuple[str, Value]],
        cell: Sequence[str],
        values: Sequence[str],
        *,
        counted: bool = False,
    ) -> str:
        """Equal rows r of a person, numbered: the choice is uniform over rows, and a function of their multiset.

        If they are `counted`, n is the number of all rows of the person's group.
        """
        own, twin = ", ".join(f"r.{name}" for name in cell), [f"r.{name}" for name in (*cell, *values)]
        shown = [self.of_all_rows(name, value, f" OVER (PARTITION BY {own})") for name, value in named]
        shown += [f"count(*) OVER (PARTITION BY {own}) AS n"] if counted else []
        return f"SELECT {', '.join([own, *shown])}, {self.dialect.row_numbers(twin)} AS twin FROM {source}"

    def of_all_rows(self, name: str, value: Value, over: str) -> str:
        """A value of a row; what is said about all rows of a person in a group is the same for each of them."""
        if isinstance(value, PersonTotal):
            return f"{self.person_total(value, f'r.{name}', over)} AS {name}"
        if isinstance(value, EachPerson) and value.where is not None:
            return f"max(r.{name}){over} AS {name}"
        return f"r.{name}"

    def sampled(self, most: int, source: str, cell: Sequence[str], values: Sequence[str]) -> str:
        order = self.dialect.order(self.salt, [*cell, *values, "twin"])
        return self.dialect.lowest(most, source=source, of=cell, by=order)

    def rows(self, node: Rows, *, others: bool = False) -> str:
        """One row for each selected row: the person u, the keys and the values; with `others` also of keys that are not
        public, for those who look them up anyway."""
        keys, values = list(zip(_keys(node), node.keys, strict=True)), _named(node.values)
        selected = [f"{self.key(key)} AS {name}" for name, key in keys]
        selected += [f"{self.value(value)} AS {name}" for name, value in values]
        conditions = []
        if node.person is not None:
            person = self.dialect.identifier(node.person)
            selected.insert(0, f"{person} AS u")
            conditions.append(f"{person} IS NOT NULL")
        if node.where is not None:
            conditions.append(f"({self.expressions.written(node.where)})")
        conditions += [self.among(key) for _, key in keys if isinstance(key, Key) and _listed(key) and not others]
        select = f"SELECT {', '.join(selected)} FROM {self.source}{_where(conditions)}"
        numbers = [(name, leaf) for name, leaf in [*keys, *values] if isinstance(leaf, CellNumber)]
        without = [f"{name} IS NOT NULL" for name, number in numbers if not number.complete]
        return f"SELECT * FROM ({select}) AS numbers{_where(without)}" if without else select

    @property
    def expressions(self) -> Expressions:
        return Expressions(self.dialect, self.types)

    def key(self, key: Key | CellNumber) -> str:
        return self.expressions.key(key.of) if isinstance(key, Key) else self.cell(key)

    def value(self, value: Value) -> str:
        match value:
            case EachRow() | EachPerson(where=None) | Cut():
                return "1"
            case EachPerson(where):
                return self.flag(None, where)
            case Flag(of, where):
                return self.flag(of, where)
            case Granules(of, to, centre, where):
                granules = self.dialect.granules(self.expressions.raw(of), to)
                found = f"({granules}) - ({centre})" if centre else granules
                return f"coalesce({found if where is None else self.only(where, found)}, 0)"
            case PersonTotal(of, to, where):
                granules = self.dialect.granules(
                    self.expressions.raw(of), replace(to, lower=-MOST_STEPS, upper=MOST_STEPS)
                )
                return granules if where is None else self.only(where, granules)
            case Tallied(of, to, where):
                granules = self.dialect.granules(self.counted(of), to)
                return granules if where is None else self.only(where, granules)
            case Different(of, where):
                key = self.expressions.key(GroupKey("", of, None))
                return key if where is None else self.only(where, key)
            case Double(name, missing):
                return self.dialect.number_or(self.dialect.identifier(name), missing)
            case CellNumber():
                return self.cell(value)

    def counted(self, of: Typed) -> str:
        """A number, or the days or seconds since 1970 of a date or a time."""
        if of.kind is Kind.DATE:
            return self.dialect.days(date(1970, 1, 1), self.expressions.written(of))
        if of.kind is Kind.TIMESTAMP:
            return self.dialect.seconds(datetime(1970, 1, 1), self.expressions.written(of))  # noqa: DTZ001
        return self.expressions.raw(of)

    def flag(self, of: Typed | None, where: Typed | None) -> str:
        """1 or 0; never NULL."""
        conditions = [] if of is None else [self.expressions.present(of)]
        conditions += [] if where is None else [f"({self.expressions.written(where)})"]
        return f"CASE WHEN {' AND '.join(conditions)} THEN 1 ELSE 0 END"

    def only(self, where: Typed, value: str) -> str:
        return f"CASE WHEN {self.expressions.written(where)} THEN {value} END"

    def cell(self, number: CellNumber) -> str:
        return cell_number(number.of, types=self.types, dialect=self.dialect)

    def among(self, key: Key) -> str:
        """The key is one of the public ones; NULL counts as a value."""
        expression, keys = self.expressions.key(key.of), key.of.keys or ()
        values = [self.dialect.literal(value) for value in keys if value is not None]
        parts = [f"({expression}) IN ({', '.join(values)})"] if values else []
        parts += [f"({expression}) IS NULL"] if None in keys else []
        return f"({' OR '.join(parts)})"


def _within_reach(tree: Tree) -> Tree:
    """The tree with caps that every engine can compare with: nobody has 2^62 rows, so larger caps keep the same."""
    of = tree.of
    if isinstance(of, Rows):
        return tree
    if isinstance(of, FewInTotal):
        return replace(tree, of=FewInTotal(_reachable(of.of), min(of.most, EVERYTHING)))
    return replace(tree, of=_reachable(of))


def _reachable(node: FewRows) -> FewRows:
    of = FewGroups(node.of.of, min(node.of.most, EVERYTHING)) if isinstance(node.of, FewGroups) else node.of
    return FewRows(of, min(node.most, EVERYTHING))


def _people(step: str, keys: Sequence[str], once: Sequence[int]) -> tuple[str, str]:
    """What the people of each group are counted from, and how: with `once`, in the first group that agrees in these."""
    if not once:
        return step, "count(*)"
    some = ", ".join(["u", *(keys[place] for place in once)])
    rest = ", ".join(key for place, key in enumerate(keys) if place not in once)
    nth = f"row_number() OVER (PARTITION BY {some} ORDER BY {rest}) AS nth"
    return f"(SELECT *, {nth} FROM {step}) {step}", "count(CASE WHEN nth = 1 THEN 1 END)"


def _few(node: FewRows, *, total: int | None) -> str:
    """The person keeps all rows of a group."""
    return f"n <= {node.most}" if total is None else f"n <= {node.most} AND u NOT IN (SELECT u FROM many)"


def _lost(node: FewRows, *, total: int | None) -> str:
    """SELECT the people who had rows in a group that keeps none of them."""
    if total is None:
        assert isinstance(node.of, FewGroups), "only a cap leaves groups out"
        return f"SELECT u FROM cells GROUP BY u HAVING count(*) > {node.of.most}"
    both = "SELECT u, 1 AS had, 0 AS has FROM cells UNION ALL SELECT u, 0 AS had, 1 AS has FROM kept"
    return f"SELECT u FROM ({both}) b GROUP BY u HAVING sum(had) > sum(has)"


def _group(keys: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""


def _apart(value: Value) -> bool:
    """Whether a group has something else than the sum over its people."""
    return isinstance(value, Tallied | Different)


def _needed(rows: Rows) -> set[str]:
    """The columns that the keys, the values and the condition read."""
    parts: list[Typed | None] = [rows.where, *(key.of.of for key in rows.keys if isinstance(key, Key))]
    for value in rows.values:
        parts += [getattr(value, "of", None), getattr(value, "where", None)]
    return set().union(*(used(part) for part in parts if isinstance(part, Typed)))


def _listed(key: Key) -> bool:
    """Whether rows with other values than the public keys must be left out.

    Clamped to a range that is not listed, a key has no others but NULL, if these are all whole numbers in the range.
    """
    clamped = key.of.clamped and key.of.of.keys is None and progression(key.of.of) == WHOLE
    return key.of.keys is not None and not (clamped and None in key.of.keys)


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _groups(rows: Rows) -> int | None:
    """How many groups there can be, by public lists; None if a key has none."""
    sizes = [key.cells for key in rows.keys]
    return None if None in sizes else math.prod(size for size in sizes if size is not None)


def _keys(rows: Rows) -> list[str]:
    return [f"k{place}" for place in range(len(rows.keys))]


def _names(values: Sequence[Value]) -> list[str]:
    return [f"t{place}" for place in range(len(values))]


def _named(values: tuple[Value, ...]) -> list[tuple[str, Value]]:
    return list(zip(_names(values), values, strict=True))
