"""A receipt: where an answer stands in the ledger, and where its noise came from."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from sitr.accounting.filter import Filter
from sitr.dataclass import dataclass
from sitr.dataset.schema import Table
from sitr.flavors.computational import ComputationalDP
from sitr.flavors.promise import Promise
from sitr.ledger.departure import Departure
from sitr.ledger.entry import Entry
from sitr.ledger.ledger import Ledger
from sitr.noise.coins import Coins, Provenance


@dataclass(frozen=True, slots=True)
class Paid:
    """The charge to another data set for the same question, which joins it."""

    dataset: str
    neighbors: str
    entry: Entry
    standing: Filter
    """The budget right after the charge."""
    ledger: Ledger | None = field(default=None, repr=False, compare=False)

    def before(self) -> Filter:
        """The budget right before the charge."""
        return self.standing.before(self.entry.price)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The proof that an answer was paid for; every answer carries one."""

    dataset: str
    neighbors: str
    """Who is protected, such as "person (patient_id), add-remove"."""
    entry: Entry
    standing: Filter
    """The budget right after the charge."""
    private: bool = True
    """False if the noise was drawn with test coins: then the numbers protect nobody."""
    kept: Path | str | None = None
    """The file that keeps what was released, beside the ledger, or the address of a ledger that keeps it itself."""
    sha256: str = ""
    """The hash of what was released, which the ledger records too."""
    again: bool = False
    """Whether this is the kept answer to an earlier question: then nothing was spent and no rows were read."""
    alike: bool = False
    """Whether it was kept for another plan, which has the same measurements and shows them in another way."""
    ledger: Ledger | None = field(default=None, repr=False, compare=False)
    """The ledger that was charged."""
    beside: tuple[Paid, ...] = ()
    """What was charged to other data sets, which the question joins."""
    coins: Provenance = Provenance.KEYED
    """Where private noise came from."""
    departures: tuple[Departure, ...] = ()
    """The deadline of each stage, and when it left; none if answers leave when they are ready."""

    @classmethod
    def of(
        cls,
        entry: Entry,
        standing: Filter,
        coins: Coins,
        *,
        table: Table,
        ledger: Ledger | None = None,
        beside: tuple[Paid, ...] = (),
    ) -> Receipt:
        """The receipt of a charge for this table, whose noise is drawn with these coins."""
        provenance = Provenance.of(coins)
        private = provenance is not Provenance.TEST
        return cls(
            table.called, table.neighbors(), entry, standing, private, ledger=ledger, beside=beside, coins=provenance
        )

    @property
    def provenance(self) -> Provenance:
        """Where the noise came from, private or not."""
        return self.coins if self.private else Provenance.TEST

    def guarantee(self, promise: Promise, /) -> Promise | None:
        """A promise of truly random noise as these coins keep it: computational for a keyed generator, none for tests.

        [MPRV09]
        """
        match self.provenance:
            case Provenance.HARDWARE:
                return promise
            case Provenance.KEYED:
                return ComputationalDP(promise)
        return None

    def before(self) -> Filter:
        """The budget right before the charge."""
        return self.standing.before(self.entry.price)
