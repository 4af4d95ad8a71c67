"""Numbers at the ends of 64 bits: no group, value or id becomes another one, and only public facts choose the way."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from sitr.backends.duckdb import DuckDB, Reader
from sitr.backends.engine import connection
from sitr.backends.packed import arrange, groups, hold, passes
from sitr.backends.packed.groups import NUMBER_BITS, numbered
from sitr.backends.packed.layout import LARGEST, WORD, Layout, layout
from sitr.backends.packed.totals import GroupTotals
from sitr.backends.reading import tree
from sitr.backends.sources import ArrowRows
from sitr.dataset.schema import describe
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person
from sitr.questions.aggregate.bind import BoundedQuery, bound
from sitr.questions.aggregate.sql import parse

HUGE = (-(2**52), 2**52)
MEDIANS = "SELECT city, MEDIAN(days) AS m FROM visits GROUP BY city"


def asked(
    table: pa.Table,
    sql: str,
    *,
    caps: tuple[int, int] = (2, 3),
    bounds: Mapping[str, tuple[int, int]] | None = None,
    keys: Mapping[str, Sequence[Any]] | None = None,
) -> BoundedQuery:
    described = describe(
        "visits",
        kinds=ArrowRows(table).kinds(),
        unit=Person("id"),
        relation=Relation.ADD_REMOVE,
        max_groups=caps[0],
        max_rows_per_group=caps[1],
        bounds=bounds or {},
        granularity={},
        keys=keys or {},
    )
    return bound(parse(sql), described)


def chosen(table: pa.Table, query: BoundedQuery) -> Layout | None:
    return layout(tree(query), ArrowRows(table).types())


def both(table: pa.Table, query: BoundedQuery) -> tuple[Any, Any]:
    """What the usual way reads, and what the statement reads."""
    one, other = (DuckDB(ArrowRows(table), reader=Reader(packs=packs)).read(query, salt=7) for packs in (True, False))
    return one, other


# Tallies


def visits(groups: int, *, newcomer: bool) -> pa.Table:
    """Three people in each group, all with the value 7, and somebody else in front of all of them."""
    found = [(1000 * other + group, f"city {group}") for group in range(groups) for other in range(3)]
    if newcomer:
        found.insert(0, (10**8, "elsewhere"))
    ids, cities = zip(*found, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "city": cities, "days": pa.array([7] * len(ids), pa.int64())})


@pytest.mark.parametrize("listed", [True, False])
def test_a_newcomer_changes_no_tally_of_others(listed: bool) -> None:
    keys = {"city": [f"city {group}" for group in range(600)] + ["elsewhere"]} if listed else None
    with_, without = (visits(600, newcomer=newcomer) for newcomer in (True, False))
    found, _ = both(with_, asked(with_, MEDIANS, bounds={"days": HUGE}, keys=keys))
    before, stated = both(without, asked(without, MEDIANS, bounds={"days": HUGE}, keys=keys))
    assert before == stated
    assert all(tally == {7: 3} for tally, *_ in before.values())
    assert {key: value for key, value in found.items() if key != ("elsewhere",)} == before


@pytest.mark.parametrize("listed", [None, 1, 1000, 2**13])
def test_tallies_are_packed_only_if_every_pair_fits_whatever_the_rows(listed: int | None) -> None:
    """At the border: one bit more is left to the statement, with one row or with many."""
    keys = {} if listed is None else {"city": [f"city {group}" for group in range(listed)]}
    room = WORD - (NUMBER_BITS if listed is None else (listed - 1).bit_length())
    room = min(room, 52)  # a value beyond 2^53 is refused
    for table in (visits(1, newcomer=False), visits(40, newcomer=True)):
        for bits in (20, room - 1, room, room + 1):
            query = asked(table, MEDIANS, caps=(2, 1), bounds={"days": (1, 2**bits - 1)}, keys=keys)
            fits = bits + (NUMBER_BITS if listed is None else (listed - 1).bit_length()) <= WORD
            assert (chosen(table, query) is not None) is fits, bits
            one, other = both(table, query)
            assert one == other


def test_sums_of_any_number_of_groups_stay_packed() -> None:
    table = visits(600, newcomer=True)
    query = asked(table, "SELECT city, SUM(days) AS s FROM visits GROUP BY city", bounds={"days": HUGE})
    assert chosen(table, query) is not None
    one, other = both(table, query)
    assert one == other


def test_numbers_from_a_dictionary_have_the_bits_that_are_counted() -> None:
    found = numbered([pa.array(range(1000)), pa.array([5, 1000])])
    assert {str(each.dtype) for each in found.numbers} == {"int32"}
    assert NUMBER_BITS == 31


def test_a_tally_of_too_many_groups_is_an_error() -> None:
    table = visits(4, newcomer=False)
    query = asked(table, MEDIANS, bounds={"days": (0, 9)}, keys={"city": ["city 0", "city 1"]})
    found = chosen(table, query)
    assert found is not None
    with pytest.raises(AssertionError, match="room for fewer groups"):
        GroupTotals(found, 3)


# Numbers of public groups


def test_numbers_of_public_groups_fit_or_are_left_to_the_statement() -> None:
    names = [f"k{place}" for place in range(10)]
    lists = {name: list(range(100)) for name in names}
    everything = pa.table({"id": [1, 2], "u": ["x", "x"], **{name: [0, 99] for name in names}})
    for table in (everything.slice(0, 1), everything):
        for most in (9, 10):
            some = names[:most]
            sql = f"SELECT u, {', '.join(some)}, COUNT(*) AS n FROM visits GROUP BY u, {', '.join(some)}"
            query = asked(table, sql, keys={name: lists[name] for name in some})
            assert (chosen(table, query) is not None) is (100**most < LARGEST)
            one, other = both(table, query)
            assert one == other
            assert len(one) == table.num_rows


# Ids


ODD = {
    "int8": -1,
    "int16": -5,
    "int32": -(2**31),
    "int64": -(2**63),
    "uint8": 255,
    "uint16": 2**16 - 1,
    "uint32": 2**32 - 1,
    "uint64": 2**64 - 1,
}


@pytest.mark.parametrize("type", ODD)
def test_an_odd_id_in_the_last_batch_is_read_like_one_in_the_first(type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches before it are packed and unpacked again; they must have the type of the ones that follow."""
    monkeypatch.setattr(passes, "BATCH", 2048)
    unpacked = []
    usual = hold._unpacked

    def noted(*given: Any) -> pa.RecordBatch:
        unpacked.append(len(given))
        return usual(*given)

    monkeypatch.setattr(hold, "_unpacked", noted)
    chance = random.Random(type)
    rows = [(chance.randrange(100), chance.choice("ABCDE"), chance.randrange(-9, 9)) for _ in range(5000)]
    for odd in (ODD[type], 2**62 if type == "uint64" else ODD[type], 100):
        for last in ([*rows, (odd, "A", 5)], [(odd, "A", 5), *rows]):
            ids, cities, days = zip(*last, strict=True)
            table = pa.table({"id": pa.array(ids, type), "city": cities, "days": pa.array(days, pa.int64())})
            sql = "SELECT city, COUNT(*) AS n, SUM(days) AS s FROM visits GROUP BY city"
            query = asked(table, sql, caps=(9, 100), bounds={"days": HUGE}, keys={"city": list("ABCDE")})
            found = chosen(table, query)
            assert found is not None
            assert found.code_packed
            one, other = both(table, query)
            assert one == other
    assert unpacked, "the odd id came after packed rows"


