"""Two people: what one person proposes or prepares is decided by another (contract A1, F9, K4)."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core import clock, seal
from core.covers import request
from core.errors import FieldFault, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.people import staff, transfers
from core.services.people.credentials import CHOSEN, LINK_MADE, RESTS_FOR
from core.services.people.personal import build_phone_key
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.expressions import phone_key
from core.store.schema.tables import Agreement, AuditEntry, BankAccount, Staff, StaffDetail


@dataclass(frozen=True, slots=True)
class Parties:
    """The e-mails in lower case, the phones, and the accounts by their keyed hashes, of who is paid or is concerned."""

    emails: frozenset[str] = frozenset()
    phones: frozenset[str] = frozenset()
    account_keys: frozenset[str] = frozenset()

    def is_own(self, person: Person) -> bool:
        """True where one of them is the person's own, or ever was."""
        keys = {build_phone_key(phone) for phone in self.phones}
        is_phone = not keys.isdisjoint(map(build_phone_key, person.phone_numbers))
        return is_phone or person.email.lower() in self.emails or not self.account_keys.isdisjoint(person.account_keys)


# The e-mails of a distributor or an insurer, each of which tells whose own it is.
EMAILS: Final = ("email", "business_email", "claim_email", "support_email")


def load_people(session: ScopedSession, businesses: Iterable[Any], is_theirs: sa.ColumnElement[bool]) -> Parties:
    """Return the e-mails and phones of distributors and insurers, and their bank accounts by a condition, open too.

    The e-mail for papers of the terms that hold, or will, is one of them.
    """
    rows = list(businesses)
    emails = [*(getattr(row, name, None) for row in rows for name in EMAILS), *_list_contacts(session, rows)]
    sealed = session.execute(sa.select(col(BankAccount.sealed)).where(is_theirs)).scalars()
    numbers = map(transfers.open_account, sealed)
    return Parties(
        emails=frozenset(email.lower() for email in emails if email),
        phones=frozenset(filter(None, (getattr(row, "phone_number", None) for row in rows))),
        account_keys=frozenset(seal.build_account_key(number) for number in numbers if number),
    )


def _list_contacts(session: ScopedSession, businesses: Sequence[Any]) -> list[str | None]:
    terms, today, keys = Agreement, clock.today(), [row.id for row in businesses]
    party = sa.func.coalesce(col(terms.distributor_id), col(terms.provider_id))
    query = sa.select(party.label("party"), col(terms.starts_on), col(terms.contact_email)).where(party.in_(keys))
    rows = session.execute(query.order_by(col(terms.starts_on), col(terms.created_at), col(terms.id))).all()
    in_force = {row.party: row for row in rows if row.starts_on <= today}
    return [row.contact_email for row in (*in_force.values(), *(row for row in rows if row.starts_on > today))]


def refuse_own(parties: Parties, by: Person) -> None:
    """NotAllowed for whoever has an e-mail, phone or account of those whose money it is."""
    if parties.is_own(by):
        raise NotAllowed("It has your own e-mail, phone or account: somebody else works on it")


def list_staff(session: ScopedSession, parties: Parties) -> list[Staff]:
    """List the staff who have or had an e-mail, phone or account of these, by name."""
    phones = {build_phone_key(phone) for phone in parties.phones}
    known = sa.or_(
        phone_key(col(StaffDetail.phone_number)).in_(phones), col(StaffDetail.account_key).in_(parties.account_keys)
    )
    theirs = sa.select(col(StaffDetail.staff_id)).where(known)
    own = (sa.func.lower(col(Staff.email)).in_(parties.emails), col(Staff.id).in_(theirs))
    return list(session.execute(sa.select(Staff).where(sa.or_(*own)).order_by(col(Staff.name))).scalars())


OPEN: Final = "open"
ADMIN: Final = "admin"


def require_second(first: UUID | None, by: Person, why: str) -> None:
    """NotAllowed, with `why`, for who made the first step, and for who has a password that somebody else just reset."""
    refuse_same(first, by, why)
    staff.refuse_resting(by)


