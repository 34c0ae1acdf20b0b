"""Staff: people who sign in, their roles and limits (contract A1, A2)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator, Field
from sqlmodel import col

from core import clock, ids, money
from core.covers import fields, request
from core.covers.fields import AccountNumber, fault
from core.covers.request import Request
from core.errors import NotAllowed, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.services.lists.filters import declaration
from core.services.lists.paging import Page, Paging
from core.services.people import credentials, transfers
from core.services.people.approvals import get_limit
from core.services.people.credentials import SIGNED_IN, build_open_conditions
from core.services.people.personal import to_international
from core.settings import settings
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema import parties
from core.store.schema.tables import AuditEntry, Staff, StaffDetail, StaffSession

ROLES: Final = parties.ROLES
LAST_ADMIN_MESSAGE: Final = "This is the last admin who can sign in: give somebody else the role first"
_UNLIMITED: Final = frozenset({"supervisor", "admin"})
_UNKNOWN: Final = "No such person"


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """A signed-in staff member, with every phone and account that is or was theirs."""

    id: UUID
    email: str
    name: str
    roles: tuple[str, ...]
    claim_limit_minor: int | None
    approves_from: datetime | None = None
    phone_numbers: tuple[str, ...] = ()
    account_keys: tuple[str, ...] = ()

    @property
    def may_approve(self) -> bool:
        """False for a day after somebody else has reset the person's password (contract A2)."""
        return self.approves_from is None or self.approves_from <= clock.now()

    @property
    def actor(self) -> str:
        """The person's name in the audit log."""
        return f"staff {self.email}"

    def has_role(self, *roles: str) -> bool:
        """Return True if the person has one of the roles; an admin has them all."""
        return "admin" in self.roles or any(role in self.roles for role in roles)

    def require_role(self, *roles: str, otherwise: str) -> None:
        """NotAllowed with this sentence unless the person has one of the roles."""
        if not self.has_role(*roles):
            raise NotAllowed(otherwise)


def _check_roles(roles: list[str]) -> list[str]:
    if not roles:
        raise fault("must be chosen: at least one")
    if set(roles) - set(ROLES):
        raise fault(f"must be one or more of {', '.join(ROLES)}")
    return sorted(set(roles))


