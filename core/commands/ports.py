"""A port to listen on: refused when it is taken or not of this machine, before anything slow begins."""

import errno
import socket

from core.errors import InvalidSetting


def refuse_used(host: str, port: int) -> None:
    """InvalidSetting where nobody can listen, before an address is promised."""
    try:
        for family, kind, _, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tried.bind(place)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = f"is taken: choose another, such as `--port {port + 1}` or `make run PORT={port + 1}`"
        else:
            why = f"of {host} cannot be listened on: {error.strerror}"
        raise InvalidSetting(f"Port {port} {why}") from None
