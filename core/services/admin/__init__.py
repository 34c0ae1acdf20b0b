"""The office's own books: the audit log, the audit of the store, the state of the installation."""
