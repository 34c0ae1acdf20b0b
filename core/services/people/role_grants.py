"""Changes of accounts: one admin proposes them, another confirms them, and nobody does both (contract K4)."""

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.errors import NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.people import credentials, four_eyes, staff
from core.services.people.credentials import LINK_MADE, SIGNED_IN
from core.services.people.four_eyes import Proposals
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import AuditEntry, RoleGrant, Staff

# Whoever has none of these neither decides on money nor approves what others prepare.
MONEY_ROLES: Final = frozenset({"claims", "finance", "supervisor", "compliance", "admin"})
PROPOSALS: Final = Proposals(RoleGrant, "change of an account")
ALONE: Final = "by_one_admin_alone"
_STAFF: Final = "staff "
_ADMIN: Final = "admin"
# The entries of the log by which an account comes to be as it is.
_BY_HAND: Final = (
    *("staff saved", "staff added", "staff changed", "staff disabled", "staff enabled", "first admin set up"),
    *("account confirmed", "account change confirmed", "password link", "agreement added"),
)
_NAMES: Final = {
    "account": "a new account",
    "change": "roles and limit",
    "roles": "more roles",
    "link": "a password link",
    "disable": "disabling the account",
    "enable": "enabling the account",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenGrant:
    """A change of an account that waits for a second admin."""

    id: UUID
    staff_id: UUID
    person: str
    act: str
    roles: tuple[str, ...]
    claim_limit_minor: int | None
    proposed_by: UUID
    proposer: str
    proposed_at: datetime

    @property
    def text(self) -> str:
        """The change in words, such as "roles and limit: claims, up to ₦50,000.00"."""
        if self.act not in ("account", "change", "roles"):
            return _NAMES[self.act]
        limit = "" if self.claim_limit_minor is None else f", up to {money.format_naira(self.claim_limit_minor)}"
        return f"{_NAMES[self.act]}: {', '.join(self.roles)}{limit}"


def moves_money(roles: Collection[str]) -> bool:
    """True for roles with which somebody decides on money, or approves what others prepare."""
    return not MONEY_ROLES.isdisjoint(roles)


def is_guarded(roles: Collection[str], limit_minor: int | None) -> bool:
    """True for an account of which two admins make what opens it: it moves money, or confirms loan books to a limit."""
    return moves_money(roles) or limit_minor is not None


def list_holders(session: ScopedSession, actors: Collection[str]) -> set[str]:
    """Return who may act as one of these actors since: who issued the key, or made a password link of the account."""
    named = [actor.removeprefix(_STAFF) for actor in actors if actor.startswith(_STAFF)]
    accounts = session.execute(sa.select(col(Staff.id), col(Staff.email)).where(col(Staff.email).in_(named)))
    owners = {audit.subject_of("staff", row.id): f"{_STAFF}{row.email}" for row in accounts}
    entry, subject = (col(AuditEntry.action), col(AuditEntry.subject))
    query = sa.select(col(AuditEntry.actor), subject).where(
        sa.or_(
            sa.and_(entry == audit.KEY_ISSUED, subject.in_(actors)),
            sa.and_(entry == LINK_MADE, subject.in_(list(owners))),
        )
    )
    return {row.actor for row in session.execute(query) if row.actor != owners.get(row.subject)}


def keep_refusal(staff_id: UUID, action: str, *, by: Person) -> AbstractContextManager[None]:
    """Keep a refused change of an account in the log."""
    return audit.keep_refusal(actor=by.actor, action=action, subject=audit.subject_of("staff", staff_id))


def propose(
    session: ScopedSession,
    row: Staff,
    act: str,
    *,
    by: Person,
    roles: Collection[str] = (),
    limit_minor: int | None = None,
) -> bool:
    """Propose a change of an account and return True; what waits for this person is replaced.

    False where the firm has one admin and says so: then it holds at once, and the log says "by one admin alone".
    NotAllowed where no other admin could confirm it.
    """
    wanted: dict[str, Any] = {"act": act, "roles": sorted(roles), "claim_limit_minor": limit_minor}
    grant = RoleGrant(id=ids.new(), staff_id=row.id, **wanted, proposed_by=by.id, proposed_at=clock.now())
    if holds_alone(session, by, about=row.id):
        _apply(session, row, grant, actor=by.actor, **{ALONE: True})
        return False
    held = get_open(session, row.id)
    if held is not None:
        if (held.act, list(held.roles), held.claim_limit_minor) == tuple(wanted.values()):
            return True
        PROPOSALS.decide(session, held.id, "withdrawn", by=by)
    session.insert(grant)
    _note(session, grant, "account change proposed", by=by)
    return True


def confirm(session: ScopedSession, grant_id: UUID, *, by: Person) -> tuple[Staff, str]:
    """Carry out what another admin proposed, and return the person's row and the act.

    It is a link where an account comes to move money that one admin alone made a password link of before, and may sign
    in as since: its password and its sessions end, and the person chooses another.

    NotAllowed for who proposed it, for the person, for who was made an admin by the proposer, and for who has not been
    an active admin with a password of their own for a day.
    """
    grant = _open(session, grant_id, by)
    with keep_refusal(grant.staff_id, "account change confirmation", by=by):
        four_eyes.refuse_same(grant.staff_id, by, "This change is of your own account: another admin confirms it")
        PROPOSALS.require_second(session, grant, by)
        if why := _find_unfit(session.get_one(Staff, by.id), grant.proposed_by):
            raise NotAllowed(why)
        row = session.get_one(Staff, grant.staff_id)
        if row.disabled_at is not None and grant.act != "enable":
            raise StateForbids("This account is disabled: enable it first")
        was_guarded = is_guarded(row.roles, row.claim_limit_minor)
        _apply(session, row, grant, actor=by.actor)
    PROPOSALS.decide(session, grant.id, "confirmed", by=by)
    is_opened = settings().passwords and list_holders(session, {f"{_STAFF}{row.email}"})
    if was_guarded or not is_guarded(row.roles, row.claim_limit_minor) or not is_opened:
        return row, grant.act
    row.password_hash = row.link_until = None
    session.flush()
    credentials.end_sessions(session, row.id)
    return row, "link"


def _apply(session: ScopedSession, row: Staff, grant: RoleGrant, *, actor: str, **more: Any) -> None:
    if grant.act == "disable":
        staff.disable_row(session, row, actor=actor, **more)
    elif grant.act == "enable":
        staff.enable_row(session, row, actor=actor, **more)
    elif grant.act != "link":
        _give(session, row, grant, actor=actor, **more)
    elif more:
        audit.note(session, "staff", row.id, "password link", actor=actor, **more)


def _give(session: ScopedSession, row: Staff, grant: RoleGrant, *, actor: str, **more: Any) -> None:
    """Give a person the roles and the limit of a proposal; they hold from the next request, a higher limit in a day."""
    if _ADMIN in row.roles and _ADMIN not in grant.roles and grant.act != "roles":
        staff.require_other_admin(session, row)
    before = staff.get_audited_facts(row)
    if _ADMIN in grant.roles and _ADMIN not in row.roles:
        row.made_by = grant.proposed_by
    is_new = grant.act == "account"
    staff.set_roles(row, sorted({*row.roles, *grant.roles}) if grant.act == "roles" else grant.roles)
    if is_new:
        row.claim_limit_minor = grant.claim_limit_minor
    elif grant.act == "change" and grant.claim_limit_minor != row.claim_limit_minor:
        staff.set_limit(row, grant.claim_limit_minor)
    row.updated_at = clock.now()
    session.flush()
    action = "account confirmed" if is_new else "account change confirmed"
    staff.record_change(session, row, action, actor=actor, before=before, **more)


def holds_alone(session: ScopedSession, by: Person, *, about: UUID | None = None) -> bool:
    """True where the firm has one admin and says so: what this one proposes holds at once, and the log says so.

    NotAllowed where no other admin could confirm it; `about` is the person whose account it is.
    """
    others = _list_other_admins(session, by, about=about)
    if _can_any_confirm(session, others, by):
        return False
    if others or not settings().one_admin:
        does = "do it with `coverdesk staff`, or give" if about else "give"
        raise NotAllowed(_NO_SECOND.format(does))
    return True


_NO_SECOND: Final = (
    "No other admin can confirm it now: one who has been an admin for 24 hours, not made one by you, with a password"
    " that came by no link between you and them. Whoever runs the server can {} one of you a password by"
    " `coverdesk staff add`, which counts as nobody else's and lets them confirm 24 hours later"
)


def describe_no_second(session: ScopedSession, by: Person) -> str | None:
    """Say that no other admin can confirm what this one proposed, and what is done then; None where one can.

    Rates, shares and bank accounts wait for two also in a firm with one admin: the server's command adds the second.
    """
    others = _list_other_admins(session, by)
    if _can_any_confirm(session, others, by):
        return None
    return _NO_SECOND.format("give" if others else "add one, or give")


def _list_other_admins(session: ScopedSession, by: Person, *, about: UUID | None = None) -> list[Staff]:
    rows = session.execute(sa.select(Staff).where(col(Staff.disabled_at).is_(None))).scalars()
    return [row for row in rows if _ADMIN in row.roles and row.id not in (by.id, about)]


def _can_any_confirm(session: ScopedSession, others: Collection[Staff], by: Person) -> bool:
    act = (by.actor, clock.now())
    same = four_eyes.list_as_one(session, {act}).get(act, set())
    return any(_find_unfit(row, by.id) is None and f"{_STAFF}{row.email}" not in same for row in others)


def _find_unfit(row: Staff, proposer_id: UUID) -> str | None:
    """Say why an admin confirms no change that this person proposed; None for one who may."""
    if settings().passwords and row.password_hash is None:
        return "You have no password of your own yet: another admin confirms it"
    return four_eyes.describe_unfit_admin(row, proposer_id)


def refuse(session: ScopedSession, grant_id: UUID, *, by: Person) -> None:
    """Refuse what another admin proposed, or take one's own proposal back."""
    grant = _open(session, grant_id, by)
    is_own = grant.proposed_by == by.id
    PROPOSALS.decide(session, grant.id, "withdrawn" if is_own else "refused", by=by)
    _note(session, grant, "account change taken back" if is_own else "account change refused", by=by)


def get_open(session: ScopedSession, staff_id: UUID) -> OpenGrant | None:
    """Return the change of a person's account that waits for a second admin."""
    return next(iter(list_open(session, col(RoleGrant.staff_id) == staff_id)), None)


def list_unconfirmed(session: ScopedSession, *, since: datetime, until: datetime | None = None) -> list[str]:
    """Describe the changes of accounts and terms that no second admin confirmed: by one alone, or the command line."""
    query = sa.select(AuditEntry).where(
        col(AuditEntry.created_at) >= since,
        *([col(AuditEntry.created_at) < until] if until else []),
        col(AuditEntry.action).in_(_BY_HAND),
    )
    found = []
    for entry in session.execute(query.order_by(col(AuditEntry.created_at))).scalars():
        after = entry.after or {}
        is_alone = bool(after.get(ALONE))
        if is_alone or (entry.actor.startswith(audit.COMMAND_LINE) and moves_money(after.get("roles", ()))):
            how = f"by {entry.actor.removeprefix('staff ')}, one admin alone" if is_alone else f"by the {entry.actor}"
            who = after.get("email") or after.get("party") or entry.subject
            found.append(f"{who}: {entry.action} {how} on {clock.format_day(clock.to_lagos_day(entry.created_at))}")
    return found


def find_account_faults(session: ScopedSession) -> Iterator[str]:
    """Accounts that move money and are not as the log has them, for `coverdesk check` (contract K4)."""
    for row in session.execute(sa.select(Staff).order_by(col(Staff.email))).scalars():
        if not moves_money(row.roles):
            continue
        logged, facts = _find_logged(session, row), staff.get_audited_facts(row)
        limit = "no limit" if row.claim_limit_minor is None else money.format_naira(row.claim_limit_minor)
        says = f"{row.email} is {', '.join(row.roles)} with {limit}"
        if logged is None:
            if row.password_hash is not None:
                yield f"{says}, an account that the log does not know"
        elif any(logged.get(name) != facts[name] for name in ("roles", "claim_limit", "enabled")):
            was = f"{', '.join(logged.get('roles', ()))} with {logged.get('claim_limit') or 'no limit'}"
            yield f"{says}, and by the log {was}: it was changed past the desk"


def _find_logged(session: ScopedSession, row: Staff) -> dict[str, Any] | None:
    query = sa.select(col(AuditEntry.after)).where(
        col(AuditEntry.subject) == audit.subject_of("staff", row.id), col(AuditEntry.action) != SIGNED_IN
    )
    newest = query.order_by(col(AuditEntry.created_at).desc(), col(AuditEntry.position).desc())
    return next((after for after in session.execute(newest).scalars() if after and "enabled" in after), None)


def list_open(session: ScopedSession, *conditions: Any) -> list[OpenGrant]:
    """List everything that waits for a second admin, or that of conditions, oldest first."""
    person, proposer = sa.orm.aliased(Staff), sa.orm.aliased(Staff)
    query = (
        sa.select(RoleGrant, col(person.name), col(proposer.name))
        .join(person, col(person.id) == col(RoleGrant.staff_id))
        .join(proposer, col(proposer.id) == col(RoleGrant.proposed_by))
        .where(col(RoleGrant.state) == "open", *conditions)
        .order_by(col(RoleGrant.proposed_at), col(RoleGrant.id))
    )
    return [
        build_row(OpenGrant, row, roles=tuple(row.roles), person=name, proposer=by)
        for row, name, by in session.execute(query)
    ]


def _open(session: ScopedSession, grant_id: UUID, by: Person) -> RoleGrant:
    by.require_role(_ADMIN, otherwise="Only an admin can do this")
    return PROPOSALS.get_open(session, grant_id)


def _note(session: ScopedSession, grant: RoleGrant, action: str, *, by: Person) -> None:
    limit = None if grant.claim_limit_minor is None else money.to_wire(grant.claim_limit_minor)
    facts = {"act": grant.act, "roles": list(grant.roles), "claim_limit": limit}
    audit.note(session, "staff", grant.staff_id, action, actor=by.actor, **facts)
