"""Reconciliation: the file of an insurer or a bank against our records of a month (contract F6)."""
