"""Changes to distributors and insurers by an admin, each audited with before and after (contract M2, A4)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, NotFound, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.distributors import distributors
from core.services.people.account_changes import require_admin
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, Provider

_MIN_STEP = timedelta(milliseconds=1)
_NAME_TAKEN = "belongs to another distributor already"
Row = TypeVar("Row", Distributor, Provider)


class DistributorInput(Request):
    """The editable fields of a distributor; the name is shown on screens, statements and certificates."""

    name: fields.Name
    email: fields.Email | None = None


class InsurerInput(Request):
    """The editable fields of an insurer: name and contact details."""

    company_name: fields.Name
    first_name: fields.Name
    last_name: fields.Name
    email: fields.Email
    phone_number: fields.Phone
    business_email: fields.Email | None = None
    claim_email: fields.Email | None = None
    support_email: fields.Email | None = None
    business_type: str | None = Field(default=None, max_length=60)


def add_distributor(session: ScopedSession, distributor_id: UUID, inputs: Mapping[str, Any], *, by: Person) -> None:
    """Add a distributor; its keys are issued separately.

    The caller generates `distributor_id`, so that repeating the call adds it once. InvalidInput names every invalid
    field.
    """
    require_admin(by)
    validated: DistributorInput = request.validate(DistributorInput, dict(inputs))
    distributors.hold_names(session)
    if session.get(Distributor, distributor_id) is not None:
        return
    if distributors.find_by_name(session, validated.name):
        raise InvalidInput.for_field("name", _NAME_TAKEN)
    row = Distributor(id=distributor_id, business_name=validated.name, email=validated.email)
    session.insert(row)
    _record(session, "distributor", row.id, "distributor added", by=by, before=None, after=_describe_distributor(row))


def change_distributor(
    session: ScopedSession, distributor_id: UUID, inputs: Mapping[str, Any], *, seen_at: datetime, by: Person
) -> None:
    """Change a distributor's name and e-mail; `seen_at` is the `updated_at` that the caller saw."""
    require_admin(by)
    validated: DistributorInput = request.validate(DistributorInput, dict(inputs))
    distributors.hold_names(session)
    row = _get_for_update(session, Distributor, distributor_id, seen_at)
    if distributors.find_by_name(session, validated.name, but=distributor_id):
        raise InvalidInput.for_field("name", _NAME_TAKEN)
    before = _describe_distributor(row)
    row.business_name, row.email = validated.name, validated.email
    _save_change(
        session, row, "distributor", "distributor changed", by=by, before=before, after=_describe_distributor(row)
    )


def set_distributor_active(
    session: ScopedSession, distributor_id: UUID, *, active: bool, seen_at: datetime, by: Person
) -> None:
    """Activate or deactivate a distributor: when inactive, all its keys are refused at once with 401 (contract M3).

    Its policies, claims and renewals stay, and the desk goes on serving them.
    """
    require_admin(by)
    row = _get_for_update(session, Distributor, distributor_id, seen_at)
    before, row.active = _describe_distributor(row), active
    action = "distributor switched on" if active else "distributor switched off"
    _save_change(session, row, "distributor", action, by=by, before=before, after=_describe_distributor(row))


def change_insurer(
    session: ScopedSession, provider_id: UUID, inputs: Mapping[str, Any], *, seen_at: datetime, by: Person
) -> None:
    """Change an insurer's name, class and contact details; its connection is a server setting."""
    require_admin(by)
    validated: InsurerInput = request.validate(InsurerInput, dict(inputs))
    row = _get_for_update(session, Provider, provider_id, seen_at)
    before = _describe_insurer(row)
    for name, value in validated.model_dump().items():
        setattr(row, name, value)
    _save_change(session, row, "insurer", "insurer changed", by=by, before=before, after=_describe_insurer(row))


def _describe_distributor(row: Distributor) -> dict[str, Any]:
    return {"name": row.business_name, "email": row.email, "active": row.active}


def _describe_insurer(row: Provider) -> dict[str, Any]:
    return {name: getattr(row, name) for name in InsurerInput.model_fields}


def _get_for_update(session: ScopedSession, entity: type[Row], row_id: UUID, seen_at: datetime) -> Row:
    """Return the row locked for update; StaleVersion if it changed since `seen_at`."""
    query = sa.select(entity).where(col(entity.id) == row_id, col(entity.deleted_at).is_(None))
    result = session.execute(query.with_for_update().execution_options(populate_existing=True))
    row: Row | None = result.scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such distributor" if entity is Distributor else "There is no such insurer")
    if row.updated_at != seen_at:
        raise StaleVersion("Somebody else changed this meanwhile")
    return row


def _save_change(
    session: ScopedSession,
    row: Distributor | Provider,
    kind: str,
    action: str,
    *,
    by: Person,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    if before == after:
        raise StateForbids("This is what stands there already: nothing would change")
    # Two changes within a millisecond need different timestamps.
    row.updated_at = max(clock.now(), row.updated_at + _MIN_STEP)
    session.flush()
    _record(session, kind, row.id, action, by=by, before=before, after=after)


def _record(
    session: ScopedSession,
    kind: str,
    row_id: UUID,
    action: str,
    *,
    by: Person,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any],
) -> None:
    audit.write(
        session, actor=by.actor, action=action, subject=audit.subject_of(kind, row_id), before=before, after=after
    )
