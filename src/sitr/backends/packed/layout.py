"""Which trees are read by packed rows, and where each value stands in a packed row.

Both follow from the tree and the types of the columns, which are public: no number of rows and no range of values
decides between this way and the statement. The two choose by different hashes, so that such a decision would be an
answer about the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sitr.backends.duckdb_dialect import PLAIN_INTEGERS
from sitr.backends.packed.groups import NUMBER_BITS
from sitr.backends.reading import FewInTotal, FewRows, Totals, Tree
from sitr.backends.values import Cut, EachPerson, EachRow, Flag, Granules, Key, Tallied, Value
from sitr.dataset.schema import Kind, Quantised
from sitr.questions.aggregate.expressions.typed import Typed

WORD = 62
"""The bits of a packed word: DuckDB computes in 64-bit integers with a sign, and refuses to shift into it."""
MOST_WORDS = 4
"""With more, the statement is quicker."""
MOST_CELLS = 2**20
"""Up to this many public groups, totals are arrays with one place for each of them."""
LARGEST = 2**62
"""No sum over the kept rows of one person and group reaches it, so that none overflows."""

INTEGER_IDS = (*PLAIN_INTEGERS, *(f"U{each}" for each in PLAIN_INTEGERS))
TEXT_IDS = ("VARCHAR", "UUID", "HUGEINT", "UHUGEINT")
"""Types of ids whose texts are equal if and only if the ids are."""


@dataclass(frozen=True, slots=True)
class Component:
    """What some values need of a row, as a number of some bits in one of the words.

    With `to`, it is 0 where the value is missing, and otherwise the granules above the lowest, plus 1. Without, it is a
    flag of one bit.
    """

    source: Granules | Tallied | Flag | EachPerson
    bits: int
    word: int
    shift: int

    @property
    def to(self) -> Quantised | None:
        return self.source.to if isinstance(self.source, Tallied) else None

    @property
    def lowest(self) -> int:
        """What a packed 1 stands for, minus 1."""
        return 0 if self.to is None else self.to.lower - 1

    @property
    def sampled(self) -> bool:
        """Whether it matters which rows are kept: of a condition on people all rows count."""
        return not isinstance(self.source, EachPerson)


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows of a tree are packed: public groups above the components of the first word, if they fit."""

    tree: Totals
    node: FewRows
    text: bool
    """Whether people are identified by texts."""
    components: tuple[Component, ...]
    bits: tuple[int, ...]
    """The bits of the components in each word."""
    places: tuple[int | None, ...]
    """For each value of the tree the component that it is computed from; None for those that need none.

    A `Flag` that is computed from a number counts the rows in which this number is not missing.
    """

    @property
    def tallied(self) -> frozenset[int]:
        """The components whose values are tallied, by place."""
        pairs = zip(self.places, self.tree.rows.values, strict=True)
        return frozenset(place for place, value in pairs if isinstance(value, Tallied) and place is not None)

    @property
    def listed(self) -> tuple[int, ...]:
        """The keys whose groups are public, by place."""
        return tuple(place for place, key in enumerate(self.tree.rows.keys) if key.cells is not None)

    @property
    def found(self) -> tuple[int, ...]:
        """The keys whose groups are found in the rows, by place."""
        return tuple(place for place, key in enumerate(self.tree.rows.keys) if key.cells is None)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of groups of each public key."""
        return tuple(self.tree.rows.keys[place].cells or 0 for place in self.listed)

    @property
    def cells(self) -> int:
        return math.prod(self.sizes)

    @property
    def dense(self) -> bool:
        """Whether the groups are all public and few, so that their numbers are known before any row is read."""
        return not self.found and self.cells <= MOST_CELLS

    @property
    def code_bits(self) -> int:
        """The bits of the number of a public group."""
        return max(self.cells - 1, 0).bit_length()

    @property
    def number_bits(self) -> int:
        """The bits of the number of a group in totals, at most, whatever the rows are."""
        return self.code_bits if self.dense else NUMBER_BITS

    @property
    def code_packed(self) -> bool:
        """Whether the number of the group is packed above the components, and not a column of its own."""
        return self.dense and len(self.bits) == 1 and self.bits[0] + self.code_bits <= WORD


def layout(tree: Tree, types: Mapping[str, str]) -> Layout | None:
    """The layout of a tree whose rows have columns of these types; None if the statement reads it."""
    if not isinstance(tree, Totals) or tree.once or tree.lost or isinstance(tree.of, FewInTotal) or tree.few is None:
        return None
    node, kind = tree.few, types.get(tree.rows.person or "", "")
    text = kind in TEXT_IDS or kind.startswith("DECIMAL")
    if not text and kind not in INTEGER_IDS:
        return None
    if not all(isinstance(value, EachRow | EachPerson | Cut | Flag | Granules | Tallied) for value in tree.rows.values):
        return None
    if any(isinstance(key, Key) and not key.of.keys and key.cells == 0 for key in tree.rows.keys):
        return None
    components, places = components_of(tree.rows.values)
    if any(node.most << component.bits >= LARGEST for component in components):  # so none has more than 61 bits
        return None
    bits = tuple(
        sum(component.bits for component in components if component.word == word)
        for word in range(max((component.word for component in components), default=0) + 1)
    )
    found = Layout(tree, node, text, components, bits, places)
    # The number of a public group is computed in 64 bits, and so is a pair of any group and a tallied value. What may
    # not fit is left to the statement by what is public, never by the groups that there are.
    if len(bits) > MOST_WORDS or found.cells >= LARGEST:
        return None
    return None if any(components[place].bits + found.number_bits > WORD for place in found.tallied) else found


def components_of(values: tuple[Value, ...]) -> tuple[tuple[Component, ...], tuple[int | None, ...]]:
    """Values that differ only in their centre, or in being summed or tallied, share a component."""
    sources: list[Tallied | Flag | EachPerson | None] = [_source(value) for value in values]
    numbers = {(source.of, source.where): source for source in reversed(sources) if isinstance(source, Tallied)}
    sources = [_of_number(source, numbers) for source in sources]
    each = list(dict.fromkeys(source for source in sources if source is not None))
    found, word, shift = [], 0, 0
    for source in each:
        bits = 1
        if isinstance(source, Tallied):
            bits = (source.to.upper - source.to.lower + 1).bit_length()
        if shift + bits > WORD:
            word, shift = word + 1, 0
        found.append(Component(source, bits, word, shift))
        shift += bits
    return tuple(found), tuple(None if source is None else each.index(source) for source in sources)


def _of_number(
    source: Tallied | Flag | EachPerson | None, numbers: Mapping[tuple[Typed, Typed | None], Tallied]
) -> Tallied | Flag | EachPerson | None:
    """The number that says whether its own column has a value, in place of a flag that says the same."""
    if not isinstance(source, Flag) or source.of is None or source.of.column is None:
        return source
    numeric = source.of.kind in (Kind.INTEGER, Kind.REAL)
    return numbers.get((source.of, source.where), source) if numeric else source


def _source(value: Value) -> Tallied | Flag | EachPerson | None:
    match value:
        case Granules(of, to, _, where):
            return Tallied(of, to, where)
        case Tallied() | Flag() | EachPerson(where=Typed()):
            return value
    return None
