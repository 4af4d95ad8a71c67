"""A question that joins several data sets is charged to each of them: every such entry names the others, as JSON."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("entries", sa.Column("beside", sa.Text))
