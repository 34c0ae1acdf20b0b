"""Events, the feed, webhooks and mail."""
