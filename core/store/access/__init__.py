"""Database access: scoped sessions, read and write transactions, compiled statements."""
