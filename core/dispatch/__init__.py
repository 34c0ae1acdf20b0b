"""Background work beside requests: events, deliveries and mail. No transaction is open during a call."""
