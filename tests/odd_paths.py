"""Paths that lead out of the API, and requests whose path nobody tidies on its way."""

import socket

ODD = ("/v1/policies/../purchase", "/v1/policies/%2e%2e/purchase", "/v1/a%2f..%2fb", "/v1/a%5c..%5cb", "/v1/a/%00/b")


def exchange(port: int, line: str, *headers: str) -> tuple[str, str]:
    """The head and the body of an answer to a request."""
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        lines = (f"{line} HTTP/1.1", "Host: x", "Connection: close", *headers, "", "")
        connection.sendall("\r\n".join(lines).encode())
        head, _, body = connection.makefile("rb").read().decode().partition("\r\n\r\n")
    return head, body
