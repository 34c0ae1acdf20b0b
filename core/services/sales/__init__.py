"""Sales as they are read: lists, totals, and the figures of the dashboard."""
