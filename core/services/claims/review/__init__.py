"""Data for the officer's review of one claim."""
