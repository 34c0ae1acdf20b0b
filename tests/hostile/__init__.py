"""Attacks, and the proof that our checks would notice if one worked."""
