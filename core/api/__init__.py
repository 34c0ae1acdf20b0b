"""The counter: the /v1 API, and the plain routes that stand beside it."""
