"""Distributors and their API keys."""
