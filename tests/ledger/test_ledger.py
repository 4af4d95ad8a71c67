from __future__ import annotations

from pathlib import Path

from sitr.flavors.pure import PureDP
from sitr.ledger.ledger import Ledger
from sitr.ledger.sql import SqlLedger


def test_the_sql_ledger_is_a_ledger(path: Path) -> None:
    ledger: Ledger = SqlLedger(path)  # the type checker compares the signatures
    promised = {name for name in vars(Ledger) if not name.startswith("_")}
    opened, asked = (
        {"open", "account", "accounts", "standing", "check"},
        {"charge", "entries", "charged", "paid", "asked"},
    )
    assert promised == opened | asked | {"seal", "seals", "keyed", "plan"}
    assert promised < {name for name in vars(SqlLedger) if not name.startswith("_")}
    assert ledger.open("clinic", promise=PureDP(1.0), neighbors="row, add-remove") == ledger.account("clinic")
