"""Calls to addresses that others chose, and mail: guarded, limited in time and size."""
