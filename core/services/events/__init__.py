"""Events: what happened, made of the audit log, and the feed that misses none (contract W2, W6)."""
