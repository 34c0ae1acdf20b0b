"""Inputs of requests about people's data, with the kinds, the codes of a refusal and the ways to prove an identity."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import Field

from core.covers import fields
from core.covers.request import Request
from core.store.schema.compliance import REQUEST_KINDS

KINDS: Final[Mapping[str, str]] = {
    "access": "Access",
    "copy": "Copy",
    "rectification": "Rectification",
    "erasure": "Erasure",
    "restriction": "Restriction",
    "objection": "Objection",
    "grievance": "Grievance notice",
}
REFUSALS: Final[Mapping[str, str]] = {
    "not_identified": "Identity not proven",
    "not_known": "No data of this person",
    "legal_obligation": "The law wants it kept",
    "legal_claim": "Needed for a claim or a dispute",
    "rights_of_others": "It would harm the rights of others",
    "repeated": "Repeated without a reason",
}
IDENTITIES: Final = ("Identity document seen", "Answer from the registered e-mail", "Call to the registered phone")


class NewRequest(Request):
    """Input: who asks for what, and how they are reached."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"details"})

    kind: Annotated[str, fields.one_of(*REQUEST_KINDS)]
    name: Annotated[str, Field(min_length=2, max_length=200)]
    email: fields.Email | None = None
    phone: Annotated[str, Field(max_length=32)] | None = None
    details: Annotated[str, Field(min_length=5, max_length=2_000)]
    received_on: fields.Day | None = None


class Outcome(Request):
    """Input: how a request was answered."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"outcome"})

    outcome: Annotated[str, Field(min_length=10, max_length=2_000)]


class Refusal(Outcome):
    """Input: why a request is refused."""

    refusal_code: Annotated[str, fields.one_of(*REFUSALS)]


class Extension(Request):
    """Input: why more time is needed."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"reason"})

    reason: Annotated[str, Field(min_length=10, max_length=500)]


class Identity(Request):
    """Input: how the identity of a person was checked."""

    method: Annotated[str, fields.one_of(*IDENTITIES)]
