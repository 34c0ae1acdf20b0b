"""E-mail on the screens: sending it from a record, the log on a record, and its texts."""
