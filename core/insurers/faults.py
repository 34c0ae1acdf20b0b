"""What can go wrong between us and an insurer, told apart by what helps: waiting, a person, or the set-up."""

from typing import Literal

Kind = Literal["unreachable", "slow", "failing", "unreadable", "misdirected", "refused"]


class InsurerFault(Exception):
    """No usable answer; the text is for people and holds nothing of what was sent.

    unreachable  no connection, or it closed without an answer      asked again later
    slow         no answer within the time                          asked again later
    failing      5xx, 408, 425 or 429                               asked again later
    unreadable   no JSON, too large, wrong types, unknown status    asked again later: it may have acted
    misdirected  a redirect, 401, 403, 404, 405, 407                asked again once the set-up is put right
    refused      any other 4xx: this very request is wrong          for a person
    """

    def __init__(self, kind: Kind, text: str, *, retry_after: int = 0) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """False when sending the same again cannot help."""
        return self.kind != "refused"

    @property
    def of_the_setup(self) -> bool:
        """True when no policy at all can get through before somebody puts the set-up right."""
        return self.kind == "misdirected"
