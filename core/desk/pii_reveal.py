"""Revealing one hidden value of a record: permission, reason and audit entry (contract A3)."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator, Field
from sqlmodel import col

from core import seal
from core.covers import fields, request
from core.covers.fields import fault
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, NotFound
from core.services.audit import log as audit
from core.services.claims.intake.submitted import META_COLUMNS
from core.services.claims.workflow import paying as claim_paying
from core.services.files import links as file_links
from core.services.people.staff import Person
from core.services.policies import policies
from core.store.access import Owner, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import Claim, Customer, Policy

Kind = Literal["policy", "customer", "claim", "payee"]
PAYEE_ACCOUNT: Final = "payee.account_number"
HIDDEN_PLACEHOLDER: Final = "Kept, not shown here"
REVEALED_ACTION: Final = audit.REVEALED
REASONS: Final = (
    "Identifying who asks",
    "Working a claim",
    "Question of the insurer",
    "Correcting a record",
    "Paying or giving back",
    "Request of an authority",
    "Other",
)
_LINK: Final = ("http://", "https://")
_MIN_WORDS: Final = 3
_ROLES_BY_KIND: Final[Mapping[Kind, tuple[str, ...]]] = {
    "policy": ("operations",),
    "customer": ("operations",),
    "claim": ("claims", "supervisor"),
    "payee": ("finance",),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class HiddenField:
    """Address of one hidden value: the record that holds it and the dotted path in it ("submitted.bvn").

    A payee is one of a claim whose payment waits for finance: the record is the claim, the path `PAYEE_ACCOUNT`.
    """

    kind: Kind
    record_id: UUID
    path: str


class HiddenValue(NamedTuple):
    """Path of a hidden value and its masked form."""

    path: str
    masked: str


def _require_words(details: str) -> str:
    if len(details.split()) < _MIN_WORDS:
        raise fault(f"must say in at least {_MIN_WORDS} words what it is needed for")
    return details


class RevealReason(Request):
    """The reason for revealing a value: one of the listed reasons and a few words on the case."""

    reason: Annotated[str, fields.one_of(*REASONS)]
    details: Annotated[str, Field(max_length=300), AfterValidator(_require_words)]


def can_reveal(person: Person, kind: Kind) -> bool:
    """Return True when a person may reveal hidden values of this kind of record."""
    return person.has_role(*_ROLES_BY_KIND[kind])


def list_hidden_values(policy: Policy) -> list[HiddenValue]:
    """List what a policy hides in the submitted data and in the insurer's payload: numbers first, then links."""
    stored = _policy_data(policy)
    numbers = [HiddenValue(path, str(_get_at_path(stored, path))) for path in seal.unseal(policy.sealed)]
    return [*numbers, *(HiddenValue(path, HIDDEN_PLACEHOLDER) for path in find_links(stored))]


def find_links(values: object, prefix: str = "") -> Iterator[str]:
    """Yield the dotted path of every link in stored data; links lead to a person's pictures and papers."""
    if isinstance(values, str):
        if values.startswith(_LINK):
            yield prefix
        return
    inside = values.items() if isinstance(values, Mapping) else enumerate(values) if isinstance(values, list) else ()
    for name, value in inside:
        yield from find_links(value, f"{prefix}.{name}" if prefix else str(name))


def reveal(session: ScopedSession, hidden: HiddenField, *, reason: str, details: str, person: Person) -> str:
    """Return the value in clear after writing an audit entry of who saw which field and why, without the value itself.

    NotAllowed without the role, InvalidInput without a reason, NotFound when nothing is hidden there.
    """
    if not can_reveal(person, hidden.kind):
        raise NotAllowed(f"Your role does not show personal data of a {hidden.kind}")
    why: RevealReason = request.validate(RevealReason, {"reason": reason, "details": details})
    value = _get_hidden_value(session, hidden)
    # Full-width digits, and signs between them, do not make it another number.
    if value in re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", why.details)) or value in why.details:
        raise InvalidInput.for_field("details", "must not hold the value itself")
    facts = {"field": hidden.path, "reason": why.reason, "details": why.details}
    subject = "claim" if hidden.kind == "payee" else hidden.kind
    audit.note(session, subject, hidden.record_id, REVEALED_ACTION, actor=person.actor, **facts)
    return value


def _get_hidden_value(session: ScopedSession, hidden: HiddenField) -> str:
    if hidden.kind == "payee":
        if hidden.path != PAYEE_ACCOUNT:
            raise NotFound("Nothing is hidden there")
        return claim_paying.get_account(session, hidden.record_id)
    stored, sealed, owner = _load(session, hidden)
    number, stored_value = seal.unseal(sealed).get(hidden.path), _get_at_path(stored, hidden.path)
    if number is not None:
        return number
    if isinstance(stored_value, str) and stored_value.startswith(_LINK):
        return file_links.renew_url(session, stored_value, owner)
    raise NotFound("Nothing is hidden there")


def _get_at_path(node: object, path: str) -> Any:
    """Return the value at a dotted path, None when there is none."""
    for name in path.split("."):
        if isinstance(node, list):
            node = node[int(name)] if name.isdecimal() and int(name) < len(node) else None
        else:
            node = node.get(name) if isinstance(node, Mapping) else None
    return node


def _policy_data(policy: Policy) -> dict[str, Any]:
    return {"submitted": policy.submitted, "payload": policy.payload}


# The columns of the other records that may hold a link, or sealed numbers.
_HIDING_COLUMNS: Final[Mapping[str, tuple[Any, tuple[str, ...]]]] = {
    "customer": (Customer, ("face_image", "identity_verification")),
    "claim": (Claim, (*META_COLUMNS, "claim_invoice_url", "offer_form_url", "sealed")),
}


def _load(session: ScopedSession, hidden: HiddenField) -> tuple[Mapping[str, Any], str | None, Owner]:
    """Return what the record stores, its sealed numbers, and whose it is."""
    if hidden.kind == "policy":
        policy = policies.get_row(session, hidden.record_id)
        return _policy_data(policy), policy.sealed, build_row(Owner, policy)
    entity, names = _HIDING_COLUMNS[hidden.kind]
    query = sa.select(*(col(getattr(entity, name)) for name in (*names, "distributor_id", "is_live")))
    is_it = col(entity.id) == hidden.record_id, col(entity.deleted_at).is_(None)
    row = session.find_row(query.where(*is_it), otherwise=f"{entity.__name__} not found")
    stored = dict(row._mapping)
    return stored, stored.get("sealed"), build_row(Owner, row)
