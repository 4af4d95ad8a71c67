"""What was spent: budgets and charges, durable before any row is read. Names are loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.ledger.entry import Account as Account
    from sitr.ledger.entry import Entry as Entry
    from sitr.ledger.entry import Seal as Seal
    from sitr.ledger.entry import Sealed as Sealed
    from sitr.ledger.ledger import Ledger as Ledger
    from sitr.ledger.receipt import Receipt as Receipt
    from sitr.ledger.roles import Duty as Duty
    from sitr.ledger.schedule import recorded as recorded
    from sitr.ledger.sql import SqlLedger as SqlLedger
    from sitr.ledger.who import acting as acting

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "Account": "entry",
        "Duty": "roles",
        "Entry": "entry",
        "Ledger": "ledger",
        "Receipt": "receipt",
        "Seal": "entry",
        "Sealed": "entry",
        "SqlLedger": "sql",
        "acting": "who",
        "recorded": "schedule",
    },
)
