"""Totals from as many scans as memory needs: people in parts, each of which fits.

A part is the people whose hash ends in some bits. If the rows of a part are more than memory holds, they are dropped,
and the part is read in halves. The scans that are given up have read less than one whole scan together: each stopped
when memory was full, and the next one reads twice as far. How many parts there are depends on the rows. The totals do
not: they are sums over people, and all rows of a person are in one part.

Rows of one person are never split. A person with more rows than memory holds takes more than it; `MOST_BITS` ends the
halving.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sitr.backends.packed.arrange import Arranged, arranged
from sitr.backends.packed.choose import BLOCK, blocks, cells
from sitr.backends.packed.hashes import Keyed, Words
from sitr.backends.packed.hold import BATCH, Held, held
from sitr.backends.packed.layout import Layout
from sitr.backends.packed.scan import EVERYBODY, Decoded, SomePeople, scan
from sitr.backends.packed.totals import GroupTotals
from sitr.backends.reading import FewGroups
from sitr.backends.statement import Writer
from sitr.backends.values import Cut, EachRow, Flag, Granules, Tallied
from sitr.mechanisms.value_counts import ValueCounts
from sitr.namespace import Later

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
else:  # a preview reads no rows
    duckdb, pa = Later("duckdb"), Later("pyarrow")

MOST_BITS = 16

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Passes:
    """How a layout is read: at most about `memory` bytes of rows at a time."""

    layout: Layout
    writer: Writer
    salt: int
    memory: int
    block: int = BLOCK

    def read(self, engine: duckdb.DuckDBPyConnection) -> list[Row]:
        """The keys, the totals and the number of people of each group that has rows, as the statement gives them."""
        # With 32-bit offsets, no array holds texts of more than 2 GiB together: the question would fail after the
        # charge with more different ids or keys than that. Nobody else uses this DuckDB; if reading fails, it
        # is closed.
        engine.execute("SET arrow_large_buffer_size = true")
        found = self._read(engine)
        engine.execute("RESET arrow_large_buffer_size")
        return found

    def _read(self, engine: duckdb.DuckDBPyConnection) -> list[Row]:
        found: dict[Row, Row] = {}
        beyond, waiting = 0, [EVERYBODY]
        dense: GroupTotals | None = None
        while waiting:
            part = waiting.pop()
            found_rows = self._fetched(engine, part)
            if found_rows is None:
                waiting += part.halves()[::-1]
                continue
            if found_rows.empty:
                continue
            rows = arranged(self.layout, found_rows, lambda values: _identities(engine, values))
            totals = self._added(rows, dense)
            if rows.groups is None:
                dense = totals
                continue
            beyond += totals.beyond
            _merge(found, self._rows(totals, self._found_keys(rows)))
        if self.layout.dense:
            dense = dense if dense is not None else GroupTotals(self.layout, max(self.layout.cells, 1))
            return self._finished(self._rows(dense, self._public_keys()), dense.beyond)
        return self._finished(found, beyond)

    def _fetched(self, engine: duckdb.DuckDBPyConnection, part: SomePeople) -> Held | None:
        """The rows of a part; None if they are too many."""
        batches = engine.sql(scan(self.layout, self.writer, part)).to_arrow_reader(BATCH)
        return held(self.layout, batches, memory=self.memory if part.bits < MOST_BITS else None)

    def _added(self, rows: Arranged, before: GroupTotals | None) -> GroupTotals:
        """The totals of these rows, added to those before where groups are public."""
        size = max(self.layout.cells, 1) if rows.groups is None else rows.groups.count
        totals = before if before is not None else GroupTotals(self.layout, size)
        of, keyed = self.layout.node.of, Keyed.by(self.salt)
        most = of.most if isinstance(of, FewGroups) else None
        for block in blocks(rows, self.block):
            totals.add(rows, cells(rows, block, most=most, keyed=keyed), keyed)
        return totals

    def _rows(self, totals: GroupTotals, keys: Sequence[Row]) -> dict[Row, Row]:
        """The totals and the number of people of each group, by its keys."""
        layout = self.layout
        tallies = {place: tally.by_group(layout.components[place].lowest) for place, tally in totals.tallies.items()}
        groups = np.flatnonzero(totals.people).tolist() if layout.tree.rows.keys else [0]
        found = {}
        for group in groups:
            values: list[Any] = []
            for value, place in zip(layout.tree.rows.values, layout.places, strict=True):
                if place is None:
                    whole = {EachRow: totals.rows, Cut: totals.cut}.get(type(value), totals.people)
                    values.append(int(whole[group]))
                elif isinstance(value, Tallied):
                    values.append(tallies[place].get(group) or _no_values())
                elif isinstance(value, Flag) and layout.components[place].to is not None:
                    values.append(int(totals.sums[place].present[group]))
                else:
                    centre = value.centre if isinstance(value, Granules) else 0
                    sums, lowest = totals.sums[place], layout.components[place].lowest
                    values.append(sums.total(group) + (lowest - centre) * int(sums.present[group]))
            found[keys[group]] = (*values, int(totals.people[group]))
        return found

    def _finished(self, found: dict[Row, Row], beyond: int) -> list[Row]:
        """One row for each group; with the number of people beyond the cap on groups where it was asked for."""
        more = (beyond,) if self.layout.tree.beyond else ()
        return [(*key, *row[:-1], *more, row[-1]) for key, row in found.items()]

    def _public_keys(self) -> Decoded:
        layout = self.layout
        return Decoded(layout.sizes, [layout.tree.rows.keys[place] for place in layout.listed])

    def _found_keys(self, rows: Arranged) -> Sequence[Row]:
        """The keys of the groups that were found, in the order of the question."""
        assert rows.groups is not None
        layout, columns = self.layout, rows.groups.columns
        by_place: dict[int, Sequence[Any]] = dict(zip(layout.found, columns, strict=False))
        if layout.listed:
            decoded = self._public_keys()
            listed = list(zip(*(decoded[code] for code in columns[-1]), strict=True))
            by_place |= dict(zip(layout.listed, listed, strict=True))
        return list(zip(*(by_place[place] for place in range(len(layout.tree.rows.keys))), strict=True))


def _identities(engine: duckdb.DuckDBPyConnection, values: pa.Array) -> Words:
    """DuckDB's hash of each value, in their order."""
    engine.register("values to hash", pa.table({"v": values}))
    try:
        found = engine.sql('SELECT hash(v) AS h FROM "values to hash"').fetchnumpy()["h"]
    finally:
        engine.unregister("values to hash")
    return np.ascontiguousarray(found, np.uint64)


def _merge(found: dict[Row, Row], more: dict[Row, Row]) -> None:
    """Add the totals of more people, group by group."""
    for key, row in more.items():
        known = found.get(key)
        found[key] = row if known is None else tuple(map(_plus, known, row))


def _plus(one: Any, other: Any) -> Any:
    return one | other if isinstance(one, ValueCounts) else one + other


def _no_values() -> ValueCounts:
    """What a quantile sees of a group without values."""
    return ValueCounts(np.empty(0, np.int64), np.empty(0, np.int64))
