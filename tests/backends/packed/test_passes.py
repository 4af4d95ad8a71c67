"""Packed rows against a plain loop over people, in every arrangement, and twins that are wrong on purpose."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.duckdb_dialect import DUCKDB
from sitr.backends.packed.hashes import Keyed, of_rows
from sitr.backends.packed.layout import Layout, layout
from sitr.backends.packed.passes import Passes
from sitr.backends.packed.scan import SomePeople, scan
from sitr.backends.packed.words import packed as in_words
from sitr.backends.reading import FewGroups, tree
from sitr.backends.sources import ArrowRows
from sitr.backends.statement import writer
from sitr.backends.values import Cut, EachPerson, EachRow, Flag, Granules, Tallied
from sitr.dataset.schema import Table, describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.sql import parse

CITIES = ("A", "B'", "", "Ж", None)
IDS: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "small": (pa.int64(), lambda n: n),
    "negative": (pa.int64(), lambda n: n - 40),
    "far apart": (pa.int64(), lambda n: (n * 0x9E3779B97F4A7C15) % 2**64 - 2**63),
    "largest": (pa.uint64(), lambda n: 2**64 - 1 - n),
    "short": (pa.int8(), lambda n: n - 100),
    "text": (pa.string(), lambda n: f"patient {n}"),
    "decimal": (pa.decimal128(30, 0), lambda n: 10**25 + n),
}
QUESTIONS = (
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT city, SUM(cost) AS s, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT city, AVG(cost) AS a, SUM(cost) AS s, MEDIAN(cost) AS m, COUNT(DISTINCT id) AS p FROM visits GROUP BY city",
    "SELECT SUM(cost) AS s, COUNT(days) AS d FROM visits WHERE days > 1 OR city = 'A'",
    "SELECT city, days, SUM(huge) AS h, SUM(cost) AS s FROM visits GROUP BY city, days",
    "SELECT days, VARIANCE(cost) AS v, COUNT(DISTINCT id) FILTER (WHERE cost > 2) AS p FROM visits GROUP BY days",
    "SELECT SUM(huge) AS h, SUM(large) AS l FROM visits",
)


def rows(kind: str, chance: random.Random, people: int = 16) -> pa.Table:
    """People with one row to sixty, many of them equal, in a few groups; some values are missing."""
    type, name = IDS[kind]
    found: list[tuple[Any, ...]] = []
    for person in range(people):
        for _ in range(chance.choice([1, 1, 2, 5, 60])):
            cost = chance.choice([0.0, 0.25, 3.5, 9.0, -9.0, None, float("nan"), chance.random()])
            huge = chance.choice([-(2**52), 2**52, 1, None])
            found.append((name(person), chance.choice((*CITIES, "Z")), cost, chance.randrange(4), huge, huge))
    chance.shuffle(found)
    columns = list(zip(*found, strict=True))
    return pa.table(
        {
            "id": pa.array(columns[0], type),
            "city": pa.array(columns[1], pa.string()),
            "cost": pa.array(columns[2], pa.float64()),
            "days": pa.array(columns[3], pa.int32()),
            "huge": pa.array(columns[4], pa.int64()),
            "large": pa.array(columns[5], pa.int64()),
        }
    )


def described(table: pa.Table, *, known: bool, caps: tuple[int, int] = (2, 3)) -> Table:
    return describe(
        "visits",
        kinds=ArrowRows(table).kinds(),
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=caps[0],
        max_rows_per_group=caps[1],
        bounds={"cost": (-2, 5), "huge": (-(2**52), 2**52), "large": (-(2**52), 2**52)},
        granularity={"cost": 0.25},
        keys={"city": CITIES, "days": (0, 1, 2)} if known else {},
    )


def packed(table: pa.Table, query: BoundedQuery) -> tuple[Layout, Any]:
    what, source = tree(query), ArrowRows(table)
    written = writer(what, dialect=DUCKDB, source=source.relation, types=source.types(), salt=0)
    found = layout(what, written.types)
    assert found is not None
    return found, written


def by_hand(table: pa.Table, query: BoundedQuery, salt: int) -> list[tuple[Any, ...]]:
    """The totals by a loop over people that ranks whole hashes, one number at a time."""
    found, written = packed(table, query)
    node = found.node
    with duckdb.connect(":memory:") as engine:
        engine.register("arrow_rows", table)
        batches = engine.sql(scan(found, written)).to_arrow_table().combine_chunks().to_batches()
        records = [record for batch in batches for record in in_words(found, batch).to_pylist()]

        @cache
        def hashed(value: Any, type: pa.DataType) -> int:
            engine.register("one", pa.table({"v": pa.array([value], type)}))
            return int(engine.sql("SELECT hash(v) FROM one").fetchall()[0][0])

        types = engine.sql(scan(found, written)).to_arrow_table().schema
        people: dict[Any, dict[tuple[Any, ...], list[tuple[int, ...]]]] = defaultdict(lambda: defaultdict(list))
        for record in records:
            group, words = _unpacked(found, record)
            people[record["u"]][group].append(words)
        names = [*(f"k{place}" for place in found.found), *(["c"] if not found.dense and found.listed else [])]
        keyed = Keyed.by(salt)
        totals: dict[Any, Counter[Any]] = defaultdict(Counter)
        beyond = 0
        for person, groups in people.items():
            identity = hashed(person, types.field("u").type) if found.text else person % 2**64
            own = int(keyed.of_people(np.array([identity], np.uint64))[0])
            order = {group: _cell(keyed, own, _identity(found, group, names, types, hashed)) for group in groups}
            cap = node.of.most if isinstance(node.of, FewGroups) else len(groups)
            beyond += len(groups) > cap
            for group in groups:
                if sum(other >> 24 <= order[group] >> 24 for other in order.values()) <= cap:
                    _add(totals[group], found, groups[group], order[group])
    return _written(found, totals, beyond)


def _unpacked(found: Layout, record: dict[str, Any]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    words = [record[name] for name in record if name.startswith("w")]
    if found.code_packed:
        bits = found.bits[0]
        return (words[0] >> bits,), ((words[0] & ((1 << bits) - 1)),) if bits else ()
    group = [record[f"k{place}"] for place in found.found] + ([record["c"]] if found.listed else [])
    return tuple(group) or (0,), tuple(words)


def _identity(found: Layout, group: tuple[Any, ...], names: list[str], types: pa.Schema, hashed: Any) -> int:
    if found.dense:
        return int(group[0])
    parts = [hashed(value, types.field(name).type) for value, name in zip(group, names, strict=True)]
    identity: int = parts[0]
    for part in parts[1:]:
        identity = _mixed((_mixed(identity) + part) % 2**64)
    return identity


def _mixed(x: int) -> int:
    """SplitMix64's finaliser with Python's integers."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def _cell(keyed: Keyed, person: int, identity: int) -> int:
    return _mixed(((identity * 0x9E3779B97F4A7C15 + person) % 2**64) ^ int(keyed.groups))


