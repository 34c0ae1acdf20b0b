"""The audit log: writing and reading it."""
