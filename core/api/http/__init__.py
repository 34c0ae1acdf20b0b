"""Shared by all routes: envelope, bodies, errors, OpenAPI, idempotent POST."""
