"""The columns that synthetic rows imitate, each cut into public cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from sitr import arguments
from sitr.dataset.cells import Drawable, Rule, Scale
from sitr.dataset.domain import DeclaredCells, End, drawable
from sitr.dataset.schema import BOUNDS, KEYS, Key, Table
from sitr.errors import DescriptionError, QuestionError
from sitr.namespace import Later
from sitr.neighbors.unit import Person

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
else:
    np = Later("numpy")
    Codes = object

BINS = 64
"""The default number of bins of a column of numbers, dates or timestamps; fewer if it has fewer values."""

MOST_CELLS = 1_000_000
"""The most cells of one marginal: a larger one would hold more noise than data."""

"""Cell numbers, a row for each row of the data and a column for each axis."""


def axes(
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    bins: int | Mapping[str, int] = BINS,
    bounds: Mapping[str, tuple[End, End]] | None = None,
    keys: Mapping[str, Sequence[Key]] | None = None,
    required: Collection[str] = (),
    derived: Collection[str] = (),
    edges: Mapping[str, Sequence[End]] | None = None,
    spikes: Mapping[str, Sequence[End]] | None = None,
    scales: Mapping[str, Scale] | None = None,
) -> tuple[Drawable, ...]:
    """The named columns of a described data set with their cells; by default all columns but the person's id.

    `bounds` and `keys` add to the description or replace parts of it. They are public, or were released earlier and
    paid for. Bounds of dates and timestamps can only be given here. `required` columns have no cell for NULL. `derived`
    columns have no cells, because they are computed from the others. Bins begin and end at the `edges`, if a column has
    any. Each of the `spikes` has a cell of its own. If the scale is `Scale.LOG`, bins grow with the distance from 0. No
    row is read.
    """
    _check_kinds(columns, bounds, keys, required, edges, spikes, scales)
    person = table.unit.column if isinstance(table.unit, Person) else None
    found = {column.name: column for column in table.columns}
    listed = [name for name in found if name != person] if columns is None else list(columns)
    names = [name for name in listed if name not in derived]
    for name in [
        *names,
        *(bounds or {}),
        *(keys or {}),
        *required,
        *(edges or {}),
        *(spikes or {}),
        *(scales or {}),
        *(bins if isinstance(bins, Mapping) else ()),
    ]:
        if name not in found:
            raise table.no_column(name)
    if not names or len(set(names)) < len(names) or person in names:
        raise DescriptionError(
            wanted="one or more different columns, without the one that identifies a person",
            given=f"columns={names!r}",
            do="Name each column to imitate once; synthetic rows belong to nobody and have no id.",
        )
    return tuple(
        drawable(
            found[name],
            DeclaredCells(
                bins=bins.get(name, BINS) if isinstance(bins, Mapping) else bins,
                bounds=(bounds or {}).get(name),
                keys=(keys or {}).get(name),
                missing=Rule.DROP if name in required else Rule.CELL,
                edges=(edges or {}).get(name),
                spikes=(spikes or {}).get(name, ()),
                scale=(scales or {}).get(name, Scale.LINEAR),
            ),
        )
        for name in names
    )


def _check_kinds(
    columns: object, bounds: object, keys: object, required: object, edges: object, spikes: object, scales: object
) -> None:
    if columns is not None:
        arguments.several(columns, name="columns", example='["ward", "cost"]')
    arguments.several(required, name="required", example='["ward"]')
    for name, given, example in (
        ("bounds", bounds, BOUNDS),
        ("keys", keys, KEYS),
        ("edges", edges, '{"age": [0, 18, 65, 120]}'),
        ("spikes", spikes, '{"cost": [0]}'),
        ("scales", scales, '{"cost": Scale.LOG}'),
    ):
        if given is not None:
            arguments.mapping(given, name=name, example=example)
    for listed in (spikes or {}).values():  # type: ignore[attr-defined]
        arguments.several(listed, name="spikes", example='{"cost": [0]}')
    for name, scale in (scales or {}).items():  # type: ignore[attr-defined]
        if not isinstance(scale, Scale):
            raise QuestionError(
                wanted=f"Scale.LINEAR or Scale.LOG for the column {name!r}",
                given=repr(scale),
                do="Take it from sitr.questions.",
            )
