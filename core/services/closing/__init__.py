"""Closing a month of the books: its check list, and the steps that two people make (contract F7)."""
