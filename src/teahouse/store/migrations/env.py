"""Alembic's way in: it gets the connection that the store has opened."""

from __future__ import annotations

from alembic import context

from teahouse.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