def _add(total: Counter[Any], found: Layout, own: list[tuple[int, ...]], cell: int) -> None:
    """Add what a person has in one group that is kept."""
    most, twins, ranked = found.node.most, Counter[Any](), []
    for words in own:
        hashed = cell
        for word in words:
            hashed = _mixed((hashed + word) % 2**64)
        ranked.append((words, twins[words], hashed))
        twins[words] += 1
    numbered = any(count > 1 for count in twins.values())
    order = [
        _mixed((hashed + (twin * 0x9E3779B97F4A7C15 if numbered else 0)) % 2**64) >> 24 for _, twin, hashed in ranked
    ]
    if len(own) <= most:
        kept = [words for words, _, _ in ranked]
    else:
        kept = [
            words
            for (words, _, _), rank in zip(ranked, order, strict=True)
            if sum(other <= rank for other in order) <= most
        ]
    total["rows"] += min(len(own), most)
    total["people"] += 1
    total["cut"] += len(own) > most
    for place, component in enumerate(found.components):
        values = [(words[component.word] >> component.shift) & ((1 << component.bits) - 1) for words in kept]
        every = [(words[component.word] >> component.shift) & 1 for words in own]
        total[place, "any"] += any(every)
        total[place, "sum"] += sum(values)
        total[place, "present"] += sum(map(bool, values))
        for value in filter(None, values):
            total[place, "value", value + component.lowest] += 1


