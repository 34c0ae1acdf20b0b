"""API keys for admins: list, issue and revoke; the key itself is never stored (contract M3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core.covers import request
from core.covers.request import Request
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import distributors, keys
from core.services.lists.paging import Page, Paging
from core.services.people.accounts import require_admin
from core.services.people.staff import Person
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import ApiKey, Distributor

State = Literal["Working", "Revoked", "Distributor off"]
Order = Literal["newest", "oldest", "distributor", "distributor-back", "used", "used-back"]
_ISSUED, _USED, _SELLER = (
    col(ApiKey.created_at),
    col(ApiKey.last_used_at),
    sa.func.lower(col(Distributor.business_name)),
)
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "newest": (_ISSUED.desc(), col(ApiKey.id).desc()),
    "oldest": (_ISSUED, col(ApiKey.id)),
    "distributor": (_SELLER, _ISSUED.desc(), col(ApiKey.id)),
    "distributor-back": (_SELLER.desc(), _ISSUED.desc(), col(ApiKey.id)),
    # A key that was never used comes after those that were.
    "used": (_USED.asc().nulls_last(), col(ApiKey.id)),
    "used-back": (_USED.desc().nulls_last(), col(ApiKey.id)),
}


class NewKey(Request):
    """A key to issue: distributor by name, mode, and its purpose."""

    distributor: Annotated[str, Field(max_length=100)]
    mode: Literal["test", "live"]
    name: Annotated[str, Field(max_length=100)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Issued:
    """A key in clear, and the name of its distributor where that was made for it."""

    key: str
    new_distributor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyFilter:
    """Criteria for a list of keys: distributor, mode, and whether revoked."""

    distributor_id: UUID | None = None
    is_live: bool | None = None
    revoked: bool | None = None

    @property
    def is_filtered(self) -> bool:
        """True if any criterion is set."""
        return self != KeyFilter()


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRow(keys.KeyFacts):
    """One key for display, identified by its first and last characters only."""

    distributor_active: bool

    @property
    def mode(self) -> Literal["Live", "Test"]:
        """The mode that the key gives access to."""
        return "Live" if self.is_live else "Test"

    @property
    def state(self) -> State:
        """State of the key: usable, or the reason why not."""
        if self.revoked_at is not None:
            return "Revoked"
        return "Working" if self.distributor_active else "Distributor off"


def list_keys(session: ScopedSession, criteria: KeyFilter, paging: Paging, *, order: Order = "newest") -> Page[KeyRow]:
    """One page of keys, and how many there are in all."""
    conditions = _build_conditions(criteria)
    total = session.count_rows(ApiKey, *conditions)
    found = _build_query().where(*conditions).order_by(*ORDERS[order])
    rows = session.execute(found.limit(paging.limit).offset(paging.offset))
    return Page([KeyRow(**row._mapping) for row in rows], total)


def get_key(session: ScopedSession, key_id: UUID) -> KeyRow:
    """Return one key; NotFound for an unknown id."""
    row = session.find_row(_build_query().where(col(ApiKey.id) == key_id), otherwise="There is no such key")
    return KeyRow(**row._mapping)


def issue_key(session: ScopedSession, inputs: dict[str, Any], *, seed: str, by: Person) -> str:
    """Issue a key of a distributor that there is, and return it in clear, for the only time.

    The same `seed` with the same input gives the same key. InvalidInput names invalid fields, StateForbids an inactive
    distributor. A name that is misspelt makes no distributor: one is added by an act of its own.
    """
    require_admin(by)
    wanted: NewKey = request.validate(NewKey, inputs)
    if distributors.find_by_name(session, wanted.distributor) is None:
        raise InvalidInput.for_field("distributor", "must be one of Distributors and insurers: add it there first")
    return issue_unasked(session, inputs, seed=seed, actor=by.actor).key


def issue_unasked(session: ScopedSession, fields: dict[str, Any], *, actor: str, seed: str | None = None) -> Issued:
    """As `issue_key`, for an operator on the server, who needs no role; a new name makes the distributor."""
    wanted: NewKey = request.validate(NewKey, fields)
    distributor_id, is_new = _get_or_create_distributor(session, wanted.distributor, actor)
    key = keys.issue_key(
        session,
        distributor_id=distributor_id,
        is_live=wanted.mode == "live",
        name=wanted.name,
        actor=actor,
        seed=seed and f"{seed} {distributor_id} {wanted.mode} {wanted.name}",
    )
    return Issued(key=key, new_distributor=wanted.distributor if is_new else None)


def revoke_key(session: ScopedSession, key_id: UUID, *, by: Person) -> None:
    """Revoke a key for good; it stops working within a second."""
    require_admin(by)
    keys.revoke_key(session, str(key_id), actor=by.actor)


def _get_or_create_distributor(session: ScopedSession, name: str, actor: str) -> tuple[UUID, bool]:
    """Return the id of the distributor with this name, and whether it was created now."""
    existing = distributors.find_by_name(session, name)
    if existing is not None:
        if not session.get_one(Distributor, existing.id).active:
            raise StateForbids(f"{existing.name} is switched off: switch it on under Distributors first")
        return existing.id, False
    distributor_id = keys.get_or_create_distributor(session, name)
    audit.note(session, "distributor", distributor_id, "distributor added", actor=actor, name=name)
    return distributor_id, True


def _build_query() -> AnySelect:
    names = ("id", "is_live", "name", "hint", "created_at", "last_used_at", "revoked_at")
    return sa.select(
        *(col(getattr(ApiKey, name)) for name in names),
        col(Distributor.business_name).label("distributor"),
        col(Distributor.active).label("distributor_active"),
    ).join(Distributor, col(Distributor.id) == col(ApiKey.distributor_id))


def _build_conditions(criteria: KeyFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if criteria.distributor_id is not None:
        conditions.append(col(ApiKey.distributor_id) == criteria.distributor_id)
    if criteria.is_live is not None:
        conditions.append(col(ApiKey.is_live).is_(criteria.is_live))
    if criteria.revoked is not None:
        revoked = col(ApiKey.revoked_at)
        conditions.append(revoked.is_not(None) if criteria.revoked else revoked.is_(None))
    return conditions
