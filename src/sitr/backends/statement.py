"""A reading as one SQL statement: the tree in the words of a dialect.

Few of a person's groups are over-full, so the statement groups the rows first, and reads and sorts only the rows of
over-full groups again. This is quicker than ranking all rows, and it keeps the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sitr.backends.cell_numbers import cell_number
from sitr.backends.dialect import Dialect
from sitr.backends.expressions import Expressions
from sitr.backends.reading import (
    CellNumber,
    Double,
    EachPerson,
    EachRow,
    FewGroups,
    FewRows,
    Flag,
    Granules,
    Key,
    Listing,
    Rows,
    Totals,
    Tree,
    Value,
)
from sitr.questions.aggregate.expressions.typed import Typed

_KEPT = ("cells", "chosen")
"""Steps whose rows the engine keeps, because they are used more than once and are expensive to compute. The rows
themselves are used twice too, but a copy of all of them takes more memory than anything else: they are read again.
Nothing in them is volatile, so both readings are equal."""


def statement(tree: Tree, *, dialect: Dialect, source: str, types: Mapping[str, str], salt: int) -> str:
    """SELECT what the tree describes. `source` is what follows FROM; `types` are the engine's types of its columns.
    A column without a type makes the statement fail when it runs, as every other change of the source does.

    Totals come as the keys k0, k1, …, the sums t0, t1, … and the number of people; a listing comes as t0, t1, ….
    """
    writer = _Writer(dialect, source, types, salt)
    return writer.totals(tree.of) if isinstance(tree, Totals) else writer.listing(tree)


@dataclass(frozen=True, slots=True)
class _Writer:
    dialect: Dialect
    source: str
    types: Mapping[str, str]
    salt: int

    def totals(self, node: Rows | FewRows) -> str:
        if isinstance(node, Rows):
            sums = [
                "count(*)" if isinstance(value, EachRow) else self.total(name) for name, value in _named(node.values)
            ]
            return f"WITH rows AS ({self.rows(node)}) {_grouped('rows', _keys(node), sums)}"
        rows, keys = node.rows, _keys(node.rows)
        steps = [("rows", self.rows(rows)), ("cells", self.cells(rows))]
        if isinstance(node.of, FewGroups):
            order = self.dialect.order(self.salt, ["u", *keys])
            steps.append(("chosen", self.dialect.lowest(node.of.most, source="cells", of=["u"], by=order)))
        steps += self.few_rows(node, cells=steps[-1][0])
        named = [self.dialect.step(name, step, once=name in _KEPT) for name, step in steps]
        sums = [self.total(name) for name, _ in _named(rows.values)]
        return f"WITH {', '.join(named)} {_grouped(steps[-1][0], keys, sums)}"

    def listing(self, tree: Listing) -> str:
        if isinstance(tree.of, Rows):
            return f"SELECT {', '.join(_names(tree.of.values))} FROM ({self.rows(tree.of)})"
        rows, names = tree.of.rows, _names(tree.of.rows.values)
        cell = ["u", *_keys(rows)]
        numbered = self.numbered(f"({self.rows(rows)}) r", cell, names, names)
        return f"SELECT {', '.join(names)} FROM ({self.sampled(tree.of.most, f'({numbered})', cell, names)})"

    def cells(self, rows: Rows) -> str:
        """One row for each person and group, with the number n of its rows and the person's own sums."""
        cell, sums = ["u", *_keys(rows)], [self.own(name, value) for name, value in _named(rows.values)]
        return f"SELECT {', '.join([*cell, 'count(*) AS n', *sums])} FROM rows GROUP BY {', '.join(cell)}"

    def own(self, name: str, value: Value) -> str:
        """What one person has of a value in one group."""
        if isinstance(value, EachPerson):
            return f"{'1' if value.where is None else f'max({name})'} AS {name}"
        return f"{self.dialect.total(name)} AS {name}"

    def total(self, name: str) -> str:
        """Without keys there is one group, which may have no rows."""
        return f"coalesce({self.dialect.total(name)}, 0)"

    def few_rows(self, node: FewRows, *, cells: str) -> list[tuple[str, str]]:
        """At most `most` rows of each person's group, from the step `cells` with the sums and the number n of rows."""
        named, cell = _named(node.rows.values), ["u", *_keys(node.rows)]
        values = [name for name, value in named if not isinstance(value, EachRow | EachPerson)]
        if not values:
            capped = [n if isinstance(value, EachPerson) else f"least(n, {node.most}) AS {n}" for n, value in named]
            return [("kept", f"SELECT {', '.join([*cell, *capped])} FROM {cells}")]
        same = " AND ".join(self.dialect.same(f"r.{name}", f"f.{name}") for name in cell)
        full = self.dialect.semi_join("rows", "full_cells", on=same)
        sums = [self.own(name, value) for name, value in named]
        return [
            ("full_cells", f"SELECT {', '.join(cell)} FROM {cells} WHERE n > {node.most}"),
            ("numbered", self.numbered(full, cell, [name for name, _ in named], values, whole=_whole(named))),
            ("sampled", self.sampled(node.most, "numbered", cell, values)),
            (
                "kept",
                f"SELECT {', '.join([*cell, *(name for name, _ in named)])} FROM {cells} WHERE n <= {node.most} "
                f"UNION ALL SELECT {', '.join([*cell, *sums])} FROM sampled GROUP BY {', '.join(cell)}",
            ),
        ]

    def numbered(
        self, source: str, cell: Sequence[str], names: Sequence[str], values: Sequence[str], whole: Sequence[str] = ()
    ) -> str:
        """Equal rows r of a person, numbered: the choice is uniform over rows, and a function of their multiset.

        Of the columns `whole`, each row gets the largest number of all rows of the cell, whichever of them are kept.
        """
        own, twins = (", ".join(f"r.{name}" for name in some) for some in (cell, [*cell, *values]))
        shown = [
            f"max(r.{name}) OVER (PARTITION BY {own}) AS {name}" if name in whole else f"r.{name}" for name in names
        ]
        return f"SELECT {', '.join([own, *shown])}, row_number() OVER (PARTITION BY {twins}) AS twin FROM {source}"

    def sampled(self, most: int, source: str, cell: Sequence[str], values: Sequence[str]) -> str:
        order = self.dialect.order(self.salt, [*cell, *values, "twin"])
        return self.dialect.lowest(most, source=source, of=cell, by=order)

    def rows(self, node: Rows) -> str:
        """One row for each selected row: the person u, the keys and the values."""
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
        conditions += [self.among(key) for _, key in keys if isinstance(key, Key) and _listed(key)]
        select = f"SELECT {', '.join(selected)} FROM {self.source}{_where(conditions)}"
        numbers = [(name, leaf) for name, leaf in [*keys, *values] if isinstance(leaf, CellNumber)]
        without = [f"{name} IS NOT NULL" for name, number in numbers if not number.complete]
        return f"SELECT * FROM ({select}){_where(without)}" if without else select

    @property
    def expressions(self) -> Expressions:
        return Expressions(self.dialect, self.types)

    def key(self, key: Key | CellNumber) -> str:
        return self.expressions.key(key.of) if isinstance(key, Key) else self.cell(key)

    def value(self, value: Value) -> str:
        match value:
            case EachRow() | EachPerson(where=None):
                return "1"
            case EachPerson(where):
                return self.flag(None, where)
            case Flag(of, where):
                return self.flag(of, where)
            case Granules(of, to, centre, where):
                granules = self.dialect.granules(self.expressions.raw(of), to)
                found = f"({granules}) - ({centre})" if centre else granules
                return f"coalesce({found if where is None else self.only(where, found)}, 0)"
            case Double(name, missing):
                return self.dialect.number_or(self.dialect.identifier(name), missing)
            case CellNumber():
                return self.cell(value)

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


def _grouped(step: str, keys: Sequence[str], sums: Sequence[str]) -> str:
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join([*keys, *sums, 'count(*)'])} FROM {step}{group}"


def _whole(named: Sequence[tuple[str, Value]]) -> list[str]:
    """The columns that say something about all rows of a person in a group."""
    return [name for name, value in named if isinstance(value, EachPerson) and value.where is not None]


def _listed(key: Key) -> bool:
    """Whether rows with other values than the public keys must be left out.

    Clamped to a range that is not listed, a key has no others but NULL.
    """
    clamped = key.of.clamped and key.of.of.keys is None
    return key.of.keys is not None and not (clamped and None in key.of.keys)


def _where(conditions: Sequence[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def _keys(rows: Rows) -> list[str]:
    return [f"k{place}" for place in range(len(rows.keys))]


def _names(values: Sequence[Value]) -> list[str]:
    return [f"t{place}" for place in range(len(values))]


def _named(values: tuple[Value, ...]) -> list[tuple[str, Value]]:
    return list(zip(_names(values), values, strict=True))
