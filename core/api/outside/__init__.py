"""Plain routes beside /v1: certificates, downloads, sign-in, health."""
