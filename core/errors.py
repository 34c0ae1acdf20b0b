"""All errors of the application as one tree; each has an HTTP status.

CoverdeskError
├── InvalidInput 400            invalid input, listed by field
│   └── TooSlow                 the body did not arrive in time
├── Unauthorized 401            missing or rejected credentials
├── NotAllowed 403              authenticated, but not permitted
├── NotFound 404                unknown, or owned by somebody else
├── MethodNotAllowed 405
├── StateForbids 409            valid input, but the record's state forbids it
│   ├── DuplicateRisk           the same risk is already covered
│   ├── KeyReused               an idempotency key was used for another request
│   ├── NotRenewable            the policy cannot be renewed now
│   └── StaleVersion            somebody else changed the record first
├── TooLarge 413
├── WrongMediaType 415
├── TooManyRequests 429
├── Overloaded 503              too many concurrent requests; nothing was done
└── StoreUnavailable 503        the database is unreachable or busy; nothing was written
    └── OtherRelease            the store was brought to the version of another release
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

Other = TypeVar("Other", bound="CoverdeskError")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One invalid field: its dotted path and a message. Never contains the value (contract E4)."""

    field: str
    message: str


class CoverdeskError(Exception):
    """Base of all application errors; the text is for people, `detail` becomes `errorData` in the API."""

    status: ClassVar[int] = 500
    text: ClassVar[str] = "Something went wrong"

    def __init__(self, text: str | None = None, *, detail: Any = None) -> None:  # noqa: ANN401 any JSON
        super().__init__(text or self.text)
        self.detail = detail
        # What is written in a transaction of its own once the refused one is rolled back.
        self.kept: Callable[[Any], None] | None = None

    def reword(self, other: Other) -> Other:
        """Return another error to raise in place of this one, with what is to be kept of the refusal."""
        other.kept = self.kept
        return other


class InvalidInput(CoverdeskError):
    """All invalid fields of one input (contract E4)."""

    status = 400

    def __init__(self, faults: Sequence[FieldFault]) -> None:
        self.faults = tuple(faults)
        super().__init__(
            "; ".join(f"{f.field} {f.message}".strip() for f in self.faults),
            detail=[{"field": f.field, "message": f.message} for f in self.faults],
        )

    @classmethod
    def for_field(cls, field: str, message: str) -> "InvalidInput":
        """Return the error of a single field."""
        return cls([FieldFault(field, message)])


def raise_faults(faults: Sequence[FieldFault]) -> None:
    """Raise InvalidInput with these faults, if there are any."""
    if faults:
        raise InvalidInput(faults)


def run_checks(*judges: Callable[[], Any]) -> list[Any]:
    """Call every check and return the results; all their InvalidInput faults are raised as one (contract E4)."""
    results: list[Any] = []
    faults: list[FieldFault] = []
    for check in judges:
        try:
            results.append(check())
        except InvalidInput as refused:
            faults += refused.faults
    raise_faults(faults)
    return results


class TooSlow(InvalidInput):
    """The body did not arrive in time; its connection is closed."""


class Unauthorized(CoverdeskError):
    """Credentials are missing or rejected; the text is the specification's."""

    status = 401
    text = "Unauthorized"


class NotAllowed(CoverdeskError):
    """The caller is authenticated but not permitted to do this."""

    status = 403
    text = "Not allowed"


class NotFound(CoverdeskError):
    """No such record; a record of another owner gives the same error (contract E3)."""

    status = 404
    text = "Not found"


def first_of(rows: Sequence[T], *, otherwise: str) -> T:
    """Return the first row; NotFound with these words where there is none."""
    if not rows:
        raise NotFound(otherwise)
    return rows[0]


class MethodNotAllowed(CoverdeskError):
    """The path exists, this method does not; `allow` names those that do."""

    status = 405
    text = "Method not allowed"

    def __init__(self, *, allow: str | None = None) -> None:
        super().__init__()
        self.allow = allow


class StateForbids(CoverdeskError):
    """The input is valid but the state of the record forbids it."""

    status = 409
    text = "Not possible in this state"


class DuplicateRisk(StateForbids):
    """The same risk is already covered for these dates (contract S12)."""


class KeyReused(StateForbids):
    """An idempotency key was used before for another request (contract S13)."""

    text = "This Idempotency-Key was already used for another request: send each request with a key of its own"


class NotRenewable(StateForbids):
    """The policy cannot be renewed now (contract R1, R3)."""


class StaleVersion(StateForbids):
    """The record changed since the caller read it (contract C7)."""

    text = "This record was changed by somebody else"


class TooLarge(CoverdeskError):
    """The body is larger than this path accepts."""

    status = 413
    text = "The body is too large"


class WrongMediaType(CoverdeskError):
    """The body is not of the media type that this path accepts."""

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
    """Too many concurrent requests; this one was not processed (contract E7)."""

    status = 503
    text = "Too busy for the moment, try again shortly"
    retry_after: ClassVar[int] = 1


class StoreUnavailable(CoverdeskError):
    """The database is unreachable or busy; nothing was written.

    `reason` is what the database or its driver said, for whoever runs the installation: no caller is shown it.
    """

    status = 503
    text = "The store is not available, try again shortly"
    retry_after: ClassVar[int] = 2

    def __init__(self, reason: str = "") -> None:
        super().__init__()
        self.reason = reason


class OtherRelease(StoreUnavailable):
    """The store was brought to the version of another release while this one served it; nothing was written."""

    text = "This server is of another release than the store by now, try again shortly"


class InvalidSetting(Exception):
    """A setting is invalid; the text names the variable and what it must be."""
