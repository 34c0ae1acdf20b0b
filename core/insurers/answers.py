"""The format of insurer answers (contract N2)."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from core.covers.request import has_control_characters
from core.states.policies import AnswerStatus

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
