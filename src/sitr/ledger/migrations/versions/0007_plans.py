"""Plans: the text of each plan that was charged, once, under the hash that the entries of its charges hold.

Entries also say if their noise was drawn with test coins. On PostgreSQL a function opens the account of a period, so
that an analyst, who may not open budgets, can.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sitr.ledger import postgres

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("entries", sa.Column("coins", sa.Text))
    op.create_table(
        "plans",
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        for statement in (*postgres.guards("plans"), *postgres.period_opener()):
            op.execute(statement)
        return
    refuse = "BEGIN SELECT RAISE(ABORT, 'a ledger only grows: what is written stays'); END"
    op.execute(f"CREATE TRIGGER plans_no_update BEFORE UPDATE ON plans {refuse}")
    op.execute(f"CREATE TRIGGER plans_no_delete BEFORE DELETE ON plans {refuse}")
    exists = "EXISTS (SELECT 1 FROM plans WHERE sha256 = NEW.sha256)"
    op.execute(f"CREATE TRIGGER plans_no_replace BEFORE INSERT ON plans WHEN {exists} {refuse}")
