"""What a backend reads for synthetic rows: for every row that counts, the number of its cell in each column."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.dataset.schema import Table
from sitr.errors import DescriptionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Unit
from sitr.questions.synthetic.axes import Axis
from sitr.sensitivity.bounded import bounded


@dataclass(frozen=True, slots=True)
class Sheet:
    """At most `most_rows` rows of every unit, chosen by a keyed hash of the unit's own rows alone."""

    axes: tuple[Axis, ...]
    unit: Unit
    relation: Relation
    most_rows: int

    def distance(self) -> Distance:
        """How far one unit moves any table of counts of these rows.

        Each of its m rows is in one cell: adding or removing them moves the counts by at most m in sum, and no vector
        is longer than the sum of its sizes. Replacing takes away at most m and adds at most m: ‖a − b‖² ≤ 2m².

        >>> Sheet((), Person("id"), Relation.REPLACE_ONE, 3).distance()
        Distance(l1=6, l2_squared=18, largest=3)
        """
        return bounded(low=0, high=self.most_rows, groups=1, cells=None, relation=self.relation)


def sheet(table: Table, axes: tuple[Axis, ...], *, rows_per_person: int | None = None) -> Sheet:
    """The rows of a described data set; a person keeps as many as in a question without groups, unless said here."""
    if rows_per_person is None:
        return Sheet(axes, table.unit, table.relation, table.max_groups * table.max_rows_per_group)
    whole = isinstance(rows_per_person, int) and not isinstance(rows_per_person, bool)
    if not whole or rows_per_person < 1 or not isinstance(table.unit, Person):
        raise DescriptionError(
            wanted="rows_per_person is a whole number of at least 1, for a data set that protects persons.",
            given=f"{rows_per_person!r} was given for a data set that protects each {table.neighbors()}.",
            do="Choose what most people have; whatever a person has beyond it is left out at random.",
        )
    return Sheet(axes, table.unit, table.relation, rows_per_person)
