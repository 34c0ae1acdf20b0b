"""Reconciliation on the screens: the form for a file, both tables, and what is done with a difference."""
