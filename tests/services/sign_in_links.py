"""Links that set a password."""

from urllib.parse import parse_qs, urlsplit

PASSWORD = "correct horse battery"


def ticket_of(link: str) -> str:
    return parse_qs(urlsplit(link).query)["t"][0]
