"""What runs beside requests: events out of the log, deliveries and mail; no transaction is open during a call."""
