"""The ways into the store: sessions with their scope, reading, writing."""
