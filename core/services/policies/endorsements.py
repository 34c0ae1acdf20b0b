"""Endorsements of a policy: its versions, and the insured data that holds now or held on a day (contract S21)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import EndorsementNotice, Policy, PolicyEndorsement, Provider, Staff


@dataclass(frozen=True, kw_only=True, slots=True)
class Endorsement:
    """One endorsement with its changes, who made it, and who told the insurer of it, if anybody has."""

    id: UUID
    number: int
    effective_on: date
    changes: Sequence[Mapping[str, str]]
    reason: str
    requested_by: str
    premium_minor: int
    made_by: str
    made_at: datetime
    told_by: str | None
    told_at: datetime | None
    told_how: str | None

    @property
    def days_back(self) -> int:
        """By how many days it holds before the day on which it was made."""
        return (clock.to_lagos_day(self.made_at) - self.effective_on).days


@dataclass(frozen=True, kw_only=True, slots=True)
class UntoldEndorsement:
    """An endorsement that nobody has told the insurer of."""

    policy_id: UUID
    policy_number: str | None
    holder: str
    provider: str
    number: int
    fields: Sequence[str]
    effective_on: date
    made_at: datetime


_MAKER, _TELLER = sa.orm.aliased(Staff), sa.orm.aliased(Staff)


def list_endorsements(session: ScopedSession, policy_id: UUID) -> list[Endorsement]:
    """Return the endorsements of a policy, oldest first."""
    query: AnySelect = (
        sa.select(
            PolicyEndorsement,
            EndorsementNotice,
            col(_MAKER.name).label("maker"),
            col(_TELLER.name).label("teller"),
        )
        .join(_MAKER, col(_MAKER.id) == col(PolicyEndorsement.made_by))
        .outerjoin(EndorsementNotice, col(EndorsementNotice.endorsement_id) == col(PolicyEndorsement.id))
        .outerjoin(_TELLER, col(_TELLER.id) == col(EndorsementNotice.told_by))
        .where(col(PolicyEndorsement.policy_id) == policy_id)
        .order_by(col(PolicyEndorsement.number))
    )
    return [_build(row) for row in session.execute(query)]


def _build(row: Any) -> Endorsement:
    made, notice = row.PolicyEndorsement, row.EndorsementNotice
    return Endorsement(
        id=made.id,
        number=made.number,
        effective_on=made.effective_on,
        changes=made.changes,
        reason=made.reason,
        requested_by=made.requested_by,
        premium_minor=made.premium_minor,
        made_by=row.maker,
        made_at=made.created_at,
        told_by=row.teller,
        told_at=notice.created_at if notice else None,
        told_how=notice.note if notice else None,
    )


def find_rows(session: ScopedSession, policy_id: UUID) -> list[PolicyEndorsement]:
    """Return the rows of a policy's endorsements, oldest first, for other services to read."""
    query = sa.select(PolicyEndorsement).where(col(PolicyEndorsement.policy_id) == policy_id)
    return list(session.execute(query.order_by(col(PolicyEndorsement.number))).scalars())


def apply(data: Mapping[str, Any], rows: Sequence[PolicyEndorsement]) -> dict[str, Any]:
    """Return submitted data with what these endorsements changed."""
    return {**data, **{change["field"]: change["after"] for row in rows for change in row.changes}}


def get_insured_for_claim(session: ScopedSession, policy: Policy, happened_on: date) -> dict[str, Any]:
    """Return the insured data as it stood before a loss: what was endorsed on its day or later does not count."""
    rows = find_rows(session, policy.id)
    return apply(policy.submitted, [row for row in rows if clock.to_lagos_day(row.created_at) < happened_on])


def list_untold(session: ScopedSession, *, limit: int) -> tuple[list[UntoldEndorsement], int]:
    """Return endorsements that no insurer was told of, oldest first, and the number of all."""
    total = session.execute(sa.select(sa.func.count()).select_from(_untold().subquery())).scalar_one()
    rows = session.execute(_untold().order_by(col(PolicyEndorsement.created_at)).limit(limit))
    return [_build_untold(row) for row in rows], total


def _untold() -> AnySelect:
    columns = (Policy.policy_number, Policy.first_name, Policy.last_name, Provider.company_name)
    return (
        sa.select(PolicyEndorsement, *(col(column) for column in columns))
        .join(Policy, col(Policy.id) == col(PolicyEndorsement.policy_id))
        .join(Provider, col(Provider.id) == col(Policy.provider_id))
        .outerjoin(EndorsementNotice, col(EndorsementNotice.endorsement_id) == col(PolicyEndorsement.id))
        .where(col(EndorsementNotice.endorsement_id).is_(None), col(Policy.deleted_at).is_(None))
    )


def _build_untold(row: Any) -> UntoldEndorsement:
    made = row.PolicyEndorsement
    return UntoldEndorsement(
        policy_id=made.policy_id,
        policy_number=row.policy_number,
        holder=f"{row.first_name} {row.last_name}",
        provider=row.company_name,
        number=made.number,
        fields=[change["field"] for change in made.changes],
        effective_on=made.effective_on,
        made_at=made.created_at,
    )
