"""Invented rows to develop code with: the same columns and types, and questions that cost nothing real."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, Unpack, cast

from sitr.backends.duckdb import DuckDB
from sitr.backends.opening import in_zones
from sitr.backends.sources import ArrowRows
from sitr.dataset.literals import shown
from sitr.dataset.publication import Publication
from sitr.dataset.schema import Table
from sitr.errors import DescriptionError
from sitr.flavors.arrows import Kept
from sitr.flavors.price import Amounts, Price, price_of
from sitr.ledger.sql import SqlLedger
from sitr.namespace import needs
from sitr.questions.invented import invented
from sitr.report.words.messages import said
from sitr.report.words.words import in_words
from sitr.session.desk import Desk

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Opened = TypeVar("Opened")
"""The budget of a data set, which a desk becomes."""

MOST = 10_000_000
"""The most rows that are invented at once."""


@dataclass(frozen=True, slots=True, repr=False)
class Dummy(Generic[Opened]):
    """Invented rows with the public description of a data set. They are made from the description alone.

    `table` has them as Arrow, and `budget()` answers questions about them exactly as a real budget would.
    """

    description: Table
    rows: int
    seed: int
    opening: Callable[[Desk], Opened] = field(compare=False)
    """The budget of a desk."""
    promise: Kept | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for name, number, least in (("rows", self.rows, 0), ("seed", self.seed, 0)):
            if type(number) is not int or not least <= number <= MOST:
                raise DescriptionError(
                    wanted=f"a whole number from {least} to {MOST:,} for {name}",
                    given=shown(number),
                    do="Write for example dummy(rows=1000, seed=1).",
                )

    def __repr__(self) -> str:
        return in_words().summary.dummy(self.description, self.rows)

    def __len__(self) -> int:
        return self.rows

    @property
    def table(self) -> pa.Table:
        """The rows as Arrow."""
        return invented(self.description, rows=self.rows, seed=self.seed)

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas frame (needs pandas)."""
        needs("pandas", extra="pandas")
        return cast("pd.DataFrame", self.table.to_pandas())

    def to_polars(self) -> pl.DataFrame:
        """The rows as a polars frame (needs polars)."""
        needs("polars", extra="polars")
        import polars as pl  # noqa: PLC0415 - an extra

        return cast("pl.DataFrame", pl.from_arrow(self.table))

    def budget(self, promise: Price | None = None, **amounts: Unpack[Amounts]) -> Opened:
        """A budget for questions about the invented rows; by default with the promise of the real one.

        Its ledger lies in a temporary folder and is deleted when Python ends. Certificates say that rows are invented.
        """
        whole = self.promise if promise is None and not amounts else price_of(promise, **amounts)
        if whole is None:
            raise DescriptionError(
                given=f"{self.description.name} has no budget yet, so its invented rows have none either.",
                do="Write for example dummy().budget(rho=0.5).",
            )
        folder = tempfile.mkdtemp(prefix="sitr-dummy-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        ledger, account = SqlLedger(Path(folder) / "dummy.db"), self.description.account
        ledger.open(account, promise=whole, neighbors=self.description.neighbors())
        backend = in_zones(DuckDB(ArrowRows(self.table)), self.description)
        return self.opening(
            Desk(self.description, lambda: backend, ledger, account, keep=False, publication=invention())
        )


def invention() -> Publication:
    """What certificates of answers about invented rows say."""
    caveat = said("These rows are invented. The answer says nothing about any real data.")
    return Publication(title=said("Invented rows"), caveats=(caveat,))
