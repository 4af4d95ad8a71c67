from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest

from sitr.flavors.pure import PureDP
from sitr.ledger.entry import Account, Entry

NOW = datetime(2025, 1, 2, tzinfo=UTC)


def test_values_cannot_be_changed() -> None:
    account = Account("clinic", PureDP(1.0), "row, add-remove", NOW)
    entry = Entry(1, "clinic", PureDP(0.5), "COUNT(*)", NOW, "noor", "0.1.0")
    with pytest.raises(FrozenInstanceError):
        account.promise = PureDP(9.0)  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        entry.price = PureDP(0.0)  # type: ignore[misc]
