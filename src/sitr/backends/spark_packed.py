"""Totals from packed rows on Spark: the quick way to read counts, people and sums by public groups.

Spark filters, clamps and numbers the groups, row by row. The rest is arithmetic on whole arrays (`spark_tasks`), so
that Spark exchanges a few arrays of bytes in place of rows, and sorts nothing. The driver adds up the totals of the
buckets.

Whether a question is read this way depends on the question, the caps, the bounds, the types of the columns and the
Python of the executors, which are public: this way and the statement choose groups and rows by different hashes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from sitr.backends.failure import CHARGED, failed
from sitr.backends.packed.hashes import Keyed
from sitr.backends.packed.layout import LARGEST, Component, components_of
from sitr.backends.packed.scan import Decoded, position
from sitr.backends.reading import FewGroups, FewInTotal, FewRows, Totals, Tree
from sitr.backends.spark_dialect import INTEGERS
from sitr.backends.spark_engine import by_value, quick_batches
from sitr.backends.spark_probe import FOUND, PROBED, expected
from sitr.backends.spark_probe import sent as probe
from sitr.backends.spark_tasks import ADDED, SENT, TRAVELS, Order, Salted, Shape, parts, totals
from sitr.backends.statement import Writer
from sitr.backends.values import CellNumber, Cut, EachPerson, EachRow, Flag, Granules

WORDS = 2**15
"""The most different words. A task sends no more entries of one person for each of its `spark_tasks.HELD` rows, however
many rows that person has."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Packing:
    """How the rows of a tree are packed: the number of the public group above the components."""

    tree: Totals
    node: FewRows
    components: tuple[Component, ...]
    places: tuple[int | None, ...]
    """For each value of the tree the component that it is computed from; None for those that need none."""

    @property
    def sizes(self) -> list[int]:
        """The number of groups of each key."""
        return [key.cells or 0 for key in self.tree.rows.keys]

    @cached_property
    def shape(self) -> Shape:
        of = self.node.of
        return Shape(
            math.prod(self.sizes),
            tuple((each.shift, each.bits) for each in self.components),
            of.most if isinstance(of, FewGroups) else None,
            self.node.most,
        )


def packing(tree: Tree, types: Mapping[str, str]) -> Packing | None:
    """The packing of a tree whose rows have columns of these types; None if the statement reads it."""
    if not isinstance(tree, Totals) or tree.once or tree.lost or isinstance(tree.of, FewInTotal) or tree.few is None:
        return None
    rows, node = tree.rows, tree.few
    if types.get(rows.person or "") not in INTEGERS or not all(key.cells for key in rows.keys):
        return None
    if tree.beyond and not isinstance(node.of, FewGroups):
        return None
    if not all(isinstance(value, EachRow | EachPerson | Cut | Flag | Granules) for value in rows.values):
        return None
    components, places = components_of(rows.values)
    if any(each.word or not each.sampled for each in components):  # the condition of an EachPerson is the statement's
        return None
    found = Packing(tree, node, components, places)
    bits = found.shape.bits
    return found if found.shape.cells << bits <= WORDS and node.most << bits < LARGEST else None


def scan(packing: Packing, writer: Writer) -> str:
    """SELECT the person and the word of each row."""
    say, keys = writer.dialect, packing.tree.rows.keys
    places = [
        f"k{place}" if isinstance(key, CellNumber) else position(key, f"k{place}", say)
        for place, key in enumerate(keys)
    ]
    components = [f"t{place}" for place in range(len(packing.components))]
    coded = ", ".join(["u", *components, *(f"{say.whole(found)} AS p{place}" for place, found in enumerate(places))])
    word = "0"
    for place, size in enumerate(packing.sizes):
        word = f"({word}) * {size} + p{place}"
    word = f"({word}) * {1 << packing.shape.bits}"
    for name, each in zip(components, packing.components, strict=True):
        word += f" + coalesce({name} - ({each.lowest}), 0) * {1 << each.shift}"
    known = " AND ".join(f"p{place} IS NOT NULL" for place in range(len(keys))) or "TRUE"
    summed = replace(packing.tree.rows, values=tuple(each.source for each in packing.components))
    rows = f"SELECT {coded} FROM ({writer.rows(summed, others=True)}) AS rows"
    return f"SELECT {say.whole('u')} AS u, CAST({word} AS INT) AS w FROM ({rows}) AS coded WHERE {known}"


