"""Sellers, offers and customers of the demonstration portfolio."""
