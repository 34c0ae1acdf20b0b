"""Parts above a list of records: filter chips and saved views."""
