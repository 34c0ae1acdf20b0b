"""Policies after their sale: found, read, activated, declined, cancelled, refunded, certified."""