class StaffInput(Request):
    """The editable fields of a person: name, roles, and the limit up to which they decide claims."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    roles: Annotated[list[str], AfterValidator(_check_roles)]
    claim_limit: fields.Naira | None = None


class NewStaffInput(StaffInput):
    """A person to add; the e-mail is limited in length to fit the audit log."""

    email: Annotated[fields.Email, Field(max_length=100), AfterValidator(str.lower)]


def add_or_update(
    session: ScopedSession,
    *,
    email: str,
    name: str,
    roles: Sequence[str],
    password: str,
    actor: str,
    claim_limit: Decimal | str | None = None,
    password_hash: str | None = None,
) -> UUID:
    """Add a person, or set name, roles, limit (naira) and password of an existing one.

    `password_hash` is that of a password that needs no check and was hashed before, which takes long on purpose.
    InvalidInput says what is wrong, StateForbids that the last admin would be gone. A known person is enabled
    again; whoever was signed in with the password before is not any more. Where the password of a known person
    becomes another one, the person approves nothing for a day (`credentials.suspend_approvals`). An admin whom it
    saves was made one by nobody of the desk.
    """
    submitted = {"email": email, "name": name, "roles": list(roles), "claim_limit": claim_limit}
    validated: NewStaffInput = request.validate(
        NewStaffInput, {key: value for key, value in submitted.items() if value is not None}
    )
    password_hash = password_hash or credentials.hash_password(password, email=validated.email)
    row = session.execute(sa.select(Staff).where(col(Staff.email) == validated.email)).scalar_one_or_none()
    before = None if row is None else get_audited_facts(row)
    if row is not None and "admin" not in validated.roles:
        require_other_admin(session, row)
    row = row or Staff(email=validated.email, name=validated.name)
    if row.password_hash is None or not credentials.matches(row.password_hash, password):
        if row.password_hash is not None:
            credentials.suspend_approvals(row)
        row.confirms_from = clock.now() + credentials.RESTS_FOR
    apply_input(row, validated)
    row.made_by = None
    row.password_hash, row.disabled_at, row.link_until = password_hash, None, None
    session.add(row)
    session.flush()
    credentials.end_sessions(session, row.id)
    record_change(session, row, "staff saved", actor=actor, before=before)
    return row.id


class OwnDetailsInput(Request):
    """The phone and the bank account of a staff member, by which a claim of their own is known."""

    phone_number: fields.Phone | None = None
    account_number: AccountNumber | None = None


def set_own_details(
    session: ScopedSession, staff_id: UUID, *, phone_number: str | None, account_number: str | None, actor: str
) -> None:
    """Set a person's phone and account, which is sealed; nobody decides on a claim that has one of them (contract K12).

    None leaves what is known. What they had before counts as theirs for ever: setting another one hides nothing.
    NotFound for an unknown person, InvalidInput names what is wrong.
    """
    given: OwnDetailsInput = request.validate(
        OwnDetailsInput, {"phone_number": phone_number, "account_number": account_number}
    )
    row: Staff | None = session.get(Staff, staff_id)
    if row is None:
        raise NotFound(_UNKNOWN)
    now, kept = clock.now(), {}
    if given.phone_number:
        row.phone_number = kept["phone_number"] = to_international(given.phone_number)
    if given.account_number:
        frozen = transfers.freeze_account(given.account_number)
        row.account_key, row.sealed = frozen["account_key"], frozen["sealed"]
        kept["account_key"] = row.account_key
    row.updated_at = now
    session.flush()
    if kept:
        session.insert(StaffDetail(id=ids.new(), staff_id=row.id, created_at=now, **kept))
    changed = [name for name, value in (("phone", phone_number), ("account", account_number)) if value]
    record_change(session, row, "staff details set", actor=actor, before=None, details=changed)


def refuse_resting(person: Person) -> None:
    """NotAllowed for whoever may approve nothing yet, with the time from which they may."""
    if not person.may_approve:
        from_then = clock.format_lagos(person.approves_from)
        raise NotAllowed(
            "Somebody else gave you your password, or the link to it, less than 24 hours ago:"
            f" you can approve from {from_then} on"
        )


def apply_input(row: Staff, inputs: StaffInput) -> None:
    """Copy the submitted fields into a row at once; a new claims officer decides nothing until a limit is set.

    Also by the server's command the limit of a known account counts a day after it was raised.
    """
    limit = limit_of(row, inputs)
    if row.roles:
        set_limit(row, limit)
    else:
        row.claim_limit_minor = limit
    row.name = inputs.name
    set_roles(row, inputs.roles)
    row.updated_at = clock.now()


def limit_of(row: Staff, inputs: StaffInput) -> int | None:
    """Return the limit in kobo that an input gives a person; None is no limit."""
    if inputs.claim_limit is not None:
        return money.to_minor(inputs.claim_limit)
    had_none = _is_officer(row.roles or ()) and row.claim_limit_minor is None
    return 0 if _is_officer(inputs.roles) and not had_none else None


def _is_officer(roles: Sequence[str]) -> bool:
    """True for roles under a limit: a supervisor is above every one, and has none to keep as an officer."""
    return "claims" in roles and _UNLIMITED.isdisjoint(roles)


def set_roles(row: Staff, roles: Sequence[str]) -> None:
    """Give a person these roles; who becomes an admin confirms no change of an account for a day (contract K4)."""
    if "admin" in roles and "admin" not in (row.roles or ()):
        row.confirms_from = clock.now() + credentials.RESTS_FOR
    row.roles = list(roles)


def set_limit(row: Staff, limit_minor: int | None) -> None:
    """Change a limit: a lower one holds at once, a higher one after a day (contract K4)."""
    before = get_limit(row)
    row.claim_limit_minor, row.limit_before_minor = limit_minor, before
    rises = before is not None and (limit_minor is None or limit_minor > before)
    row.limit_holds_from = clock.now() + credentials.RESTS_FOR if rises else None


def disable(session: ScopedSession, email: str, *, actor: str) -> None:
    """Disable a person at once; NotFound for an unknown e-mail, StateForbids for the last admin."""
    row = session.find_scalar(sa.select(Staff).where(col(Staff.email) == email.strip().lower()), otherwise=_UNKNOWN)
    disable_row(session, row, actor=actor)


def disable_row(session: ScopedSession, row: Staff, *, actor: str, **more: Any) -> None:
    """Disable an account, ending its sessions and its link; does nothing if it is disabled already."""
    require_other_admin(session, row)
    if row.disabled_at is not None:
        return
    before = get_audited_facts(row)
    row.disabled_at = row.updated_at = clock.now()
    row.link_until = None
    session.flush()
    ended = credentials.end_sessions(session, row.id)
    record_change(session, row, "staff disabled", actor=actor, before=before, sessions_ended=ended, **more)


def enable_row(session: ScopedSession, row: Staff, *, actor: str, **more: Any) -> None:
    """Enable an account; whoever is an admin confirms no change of an account for a day."""
    before = get_audited_facts(row)
    row.disabled_at, row.updated_at = None, clock.now()
    row.confirms_from = clock.now() + credentials.RESTS_FOR
    session.flush()
    record_change(session, row, "staff enabled", actor=actor, before=before, **more)


def require_other_admin(session: ScopedSession, leaving: Staff) -> None:
    """Raise StateForbids if no other admin would remain; locks rows against two leaving at once."""
    enabled = session.execute(_build_enabled_query().order_by(col(Staff.id)).with_for_update()).all()
    admins = {row.id for row in enabled if "admin" in row.roles}
    if admins == {leaving.id}:
        raise StateForbids(LAST_ADMIN_MESSAGE)


def has_admin(session: ScopedSession) -> bool:
    """Return True if an enabled admin exists."""
    return any("admin" in row.roles for row in session.execute(_build_enabled_query()))


def _build_enabled_query() -> AnySelect:
    columns = (col(Staff.id), col(Staff.name), col(Staff.email), col(Staff.roles))
    return sa.select(*columns).where(col(Staff.disabled_at).is_(None))


def join_names(query: AnySelect, **columns: Any) -> AnySelect:
    """Add to a query the name of the person in each of these columns, under its label; None where there is nobody."""
    for label, column in columns.items():
        person = sa.orm.aliased(Staff)
        query = query.add_columns(col(person.name).label(label)).outerjoin(person, col(person.id) == column)
    return query


def get_names(session: ScopedSession, ids: Collection[UUID | None]) -> Mapping[UUID, str]:
    """Return the names of people by id, also of those who have left."""
    query = sa.select(col(Staff.id), col(Staff.name)).where(col(Staff.id).in_(known := set(ids) - {None}))
    return {row.id: row.name for row in session.execute(query)} if known else {}


def list_active(session: ScopedSession, *roles: str) -> dict[UUID, str]:
    """Return everybody who is not disabled and has one of these roles, or is an admin: names by id, sorted by name."""
    rows = session.execute(_build_enabled_query())
    found = [(row.name, row.id) for row in rows if {"admin", *roles} & set(row.roles)]
    return {key: name for name, key in sorted(found, key=lambda each: (each[0].lower(), each[1]))}


def list_admin_names(session: ScopedSession) -> list[str]:
    """Return name and e-mail of every enabled admin, "Ada Obi (ada@x.example)", by name."""
    rows = session.execute(_build_enabled_query().order_by(col(Staff.name)))
    return [f"{row.name} ({row.email})" for row in rows if "admin" in row.roles]


def get_audited_facts(row: Staff) -> dict[str, Any]:
    """Return the audited fields of a person: never a password or its hash."""
    limit = row.claim_limit_minor
    return {
        "email": row.email,
        "name": row.name,
        "roles": list(row.roles),
        "claim_limit": None if limit is None else money.to_wire(limit),
        "enabled": row.disabled_at is None,
        **({"approves_from": clock.to_wire(row.approves_from)} if row.approves_from else {}),
    }


def record_change(
    session: ScopedSession, row: Staff, action: str, *, actor: str, before: Mapping[str, Any] | None, **more: Any
) -> None:
    """Write a change of a person to the audit log, with the state before and after."""
    subject = audit.subject_of("staff", row.id)
    audit.write(
        session, actor=actor, action=action, subject=subject, before=before, after={**get_audited_facts(row), **more}
    )


def get_by_token(session: ScopedSession, token: str | None) -> Person | None:
    """Return the person of a session token; None if the session ended, idled or grew too old."""
    if not token:
        return None
    row = session.execute(_build_session_query(token)).one_or_none()
    return None if row is None else _build_person(row)


def get_by_email(session: ScopedSession, email: str) -> Person:
    """Return the person with an e-mail, for commands; NotFound if unknown or disabled."""
    found = _find(session, col(Staff.email) == email.strip().lower())
    if found is None:
        raise NotFound(_UNKNOWN)
    return found


def find_by_id(session: ScopedSession, staff_id: UUID) -> Person | None:
    """Return a person by id; None if unknown or disabled."""
    return _find(session, col(Staff.id) == staff_id)


def _find(session: ScopedSession, is_person: sa.ColumnElement[bool]) -> Person | None:
    query = sa.select(*_PERSON_COLUMNS).where(is_person, col(Staff.disabled_at).is_(None))
    row = session.execute(query).one_or_none()
    return None if row is None else _build_person(row)


def _join_details(column: Any) -> Any:
    joined = sa.select(sa.func.aggregate_strings(column, ",")).where(col(StaffDetail.staff_id) == col(Staff.id))
    return joined.correlate(Staff).scalar_subquery()


_DETAILS: Final = {"phone_number": col(StaffDetail.phone_number), "account_key": col(StaffDetail.account_key)}
_PERSON_COLUMNS = (
    *(col(Staff.id), col(Staff.email), col(Staff.name), col(Staff.roles), col(Staff.claim_limit_minor)),
    *(col(Staff.approves_from), col(Staff.limit_before_minor), col(Staff.limit_holds_from)),
    *(_join_details(column).label(f"{name}s") for name, column in _DETAILS.items()),
)


def _build_person(row: AnyRow) -> Person:
    theirs = {"phone_numbers": _split(row.phone_numbers), "account_keys": _split(row.account_keys)}
    return build_row(Person, row, roles=tuple(row.roles), claim_limit_minor=get_limit(row), **theirs)


def _split(joined: str | None) -> tuple[str, ...]:
    return tuple(joined.split(",")) if joined else ()


def _build_session_query(token: str) -> AnySelect:
    return (
        sa.select(*_PERSON_COLUMNS)
        .join(StaffSession, col(StaffSession.staff_id) == col(Staff.id))
        .where(
            col(StaffSession.token_hash) == credentials.hash_token(token),
            *credentials.build_open_conditions(),
            col(Staff.disabled_at).is_(None),
        )
    )


Order = Literal["name", "name-back", "email", "email-back"]
_NAME, _EMAIL = sa.func.lower(col(Staff.name)), col(Staff.email)
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "name": (_NAME, _EMAIL),
    "name-back": (_NAME.desc(), _EMAIL.desc()),
    "email": (_EMAIL,),
    "email-back": (_EMAIL.desc(),),
}
State = Literal["Enabled", "Invited", "No password", "Disabled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StaffFilter:
    """Criteria for a list of staff: any part of name or e-mail, a role, and whether enabled."""

    text: str = ""
    role: str | None = None
    enabled: bool | None = None

    @property
    def is_filtered(self) -> bool:
        """True if any criterion is set."""
        return bool(self.text or self.role or self.enabled is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class StaffRow:
    """One person, without anything about the password but whether there is one."""

    id: UUID
    email: str
    name: str
    roles: tuple[str, ...]
    claim_limit_minor: int | None
    has_password: bool
    disabled_at: datetime | None
    link_until: datetime | None
    created_at: datetime
    updated_at: datetime
    signed_in_at: datetime | None
    open_sessions: int
    phone_number: str | None = None
    sealed: str | None = None
    limit_before_minor: int | None = None
    limit_holds_from: datetime | None = None

    @property
    def limit_minor(self) -> int | None:
        """The limit in kobo that counts now; None where there is none."""
        return get_limit(self)

    @property
    def limit_waits(self) -> bool:
        """True while a raised limit does not count yet (contract K4)."""
        return self.limit_holds_from is not None and self.limit_holds_from > clock.now()

    @property
    def account_hint(self) -> str:
        """The last four digits of the person's own bank account; empty where none is known."""
        return (transfers.open_account(self.sealed) or "")[-4:]

    @property
    def state(self) -> State:
        """State of the account: can sign in, or the reason why not."""
        if self.disabled_at is not None:
            return "Disabled"
        if self.has_password or not settings().passwords:
            return "Enabled"
        return "Invited" if self.link_is_open else "No password"

    @property
    def link_is_open(self) -> bool:
        """True while an invitation link is valid."""
        return self.link_until is not None and self.link_until > clock.now()


