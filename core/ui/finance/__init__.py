"""Screens of finance: movements, agreements, statements and payments."""
