"""Renewals: due policies, the price of the next term, and renewing."""
