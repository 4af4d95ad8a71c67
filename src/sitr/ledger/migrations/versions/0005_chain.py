"""The chain: a signed record of every row, which holds the hash of the record before. Acts are rows of their own.

Entries also hold the hashes of the plan and of the description; they are empty in older entries.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sitr.ledger import postgres

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("entries", sa.Column("plan", sa.Text))
    op.add_column("entries", sa.Column("description", sa.Text))
    op.create_table(
        "acts",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("dataset", sa.Text),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
    )
    op.create_index("acts_by_kind", "acts", ["kind", "dataset"])
    op.create_table(
        "records",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("table", sa.Text, nullable=False),
        sa.Column("row", sa.Text, nullable=False),
        sa.Column("before", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("signer", sa.Text, nullable=False),
        sa.Column("signature", sa.Text, nullable=False),
    )
    op.create_index("records_by_row", "records", ["table", "row"], unique=True)
    for table in ("acts", "records"):
        _guard(table)


def _guard(table: str) -> None:
    """Forbid every way to change a row, as for accounts and entries."""
    if op.get_bind().dialect.name == "postgresql":
        for statement in postgres.guards(table):
            op.execute(statement)
        return
    refuse = "BEGIN SELECT RAISE(ABORT, 'a ledger only grows: what is written stays'); END"
    op.execute(f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}")
    op.execute(f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {refuse}")
    exists = f"EXISTS (SELECT 1 FROM {table} WHERE number = NEW.number)"
    op.execute(f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {exists} {refuse}")
