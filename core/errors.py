"""Everything that can be refused, as one tree of facts; each knows its HTTP status.

CoverdeskError
├── InvalidInput 400            the input is wrong, field by field
│   └── TooSlow                 a body that did not arrive in time
├── Unauthorized 401            no credentials, or rejected ones
├── NotAllowed 403              known, but may not do this
├── NotFound 404                unknown here, or somebody else's
├── MethodNotAllowed 405
├── StateForbids 409            right input at the wrong moment
│   ├── DuplicateRisk           the same risk is already covered
│   ├── KeyReused               an idempotency key came back with another request
│   ├── NotRenewable            no such term can be renewed now
│   └── StaleVersion            somebody else changed the record first
├── TooLarge 413
├── WrongMediaType 415
├── TooManyRequests 429
├── Overloaded 503              more at once than can be answered soon; nothing was done
└── StoreUnavailable 503        the store is gone or busy; nothing was written
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One broken field: its dotted path and what it must be. Never carries the value (contract E4)."""

    field: str
    message: str


class CoverdeskError(Exception):
    """A refusal that a person can read; `detail` becomes `errorData` in the API."""

    status: ClassVar[int] = 500
    text: ClassVar[str] = "Something went wrong"

    def __init__(self, text: str | None = None, *, detail: Any = None) -> None:
        super().__init__(text or self.text)
        self.detail = detail


class InvalidInput(CoverdeskError):
    """Every broken field of one input at once (contract E4)."""

    status = 400

    def __init__(self, faults: Sequence[FieldFault]) -> None:
        self.faults = tuple(faults)
        super().__init__(
            "; ".join(f"{f.field} {f.message}".strip() for f in self.faults),
            detail=[{"field": f.field, "message": f.message} for f in self.faults],
        )

    @classmethod
    def one(cls, field: str, message: str) -> "InvalidInput":
        """The refusal of a single field."""
        return cls([FieldFault(field, message)])


def all_of(*judges: Callable[[], Any]) -> list[Any]:
    """What each of them finds; where some refuse the input, all that they refuse in it, at once (contract E4)."""
    found: list[Any] = []
    faults: list[FieldFault] = []
    for judge in judges:
        try:
            found.append(judge())
        except InvalidInput as refused:
            faults += refused.faults
    if faults:
        raise InvalidInput(faults)
    return found


class TooSlow(InvalidInput):
    """A body that did not arrive in time; its connection is not used again."""


class Unauthorized(CoverdeskError):
    """Credentials are missing or rejected; the text is the specification's."""

    status = 401
    text = "Unauthorized"


class NotAllowed(CoverdeskError):
    """The caller is known and may not do this."""

    status = 403
    text = "Not allowed"


class NotFound(CoverdeskError):
    """No such record here; a record of somebody else looks the same (contract E3)."""

    status = 404
    text = "Not found"


class MethodNotAllowed(CoverdeskError):
    """The path exists, this method does not; `allow` names those that do."""

    status = 405
    text = "Method not allowed"

    def __init__(self, *, allow: str | None = None) -> None:
        super().__init__()
        self.allow = allow


class StateForbids(CoverdeskError):
    """The input is right, the state of the record forbids it."""

    status = 409
    text = "Not possible in this state"


class DuplicateRisk(StateForbids):
    """The same risk is already covered for these dates (contract S12)."""


class KeyReused(StateForbids):
    """An idempotency key was used before for another request (contract S13)."""

    text = "This Idempotency-Key was already used for another request"


class NotRenewable(StateForbids):
    """The policy cannot be renewed now (contract R1, R3)."""


class StaleVersion(StateForbids):
    """The record changed since the caller read it (contract C7)."""

    text = "This record was changed by somebody else"


class TooLarge(CoverdeskError):
    """The body is larger than this path takes."""

    status = 413
    text = "The body is too large"


class WrongMediaType(CoverdeskError):
    """The body is not of the media type that this path takes."""

    status = 415
    text = "Send this body as application/json"


class TooManyRequests(CoverdeskError):
    """The caller is over its rate limit; `retry_after` is in seconds."""

    status = 429
    text = "Too many requests"

    def __init__(self, retry_after: int) -> None:
        super().__init__()
        self.retry_after = retry_after


class Overloaded(CoverdeskError):
    """Too much is under way; the request was not looked at (contract E7)."""

    status = 503
    text = "Too busy for the moment, try again shortly"
    retry_after: ClassVar[int] = 1


class StoreUnavailable(CoverdeskError):
    """The store did not take part; nothing was written."""

    status = 503
    text = "The store is not available, try again shortly"
    retry_after: ClassVar[int] = 2
