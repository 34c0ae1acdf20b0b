"""Business operations; each takes the session first and never commits."""
