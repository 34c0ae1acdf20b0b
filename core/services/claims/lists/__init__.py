"""Claims as lists, queue and records."""