def refuse_faults(faults: Iterable[FieldFault]) -> None:
    """StateForbids where what was proposed has faults by now."""
    if reasons := "; ".join(f"{fault.field.replace('_', ' ')} {fault.message}" for fault in faults):
        raise StateForbids(f"This cannot be confirmed as it was proposed: {reasons}. Refuse it, and propose it anew")


def refuse_same(first: UUID | None, by: Person, why: str) -> None:
    """NotAllowed, with `why`, for who made the first step, where the second one approves nothing."""
    if first == by.id:
        raise NotAllowed(why)


def refuse_made_resting(session: ScopedSession, maker_id: UUID | None, made_at: datetime | None) -> None:
    """StateForbids for what was made in the name of somebody whose password another person had just reset (A2).

    Whoever reset it may be both: it is confirmed once its maker may approve again, who can have taken it back by then.
    """
    maker: Staff | None = session.get(Staff, maker_id) if maker_id else None
    until = maker.approves_from if maker else None
    if maker and until and made_at and until > clock.now() and made_at >= until - RESTS_FOR:
        raise StateForbids(
            f"It was made by {maker.name}, who had just been given a password by somebody else: it is confirmed from"
            f" {clock.format_lagos(until)} on"
        )


def refuse_maker_gone(session: ScopedSession, maker_id: UUID | None, made: str, *roles: str, instead: str) -> None:
    """StateForbids for what somebody made who could not make it today, with what is done instead (contract K13).

    It is made by whoever has one of these roles.
    """
    maker: Staff = session.get_one(Staff, maker_id)
    if maker.disabled_at is not None or {ADMIN, *roles}.isdisjoint(maker.roles):
        lost = f"does not have the role {' or '.join(roles)} any more" if maker.disabled_at is None else "is disabled"
        raise StateForbids(f"{maker.name}, who {made}, {lost}: {instead}")


def describe_unfit_admin(row: Staff, proposer_id: UUID) -> str | None:
    """Say why an admin confirms nothing that this person proposed; None for one who may (contract K4)."""
    if row.made_by == proposer_id:
        return "You were made an admin by who proposed this: another admin confirms it"
    if row.confirms_from is not None and row.confirms_from > clock.now():
        from_then = clock.format_lagos(row.confirms_from)
        return f"You have been an admin with a password of your own for less than 24 hours: confirm from {from_then} on"
    return None


_ACTOR: Final = "staff "
# By these the server's command, or its link to the first admin, sets a password.
_SET: Final = ("staff saved", "first admin set up")
Act = tuple[str, datetime]


def list_as_one(session: ScopedSession, acts: Collection[Act]) -> dict[Act, set[str]]:
    """Return for each act, an actor and an instant, who else counts as its actor where two have to act (contract A2).

    It is who made the link by which the actor had the password of that instant, and whoever has a password by a link
    that the actor made: one of the two may act as the other. A link of one's own is of who made the password before:
    whoever has that makes it. A password that the command line set is nobody's.
    """
    if not any(actor.startswith(_ACTOR) for actor, _ in acts):
        return {}
    people = session.execute(sa.select(col(Staff.id), col(Staff.email)))
    owners = {audit.subject_of("staff", row.id): f"{_ACTOR}{row.email}" for row in people}
    # By their kind there are few; whoever makes links may have a hundred thousand entries of other kinds.
    columns = (getattr(AuditEntry, name) for name in ("action", "subject", "actor", "before", "after", "created_at"))
    entries = sa.select(*map(col, columns)).where(col(AuditEntry.action).in_([LINK_MADE, CHOSEN, *_SET]))
    links: dict[str, str] = {}
    passwords: defaultdict[str, list[tuple[datetime, str]]] = defaultdict(list)
    for row in session.execute(entries.order_by(col(AuditEntry.created_at), col(AuditEntry.position))):
        if row.action == LINK_MADE:
            links[row.subject] = row.actor
        elif row.subject in owners and row.action == CHOSEN:
            owner = owners[row.subject]
            maker = links.pop(row.subject, row.actor)
            if maker == owner and passwords[owner]:
                maker = passwords[owner][-1][1]
            passwords[owner].append((row.created_at, maker))
        elif row.subject in owners and _is_new_password(row.before, row.after):
            passwords[owners[row.subject]].append((row.created_at, row.actor))
    by_now = {owner: of[-1][1] for owner, of in passwords.items()}
    found = {}
    for actor, at in acts:
        then = next((by for since, by in reversed(passwords.get(actor, ())) if since <= at), actor)
        found[actor, at] = {then, *(owner for owner, by in by_now.items() if by == actor)} - {actor}
    return found


