"""The verbs of the business; each takes the session first and never commits."""
