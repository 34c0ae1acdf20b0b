"""Customers: get or create on a sale, search, and read."""
