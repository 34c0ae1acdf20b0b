"""Screens of renewals: what is due, calls and reminders, and renewing several at once."""
