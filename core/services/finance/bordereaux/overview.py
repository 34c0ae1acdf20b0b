"""A month of bordereaux at a glance: what is issued, what is still a draft, and what is overdue (contract F5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple
from uuid import UUID

from core import clock
from core.services.finance import agreements, parties
from core.services.finance.bordereaux import issuing
from core.services.finance.bordereaux import reading as bordereau_reading
from core.services.finance.bordereaux.reading import KIND_NAMES, BordereauRow
from core.services.finance.parties import Party
from core.states.finance import WITH_INSURER
from core.store.access import ScopedSession

DRAFT = "Draft"
_USUAL_DAY = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class BordereauSummary:
    """One bordereau of a month; a draft has no number, and its rows change until it is issued."""

    provider_id: UUID
    party: str
    kind: str
    month: date
    state: str
    rows: int
    main_minor: int
    due_on: date
    bordereau_id: UUID | None = None
    number: str | None = None

    @property
    def key(self) -> str:
        """Key in the page address: of the bordereau, or of the insurer and kind if there is none yet."""
        return str(self.bordereau_id) if self.bordereau_id else f"{self.kind}.{self.provider_id}.{self.month:%Y-%m}"

    @property
    def kind_name(self) -> str:
        """The kind as people read it."""
        return KIND_NAMES[self.kind]

    @property
    def is_overdue(self) -> bool:
        """True when it had to be with the insurer by now, and is not."""
        return self.state not in WITH_INSURER and clock.today() > self.due_on


class Overdue(NamedTuple):
    """An insurer that waits for a bordereau: its first month, since which day, and whether it is issued already."""

    party: str
    kind: str
    month: date
    due_on: date
    is_issued: bool

    @property
    def missing(self) -> str:
        """The step that it lacks, in words."""
        return "issued, and has to be sent" if self.is_issued else "has to be issued and sent"


def list_month(session: ScopedSession, month: date) -> list[BordereauSummary]:
    """List the bordereaux of a month, and a draft for each that is still to come."""
    issued = {(row.provider_id, row.kind): row for row in bordereau_reading.list_bordereaux(session, month=month)}
    found = []
    for provider_id, name in _insurers(session):
        for kind in issuing.KINDS:
            row, due = issued.get((provider_id, kind)), _due_on(session, provider_id, month)
            if row is None and not _is_expected(session, provider_id, kind, month):
                continue
            rows, minor = (row.rows, row.main_minor) if row else issuing.count_draft(session, provider_id, kind, month)
            found.append(
                BordereauSummary(
                    provider_id=provider_id,
                    party=name,
                    kind=kind,
                    month=month,
                    state=row.state if row else DRAFT,
                    rows=rows,
                    main_minor=minor,
                    due_on=due,
                    bordereau_id=row.id if row else None,
                    number=row.number if row else None,
                )
            )
    return found


def list_unsent(session: ScopedSession, month: date) -> list[BordereauRow]:
    """List the bordereaux of a month that are issued and have to be sent."""
    return [row for row in bordereau_reading.list_bordereaux(session, month=month) if row.state not in WITH_INSURER]


def list_due(session: ScopedSession, month: date) -> list[tuple[UUID, str, str]]:
    """List the insurers and kinds whose next bordereau is of this month: id, name and kind."""
    return [
        (provider_id, name, kind)
        for provider_id, name in _insurers(session)
        for kind in issuing.KINDS
        if issuing.find_due_month(session, provider_id, kind) == month
    ]


def list_overdue(session: ScopedSession) -> list[Overdue]:
    """List what insurers should have by now: issued and not sent, or not issued at all; one line for each kind."""
    unsent: dict[tuple[UUID, str], date] = {}
    for row in bordereau_reading.list_bordereaux(session):
        if row.state not in WITH_INSURER:
            unsent[(row.provider_id, row.kind)] = row.month
    found = []
    for provider_id, name in _insurers(session):
        for kind in issuing.KINDS:
            # Issued ones lie before the next that is to be issued.
            month = unsent.get((provider_id, kind)) or issuing.find_due_month(session, provider_id, kind)
            due = _due_on(session, provider_id, month) if month else None
            if month and due and clock.today() > due:
                found.append(Overdue(name, kind, month, due, (provider_id, kind) in unsent))
    return found


def _insurers(session: ScopedSession) -> Sequence[tuple[UUID, str]]:
    return [(party.id, name) for party, name in parties.list_parties(session) if party.account == "provider"]


def _is_expected(session: ScopedSession, provider_id: UUID, kind: str, month: date) -> bool:
    due = issuing.find_due_month(session, provider_id, kind)
    return due is not None and due <= month


def _due_on(session: ScopedSession, provider_id: UUID, month: date) -> date:
    """The day of the next month by which an insurer has to have a bordereau."""
    after = clock.add_months(month, 1)
    terms = agreements.get_in_force(session, Party("provider", provider_id), after)
    return after.replace(day=terms.bordereau_due_day if terms else _USUAL_DAY)
