"""Staff accounts: changes by an admin, each audited with before and after (contract A1, A4), and invitation links.

Nobody but the person ever knows the password. A link sets up the first admin of a new store, or a password; it works
once and for a day.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from urllib.parse import urlencode
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, seal
from core.covers import request
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids, Unauthorized, raise_faults
from core.services.audit import log as audit
from core.services.people import credentials, role_grants, sign_in, staff
from core.services.people.staff import NewStaffInput, Person, StaffInput
from core.settings import settings
from core.store.access import ScopedSession
from core.store.schema.tables import RoleGrant, Staff

ADMIN: Final = "admin"
OWN_ACCESS_MESSAGE: Final = "You cannot take away your own access: ask another admin"


def add_person(session: ScopedSession, staff_id: UUID, inputs: dict[str, Any], *, by: Person) -> None:
    """Add a person without a password: an invitation lets them choose one.

    An account that moves money has no role until a second admin has confirmed it (contract K4). The caller generates
    `staff_id`, so that repeating the call adds once. `inputs` holds email, name, roles and claim_limit as submitted;
    InvalidInput names every invalid field.
    """
    require_admin(by)
    validated: NewStaffInput = request.validate(NewStaffInput, inputs)
    row = Staff(id=staff_id, email=validated.email, name=validated.name, made_by=by.id, roles=[])
    limit = staff.limit_of(row, validated)
    waits = role_grants.is_guarded(validated.roles, limit)
    if not waits:
        staff.apply_input(row, validated)
    if session.insert_if_absent(row):
        staff.record_change(session, row, "staff added", actor=by.actor, before=None)
        if waits:
            session.flush()
            with role_grants.keep_refusal(row.id, "staff account", by=by):
                held = session.get_one(Staff, staff_id)
                role_grants.propose(session, held, "account", roles=validated.roles, limit_minor=limit, by=by)
    elif session.get(Staff, staff_id) is None:
        raise InvalidInput.for_field("email", "belongs to somebody who has an account already")


def change_person(
    session: ScopedSession, staff_id: UUID, inputs: dict[str, Any], *, seen_at: datetime, by: Person
) -> None:
    """Change a person's name at once, and propose other roles or another limit, which a second admin confirms.

    `seen_at` is the `updated_at` that the admin saw: StaleVersion if it changed. StateForbids for one's own admin role
    and for that of the last admin.
    """
    require_admin(by)
    row = _get_for_update(session, staff_id)
    validated: StaffInput = request.validate(StaffInput, {**inputs})
    before, previous_updated_at = staff.get_audited_facts(row), row.updated_at
    if ADMIN in row.roles and ADMIN not in validated.roles:
        _require_other(row, by)
        if row.disabled_at is None:
            staff.require_other_admin(session, row)
    limit = staff.limit_of(row, validated)
    differs = (sorted(row.roles), row.claim_limit_minor) != (validated.roles, limit)
    if not differs and row.name == validated.name:
        return
    if previous_updated_at != seen_at:
        raise StaleVersion
    if row.name != validated.name:
        row.name, row.updated_at = validated.name, clock.now()
        session.flush()
        staff.record_change(session, row, "staff changed", actor=by.actor, before=before)
    if differs:
        with role_grants.keep_refusal(row.id, "staff change", by=by):
            role_grants.propose(session, row, "change", roles=validated.roles, limit_minor=limit, by=by)


def set_own_details(session: ScopedSession, staff_id: UUID, inputs: Mapping[str, Any], *, by: Person) -> None:
    """Set the phone and the bank account by which what is a person's own is known; empty leaves what is known (K12).

    NotAllowed for one's own: whoever could set them could hide behind another account.
    """
    require_admin(by)
    with role_grants.keep_refusal(staff_id, "staff details", by=by):
        if staff_id == by.id:
            raise NotAllowed("Your own phone and account are set by another admin")
        given = {name: str(inputs.get(name) or "").strip() or None for name in ("phone_number", "account_number")}
        staff.set_own_details(session, staff_id, **given, actor=by.actor)


def disable_person(session: ScopedSession, staff_id: UUID, *, by: Person) -> None:
    """Disable a person at once, with every session and link; an admin once a second one has confirmed it.

    StateForbids for oneself and for the last admin.
    """
    require_admin(by)
    row = _get_for_update(session, staff_id)
    _require_other(row, by)
    if ADMIN not in row.roles or row.disabled_at is not None:
        staff.disable_row(session, row, actor=by.actor)
        return
    staff.require_other_admin(session, row)
    with role_grants.keep_refusal(row.id, "staff disabling", by=by):
        role_grants.propose(session, row, "disable", by=by)


def enable_person(session: ScopedSession, staff_id: UUID, *, by: Person) -> None:
    """Enable a disabled person, with their former password and roles; once a second admin has confirmed it (K4)."""
    require_admin(by)
    row = _get_for_update(session, staff_id)
    if row.disabled_at is None:
        return
    if role_grants.is_guarded(row.roles, row.claim_limit_minor):
        with role_grants.keep_refusal(row.id, "staff enabling", by=by):
            role_grants.propose(session, row, "enable", by=by)
        return
    staff.enable_row(session, row, actor=by.actor)


def end_sessions(session: ScopedSession, staff_id: UUID, *, by: Person, handle: str | None = None) -> int:
    """End one session of a person, or all open ones; returns how many were open."""
    require_admin(by)
    row = _get_for_update(session, staff_id)
    ended = credentials.end_sessions(session, row.id, handle=handle)
    if ended:
        audit.note(session, "staff", row.id, "sessions ended", actor=by.actor, sessions=ended)
    return ended


def require_admin(person: Person) -> None:
    """Raise NotAllowed unless the person is an admin; checked here too, not on the screen only."""
    person.require_role(ADMIN, otherwise="Only an admin can do this")


def as_admin(person: Person) -> str:
    """Return an admin as the log names who acted, for services that others call too; NotAllowed for anybody else."""
    require_admin(person)
    return person.actor


def _require_other(row: Staff, by: Person) -> None:
    if row.id == by.id:
        raise StateForbids(OWN_ACCESS_MESSAGE)


def _get_for_update(session: ScopedSession, staff_id: UUID) -> Staff:
    found = session.execute(sa.select(Staff).where(col(Staff.id) == staff_id).with_for_update())
    row: Staff | None = found.scalar_one_or_none()
    if row is None:
        raise NotFound("No such person")
    return row


LIFETIME: Final = timedelta(hours=24)
LINK_OVER: Final = "This link has been used, has run out, or was replaced by a newer one"
PATHS: Final = {"set-up": "/set-up", "password": "/set-password"}
_FIRST_ADMIN = "first admin"

Kind = Literal["set-up", "password"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Invitation:
    """The purpose of a link and its person; a set-up link has no person yet.

    One that two admins made is opened with a code besides, so that neither of them has the password alone (K4).
    """

    kind: Kind
    email: str = ""
    name: str = ""
    needs_code: bool = False


def create_set_up_link(session: ScopedSession) -> str | None:
    """Return a link that creates the first admin; None once there is an admin."""
    if staff.has_admin(session):
        return None
    return _build_url("set-up", sign_in.issue_ticket("set-up", _FIRST_ADMIN, lifetime=LIFETIME))


def create_password_link(session: ScopedSession, staff_id: UUID, *, by: Person) -> str | None:
    """Create a link with which a person chooses a password; it replaces any earlier one.

    None where the account moves money: then another admin confirms that there is a link, and gets it (contract K4).
    NotFound for an unknown person, StateForbids for a disabled one. The current password stays valid until then.
    """
    require_admin(by)
    row = _get_for_update(session, staff_id)
    if row.disabled_at is not None:
        raise StateForbids("This account is disabled: enable it first")
    with role_grants.keep_refusal(row.id, "password link", by=by):
        waits = role_grants.get_open(session, row.id)
        if waits is not None and waits.act == "account":
            return None
        is_guarded = row.id != by.id and role_grants.is_guarded(row.roles, row.claim_limit_minor)
        if is_guarded and role_grants.propose(session, row, "link", by=by):
            return None
    return _issue_link(session, row, by=by)


def confirm_change(session: ScopedSession, grant_id: UUID, *, by: Person) -> str | None:
    """Confirm a change of an account that another admin proposed; returns the link that it makes, if it makes one.

    It is opened with the code of who proposed the change: `find_link_code`.
    """
    row, act = role_grants.confirm(session, grant_id, by=by)
    if act not in ("account", "link") or not settings().passwords:
        return None
    return _issue_link(session, row, by=by, grant=_select_grant(session, col(RoleGrant.id) == grant_id))


def _select_grant(session: ScopedSession, *which: Any) -> Any:
    columns = (col(RoleGrant.proposed_by), col(RoleGrant.decided_at))
    return session.execute(sa.select(*columns).where(*which)).one_or_none()


def _issue_link(session: ScopedSession, row: Staff, *, by: Person, grant: Any = None) -> str:
    row.link_until, row.link_by = (grant.decided_at if grant else clock.now()) + LIFETIME, by.id
    until = clock.to_wire(row.link_until)
    audit.note(session, "staff", row.id, credentials.LINK_MADE, actor=by.actor, until=until)
    value = f"{row.id} {until}" + (f" {grant.proposed_by}" if grant else "")
    return _build_url("password", sign_in.issue_ticket("password", value, lifetime=LIFETIME))


def find_link_code(session: ScopedSession, staff_id: UUID, *, by: Person) -> str | None:
    """Return the code of the open link of an account to who proposed it, who tells it to the person; else None."""
    require_admin(by)
    row = session.get_one(Staff, staff_id)
    if row.link_until is None or row.link_until < clock.now():
        return None
    made = (col(RoleGrant.decided_by) == row.link_by, col(RoleGrant.decided_at) == row.link_until - LIFETIME)
    grant = _select_grant(session, col(RoleGrant.staff_id) == staff_id, *made, col(RoleGrant.proposed_by) == by.id)
    return _build_code(row, str(by.id)) if grant else None


def _build_code(row: Staff, proposer_id: str) -> str:
    assert row.link_until  # noqa: S101 - the link is open
    code = seal.keyed_hash("link code", f"{row.id} {clock.to_wire(row.link_until)} {proposer_id}")[:10].upper()
    return f"{code[:5]}-{code[5:]}"


def open_invitation(session: ScopedSession, ticket: str) -> Invitation:
    """Return the invitation of a link without using it; Unauthorized if it is no longer valid."""
    if _read_ticket(session, "set-up", ticket) is not None:
        if staff.has_admin(session):
            raise Unauthorized(LINK_OVER)
        return Invitation(kind="set-up")
    row, proposer_id = _get_invited(session, _read_ticket(session, "password", ticket))
    return Invitation(kind="password", email=row.email, name=row.name, needs_code=bool(proposer_id))


def set_up_admin(session: ScopedSession, ticket: str, *, email: str, name: str, password: str | None) -> UUID:
    """Create the first admin; of two concurrent calls one is refused with Unauthorized.

    InvalidInput names every invalid field, and the link stays valid. Without a password the admin signs in with the
    identity provider.
    """
    validated = _validate(email, name, password)
    password_hash = None if password is None else credentials.hash_password(password, email=validated.email)
    session.next_in_transaction(_FIRST_ADMIN)
    _redeem(session, "set-up", ticket)
    if staff.has_admin(session):
        raise Unauthorized(LINK_OVER)
    row = session.execute(sa.select(Staff).where(col(Staff.email) == validated.email)).scalar_one_or_none()
    before = None if row is None else staff.get_audited_facts(row)
    row = row or Staff(email=validated.email, name=validated.name)
    if row.password_hash is not None:
        credentials.suspend_approvals(row)
    staff.apply_input(row, validated)
    row.confirms_from = clock.now() + credentials.RESTS_FOR
    row.password_hash, row.disabled_at = password_hash, None
    session.add(row)
    session.flush()
    credentials.end_sessions(session, row.id)
    staff.record_change(session, row, "first admin set up", actor="set-up link", before=before)
    return row.id


def _validate(email: str, name: str, password: str | None) -> NewStaffInput:
    """Validate the first admin's input; InvalidInput reports all errors at once."""
    faults = [] if password is None else credentials.find_weaknesses(password, email=email)
    try:
        validated: NewStaffInput = request.validate(NewStaffInput, {"email": email, "name": name, "roles": ["admin"]})
    except InvalidInput as error:
        raise InvalidInput([*error.faults, *faults]) from None
    raise_faults(faults)
    return validated


