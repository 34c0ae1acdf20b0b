"""The HTTP interface: the /v1 API, and plain routes for certificates, downloads, sign-in and health."""
