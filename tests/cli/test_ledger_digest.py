"""`sitr ledger digest`."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from sitr.session.sample import sample
from tests.cli.conftest import Sitr


def test_replaced_rows_are_noticed(sitr: Sitr, tmp_path: Path) -> None:
    sample(tmp_path, rows=2_000)
    description, rows = tmp_path / "visits.sitr.yaml", tmp_path / "visits.parquet"
    asked = sitr("ledger", "digest", description)
    assert (asked.code, "No digest of these rows was recorded" in asked.out) == (1, True)
    assert "and nowhere else" in " ".join(sitr("ledger", "digest", description, "--record").out.split())
    same = sitr("ledger", "digest", description, "--json")
    assert (same.code, same.told()["rows"]) == (0, "same")
    pq.write_table(pq.read_table(rows).slice(1), rows)
    other = sitr("ledger", "digest", description)
    assert (other.code, "What was spent stays spent" in other.out) == (1, True)
    assert "وما أُنفق يبقى منفقًا" in sitr("--lang", "ar", "ledger", "digest", description).out
    assert sitr("ledger", "digest", tmp_path / "none.yaml").code == 2
