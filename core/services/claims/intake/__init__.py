"""Lodging a claim and its documents."""
