"""Failures of a call to an insurer, classified by what resolves them: waiting, a person, or the configuration."""

from typing import Literal

Kind = Literal["unreachable", "slow", "failing", "unreadable", "misdirected", "refused"]


class InsurerFault(Exception):
    """No usable answer; the text is for people and contains nothing of what was sent.

    unreachable  no connection, or it closed without an answer      retried later
    slow         no answer within the time limit                    retried later
    failing      5xx, 408, 425 or 429                               retried later
    unreadable   no JSON, too large, wrong types, unknown status    retried later: it may have acted
    misdirected  a redirect, 401, 403, 404, 405, 407                retried once the configuration is fixed
    refused      any other 4xx: this very request is wrong          for a person
    """

    def __init__(self, kind: Kind, text: str, *, retry_after: int = 0) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.retry_after = retry_after

    @property
    def is_retryable(self) -> bool:
        """False if sending the same request again cannot help."""
        return self.kind != "refused"

    @property
    def is_setup_fault(self) -> bool:
        """True if no policy can get through before the configuration is fixed."""
        return self.kind == "misdirected"
