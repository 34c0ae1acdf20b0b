"""Loan books: a lender's month of credit life from one file, read, previewed, confirmed, sold (contract B1 to B8)."""
