"""Money: movements and their corrections, agreements, statements and payments (contract F1 to F4)."""
