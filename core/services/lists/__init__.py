"""Lists: what a list of records is, its columns, and how its rows are read and written to files."""