Ordered = Callable[[Packing, int], Order]
"""The order in which groups and rows are chosen, from the packing and the salt."""


def salted(packing: Packing, salt: int) -> Order:  # noqa: ARG001 - the portable order of tests needs the packing
    """The order in production."""
    return Salted(Keyed.by(salt))


def read(packing: Packing, rows: Any, order: Order) -> list[Row]:
    """The keys, the totals and the number of people of each group, as the statement gives them.

    `rows` is what `scan` selects. A bucket that arrived in two parts would give a person two choices of groups.
    """
    by_value(TRAVELS)
    shape = packing.shape
    buckets = rows.mapInArrow(partial(parts, shape=shape), SENT).repartition("bucket")
    with quick_batches(rows.sparkSession):
        found = buckets.mapInArrow(partial(totals, shape=shape, order=order), ADDED).toArrow()
    numbers, added = ([np.frombuffer(each.as_buffer(), np.int64) for each in found.column(place)] for place in range(2))
    if not numbers:
        return _rows(packing, None)
    arrived = np.concatenate(numbers)
    if len(np.unique(arrived)) != len(arrived):
        raise failed(CHARGED)
    return _rows(packing, np.sum(added, axis=0, dtype=object))


def _rows(packing: Packing, added: Any) -> list[Row]:
    cells = packing.shape.cells
    if added is None:
        added = np.zeros(1 + (4 + 3 * len(packing.components)) * cells, object)
    columns = added[1:].reshape(-1, cells)
    people, cut, rows = columns[0], columns[1], columns[2] + columns[3] * 2**32
    found = []
    for value, place in zip(packing.tree.rows.values, packing.places, strict=True):
        if place is None:
            found.append({EachRow: rows, Cut: cut}.get(type(value), people))
            continue
        present, lower, upper = columns[4 + 3 * place : 7 + 3 * place]
        centre = value.centre if isinstance(value, Granules) else 0
        total = lower + upper * 2**32 + (packing.components[place].lowest - centre) * present
        found.append(total if isinstance(value, Granules) else present)
    keys = Decoded(packing.sizes, packing.tree.rows.keys)
    more = (int(added[0]),) if packing.tree.beyond else ()
    groups = [group for group in range(cells) if people[group]] if packing.tree.rows.keys else [0]
    return [(*keys[group], *(int(column[group]) for column in found), *more, int(people[group])) for group in groups]


LASTING = re.compile(
    r"(ModuleNotFound|Import|Attribute|Type)Error|PYTHON_VERSION_MISMATCH|Cannot run program .*error(=|: )(2|13)\b",
    re.DOTALL,
)
"""What the errors of a cluster say that lacks a library or what is used of it, has another version of Python, or has
none that may be run. A program that cannot be run for want of memory, processes or open files (errors 12, 11 and 24)
can be run later."""
OTHERWISE = "An executor computes something else."


def able(session: Any) -> bool:
    """Whether the executors run these functions; where they do not, the statement reads."""
    return not trouble(session)


def trouble(session: Any, *, attempts: int = 3) -> str:
    """Why the executors do not run these functions; an empty text where they do.

    They need a Python of the driver's version with numpy and pyarrow, and a small job that reads no table runs them on
    fixed rows: what it gives must be what the driver computes. Once it has run, or has shown what is missing, this is
    remembered for the session. A job may also fail because a machine is busy or an executor was lost: it is tried
    again, and nothing is remembered.
    """
    known = _remembered(session)
    if known:
        return known[0]
    by_value(PROBED)
    for _ in range(attempts):
        try:
            rows = session.range(64).mapInArrow(probe(), FOUND).collect()
        except Exception as error:  # noqa: BLE001 - what a cluster refuses has many errors
            found = str(error) or repr(error)
        else:
            found = "" if {bytes(row[0]) for row in rows} == {expected()} else OTHERWISE
        if found in ("", OTHERWISE) or LASTING.search(found):
            known.append(found)
            break
    return found


@lru_cache(maxsize=8)
def _remembered(session: Any) -> list[str]:  # noqa: ARG001 - a list for each session
    return []
