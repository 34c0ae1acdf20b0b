"""Returns to authorities, prepared, checked by somebody else and sent, with their figures; licences (contract D5)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request
from core.errors import NotFound, StateForbids
from core.services.audit import log as audit
from core.services.compliance import figures, return_figures
from core.services.compliance.return_figures import Moved, ReturnFigure
from core.services.lists.windows import Window
from core.services.people.four_eyes import require_second
from core.services.people.staff import Person
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Agreement, Distributor, Filing, Purchase, Staff

# The label of each return, and the months of its period.
KINDS: Final[Mapping[str, tuple[str, int]]] = {
    "brokerage": ("Quarterly brokerage", 3),
    "client_account": ("Client account", 3),
    "bordereaux": ("Bordereaux to insurers", 1),
    "data_protection": ("Data protection return", 12),
}
_MONTHS_SHOWN: Final = 12
# The fact of an entry of the audit log that has the figures of a return.
KEPT: Final = "figures"
_MOST_NAMED: Final = 3
_UNKNOWN: Final = "There is no such return in the calendar"


@dataclass(frozen=True, kw_only=True, slots=True)
class FilingRow:
    """One return of the calendar; without an `id` it is still to be prepared."""

    id: UUID | None
    kind: str
    label: str
    period_ends_on: date
    due_on: date
    state: str
    prepared_by: UUID | None = None
    preparer: str | None = None
    checker: str | None = None
    sender: str | None = None
    sent_at: datetime | None = None
    reference: str | None = None

    @property
    def key(self) -> str:
        """The kind and the last day of the period."""
        return f"{self.kind} {self.period_ends_on}"

    @property
    def window(self) -> Window:
        """The days of its period."""
        return _window_of(self.kind, self.period_ends_on)

    @property
    def days_left(self) -> int | None:
        """Days until it is due, below zero when it is late; None once it was sent."""
        return None if self.state == "sent" else (self.due_on - clock.today()).days


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """The figures of a return: of one that was sent as they were checked, of any other as they are now.

    `kept_as` is the act that kept them last, "prepared" or "checked", None where none did; `moved` are those that
    are no longer what they were then.
    """

    rows: Sequence[ReturnFigure]
    kept_as: str | None = None
    moved: Sequence[Moved] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Licence:
    """The licence of a distributor under its agreement of today."""

    distributor_id: UUID
    distributor: str
    number: str | None
    expires_on: date | None

    @property
    def state(self) -> str:
        """The state in a word: a licence that ends within 60 days is worth a letter."""
        if self.number is None:
            return "Missing"
        if self.expires_on is None:
            return "Active"
        left = (self.expires_on - clock.today()).days
        return "Lapsed" if left < 0 else "Ends soon" if left <= 60 else "Active"


def list_calendar(session: ScopedSession) -> list[FilingRow]:
    """List the returns whose period ended in the last year, the next due first and those that were sent last.

    A period that ended before the first day of business owes no return; one that was prepared all the same is listed.
    """
    stored = {(row.kind, row.period_ends_on): row for row in _load(session)}
    first_on = find_first_day(session)
    rows = [
        stored.get((kind, ends_on)) or _planned(session, kind, ends_on)
        for kind in KINDS
        for ends_on in _periods(kind)
        if (kind, ends_on) in stored or _owes_return(ends_on, first_on)
    ]
    return sorted(rows, key=lambda row: (row.state == "sent", row.due_on, row.kind))


def find(session: ScopedSession, key: str) -> FilingRow | None:
    """Return the return of the calendar that has this key; None where there is none."""
    return next((row for row in list_calendar(session) if row.key == key), None)


def find_first_day(session: ScopedSession) -> date | None:
    """Return the day of the first live purchase or of the first agreement that was entered; None before either."""
    firsts = (
        sa.select(sa.func.min(col(Purchase.created_at))).where(col(Purchase.is_live)),
        sa.select(sa.func.min(col(Agreement.created_at))),
    )
    found = [at for each in firsts if (at := session.execute(each).scalar()) is not None]
    return clock.to_lagos_day(min(found)) if found else None


def _owes_return(ends_on: date, first_on: date | None) -> bool:
    return first_on is not None and ends_on >= first_on


def _window_of(kind: str, ends_on: date) -> Window:
    end = ends_on + timedelta(days=1)
    return Window(clock.add_months(end, -KINDS[kind][1]), end)


def _periods(kind: str) -> Iterator[date]:
    """Yield the last days of the periods of a kind that ended within the last year."""
    months = KINDS[kind][1]
    first = clock.today().replace(day=1)
    for back in range(_MONTHS_SHOWN + 1):
        ends_on = clock.add_months(first, -back) - timedelta(days=1)
        if ends_on.month % months == 0:
            yield ends_on


def _planned(session: ScopedSession, kind: str, ends_on: date) -> FilingRow:
    due_on = compute_due_day(session, kind, ends_on)
    return FilingRow(id=None, kind=kind, label=KINDS[kind][0], period_ends_on=ends_on, due_on=due_on, state="due")


def compute_due_day(session: ScopedSession, kind: str, ends_on: date) -> date:
    """Return the day by which the return of a period is due, by the figures of its last day."""
    if kind == "data_protection":
        month, day = divmod(figures.get_figure(session, "data_protection_month_day", ends_on), 100)
        return date(ends_on.year + 1, month, day)
    return ends_on + timedelta(days=figures.get_figure(session, f"{kind}_days", ends_on))


def list_figures(session: ScopedSession, row: FilingRow) -> Figures:
    """Return the figures of a return, and which of them have moved since it was prepared or checked."""
    act, kept = _load_kept(session, row.id) if row.id else (None, ())
    if row.state == "sent" and act:
        return Figures(rows=kept, kept_as=act)
    now = return_figures.compute(session, row.kind, row.window)
    moved = return_figures.list_moved(kept, now) if act and row.state != "sent" else ()
    return Figures(rows=now, kept_as=act, moved=moved)


def _load_kept(session: ScopedSession, filing_id: UUID) -> tuple[str | None, Sequence[ReturnFigure]]:
    """Return the last act on a return that kept its figures, and these; None for one of before they were kept."""
    for entry in reversed(audit.list_history(session, audit.subject_of("return", filing_id))):
        if (kept := (entry.after or {}).get(KEPT)) is not None:
            return entry.action.removeprefix("return "), [ReturnFigure.from_facts(each) for each in kept]
    return None, ()


def write_figures(session: ScopedSession, key: str, *, by: Person) -> bytes:
    """Return the figures of the return with this key as CSV, as its screen shows them, and note who took them.

    NotFound for one that is not in the calendar.
    """
    figures.require_role(by)
    row = find(session, key)
    if row is None:
        raise NotFound(_UNKNOWN)
    rows = list_figures(session, row).rows
    after = {"kind": row.kind, "period_ends_on": row.period_ends_on.isoformat(), "rows": len(rows)}
    subject = f"return {row.id or row.key}"
    audit.write(session, actor=by.actor, action="return figures taken", subject=subject, after=after)
    return return_figures.print_csv(row.kind, row.period_ends_on, rows)


def prepare(session: ScopedSession, kind: str, ends_on: date, *, seen: Sequence[ReturnFigure], by: Person) -> UUID:
    """Note that a return is prepared, with the figures that the person has seen.

    NotFound for a period that is not in the calendar, StateForbids where a figure is no longer what was seen.
    """
    figures.require_role(by)
    if kind not in KINDS or ends_on not in set(_periods(kind)) or not _owes_return(ends_on, find_first_day(session)):
        raise NotFound(_UNKNOWN)
    row = Filing(
        id=ids.new(),
        kind=kind,
        period_ends_on=ends_on,
        due_on=compute_due_day(session, kind, ends_on),
        prepared_by=by.id,
        prepared_at=clock.now(),
    )
    if not session.insert_if_absent(row):
        raise StateForbids("This return was prepared already")
    _note(session, row, "return prepared", by, **_keep(session, row, seen))
    return row.id


def check(session: ScopedSession, filing_id: UUID, *, seen: Sequence[ReturnFigure], by: Person) -> None:
    """Note that a return which somebody else prepared was checked, with the figures that the person has seen.

    StateForbids where a figure is no longer what was seen.
    """
    row = _get(session, filing_id, "prepared", by)
    require_second(row.prepared_by, by, "You prepared this return: somebody else checks it")
    row.state, row.checked_by, row.checked_at = "checked", by.id, clock.now()
    session.flush()
    _note(session, row, "return checked", by, **_keep(session, row, seen))


def send(session: ScopedSession, filing_id: UUID, *, reference: str, by: Person) -> None:
    """Note that a checked return was sent, with the authority's reference."""
    row = _get(session, filing_id, "checked", by)
    given = request.validate_text("reference", reference, least=3, most=60)
    row.state, row.sent_by, row.sent_at, row.reference = "sent", by.id, clock.now(), given
    session.flush()
    _note(session, row, "return sent", by, reference=given)


