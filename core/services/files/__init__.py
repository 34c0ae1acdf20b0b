"""Files that somebody sent: judged from their bytes, kept, linked to, opened."""
