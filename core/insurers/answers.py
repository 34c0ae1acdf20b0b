"""The format of insurer answers (contract N2)."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from core.covers.request import has_control_characters
from core.insurers.faults import InsurerFault

Status = Literal["accepted", "pending", "declined"]
LONGEST_REASON = 500


def _blank_is_missing(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _printable(value: str) -> str:
    if has_control_characters(value):
        raise ValueError("must not contain control characters")
    return value


def _link(value: str) -> str:
    parts = urlsplit(_printable(value))
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https address")
    return value


def _sentence(value: str) -> str:
    """Return free text on one line, truncated to the maximum length of a reason."""
    spaced = "".join(character if character.isprintable() else " " for character in value)
    return " ".join(spaced.split())[:LONGEST_REASON]


_Missing = BeforeValidator(_blank_is_missing)
Number = Annotated[str, Field(max_length=60), AfterValidator(_printable)]
Identifier = Annotated[str, Field(max_length=100), AfterValidator(_printable)]
Link = Annotated[str, Field(max_length=2_000), AfterValidator(_link)]
Reason = Annotated[str, Field(max_length=5_000), AfterValidator(_sentence)]


class InsurerAnswer(BaseModel):
    """An insurer's answer to a submitted policy; unknown fields are ignored, known ones must be valid."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", str_strip_whitespace=True)

    status: Status
    policy_number: Annotated[Number | None, _Missing] = None
    certificate_url: Annotated[Link | None, _Missing] = None
    provider_policy_id: Annotated[Identifier | None, _Missing] = None
    reason: Annotated[Reason | None, _Missing] = None


class _Refusal(BaseModel):
    reason: Reason


def read(body: bytes) -> InsurerAnswer:
    """Parse an answer body; InsurerFault names the invalid fields, never their values."""
    try:
        return InsurerAnswer.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False, include_context=False)
        fields = sorted({str(fault["loc"][0]) for fault in wrong if fault["loc"]} & set(InsurerAnswer.model_fields))
        what = f"{', '.join(fields)} cannot be read" if fields else "it is not the JSON that was agreed"
        raise InsurerFault("unreadable", f"The insurer's answer was not understood: {what}") from None


def reason_of(body: bytes) -> str:
    """Return the reason in a refusal body; empty if there is none in the agreed place."""

    try:
        return _Refusal.model_validate_json(body).reason
    except ValidationError:
        return ""
