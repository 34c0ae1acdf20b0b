"""The format of insurer answers (contract N2)."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from core.covers.request import has_control_characters
from core.insurers.faults import InsurerFault
from core.states.submissions import AnswerStatus

MAX_REASON_LENGTH = 500


def _blank_to_none(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


def _check_printable(value: str) -> str:
    if has_control_characters(value):
        raise ValueError("must not contain control characters")
    return value


def _check_link(value: str) -> str:
    parts = urlsplit(_check_printable(value))
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https address")
    return value


def _to_one_line(value: str) -> str:
    """Return free text on one line, truncated to the maximum length of a reason."""
    spaced = "".join(character if character.isprintable() else " " for character in value)
    return " ".join(spaced.split())[:MAX_REASON_LENGTH]


_BlankAsNone = BeforeValidator(_blank_to_none)
Number = Annotated[str, Field(max_length=60), AfterValidator(_check_printable)]
Identifier = Annotated[str, Field(max_length=100), AfterValidator(_check_printable)]
Link = Annotated[str, Field(max_length=2_000), AfterValidator(_check_link)]
Reason = Annotated[str, Field(max_length=5_000), AfterValidator(_to_one_line)]


class InsurerAnswer(BaseModel):
    """An insurer's answer to a submitted policy; unknown fields are ignored, known ones must be valid."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", str_strip_whitespace=True)

    status: Annotated[AnswerStatus, Field(strict=False)]
    policy_number: Annotated[Number | None, _BlankAsNone] = None
    certificate_url: Annotated[Link | None, _BlankAsNone] = None
    provider_policy_id: Annotated[Identifier | None, _BlankAsNone] = None
    reason: Annotated[Reason | None, _BlankAsNone] = None


class _Refusal(BaseModel):
    reason: Reason


def parse_answer(body: bytes) -> InsurerAnswer:
    """Parse an answer body; InsurerFault names the invalid fields, never their values."""
    try:
        return InsurerAnswer.model_validate_json(body)
    except ValidationError as error:
        errors = error.errors(include_input=False, include_url=False, include_context=False)
        fields = sorted({str(fault["loc"][0]) for fault in errors if fault["loc"]} & set(InsurerAnswer.model_fields))
        problem = f"{', '.join(fields)} cannot be read" if fields else "it is not the JSON that was agreed"
        raise InsurerFault("unreadable", f"The insurer's answer was not understood: {problem}") from None


def parse_reason(body: bytes) -> str:
    """Return the reason in a refusal body; empty if there is none in the agreed place."""

    try:
        return _Refusal.model_validate_json(body).reason
    except ValidationError:
        return ""
