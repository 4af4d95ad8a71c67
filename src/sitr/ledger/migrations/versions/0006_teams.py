"""Teams: the sub-budget that an entry is charged to, the request that it answers, the key by which it can be repeated.

An act may be about an earlier act, such as the approval of a request. All columns are empty in older rows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("entries", sa.Column("share", sa.Text))
    op.add_column("entries", sa.Column("request", sa.Integer))
    op.add_column("entries", sa.Column("key", sa.Text))
    op.add_column("acts", sa.Column("about", sa.Integer))
    op.create_index("entries_by_request", "entries", ["request"], unique=True)
    op.create_index("entries_by_key", "entries", ["key"], unique=True)
    op.create_index("acts_by_about", "acts", ["about"])
