"""Examples for the API page, built by the real services."""
