"""Policies after the sale: search, read, activate, decline, cancel, refund, certificates."""
