"""Examples for the API page that are made by the real services."""
