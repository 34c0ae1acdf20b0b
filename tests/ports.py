"""Ports on which a test's server may listen, and what is answered there."""

import http.client
import socket
from urllib.parse import urlsplit


def free_port() -> int:
    """A port of this machine on which nobody listens now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def get_status(url: str, *, timeout: float = 20) -> int | None:
    """Return the status of the answer to a GET; None while nobody answers.

    Whoever waits for a server asks often: a client of `httpx`, which loads all certificates first, would take the time
    that the server needs to start.
    """
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=timeout)
    try:
        connection.request("GET", parts.path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
