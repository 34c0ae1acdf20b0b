"""Payments: what is due to and from each party, payout batches in two hands, and what each payment settles."""
