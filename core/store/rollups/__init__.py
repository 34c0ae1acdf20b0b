"""Daily sums of money and cover, kept in step with the rows they summarise."""
