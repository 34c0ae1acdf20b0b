"""Credit notes of refunds: approved within limits, paid by another person, and aged while they are not."""
