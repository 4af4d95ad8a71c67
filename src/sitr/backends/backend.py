"""What a backend must do."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sitr.dataset.schema import Kind
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.histogram.tally import Tally
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.sheet import Sheet


class Backend(Protocol):
    """Rows of one table."""

    def kinds(self) -> dict[str, Kind]:
        """The columns and what they hold; reads no rows."""

    def verify(self) -> None:
        """Read every row once, when the data set is protected: what cannot be read is a `SourceError` then."""

    def cells(self, query: BoundedQuery, *, salt: int) -> Cells:
        """The exact integers of each cell that has rows, with contributions bounded by the choice that `salt` makes.

        Raises nothing that depends on the rows but `BackendFailure`, whose text is always the same.
        """

    def size(self) -> int:
        """The number of rows: to be told only where neighbours replace a row, so that it is public."""

    def numbers(self, column: str, *, missing: float) -> NDArray[np.float64]:
        """A column, a number for each row in their order; what is no number is `missing`. Raises as `cells` does."""

    def counts(self, tally: Tally, *, salt: int) -> dict[int, int]:
        """The exact count of each public cell that has rows, by its number, bounded as `cells` does it."""

    def schema(self) -> pa.Schema:
        """The columns with their Arrow types; reads no rows."""

    def codes(self, sheet: Sheet, *, salt: int) -> Codes:
        """The cells of each row that counts, a column for each axis; contributions are bounded as `cells` does it."""
