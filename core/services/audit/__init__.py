"""The audit log, written and searched, and the answers that idempotency keys are given again."""
