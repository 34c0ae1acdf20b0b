"""Revealing one hidden value of a record: permission, reason and audit entry (contract A3)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator, Field
from sqlmodel import col

from core import seal
from core.covers import fields, request
from core.covers.faults import fault
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, NotFound
from core.services.audit import log as audit
from core.services.people.staff import Person
from core.services.policies import policies
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Claim, Customer, Policy

Kind = Literal["policy", "customer", "claim"]
HIDDEN: Final = "Kept, not shown here"
SHOWN: Final = "personal value shown"
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
_FEWEST_WORDS: Final = 3
_MAY: Final[Mapping[Kind, tuple[str, ...]]] = {
    "policy": ("operations",),
    "customer": ("operations",),
    "claim": ("claims", "supervisor"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Hidden:
    """Address of one hidden value: the record that holds it and the dotted path in it ("submitted.bvn")."""

    kind: Kind
    record_id: UUID
    path: str


class HiddenValue(NamedTuple):
    """Path of a hidden value and its masked form."""

    path: str
    masked: str


def _in_words(details: str) -> str:
    if len(details.split()) < _FEWEST_WORDS:
        raise fault(f"must say in at least {_FEWEST_WORDS} words what it is needed for")
    return details


class Why(Request):
    """The reason for revealing a value: one of the listed reasons and a few words on the case."""

    reason: Annotated[str, fields.one_of(*REASONS)]
    details: Annotated[str, Field(max_length=300), AfterValidator(_in_words)]


def may(person: Person, kind: Kind) -> bool:
    """Return True when a person may reveal hidden values of this kind of record."""
    return person.may(*_MAY[kind])


def hidden_in(policy: Policy) -> list[HiddenValue]:
    """List what a policy hides in the submitted data and in the insurer's payload: numbers first, then links."""
    kept = _of_policy(policy)
    numbers = [HiddenValue(path, str(_at(kept, path))) for path in seal.unseal(policy.sealed)]
    return [*numbers, *(HiddenValue(path, HIDDEN) for path in links_in(kept))]


def links_in(values: Any, at: str = "") -> Iterator[str]:
    """Yield the dotted path of every link in stored data; links lead to a person's pictures and papers."""
    if isinstance(values, str):
        if values.startswith(_LINK):
            yield at
        return
    inside = values.items() if isinstance(values, Mapping) else enumerate(values) if isinstance(values, list) else ()
    for name, value in inside:
        yield from links_in(value, f"{at}.{name}" if at else str(name))


def reveal(session: ScopedSession, hidden: Hidden, *, reason: str, details: str, person: Person) -> str:
    """Return the value in clear after writing an audit entry of who saw which field and why, without the value itself.

    NotAllowed without the role, InvalidInput without a reason, NotFound when nothing is hidden there.
    """
    if not may(person, hidden.kind):
        raise NotAllowed(f"Your role does not show personal data of a {hidden.kind}")
    why: Why = request.read(Why, {"reason": reason, "details": details})
    value = _value(session, hidden)
    if value in re.sub(r"[\s-]", "", why.details) or value in why.details:
        raise InvalidInput.one("details", "must not hold the value itself")
    audit.write(
        session,
        actor=person.actor,
        action=SHOWN,
        subject=audit.subject_of(hidden.kind, hidden.record_id),
        after={"field": hidden.path, "reason": why.reason, "details": why.details},
    )
    return value


def _value(session: ScopedSession, hidden: Hidden) -> str:
    kept, sealed = _KEPT[hidden.kind](session, hidden.record_id)
    number, shown = seal.unseal(sealed).get(hidden.path), _at(kept, hidden.path)
    if number is not None:
        return number
    if isinstance(shown, str) and shown.startswith(_LINK):
        return shown
    raise NotFound("Nothing is hidden there")


def _at(kept: Any, path: str) -> Any:
    """Return the value at a dotted path, None when there is none."""
    for name in path.split("."):
        if isinstance(kept, list):
            kept = kept[int(name)] if name.isdecimal() and int(name) < len(kept) else None
        else:
            kept = kept.get(name) if isinstance(kept, Mapping) else None
    return kept


def _of_policy(policy: Policy) -> dict[str, Any]:
    return {"submitted": policy.submitted, "payload": policy.payload}


def _policy(session: ScopedSession, policy_id: UUID) -> tuple[Mapping[str, Any], str | None]:
    policy = policies.row(session, policy_id)
    return _of_policy(policy), policy.sealed


def _customer(session: ScopedSession, customer_id: UUID) -> tuple[Mapping[str, Any], str | None]:
    return _columns(session, Customer, customer_id, ("face_image", "identity_verification")), None


def _claim(session: ScopedSession, claim_id: UUID) -> tuple[Mapping[str, Any], str | None]:
    metas = ("gadget_claim_meta", "credit_life_claim_meta", "vehicle_claim_meta")
    kept = _columns(session, Claim, claim_id, (*metas, "claim_invoice_url", "offer_form_url", "sealed"))
    return kept, kept["sealed"]


def _columns(session: ScopedSession, entity: Any, record_id: UUID, names: Sequence[str]) -> dict[str, Any]:
    query = sa.select(*(col(getattr(entity, name)) for name in names))
    row = session.execute(query.where(col(entity.id) == record_id, col(entity.deleted_at).is_(None))).one_or_none()
    if row is None:
        raise NotFound(f"{entity.__name__} not found")
    return dict(row._mapping)


_KEPT = {"policy": _policy, "customer": _customer, "claim": _claim}
