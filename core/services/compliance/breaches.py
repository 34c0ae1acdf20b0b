"""The register of breaches: what happened, whose data it was, the risk, and the Commission's clock (contract D3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, StaleVersion, StateForbids, first_of
from core.services.audit import log as audit
from core.services.compliance import figures
from core.services.people.four_eyes import require_second
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.compliance import BREACH_RISKS
from core.store.schema.tables import AuditEntry, Breach

RISKS: Final[Mapping[str, str]] = {
    "unlikely": "No risk to people is likely",
    "likely": "A risk to people is likely: the Commission is notified",
    "high": "A high risk to people: the Commission and they are notified",
}
# Actions of the log by which personal data leaves the store or is seen in the clear.
OPENING: Final = ("personal value shown", "file opened", "export started", "data pack made")
MAX_LISTED: Final = 500


class BreachInput(Request):
    """Input: what happened and when, and the actor of the audit log if one is suspected."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"description"})

    title: Annotated[str, Field(min_length=5, max_length=120)]
    description: Annotated[str, Field(min_length=10, max_length=4_000)]
    actor: Annotated[str, Field(max_length=120)] | None = None
    known_on: fields.Day
    since_on: fields.Day
    until_on: fields.Day


class RiskInput(Request):
    """Input: how great the risk is, why, and how many people it touches."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"risk_reason"})

    risk: Annotated[str, fields.one_of(*BREACH_RISKS)]
    risk_reason: Annotated[str, Field(min_length=10, max_length=2_000)]
    people: Annotated[int, Field(ge=0, le=100_000_000)]


@dataclass(frozen=True, kw_only=True, slots=True)
class BreachRow:
    """One breach; `notify_by` is when the Commission has to know."""

    id: UUID
    number: str
    title: str
    description: str
    actor: str | None
    known_at: datetime
    since_at: datetime
    until_at: datetime
    people: int | None
    risk: str | None
    risk_reason: str | None
    decided_by: UUID | None
    commission_at: datetime | None
    commission_reference: str | None
    people_at: datetime | None
    closed_at: datetime | None
    version: int
    notify_by: datetime

    @property
    def state(self) -> str:
        """The state in a word."""
        if self.closed_at is not None:
            return "Closed"
        if self.risk is None:
            return "To be judged"
        waits = (self.risk != "unlikely" and self.commission_at is None) or (
            self.risk == "high" and self.people_at is None
        )
        return "To be notified" if waits else "Notified" if self.commission_at else "Judged"

    @property
    def hours_left(self) -> int | None:
        """Hours until the Commission has to know, below zero when it is late; None once it knows or need not."""
        if self.commission_at or self.closed_at or self.risk == "unlikely":
            return None
        return int((self.notify_by - clock.now()).total_seconds() // 3600)


@dataclass(frozen=True, kw_only=True, slots=True)
class Exposure:
    """One entry of the log by which a record was opened or exported in the span of a breach."""

    id: UUID
    at: datetime
    actor: str
    action: str
    subject: str


def register(session: ScopedSession, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Register a breach and start its clock. InvalidInput names every wrong field."""
    figures.require_role(by)
    given: BreachInput = request.validate(BreachInput, {key: value for key, value in typed.items() if value})
    today = clock.today()
    for name in ("known_on", "since_on", "until_on"):
        if getattr(given, name) > today:
            raise InvalidInput.for_field(name, "must not be in the future")
    if given.until_on < given.since_on:
        raise InvalidInput.for_field("until_on", "must not be before since_on")
    known = clock.now() if given.known_on == today else clock.lagos_midnight(given.known_on)
    row = Breach(
        id=ids.new(),
        number=figures.new_number(session, "BR"),
        **given.model_dump(include={"title", "description", "actor"}),
        known_at=known,
        since_at=clock.lagos_midnight(given.since_on),
        until_at=clock.lagos_midnight(given.until_on + timedelta(days=1)),
        created_by=by.id,
        created_at=clock.now(),
    )
    session.insert(row)
    facts = {"number": row.number, "known_on": given.known_on.isoformat()}
    audit.note(session, "breach", row.id, "breach registered", actor=by.actor, **facts)
    return row.id


def judge(session: ScopedSession, breach_id: UUID, typed: Mapping[str, Any], *, version: int, by: Person) -> None:
    """Decide how great the risk to people is; it can be judged anew until the breach is closed."""
    row = _get_open(session, breach_id, version, by)
    given: RiskInput = request.validate(RiskInput, typed)
    row.risk, row.risk_reason, row.people = given.risk, given.risk_reason, given.people
    row.decided_by, row.decided_at = by.id, clock.now()
    _save(session, row, "breach judged", by, risk=given.risk, people=given.people)