def list_staff(
    session: ScopedSession, criteria: StaffFilter, paging: Paging, *, order: Order = "name"
) -> Page[StaffRow]:
    """One page of people, and how many there are in all."""
    conditions = _build_conditions(criteria)
    total = session.count_rows(Staff, *conditions)
    rows = session.execute(
        _build_query().where(*conditions).order_by(*ORDERS[order]).limit(paging.limit).offset(paging.offset)
    )
    return Page([_build_row(row) for row in rows], total)


def get_staff(session: ScopedSession, staff_id: UUID) -> StaffRow:
    """Return one person; NotFound for an unknown id."""
    row = session.find_row(_build_query().where(col(Staff.id) == staff_id), otherwise=_UNKNOWN)
    return _build_row(row)


def list_events(session: ScopedSession, staff_id: UUID) -> list[AuditEvent]:
    """Return the last 30 audit events of an account, newest first, without sign-ins; changes list only what differs."""
    entries = session.execute(
        sa.select(AuditEntry)
        .where(col(AuditEntry.subject) == audit.subject_of("staff", staff_id), col(AuditEntry.action) != SIGNED_IN)
        .order_by(col(AuditEntry.created_at).desc(), col(AuditEntry.position).desc())
        .limit(30)
    ).scalars()
    return [AuditEvent(at=e.created_at, actor=e.actor, action=e.action, facts=_list_changes(e)) for e in entries]