def list_licences(session: ScopedSession) -> list[Licence]:
    """List the licence of every active distributor, the first to end first; those without one before them."""
    held: dict[UUID, Agreement] = {}
    begun = sa.select(Agreement).where(
        col(Agreement.distributor_id).is_not(None), col(Agreement.starts_on) <= clock.today()
    )
    for agreement in session.execute(begun.order_by(col(Agreement.starts_on))).scalars():
        held[agreement.distributor_id] = agreement
    query = sa.select(col(Distributor.id), col(Distributor.business_name)).where(
        col(Distributor.active), col(Distributor.deleted_at).is_(None)
    )
    found = []
    for row in session.execute(query):
        of = held.get(row.id)
        number, expires_on = (of.licence_number, of.licence_expires_on) if of else (None, None)
        found.append(
            Licence(distributor_id=row.id, distributor=row.business_name, number=number, expires_on=expires_on)
        )
    return sorted(found, key=lambda row: (row.number is not None, row.expires_on or date.max, row.distributor))


def _load(session: ScopedSession) -> list[FilingRow]:
    names = ("id", "kind", "period_ends_on", "due_on", "state", "prepared_by", "sent_at", "reference")
    query: AnySelect = sa.select(*(col(getattr(Filing, name)) for name in names))
    for role, name in (("preparer", "prepared_by"), ("checker", "checked_by"), ("sender", "sent_by")):
        person = sa.orm.aliased(Staff)
        query = query.add_columns(col(person.name).label(role))
        query = query.outerjoin(person, col(person.id) == col(getattr(Filing, name)))
    return [FilingRow(**row._mapping, label=KINDS[row.kind][0]) for row in session.execute(query)]