def choose_password(session: ScopedSession, ticket: str, password: str, *, code: str = "") -> UUID:
    """Set the password of a link's person, and end their open sessions.

    Whoever made the link may have opened it: a person whose password somebody else has reset approves nothing for a
    day, and so does one who chooses the first of an account that moves money.

    Unauthorized when the link is no longer good; InvalidInput for a weak password, or another code than that of the
    link, which then stays good.
    """
    row, proposer_id = _get_invited(session, _read_ticket(session, "password", ticket), lock=True)
    if proposer_id and not hmac.compare_digest(_build_code(row, proposer_id).encode(), code.strip().upper().encode()):
        raise InvalidInput.for_field("code", f"must be the one that {_name(session, proposer_id)}, an admin, tells you")
    rests = row.password_hash is not None or role_grants.is_guarded(row.roles, row.claim_limit_minor)
    row.password_hash = credentials.hash_password(password, email=row.email)
    _redeem(session, "password", ticket)
    if rests and row.link_by != row.id:
        credentials.suspend_approvals(row)
    row.confirms_from = clock.now() + credentials.RESTS_FOR
    row.link_until = row.link_by = None
    session.flush()
    credentials.clear_failures(session, row.email)
    ended = credentials.end_sessions(session, row.id)
    audit.note(session, "staff", row.id, credentials.CHOSEN, actor=f"staff {row.email}", sessions_ended=ended)
    return row.id


