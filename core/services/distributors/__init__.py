"""Distributors and the API keys that they sell with."""
