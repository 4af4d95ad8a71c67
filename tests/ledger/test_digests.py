"""Digests of rows are in a file of their own, which only its owner reads, and nowhere else."""

from __future__ import annotations

import pytest

from sitr.errors import LedgerError
from sitr.ledger.digests import digest_key, record, recorded
from sitr.ledger.state import state_folder


def test_a_digest_is_recorded_by_a_keyed_name_for_its_owner_alone() -> None:
    assert recorded("file /data/visits.parquet") is None
    made = record("file /data/visits.parquet", "ab" * 32)
    assert recorded("file /data/visits.parquet") == made
    assert recorded("file /data/other.parquet") is None
    path = state_folder() / "digests.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert "visits" not in path.read_text()
    assert record("file /data/visits.parquet", "cd" * 32) == recorded("file /data/visits.parquet") != made


def test_the_key_of_digests_is_not_that_of_signatures() -> None:
    assert digest_key() == digest_key()
    assert digest_key() not in (state_folder() / "key").read_bytes()


def test_a_file_that_cannot_be_read_is_an_error() -> None:
    (state_folder() / "digests.json").write_text("[1]")
    with pytest.raises(LedgerError, match="cannot be read"):
        recorded("file x")
