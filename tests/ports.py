"""Ports on which a test's server may listen."""

import socket


def free_port() -> int:
    """A port of this machine on which nobody listens now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