def _written(found: Layout, totals: dict[Any, Counter[Any]], beyond: int) -> list[tuple[Any, ...]]:
    def written() -> Iterator[tuple[Any, ...]]:
        for group, total in totals.items():
            row: list[Any] = []
            for value, place in zip(found.tree.rows.values, found.places, strict=True):
                match value:
                    case EachRow():
                        row.append(total["rows"])
                    case Cut():
                        row.append(total["cut"])
                    case EachPerson():
                        row.append(total["people"] if place is None else total[place, "any"])
                    case Tallied():
                        own = {k[2]: n for k, n in total.items() if isinstance(k, tuple) and k[:2] == (place, "value")}
                        row.append(own)
                    case Flag() if place is not None and found.components[place].to is not None:
                        row.append(total[place, "present"])
                    case _:
                        assert place is not None
                        centre = value.centre if isinstance(value, Granules) else 0
                        lowest = found.components[place].lowest - centre
                        row.append(total[place, "sum"] + lowest * total[place, "present"])
            more = (beyond,) if found.tree.beyond else ()
            yield (*_keys(found, group), *row, *more, total["people"])

    return list(written())


def _keys(found: Layout, group: tuple[Any, ...]) -> tuple[Any, ...]:
    by_place = dict(zip(found.found, group, strict=False))
    code = group[-1]
    for place, size in zip(reversed(found.listed), reversed(found.sizes), strict=True):
        code, digit = divmod(code, size)
        by_place[place] = (found.tree.rows.keys[place].of.keys or ())[digit]  # type: ignore[union-attr]
    return tuple(by_place[place] for place in range(len(found.tree.rows.keys)))


def read(table: pa.Table, query: BoundedQuery, salt: int, *, memory: int = 10**9, block: int = 64) -> list[Any]:
    found, written = packed(table, query)
    with duckdb.connect(":memory:") as engine:
        engine.register("arrow_rows", table)
        return Passes(found, written, salt, memory, block).read(engine)


def alike(one: list[Any], other: list[Any]) -> bool:
    return sorted(one, key=repr) == sorted(other, key=repr)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", IDS)
