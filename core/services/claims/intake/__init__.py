"""Claim intake: requests, required documents and lodging."""
