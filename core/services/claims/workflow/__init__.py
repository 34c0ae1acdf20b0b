"""Transitions of a claim and what an officer does with it."""
