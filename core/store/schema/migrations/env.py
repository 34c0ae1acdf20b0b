"""Alembic's entry: migrations run on the connection that `migrate` hands over."""

from alembic import context

from core.store.schema import migrating, tables

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=tables.metadata(),
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
    include_object=migrating.is_compared,
)
with context.begin_transaction():
    context.run_migrations()
