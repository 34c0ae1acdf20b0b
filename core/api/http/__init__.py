"""What every route shares: envelope, bodies, errors, OpenAPI, idempotent POST."""