def _list_changes(entry: AuditEntry) -> dict[str, Any]:
    before, after = entry.before or {}, entry.after or {}
    return {
        name: {"before": before[name], "after": value} if name in before else value
        for name, value in after.items()
        if name not in before or before[name] != value
    }


_LIMIT: Final = ("limit_before_minor", "limit_holds_from")


def _build_query() -> AnySelect:
    mine = col(StaffSession.staff_id) == col(Staff.id)
    last = sa.select(sa.func.max(col(StaffSession.created_at))).where(mine).correlate(Staff).scalar_subquery()
    opened = sa.select(sa.func.count()).where(mine, *build_open_conditions()).correlate(Staff).scalar_subquery()
    names = ("id", "email", "name", "roles", "claim_limit_minor", "disabled_at", "link_until", "created_at")
    return sa.select(
        *(col(getattr(Staff, name)) for name in (*names, "updated_at", "phone_number", "sealed", *_LIMIT)),
        col(Staff.password_hash).is_not(None).label("has_password"),
        last.label("signed_in_at"),
        opened.label("open_sessions"),
    )


def _build_conditions(criteria: StaffFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if criteria.text:
        searched = sa.func.lower(col(Staff.name) + "\n" + col(Staff.email))
        conditions.append(searched.like(declaration.containing(criteria.text), escape="\\"))
    if criteria.role:
        conditions.append(sa.cast(col(Staff.roles), sa.String).like(f'%"{criteria.role}"%'))
    if criteria.enabled is not None:
        disabled = col(Staff.disabled_at)
        conditions.append(disabled.is_(None) if criteria.enabled else disabled.is_not(None))
    return conditions


def _build_row(row: AnyRow) -> StaffRow:
    values = dict(row._mapping)
    return StaffRow(**{**values, "roles": tuple(row.roles), "has_password": bool(row.has_password)})
