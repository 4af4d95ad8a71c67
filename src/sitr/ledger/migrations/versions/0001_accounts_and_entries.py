"""Accounts and entries, and triggers that refuse to change or delete them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sitr.ledger import postgres

revision = "0001"
down_revision = None

_KEYS = {"accounts": "dataset", "entries": "number"}


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("dataset", sa.Text, primary_key=True),
        sa.Column("promise", sa.Text, nullable=False),
        sa.Column("neighbors", sa.Text, nullable=False),
        sa.Column("opened", sa.Text, nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("dataset", sa.Text, sa.ForeignKey("accounts.dataset"), nullable=False),
        sa.Column("price", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
    )
    op.create_index("entries_by_price", "entries", ["dataset", "price"])
    for table, key in _KEYS.items():
        _guard(table, key)


def _guard(table: str, key: str) -> None:
    """Forbid every way to change a row.

    The third trigger is for INSERT OR REPLACE, which deletes the old row without firing the trigger on DELETE.
    """
    if op.get_bind().dialect.name == "postgresql":
        for statement in postgres.guards(table):
            op.execute(statement)
        return
    refuse = "BEGIN SELECT RAISE(ABORT, 'a ledger only grows: what is written stays'); END"
    op.execute(f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}")
    op.execute(f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {refuse}")
    exists = f"EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key})"
    op.execute(f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {exists} {refuse}")
