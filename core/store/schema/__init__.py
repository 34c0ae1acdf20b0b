"""Tables, column types and migrations."""
