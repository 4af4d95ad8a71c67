"""How alembic runs the revisions: in the connection and transaction that `migrate.upgrade` passes on."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.attributes["version_table"],
)
context.run_migrations()
