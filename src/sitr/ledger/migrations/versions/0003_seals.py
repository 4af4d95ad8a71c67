"""Seals: the hashes of what was released for an entry, and triggers that refuse to change or delete them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sitr.ledger import postgres

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "seals",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("entry", sa.Integer, sa.ForeignKey("entries.number"), nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
    )
    op.create_index("seals_by_entry", "seals", ["entry", "kind"])
    op.create_index("seals_by_hash", "seals", ["sha256"])
    if op.get_bind().dialect.name == "postgresql":
        _on_postgresql()
        return
    refuse = "BEGIN SELECT RAISE(ABORT, 'a ledger only grows: what is written stays'); END"
    op.execute(f"CREATE TRIGGER seals_no_update BEFORE UPDATE ON seals {refuse}")
    op.execute(f"CREATE TRIGGER seals_no_delete BEFORE DELETE ON seals {refuse}")
    exists = "EXISTS (SELECT 1 FROM seals WHERE number = NEW.number)"
    op.execute(f"CREATE TRIGGER seals_no_replace BEFORE INSERT ON seals WHEN {exists} {refuse}")


def _on_postgresql() -> None:
    """The guard, and the answers themselves: beside a SQLite file they are files.

    Answers are no part of the chain, which holds their hashes only, so that they can be deleted.
    """
    for statement in postgres.guards("seals"):
        op.execute(statement)
    op.create_table(
        "answers",
        sa.Column("entry", sa.Integer, sa.ForeignKey("entries.number"), primary_key=True, autoincrement=False),
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
    )