@pytest.mark.parametrize("type", ["int64", "uint64"])
def test_a_far_id_in_the_last_batch_is_numbered(type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither ids nor their distances fit, ids are numbered by one dictionary for all batches."""
    monkeypatch.setattr(passes, "BATCH", 2048)
    ids = [place % 1000 for place in range(5000)] + [2**63 - 1 if type == "int64" else 2**63]
    table = pa.table({"id": pa.array(ids, type), "days": pa.array([1] * 5001, pa.int64())})
    query = asked(table, "SELECT SUM(days) AS s FROM visits", bounds={"days": (0, 5)}, caps=(1, 7))
    one, other = both(table, query)
    assert one == other
    assert next(iter(one.values()))[0] == 5001


# Caps and texts


@pytest.mark.parametrize("sql", ["COUNT(*)", "SUM(days)", "MEDIAN(days)", "COUNT(DISTINCT id)"])
@pytest.mark.parametrize("cap", [2**63, 2**127, 10**40])
def test_a_huge_cap_caps_nothing_and_fails_for_no_rows(sql: str, cap: int) -> None:
    """A cap may be any number, and a question with it must not fail as soon as there is a row."""
    table = visits(3, newcomer=True)
    sql = f"SELECT city, {sql} AS s FROM visits GROUP BY city"
    for caps in ((cap, cap), (2, cap), (cap, 3)):
        usual, found = (asked(table, sql, caps=each, bounds={"days": (0, 9)}) for each in ((9, 9), caps))
        assert both(table, found) == both(table, usual)


def test_texts_have_offsets_of_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 32 bits, more than 2 GiB of different ids or keys make Arrow fail, after the charge."""
    types = list[pa.DataType]()

    def noted(chunks: Sequence[pa.Array]) -> Any:
        types.extend(chunk.type for chunk in chunks)
        return numbered(chunks)

    monkeypatch.setattr(groups, "numbered", noted)
    monkeypatch.setattr(arrange, "numbered", noted)
    table = pa.table({"id": ["a", "b"], "city": ["x", "y"], "days": pa.array([1, 2], pa.int64())})
    one, other = both(table, asked(table, MEDIANS, bounds={"days": (0, 9)}))
    assert one == other
    assert types == [pa.large_string()] * 2
    with connection({}) as engine:  # whoever uses this DuckDB next gets the usual texts
        assert engine.sql("SELECT 'a' AS t").to_arrow_table().schema.field("t").type == pa.string()


def test_no_part_has_more_rows_than_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """However large memory is: with more than 2^31 different ids, Arrow's dictionaries fail, after the charge."""
    scans = list[Any]()

    def noted(own: passes.Passes, engine: Any, part: Any) -> Any:
        scans.append(part)
        return fetched(own, engine, part)

    fetched = passes.Passes._fetched
    monkeypatch.setattr(passes.Passes, "_fetched", noted)
    table = visits(40, newcomer=False)
    query = asked(table, MEDIANS, bounds={"days": (0, 9)})
    usual, other = both(table, query)
    assert len(scans) == 1
    assert hold.MOST_ROWS < 2**NUMBER_BITS
    monkeypatch.setattr(hold, "MOST_ROWS", 7)
    found, _ = both(table, query)
    assert len(scans) > 20
    assert found == usual == other
