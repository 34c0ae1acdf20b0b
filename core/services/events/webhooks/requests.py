"""Requests that register and change webhook endpoints and replay their events (contract W3)."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from core.covers.fields import fault, one_of
from core.covers.request import Request
from core.outbound import addresses
from core.services.events import catalogue

MAX_PATTERNS: Final = 40
_HEADER: Final = re.compile(r"[a-z0-9-]{1,64}")
# Headers that are ours or the connection's, and would be sent twice.
_TAKEN: Final = frozenset({"host", "content-length", "content-type", "user-agent", "connection", "transfer-encoding"})


def _check_url(value: str) -> str:
    if wrong := addresses.find_url_fault(value):
        raise fault(wrong)
    return value


def _check_patterns(value: list[str]) -> list[str]:
    patterns = list(dict.fromkeys(each.strip() for each in value))
    if not all(catalogue.is_pattern(each) for each in patterns):
        raise fault("must be types of /v1/event-types, or patterns such as claim.* or *")
    return patterns


def _check_header(value: str) -> str:
    name = value.lower()
    if not _HEADER.fullmatch(name) or name in _TAKEN or name.startswith(("webhook-", "coverdesk-")):
        raise fault("must be the name of a header of letters, digits and hyphens that is not in use")
    return name


Url = Annotated[str, Field(max_length=addresses.MAX_URL_LENGTH), AfterValidator(_check_url)]
Patterns = Annotated[
    list[Annotated[str, Field(max_length=60)]],
    Field(min_length=1, max_length=MAX_PATTERNS, examples=[["claim.*", "policy.activated"]]),
    AfterValidator(_check_patterns),
]
FORMATS: Final = ("standard", "classic")
Format = Annotated[str, one_of(*FORMATS)]
Header = Annotated[str, Field(max_length=64, examples=["x-signature"]), AfterValidator(_check_header)]
Description = Annotated[str, Field(max_length=200, examples=["Claims of our back office"])]


class EndpointRequest(Request):
    """An endpoint to register."""

    url: Url = Field(examples=["https://hooks.example.com/coverdesk"])
    events: Patterns
    description: Description = ""
    format: Format = Field(default="standard", description="`classic` serves receivers of older interfaces.")
    signature_header: Header = Field(default="x-signature", description="Where `classic` puts its signature.")


class EndpointChange(Request):
    """Change of an endpoint; omitted fields stay. A new address is pinged before it is used."""

    url: Url | None = Field(default=None, examples=["https://hooks.example.com/coverdesk/v2"])
    events: Patterns | None = None
    description: Description | None = None
    format: Format | None = None
    signature_header: Header | None = None


class EnableRequest(Request):
    """Options for enabling an endpoint again."""

    send_held: bool = Field(default=True, description="Send what was held meanwhile; otherwise it is withdrawn.")


def _instant(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(value.strip() if isinstance(value, str) else "")
        if moment.tzinfo is None or "T" not in value.upper():
            raise ValueError
        return moment.astimezone(UTC)
    except ValueError:
        raise fault("must be an ISO 8601 timestamp with its zone") from None
    except OverflowError:
        raise fault("must be a date that exists") from None


Instant = Annotated[datetime, BeforeValidator(_instant)]


class ReplayRequest(Request):
    """Selection of events to send again."""

    from_: Instant = Field(alias="from", examples=["2026-11-01T00:00:00Z"])
    to: Instant = Field(examples=["2026-11-30T00:00:00Z"])
    events: Patterns | None = Field(default=None, description="Without it, the types that the endpoint wants.")
    only_failed: bool = Field(default=False, description="Only those that never got a 2xx.")
    dry_run: bool = Field(default=False, description="Count them and send nothing.")

    @field_validator("to")
    @classmethod
    def _check_order(cls, value: datetime, rest: ValidationInfo) -> datetime:
        if value < rest.data.get("from_", value):
            raise fault("must not be before from")
        return value
