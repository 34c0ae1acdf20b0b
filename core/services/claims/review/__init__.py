"""A claim as its officer reviews it."""
