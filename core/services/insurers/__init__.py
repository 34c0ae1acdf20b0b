"""Insurers: what they have to be told, what they answered, and how their connections do."""
