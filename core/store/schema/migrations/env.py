"""Alembic's entry: migrations run on the connection that `migrate` hands over."""

from alembic import context
from sqlmodel import SQLModel

import core.store.schema.tables  # noqa: F401 - metadata is complete once it is imported

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=SQLModel.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
