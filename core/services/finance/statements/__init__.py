"""Statements of account: prepared, proved, moved on, read, and written as files (contract F3)."""
