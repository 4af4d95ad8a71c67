"""The number of the public cell that a row is in, as an SQL expression; NULL if the row has none."""

from __future__ import annotations

from collections.abc import Mapping

from sitr.backends.codes import code
from sitr.backends.tally import number
from sitr.dataset.cells import Grid
from sitr.questions.synthetic.axes import Axis


def cell_number(of: Grid | Axis, types: Mapping[str, str]) -> str:
    """`types` are the engine's types of the columns."""
    return number(of, types) if isinstance(of, Grid) else code(of)
