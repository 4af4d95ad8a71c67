"""Every entry stores the sum of all charges to its data set, so that a charge reads one entry instead of all.

Both columns are empty in entries of older versions. If they are empty in the last entry, a charge adds up all entries
once.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("entries", sa.Column("charges", sa.Integer))
    op.add_column("entries", sa.Column("paid", sa.Text))
    op.create_index("entries_by_dataset", "entries", ["dataset", "number"])
