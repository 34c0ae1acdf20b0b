"""Claims of the demonstration portfolio."""
