"""What a backend must do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, overload

from sitr.dataset.schema import Kind, Table
from sitr.errors import SourceError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from sitr.backends.reading import Reading
    from sitr.questions.aggregate.bind import BoundedQuery, Cells
    from sitr.questions.histogram.tally import Tally
    from sitr.questions.statistic.numbers import Numbers
    from sitr.questions.synthetic.axes import Codes
    from sitr.questions.synthetic.sheet import Sheet


class Backend(Protocol):
    """The rows of one table."""

    def kinds(self) -> dict[str, Kind]:
        """The columns and what they hold; reads no rows."""

    def schema(self) -> pa.Schema:
        """The columns with their Arrow types; reads no rows."""

    def verify(self) -> None:
        """Read every row once, when the data set is protected; `SourceError` if a value cannot be read."""

    def size(self) -> int:
        """The number of rows. Show it only where neighbors replace a row, because only then it is public."""

    @overload
    def read(self, reading: BoundedQuery, *, salt: int) -> Cells: ...
    @overload
    def read(self, reading: Tally, *, salt: int) -> dict[Any, Any]: ...
    @overload
    def read(self, reading: Sheet, *, salt: int) -> Codes: ...
    @overload
    def read(self, reading: Numbers, *, salt: int) -> NDArray[np.float64]: ...
    def read(self, reading: Reading, *, salt: int) -> Any:
        """The exact integers (for `Numbers`, the doubles) that the reading describes.

        `salt` decides which groups and rows of a person are kept, as `reading` proves. The only error that depends on
        the rows is `BackendFailure`, whose text is always the same.

        - `BoundedQuery`: the keys of each group that has rows, with one integer for each term and the number of people.
        - `Tally`: the number of each cell that has rows, with its count; without a grid, as for its query.
        - `Sheet`: the cell numbers of each kept row, one column for each axis.
        - `Numbers`: one number for each row, in the order of the rows.
        """


def check_unchanged(backend: Backend, table: Table) -> None:
    """The columns must be those that were described, or the checks made on the description mean nothing."""
    found = backend.kinds()
    described = {column.name: column.kind for column in table.columns}
    if found != described:
        differing = sorted(
            name for name in found.keys() | described.keys() if found.get(name) is not described.get(name)
        )
        raise SourceError(
            given=f"In {table.name}, {', '.join(differing)} are missing, new or of another type than described.",
            do="Protect the data set again if the change is intended; nothing was spent.",
        )
