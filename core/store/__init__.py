"""The database: schema and migrations, access (sessions and transactions), roll-ups, and operations such as backup."""