def test_packed_rows_are_a_loop_over_people(kind: str, known: bool) -> None:
    chance = random.Random(f"{kind} {known}")
    table = rows(kind, chance)
    for place, sql in enumerate(QUESTIONS):
        query = bound(parse(sql), described(table, known=known))
        if place % 2:
            query = query.watching(Fraction(1, 20))
        salt = chance.randrange(2**63)
        assert alike(read(table, query, salt), by_hand(table, query, salt)), sql


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", IDS)
def test_every_arrangement_reads_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once or in parts, in blocks of any size, with any width of a key: other people decide nothing."""
    chance = random.Random(kind)
    table = rows(kind, chance)
    for sql in QUESTIONS:
        query = bound(parse(sql), described(table, known=chance.random() < 0.5))
        expected = read(table, query, 7)
        for memory, block, width in ((10**9, 1, 64), (4_000, 64, 64), (10**9, 10**6, 21), (10**9, 64, 17)):
            monkeypatch.setattr("sitr.backends.packed.arrange._WIDTH", width)
            assert alike(read(table, query, 7, memory=memory, block=block), expected), (sql, memory, block, width)
            monkeypatch.undo()


def test_parts_have_every_person_once() -> None:
    parts = [SomePeople()]
    for _ in range(5):
        parts = [half for part in parts for half in part.halves()]
    assert {(part.bits, part.rest) for part in parts} == {(5, rest) for rest in range(32)}


def test_the_salt_decides() -> None:
    table = rows("small", random.Random(1))
    query = bound(parse(QUESTIONS[1]), described(table, known=True))
    assert len({repr(sorted(read(table, query, salt), key=repr)) for salt in range(6)}) > 1


def test_sums_are_exact_at_the_ends_of_their_range() -> None:
    """Thousands of sums of three times 2^52, in both directions, whose total no double holds."""
    people = 5_000
    table = pa.table(
        {
            "id": list(range(people)) * 3,
            "city": ["A"] * (3 * people),
            "cost": [1.0] * (3 * people),
            "days": pa.array([1] * (3 * people), pa.int32()),
            "huge": [2**52 - (place % 2) for place in range(3 * people)],
            "large": [-(2**52) + (place % 3) for place in range(3 * people)],
        }
    )
    query = bound(parse(QUESTIONS[6]), described(table, known=True))
    (found,) = read(table, query, 3)
    assert found[:2] == (sum(table["huge"].to_pylist()), sum(table["large"].to_pylist()))


@pytest.mark.parametrize(
    ("sql", "caps", "reason"),
    [
        ("SELECT COUNT(DISTINCT days) AS d FROM visits", (2, 3), "different values"),
        ("SELECT SUM(huge) AS h FROM visits", (1, 1 << 10), "sums could overflow"),
        ("SELECT " + ", ".join(f"SUM(huge) FILTER (WHERE days = {n}) AS h{n}" for n in range(9)) + " FROM visits",
         (2, 3), "too many words"),
    ],
)  # fmt: skip
def test_what_the_statement_reads_follows_from_the_question(sql: str, caps: tuple[int, int], reason: str) -> None:
    table = rows("small", random.Random(1), 5)
    query = bound(parse(sql), described(table, known=True, caps=caps))
    assert layout(tree(query), ArrowRows(table).types()) is None, reason
    assert DuckDB(ArrowRows(table)).read(query, salt=1)


def test_ids_of_other_types_are_read_by_the_statement() -> None:
    table = rows("small", random.Random(1), 5)
    query = bound(parse(QUESTIONS[0]), described(table, known=True))
    for type in ("DOUBLE", "DATE", "BLOB", "ENUM('a')", ""):
        assert layout(tree(query), {"id": type}) is None, type
    assert layout(tree(query), {"id": "UUID"}) is not None


def test_both_ways_agree_where_nothing_is_left_out() -> None:
    """They choose by different hashes, and beneath the caps there is nothing to choose."""
    table = rows("small", random.Random(3))
    for known in (True, False):
        for sql in QUESTIONS[:6]:
            query = bound(parse(sql), described(table, known=known, caps=(30, 100)))
            ways = [DuckDB(ArrowRows(table), reader=Reader(packs=packs)).read(query, salt=1) for packs in (True, False)]
            assert ways[0] == ways[1], (known, sql)


# What is wrong is caught


def of_values_alone(cells: Any, values: Any, twins: Any) -> Any:
    """Forgets that equal rows are numbered."""
    del twins
    return of_rows(cells, values, None)


@pytest.mark.parametrize(
    ("where", "twin"),
    [
        ("choose.of_rows", of_values_alone),
        ("choose.HASH_BITS", 4),
        ("totals._HALF", np.uint64(31)),
        ("passes.Keyed.by", lambda salt: Keyed(salt, salt)),
    ],
)
def test_a_broken_twin_differs_from_the_loop(where: str, twin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = rows("small", random.Random("twin"))
    questions = [bound(parse(sql), described(table, known=True)) for sql in (QUESTIONS[1], QUESTIONS[6])]
    expected = [by_hand(table, query, 5) for query in questions]
    assert all(alike(read(table, query, 5), right) for query, right in zip(questions, expected, strict=True))
    monkeypatch.setattr(f"sitr.backends.packed.{where}", twin)
    assert not all(alike(read(table, query, 5), right) for query, right in zip(questions, expected, strict=True))
