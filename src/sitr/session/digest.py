"""Whether the rows of a data set were replaced by others: for its steward, who may look at them."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING

from sitr.dataclass import dataclass
from sitr.errors import DescriptionError
from sitr.namespace import Later
from sitr.session.dataset import Dataset

if TYPE_CHECKING:
    from sitr.backends import digest as digests
    from sitr.ledger import digests as store
else:  # no question needs them
    digests, store = Later("sitr.backends.digest"), Later("sitr.ledger.digests")


class Sameness(Enum):
    """What a comparison found."""

    SAME = "same"
    OTHER = "other"
    UNKNOWN = "unknown"
    """No digest was recorded."""


@dataclass(frozen=True, slots=True)
class RowsCompared:
    """The rows now, against those when the digest was recorded."""

    found: Sameness
    since: datetime | None = None


def record(dataset: Dataset) -> datetime:
    """Record a digest of all rows in the steward's own store, in the place of an earlier one."""
    source = _source(dataset)
    return datetime.fromisoformat(store.record(source, digests.digest(dataset._rows(), store.digest_key())).at)


def compare(dataset: Dataset) -> RowsCompared:
    """Compare all rows with the recorded digest. What it says is exact and depends on the rows: keep it to yourself."""
    known = store.recorded(_source(dataset))
    if known is None:
        return RowsCompared(Sameness.UNKNOWN)
    same = digests.digest(dataset._rows(), store.digest_key()) == known.digest
    return RowsCompared(Sameness.SAME if same else Sameness.OTHER, datetime.fromisoformat(known.at))


def _source(dataset: Dataset) -> str:
    source = dataset._where()
    if not source:
        raise DescriptionError(
            given=f"{dataset.table.name} is in memory, and nobody can say later whether it is the same table.",
            do="Write it to Parquet and protect that file.",
        )
    return source
