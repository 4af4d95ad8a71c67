"""The rows behind synthetic ones as a backend reads them: for every counted row, its cell number in each column."""

from __future__ import annotations

from sitr.dataclass import dataclass
from sitr.dataset.cells import Drawable, Grid
from sitr.dataset.schema import Table
from sitr.errors import DescriptionError
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Person, Unit
from sitr.sensitivity.bounded import rows


@dataclass(frozen=True, slots=True)
class Sheet:
    """The cell numbers of at most `most_rows` rows of every unit, chosen by a keyed hash of the unit's own rows."""

    axes: tuple[Drawable, ...]
    unit: Unit
    relation: Relation
    most_rows: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.column.name for axis in self.axes)

    @property
    def grid(self) -> Grid:
        """The cells of all columns together."""
        return Grid(self.axes)

    def distance(self) -> Distance:
        """How far one unit moves any table of counts of these rows."""
        return rows(self.most_rows, relation=self.relation)


def sheet(table: Table, axes: tuple[Drawable, ...], *, rows_per_person: int | None = None) -> Sheet:
    """The rows of a described data set; by default a person keeps as many as in a question without groups."""
    if rows_per_person is None:
        return Sheet(axes, table.unit, table.relation, table.most_rows)
    whole = isinstance(rows_per_person, int) and not isinstance(rows_per_person, bool)
    if not isinstance(table.unit, Person):
        raise DescriptionError(
            given=f"rows_per_person={rows_per_person!r} does not apply to a data set that protects each row.",
            do="Leave it out, or protect the data set with a person as the unit.",
        )
    if not whole or rows_per_person < 1:
        raise DescriptionError(
            wanted="rows_per_person to be a whole number of at least 1",
            given=repr(rows_per_person),
            do="Choose the number of rows that most people have; a random choice of each person's rows is kept.",
        )
    return Sheet(axes, table.unit, table.relation, rows_per_person)
