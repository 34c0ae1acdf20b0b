"""The outbox: what waits to be sent, however it is sent (contract W1)."""
