"""Selling: the sale itself, policy numbers, and the duplicate guard."""
