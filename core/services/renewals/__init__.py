"""Renewals: what is due, what one more term costs, and buying it."""