def _get(session: ScopedSession, filing_id: UUID, state: str, by: Person) -> Filing:
    row = figures.get_for_update(session, Filing, filing_id, noun="return", by=by)
    if row.state != state:
        raise StateForbids(f"This return is {row.state}")
    return row


def _note(session: ScopedSession, row: Filing, action: str, by: Person, **facts: Any) -> None:
    period = {"kind": row.kind, "period_ends_on": row.period_ends_on.isoformat()}
    audit.note(session, "return", row.id, action, actor=by.actor, **period, **facts)


def _keep(session: ScopedSession, row: Filing, seen: Sequence[ReturnFigure]) -> dict[str, Any]:
    """Return the figures of a return as an act keeps them in the audit log; nobody vouches for one they have not seen.

    StateForbids names the first that have moved since.
    """
    found = return_figures.compute(session, row.kind, _window_of(row.kind, row.period_ends_on))
    if moved := return_figures.list_moved(seen, found):
        named = "; ".join(each.text for each in moved[:_MOST_NAMED])
        more = f"; and {len(moved) - _MOST_NAMED} more" if len(moved) > _MOST_NAMED else ""
        raise StateForbids(f"Figures have moved since you opened this return: {named}{more}. Look at it again")
    return {KEPT: [each.to_facts() for each in found]}
