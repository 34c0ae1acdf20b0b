"""Claim lists: API records, search and the desk queue."""
