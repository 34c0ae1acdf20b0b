"""Selling: one sale from request to certificate, its number, and the guard against selling a risk twice."""
