"""Customers: found or made by a sale, searched, and read with all that is theirs."""