def note_commission(session: ScopedSession, breach_id: UUID, *, reference: str, version: int, by: Person) -> None:
    """Note that the Commission was notified; its reference proves it."""
    row = _get_open(session, breach_id, version, by)
    if row.risk in {None, "unlikely"}:
        raise StateForbids("First judge the risk: a breach without one is not notified")
    if row.commission_at is not None:
        raise StateForbids("The Commission was notified already")
    given = request.validate_text("reference", reference, least=3, most=60)
    row.commission_at, row.commission_reference = clock.now(), given
    _save(session, row, "breach notified to the Commission", by, reference=given)


def note_people(session: ScopedSession, breach_id: UUID, *, version: int, by: Person) -> None:
    """Note that the people concerned were told."""
    row = _get_open(session, breach_id, version, by)
    if row.risk is None:
        raise StateForbids("First judge the risk")
    if row.people_at is not None:
        raise StateForbids("The people were told already")
    row.people_at = clock.now()
    _save(session, row, "breach told to people", by)


def close(session: ScopedSession, breach_id: UUID, *, version: int, by: Person) -> None:
    """Close a breach that somebody else judged, once everybody was told who has to know."""
    row = _get_open(session, breach_id, version, by)
    if row.risk is None:
        raise StateForbids("First judge the risk")
    require_second(row.decided_by, by, "You judged this breach: somebody else closes it")
    if row.risk != "unlikely" and row.commission_at is None:
        raise StateForbids("The Commission has to be notified first")
    if row.risk == "high" and row.people_at is None:
        raise StateForbids("The people concerned have to be told first")
    row.closed_by, row.closed_at = by.id, clock.now()
    _save(session, row, "breach closed", by)


def find_exposures(session: ScopedSession, row: BreachRow) -> Sequence[Exposure]:
    """List what was opened, shown or exported in the span, of one actor if the breach names one; newest first."""
    span = [col(AuditEntry.created_at) >= row.since_at, col(AuditEntry.created_at) < row.until_at]
    who = [col(AuditEntry.actor) == row.actor] if row.actor else []
    names = ("id", "actor", "action", "subject")
    query = (
        sa.select(*(col(getattr(AuditEntry, name)) for name in names), col(AuditEntry.created_at).label("at"))
        .where(col(AuditEntry.action).in_(OPENING), *span, *who)
        .order_by(col(AuditEntry.created_at).desc(), col(AuditEntry.id).desc())
        .limit(MAX_LISTED)
    )
    return [Exposure(**row._mapping) for row in session.execute(query)]


def draft_notice(row: BreachRow, exposures: Sequence[Exposure]) -> str:
    """Return a draft of the notice to the Commission, to be read and completed by a person."""
    records = len({each.subject for each in exposures})
    return "\n".join(
        (
            f"Notice of a personal data breach, {row.number}",
            f"1. What happened: {row.title}. {row.description}",
            f"2. When: between {clock.format_lagos(row.since_at)} and {clock.format_lagos(row.until_at)};"
            f" known to us since {clock.format_lagos(row.known_at)} (Lagos).",
            f"3. Data and people: {records:,} records were opened or exported in that span by the audit log;"
            f" about {row.people or 0:,} people are concerned.",
            f"4. Likely consequences and risk: {RISKS.get(row.risk or '', 'not judged yet')}. {row.risk_reason or ''}",
            "5. Measures taken and proposed: [to be completed]",
            "6. Contact of the data protection officer: [to be completed]",
        )
    )


def get_breach(session: ScopedSession, breach_id: UUID) -> BreachRow:
    """Return one breach; NotFound for an unknown id."""
    return first_of(list_breaches(session, col(Breach.id) == breach_id), otherwise="There is no such breach")


def list_breaches(session: ScopedSession, *conditions: Any) -> list[BreachRow]:
    """List every breach, or those of conditions, the newest first."""
    query = sa.select(Breach).where(*conditions).order_by(col(Breach.known_at).desc(), col(Breach.id).desc())
    found = []
    for row in session.execute(query).scalars():
        hours = figures.get_figure(session, "breach_hours", clock.to_lagos_day(row.known_at))
        notify_by = row.known_at + timedelta(hours=hours)
        found.append(build_row(BreachRow, row, notify_by=notify_by))
    return found


def _get_open(session: ScopedSession, breach_id: UUID, version: int, by: Person) -> Breach:
    row = figures.get_for_update(session, Breach, breach_id, noun="breach", by=by)
    if row.closed_at is not None:
        raise StateForbids("This breach is closed")
    if row.version != version:
        raise StaleVersion(detail={"version": row.version})
    return row


def _save(session: ScopedSession, row: Breach, action: str, by: Person, **facts: Any) -> None:
    row.version += 1
    session.flush()
    audit.note(session, "breach", row.id, action, actor=by.actor, number=row.number, **facts)
