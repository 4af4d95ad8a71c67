"""Seals: the hashes of what was released for an entry, and triggers that refuse to change or delete them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "seals",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("entry", sa.Integer, sa.ForeignKey("entries.number"), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_index("seals_by_entry", "seals", ["entry", "kind"])
    op.create_index("seals_by_hash", "seals", ["sha256"])
    refuse = "BEGIN SELECT RAISE(ABORT, 'a ledger only grows: what is written stays'); END"
    op.execute(f"CREATE TRIGGER seals_no_update BEFORE UPDATE ON seals {refuse}")
    op.execute(f"CREATE TRIGGER seals_no_delete BEFORE DELETE ON seals {refuse}")
    exists = "EXISTS (SELECT 1 FROM seals WHERE number = NEW.number)"
    op.execute(f"CREATE TRIGGER seals_no_replace BEFORE INSERT ON seals WHEN {exists} {refuse}")