def _is_new_password(before: Any, after: Any) -> bool:
    """True for an entry of the command line by which an account came to another password (contract A2)."""
    return not before or (after or {}).get("approves_from") != before.get("approves_from")


def refuse_one_with(
    session: ScopedSession, steps: Iterable[tuple[UUID | None, datetime | None]], by: Person, *, did: str, does: str
) -> None:
    """NotAllowed for who counts as one who made a first step, each by person and instant; `did` says what it was."""
    made = {(first, at) for first, at in steps if first and at}
    known = sa.select(Staff).where(col(Staff.id).in_({first for first, _ in made}))
    people = {person.id: person for person in session.execute(known).scalars()} if made else {}
    acts = {(f"{_ACTOR}{people[first].email}", at): people[first] for first, at in made}
    for act, others in list_as_one(session, acts).items():
        if by.actor in others:
            raise NotAllowed(
                f"One of you and {acts[act].name}, who {did}, has a password by a link that the other made:"
                f" somebody else {does}"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstStep:
    """The step of one person that another person follows: who made it and when, and what both do, in words.

    Where the one who made it has to be able to make it today, `roles` are those of whom one is needed, and `instead`
    says what is done else.
    """

    by: UUID | None
    at: datetime | None
    did: str
    does: str
    roles: tuple[str, ...] = ()
    instead: str = ""


def require_other(session: ScopedSession, first: FirstStep, by: Person, *, second: str = "somebody else") -> None:
    """Require that whoever follows a step is another person than who made it (contract A2, K13).

    NotAllowed for who made it, for who has the password of that one or gave theirs, and for who approves nothing yet.
    StateForbids for a step in the name of somebody whose password was just reset, or who could not make it today.
    """
    require_second(first.by, by, f"You {first.did}: {second} {first.does}")
    refuse_one_with(session, [(first.by, first.at)], by, did=first.did, does=first.does)
    refuse_made_resting(session, first.by, first.at)
    if first.roles and first.by is not None:
        refuse_maker_gone(session, first.by, first.did, *first.roles, instead=first.instead)


Row = TypeVar("Row", bound=SQLModel)


@dataclass(frozen=True, slots=True)
class Proposals(Generic[Row]):
    """Proposals of one table, each open until somebody else decides it.

    The table has the columns `state`, `decided_by` and `decided_at`, and says who made a proposal in `proposed_by`, or
    in `prepared_by` where `verb` is "prepared". Refusals call it by `noun`, and `second` who may decide it; `role` is
    that of who makes one. Who made a password link counts as its person (contract A2).
    """

    table: type[Row]
    noun: str
    second: str = "another admin"
    verb: str = "proposed"
    role: str = ADMIN

    def get_open(self, session: ScopedSession, row_id: UUID) -> Row:
        """Return an open proposal, locked; NotFound for an unknown id, StateForbids once it is decided."""
        row = session.lock(self.table, row_id, self.noun)
        if row.state != OPEN:  # type: ignore[attr-defined]
            raise StateForbids(f"This {self.noun} does not wait for a decision any more")
        return row

    def require_second(self, session: ScopedSession, row: Any, by: Person) -> None:
        """NotAllowed if a person confirms what the same person proposed, or approves nothing yet.

        What an admin proposed is confirmed by no admin of that one's making.
        StateForbids where who proposed it could not propose it today: one person alone would stand behind it.
        """
        require_second(self._get_maker(row), by, self._why)
        second = session.get(Staff, by.id) if self.role == ADMIN else None
        if second and (unfit := describe_unfit_admin(second, self._get_maker(row))):
            raise NotAllowed(unfit)
        step = FirstStep(
            by=self._get_maker(row),
            at=getattr(row, f"{self.verb}_at"),
            did=f"{self.verb} this {self.noun}",
            does="confirms it",
            roles=(self.role,),
            instead="refuse it, and make it anew",
        )
        require_other(session, step, by)

    def refuse_maker(self, row: Any, by: Person) -> None:
        """NotAllowed if a person refuses what the same person proposed."""
        refuse_same(self._get_maker(row), by, self._why)

    def require_maker(self, row: Any, by: Person) -> None:
        """NotAllowed if a person takes back what somebody else proposed."""
        if self._get_maker(row) != by.id:
            raise NotAllowed(f"Only who {self.verb} this {self.noun} takes it back: you can refuse it")

    def decide(self, session: ScopedSession, row_id: UUID, state: str, *, by: Person, **more: Any) -> None:
        """Write a decision, with further columns of the table."""
        decided = {"state": state, "decided_by": by.id, "decided_at": clock.now()}
        session.change(self.table, self._column("id") == row_id, **decided, **more)

    def select_with_names(self) -> Any:
        """Return a query of proposals with the names of who made and who decided them."""
        maker, decider = sa.orm.aliased(Staff), sa.orm.aliased(Staff)
        return (
            sa.select(self.table, col(maker.name), col(decider.name))
            .outerjoin(maker, col(maker.id) == self._column(f"{self.verb}_by"))
            .outerjoin(decider, col(decider.id) == self._column("decided_by"))
        )

    @property
    def _why(self) -> str:
        return f"You {self.verb} this {self.noun}: {self.second} confirms or refuses it, and you can take it back"

    def _get_maker(self, row: Any) -> UUID:
        maker: UUID = getattr(row, f"{self.verb}_by")
        return maker

    def _column(self, name: str) -> Any:
        return getattr(self.table, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedProposals(Proposals[Row]):
    """Proposals of which each decision is a line of the audit log.

    `allow` raises NotAllowed for who may not work on them; `note` writes the line, whose action by the state that a
    proposal comes to is in `actions`. Where they are refused with a reason, it has `least_reason` characters.
    """

    allow: Callable[[Person], None]
    note: Callable[..., None]
    actions: Mapping[str, str]
    least_reason: int = 3

    def open_for(self, session: ScopedSession, row_id: UUID, by: Person) -> Row:
        """Return an open proposal, locked, to a person who may work on it."""
        self.allow(by)
        return self.get_open(session, row_id)

    def end(self, session: ScopedSession, row: Any, state: str, by: Person, **more: Any) -> None:
        """Write a decision, with further columns of the table, and its line."""
        self.decide(session, row.id, state, by=by, **more)
        self.note(session, row, self.actions[state], by)

    def refuse(self, session: ScopedSession, row_id: UUID, *, by: Person) -> None:
        """Refuse what somebody else proposed."""
        row = self.open_for(session, row_id, by)
        self.refuse_maker(row, by)
        self.end(session, row, "refused", by)

    def refuse_for_reason(self, session: ScopedSession, row_id: UUID, *, reason: str, by: Person) -> None:
        """Refuse what somebody else proposed, with the reason, which the table has as `refusal`."""
        row = self.open_for(session, row_id, by)
        self.refuse_maker(row, by)
        reason = request.validate_text("reason", reason, least=self.least_reason, most=500)
        self.decide(session, row_id, "refused", by=by, refusal=reason)
        self.note(session, row, self.actions["refused"], by, reason=reason)

    def take_back(self, session: ScopedSession, row_id: UUID, *, by: Person) -> None:
        """Take one's own proposal back; NotAllowed for anybody else, who refuses it instead."""
        row = self.open_for(session, row_id, by)
        self.require_maker(row, by)
        self.end(session, row, "withdrawn", by)
