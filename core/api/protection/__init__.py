"""Rate limits, load shedding and slow senders (contract E7)."""
