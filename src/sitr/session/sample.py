"""The invented hospital as a protected data set: rows, description and ledger in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.dataset.hospital import AGES, INSURANCES, WARDS, hospital
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.namespace import Later
from sitr.session.dataset import protect

if TYPE_CHECKING:
    import pyarrow.parquet as pq
else:  # slow to load, and needed once
    pq = Later("pyarrow.parquet")

BUDGET = ZeroConcentratedDP(0.5)
"""What all answers together may cost."""


@dataclass(frozen=True, slots=True)
class SampleFiles:
    """The files of the invented hospital."""

    data: Path
    description: Path
    ledger: Path

    @classmethod
    def of(cls, folder: Path) -> SampleFiles:
        """The files in a folder."""
        return cls(*(folder / name for name in ("visits.parquet", "visits.sitr.yaml", "sitr.db")))

    def make(self, *, rows: int) -> bool:
        """Write the visits unless they exist. Returns whether they were written."""
        if self.data.exists():
            return False
        self.data.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.data.with_suffix(".unfinished")
        pq.write_table(hospital(rows), unfinished)
        unfinished.replace(self.data)  # an interrupted run leaves no partial file
        return True

    def protect(self) -> None:
        """Write the description unless it exists; an existing ledger is used in any case."""
        if self.description.exists():
            return
        protect(
            self.data,
            unit="patient_id",
            max_groups=4,
            max_rows_per_group=5,
            bounds={"cost": (0, 5_000), "days": (0, 30)},
            granularity={"cost": 0.01},
            keys={"ward": [*WARDS, None], "age_band": AGES, "insurance": INSURANCES},
        ).save(self.description, promise=BUDGET, ledger=self.ledger, second_budget=True)  # its rows are invented


def sample(folder: Path, *, rows: int) -> SampleFiles:
    """The invented hospital in a folder, made if it is missing."""
    found = SampleFiles.of(folder)
    found.make(rows=rows)
    found.protect()
    return found
