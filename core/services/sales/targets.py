"""Monthly targets of distributors and insurers, and how far the premium written has come."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator
from sqlmodel import col

from core import clock, money
from core.covers import fields, request
from core.covers.fields import fault
from core.covers.request import Request
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.lists.dimensions import Choices
from core.services.lists.windows import Window
from core.services.people.staff import Person
from core.services.sales import figures
from core.services.sales.filter import SalesFilter
from core.services.sales.totals import group_totals
from core.store.access import ScopedSession
from core.store.schema.tables import SalesTarget

Member = Literal["distributor", "provider"]
MEMBERS: Final[tuple[Member, ...]] = ("distributor", "provider")
_COLUMNS: Final[Mapping[Member, Any]] = {
    "distributor": col(SalesTarget.distributor_id),
    "provider": col(SalesTarget.provider_id),
}


def _positive(amount: Decimal) -> Decimal:
    if amount <= 0:
        raise fault("must be more than zero; remove the target instead")
    return amount


class TargetInput(Request):
    """The premium to reach in a month, in naira."""

    amount: Annotated[fields.Naira, AfterValidator(_positive)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """The target of one distributor or insurer for a month, and the premium written in it; amounts in kobo."""

    member: Member
    id: UUID
    name: str
    target_minor: int
    written_minor: int

    @property
    def reached(self) -> Decimal:
        """Share of the target that is written, above 1 when it is exceeded."""
        return figures.share(self.written_minor, self.target_minor) or Decimal(0)


def set_target(
    session: ScopedSession, member: Member, member_id: UUID, month: date, inputs: Mapping[str, Any], *, by: Person
) -> None:
    """Set or change the target of a member for this month or a later one; InvalidInput names what is wrong."""
    _require_may_change(by, month)
    validated: TargetInput = request.validate(TargetInput, dict(inputs))
    amount_minor = money.to_minor(validated.amount)
    row = SalesTarget(
        distributor_id=member_id if member == "distributor" else None,
        provider_id=member_id if member == "provider" else None,
        month=month,
        amount_minor=amount_minor,
    )
    if session.insert_if_absent(row):
        _record(session, "target set", member, member_id, month, None, amount_minor, by)
        return
    held = _get_for_update(session, member, member_id, month)
    if held is None or held.amount_minor == amount_minor:
        return
    before, held.amount_minor, held.updated_at = held.amount_minor, amount_minor, clock.now()
    session.flush()
    _record(session, "target changed", member, member_id, month, before, amount_minor, by)


def remove_target(session: ScopedSession, member: Member, member_id: UUID, month: date, *, by: Person) -> None:
    """Remove the target of a member for this month or a later one; nothing happens if there is none."""
    _require_may_change(by, month)
    held = _get_for_update(session, member, member_id, month)
    if held is not None:
        session.delete(held)
        session.flush()
        _record(session, "target removed", member, member_id, month, held.amount_minor, None, by)


def list_progress(session: ScopedSession, choices: Choices, month: date) -> list[Progress]:
    """Return every target of a month with the premium written so far, distributors first, then by name."""
    targets = list(session.execute(sa.select(SalesTarget).where(col(SalesTarget.month) == month)).scalars())
    if not targets:
        return []
    window = Window(month, clock.add_months(month, 1))
    criteria = replace(SalesFilter(), created=window.span)
    groups = group_totals(session, criteria, "product_id", "distributor_id", measures=("sold_minor", "renewed_minor"))
    written: dict[tuple[Member, UUID], int] = {}
    for (product_id, distributor_id), totals in groups.items():
        for member in MEMBERS:
            key = (member, choices.get_member(member, product_id, distributor_id))
            written[key] = written.get(key, 0) + totals.premium_minor
    found = [_build_progress(row, choices, written) for row in targets]
    return sorted(found, key=lambda each: (each.member, each.name.lower()))


def _build_progress(row: SalesTarget, choices: Choices, written: Mapping[tuple[Member, UUID], int]) -> Progress:
    members: dict[Member, UUID | None] = {"distributor": row.distributor_id, "provider": row.provider_id}
    member, member_id = next((member, key) for member, key in members.items() if key is not None)
    return Progress(
        member=member,
        id=member_id,
        name=choices.names[member][member_id],
        target_minor=row.amount_minor,
        written_minor=written.get((member, member_id), 0),
    )


def _require_may_change(by: Person, month: date) -> None:
    by.require_role("operations", otherwise="Targets are set by operations")
    if month.day != 1 or month < clock.today().replace(day=1):
        raise InvalidInput.for_field("month", "must be this month or a later one")


def _get_for_update(session: ScopedSession, member: Member, member_id: UUID, month: date) -> SalesTarget | None:
    query = sa.select(SalesTarget).where(_COLUMNS[member] == member_id, col(SalesTarget.month) == month)
    found = session.execute(query.with_for_update().execution_options(populate_existing=True))
    row: SalesTarget | None = found.scalar_one_or_none()
    return row


def _record(
    session: ScopedSession,
    action: str,
    member: Member,
    member_id: UUID,
    month: date,
    before: int | None,
    after: int | None,
    by: Person,
) -> None:
    kind = "insurer" if member == "provider" else member

    def describe(amount: int | None) -> dict[str, Any] | None:
        return None if amount is None else {"month": f"{month:%Y-%m}", "premium": money.to_wire(amount)}

    audit.write(
        session,
        actor=by.actor,
        action=action,
        subject=audit.subject_of(kind, member_id),
        before=describe(before),
        after=describe(after),
    )