def _name(session: ScopedSession, staff_id: str) -> str:
    return session.get_one(Staff, UUID(staff_id)).name


def _get_invited(session: ScopedSession, value: str | None, *, lock: bool = False) -> tuple[Staff, str | None]:
    """Return the person of a link, and who has its code, if anybody; Unauthorized unless it is the latest link."""
    query = sa.select(Staff).where(col(Staff.disabled_at).is_(None))
    if value is None:
        raise Unauthorized(LINK_OVER)
    staff_id, until, *proposer_id = value.split(" ")
    query = query.where(col(Staff.id) == ids.parse(staff_id), col(Staff.link_until) == datetime.fromisoformat(until))
    row: Staff | None = session.execute(query.with_for_update() if lock else query).scalar_one_or_none()
    if row is None:
        raise Unauthorized(LINK_OVER)
    return row, next(iter(proposer_id), None)


def _read_ticket(session: ScopedSession, kind: Kind, ticket: str) -> str | None:
    try:
        return sign_in.read_ticket(session, kind, ticket)
    except Unauthorized:
        return None


def _redeem(session: ScopedSession, kind: Kind, ticket: str) -> None:
    try:
        sign_in.redeem(session, kind, ticket)
    except Unauthorized:
        raise Unauthorized(LINK_OVER) from None


def _build_url(kind: Kind, ticket: str) -> str:
    return f"{settings().base_url}{PATHS[kind]}?" + urlencode({"t": ticket})
