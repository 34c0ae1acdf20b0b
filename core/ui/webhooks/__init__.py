"""Parts of the screens of webhooks."""
