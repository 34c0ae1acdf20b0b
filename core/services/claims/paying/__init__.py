"""Paying claims by finance."""
