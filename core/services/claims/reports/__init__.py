"""Figures on claims."""
