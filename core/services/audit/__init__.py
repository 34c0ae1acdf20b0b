"""The audit log: writing and searching."""
