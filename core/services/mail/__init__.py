"""E-mail: rows of the outbox, written in the transaction of their cause (contract W1)."""
