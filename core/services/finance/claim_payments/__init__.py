"""Claims paid from a file of payments."""
