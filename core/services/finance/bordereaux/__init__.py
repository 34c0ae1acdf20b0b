"""Bordereaux: premium and claims reported to insurers, each row once with its own date (contract F5)."""
