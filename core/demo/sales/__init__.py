"""Sales of the demonstration portfolio and what becomes of them."""
