"""Webhooks: endpoints of distributors, deliveries of events to them, their log and replay (contract W3-W5, W7)."""
