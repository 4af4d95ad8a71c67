"""The levels of a column: its cells, and above them public groups of cells, such as district, region and country."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.dataset.cells import Axis
from sitr.dataset.literals import shown
from sitr.errors import QuestionError, unknown_name
from sitr.namespace import Later
from sitr.noise.contrasts import Siblings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
else:
    np = Later("numpy")
    Reals = object

Groups = Mapping[str, Sequence[str | int | date]]
"""The groups of a level by label, each with the labels of the finer level that it holds."""


@dataclass(frozen=True, slots=True)
class ColumnLevel:
    """One way to cut a column. Cells with the same parent, in the level above, are siblings and stand together."""

    name: str
    labels: tuple[str, ...]
    siblings: Siblings
    """The sizes of the families of siblings, in order."""
    places: tuple[int, ...]
    """For each cell of the column, the place of its cell on this level."""


@dataclass(frozen=True, slots=True)
class ColumnLevels:
    """The levels of a column, from the coarsest to its cells."""

    axis: Axis
    levels: tuple[ColumnLevel, ...]

    def families(self, level: int) -> Siblings:
        """The families of a level, which are numbered from 1; level 0 is the total."""
        return self.levels[level - 1].siblings

    def size(self, level: int) -> int:
        """The number of cells on a level."""
        return len(self.levels[level - 1].labels) if level else 1

    def empty(self, level: int) -> bool:
        """Whether a level has no siblings, so that it says no more than the level above."""
        return max(self.families(level)) == 1

    def shares(self, low: int, high: int) -> Reals:
        """For each cell of the level `high`, what its estimate takes from the residuals of the level `low`, squared.

        A child is its parent, divided by the size c of its family, plus its own part of the residuals of the family,
        whose squared length is 1 − 1/c. It is one number where all families are of the same size.
        """
        return _shares(tuple(level.siblings for level in self.levels), low, high)


@lru_cache(1024)
def _shares(siblings: tuple[Siblings, ...], low: int, high: int) -> Reals:
    found = np.ones(1)
    for level in range(1, high + 1):
        families = siblings[level - 1]
        if len(set(families)) == 1:
            of: Reals = np.array([float(families[0])])
        else:
            sizes = np.array(families, np.intp)
            of = np.repeat(sizes.astype(np.float64), sizes)
            found = np.repeat(np.broadcast_to(found, sizes.shape), sizes)
        if len(found) > 1 and len(of) == 1:
            found = np.repeat(found, families[0])
        if level == low:
            found = np.ones(1) * (1 - 1 / of)
        elif level > low:
            found = found / of**2
    return found


def ladder(axis: Axis, groups: Mapping[str, Groups] | None = None) -> ColumnLevels:
    """The levels of a column: its cells, and for each name of a coarser level its groups, from fine to coarse.

    >>> from sitr.dataset.cells import Categories, Rule
    >>> from sitr.dataset.schema import Column, Kind
    >>> district = Categories(Column("district", Kind.TEXT), ("a", "b", "c"), missing=Rule.DROP)
    >>> made = ladder(district, {"region": {"north": ["a", "c"], "south": ["b"]}})
    >>> [(level.name, level.labels, level.siblings) for level in made.levels]
    [('region', ('north', 'south'), (2,)), ('district', ('a', 'c', 'b'), (2, 1))]
    """
    cells = [cell.label for cell in axis.cells()]
    names, parents = [axis.column.name], [list(range(len(cells)))]
    labels = [cells]
    for name, given in (groups or {}).items():
        arguments.mapping(given, name=name, example='{"north": ["a", "b"]}')
        found, parent = _grouped(name, given, labels[-1], ordinary=axis.ordinary if len(labels) == 1 else None)
        names.append(name)
        labels.append(found)
        parents.append(parent)
    return ColumnLevels(axis, tuple(_levels(names, labels, parents, cells=len(cells))))


def _grouped(name: str, given: Groups, finer: list[str], *, ordinary: int | None) -> tuple[list[str], list[int]]:
    """The labels of the groups, and the group of each finer label; special cells are groups of their own."""
    found, at = list(given), {label: place for place, label in enumerate(finer)}
    parent: dict[int, int] = {}
    for place, (group, members) in enumerate(given.items()):
        arguments.several(members, name=group, example='["a", "b"]')
        for member in map(str, members):  # keys such as 17 are shown, and may be given, as numbers or as texts
            if member not in at:
                raise unknown_name(member, finer, lacks=f"The level {name!r} lists a value that does not exist:")
            if at[member] in parent:
                raise QuestionError(
                    wanted=f"each value in one group of the level {name!r}",
                    given=f"{member!r} in two groups",
                    do="List every value once.",
                )
            parent[at[member]] = place
    left = [label for place, label in enumerate(finer) if place not in parent]
    special = set(finer[ordinary:]) if ordinary is not None else {label for label in finer if label.startswith("(")}
    if strangers := [label for label in left if label not in special or label in given]:
        raise QuestionError(
            wanted=f"a group of the level {name!r} for every value",
            given=f"none for {shown(strangers[0])}",
            do="List every value once; a group of one value is allowed.",
        )
    for label in left:
        parent[at[label]] = len(found)
        found.append(label)
    return found, [parent[place] for place in range(len(finer))]


def _levels(
    names: Sequence[str], labels: Sequence[list[str]], parents: Sequence[list[int]], *, cells: int
) -> Iterable[ColumnLevel]:
    """From the coarsest level on, in an order in which siblings stand together."""
    above = [0] * len(labels[-1])  # the place of each cell's parent, in the order of the level above
    for level in range(len(names) - 1, -1, -1):
        order = sorted(range(len(labels[level])), key=lambda cell: above[cell])
        place = {cell: at for at, cell in enumerate(order)}
        sizes: dict[int, int] = {}
        for cell in order:
            sizes[above[cell]] = sizes.get(above[cell], 0) + 1
        lifted = list(range(cells))
        for finer in range(1, level + 1):
            lifted = [parents[finer][cell] for cell in lifted]
        yield ColumnLevel(
            names[level],
            tuple(labels[level][cell] for cell in order),
            tuple(sizes[at] for at in sorted(sizes)),
            tuple(place[cell] for cell in lifted),
        )
        if level:
            above = [place[parents[level][cell]] for cell in range(len(labels[level - 1]))]
