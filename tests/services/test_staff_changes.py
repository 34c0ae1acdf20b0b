"""Changes of accounts by an admin: added, changed, disabled, invited; never locked out, never a password in the log."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids, Unauthorized
from core.services.lists.paging import Paging
from core.services.people import accounts, credentials, role_grants, staff
from core.services.people.staff import Person, StaffFilter, StaffRow
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import AuditEntry, RoleGrant, Staff
from tests.services.sign_in_links import PASSWORD, choose, ticket_of

SYSTEM = Scope.system()
CHOSEN = "staple of my own choice"
BOLA = {"email": "Bola@x.example", "name": "Bola", "roles": ["claims"], "claim_limit": "250000.50"}


class Office:
    """Three admins, what one of them does, and what another confirms (contract K4)."""

    def __init__(self, store: Store) -> None:
        self.store = store
        with store.writing(SYSTEM) as session:
            for name in ("ada", "eze", "ife"):
                staff.add_or_update(
                    session, email=f"{name}@x.example", name=name, roles=["admin"], password=PASSWORD, actor="tests"
                )
            session.execute(sa.update(Staff).values(confirms_from=None))
        self.ada, self.eze, self.ife = (self.person(name) for name in ("ada", "eze", "ife"))

    def person(self, name: str) -> Person:
        with self.store.reading(SYSTEM) as session:
            return staff.get_by_email(session, f"{name}@x.example")

    def do(self, work: Callable[..., Any], *about: Any, **options: Any) -> Any:
        with self.store.writing(SYSTEM) as session:
            return work(session, *about, **options)

    def add(self, **changed: Any) -> UUID:
        key = ids.new()
        self.do(accounts.add_person, key, {**BOLA, **changed}, by=self.ada)
        self.confirm(key)
        return key

    def confirm(self, key: UUID, *, by: Person | None = None) -> str | None:
        """Confirm what waits for this person."""
        link: str | None = self.do(accounts.confirm_change, _waiting(self, key).id, by=by or self.ife)
        return link

    def row(self, key: UUID) -> StaffRow:
        with self.store.reading(SYSTEM) as session:
            return staff.get_staff(session, key)

    def change(self, key: UUID, *, by: Person | None = None, **changed: Any) -> None:
        row = self.row(key)
        limit = None if row.claim_limit_minor is None else str(row.claim_limit_minor / 100)
        details = {"name": row.name, "roles": list(row.roles), "claim_limit": limit, **changed}
        self.do(accounts.change_person, key, details, seen_at=row.updated_at, by=by or self.ada)
        with self.store.reading(SYSTEM) as session:
            waits = role_grants.get_open(session, key) is not None
        if waits:
            self.confirm(key)

    def link(self, key: UUID) -> str:
        assert self.do(accounts.create_password_link, key, by=self.ada) is None
        return ticket_of(self.confirm(key) or "")

    def log(self) -> list[AuditEntry]:
        with self.store.reading(SYSTEM) as session:
            entries = list(session.execute(sa.select(AuditEntry).order_by(AuditEntry.created_at)).scalars())
            session.expunge_all()
        return entries


@pytest.fixture
def office(store: Store) -> Office:
    return Office(store)


@pytest.mark.both_databases
def test_somebody_new_chooses_a_password_by_a_link_and_nobody_else_learns_it(office: Office) -> None:
    bola = office.add()
    assert (office.row(bola).state, office.row(bola).email) == ("Invited", "bola@x.example")
    assert office.row(bola).claim_limit_minor == 25_000_050
    ticket = office.link(bola)
    with office.store.reading(SYSTEM) as session:
        invitation = accounts.open_invitation(session, ticket)
        with pytest.raises(Unauthorized):
            credentials.verify_password(session, BOLA["email"], "")
    assert (invitation.kind, invitation.email) == ("password", "bola@x.example")
    assert choose(office.store, ticket, CHOSEN) == bola
    with office.store.reading(SYSTEM) as session:
        assert credentials.verify_password(session, BOLA["email"], CHOSEN) == bola
    assert not office.person("bola").may_approve, "whoever confirmed the account had the link of its first password"
    with clock.freeze(clock.now() + credentials.RESTS_FOR):
        assert office.person("bola").may_approve
    with pytest.raises(Unauthorized, match="used"):
        choose(office.store, ticket, CHOSEN)
    choose(office.store, office.link(bola), f"{CHOSEN} anew")
    assert not office.person("bola").may_approve, "a link of another admin in place of a password is a reset"
    log = str([entry.model_dump() for entry in office.log()])
    assert CHOSEN not in log
    assert PASSWORD not in log
    assert "argon2" not in log


@pytest.mark.both_databases
def test_asking_twice_adds_one_account_and_an_email_belongs_to_one(office: Office) -> None:
    key = ids.new()
    for _ in range(2):
        office.do(accounts.add_person, key, BOLA, by=office.ada)
    with pytest.raises(InvalidInput) as refusal:
        office.add(email="BOLA@x.example")
    assert [fault.field for fault in refusal.value.faults] == ["email"]
    assert [entry.action for entry in office.log()].count("staff added") == 1


def test_every_fault_of_a_new_account_is_named_at_once(office: Office) -> None:
    wrong = {"email": "bola@", "name": " ", "roles": ["king"], "claim_limit": "-1"}
    with pytest.raises(InvalidInput) as refusal:
        office.add(**wrong)
    assert {fault.field for fault in refusal.value.faults} == {"email", "name", "roles", "claim_limit"}


@pytest.mark.both_databases
def test_a_change_that_was_confirmed_holds_at_once_and_is_written_down_with_before_and_after(office: Office) -> None:
    bola = office.add()
    token = office.do(credentials.open_session, bola)
    office.change(bola, roles=["operations", "claims"], claim_limit=None)
    with office.store.reading(SYSTEM) as session:
        person = staff.get_by_token(session, token)
    assert person
    assert (person.roles, person.claim_limit_minor) == (("claims", "operations"), 0)
    entry = office.log()[-1]
    assert (entry.actor, entry.action) == ("staff ife@x.example", "account change confirmed")
    assert entry.before
    assert entry.after
    assert (entry.before["roles"], entry.after["roles"]) == (["claims"], ["claims", "operations"])
    assert (entry.before["claim_limit"], entry.after["claim_limit"]) == ("250000.50", "0.00")
    with office.store.reading(SYSTEM) as session:
        event = staff.list_events(session, bola)[0]
    assert event.facts == {
        "roles": {"before": ["claims"], "after": ["claims", "operations"]},
        "claim_limit": {"before": "250000.50", "after": "0.00"},
    }


@pytest.mark.both_databases
def test_an_account_that_somebody_else_changed_is_not_overwritten(office: Office) -> None:
    bola = office.add()
    seen = office.row(bola).updated_at
    with clock.freeze(clock.now() + timedelta(seconds=1)):
        office.change(bola, by=office.eze, name="Bola Ade")
    details = {"name": "Bola", "roles": ["finance"]}
    with pytest.raises(StaleVersion):
        office.do(accounts.change_person, bola, details, seen_at=seen, by=office.ada)
    assert office.row(bola).roles == ("claims",)
    unchanged = {"name": "Bola Ade", "roles": ["claims"], "claim_limit": "250000.50"}
    office.do(accounts.change_person, bola, unchanged, seen_at=seen, by=office.ada)
    assert [entry.action for entry in office.log()].count("staff changed") == 1


def test_nobody_takes_away_their_own_access_nor_that_of_the_last_admin(office: Office) -> None:
    with pytest.raises(StateForbids, match="your own"):
        office.do(accounts.disable_person, office.ada.id, by=office.ada)
    with pytest.raises(StateForbids, match="your own"):
        office.change(office.ada.id, roles=["finance"])
    office.do(accounts.disable_person, office.eze.id, by=office.ada)
    assert office.row(office.eze.id).state == "Enabled", "it waits"
    office.confirm(office.eze.id)
    with office.store.writing(SYSTEM) as session:
        staff.disable(session, "ife@x.example", actor="command line")
    with pytest.raises(StateForbids, match="last admin"):
        office.do(staff.disable, "ada@x.example", actor="command line")
    with pytest.raises(StateForbids, match="last admin"):
        office.change(office.ada.id, by=office.eze, roles=["finance"])
    with pytest.raises(StateForbids, match="last admin"):
        office.do(
            staff.add_or_update,
            email="ada@x.example",
            name="Ada",
            roles=["claims"],
            password=PASSWORD,
            actor="command line",
        )


@pytest.mark.both_databases
def test_two_admins_who_have_each_other_disabled_at_once_leave_one(office: Office) -> None:
    with office.store.writing(SYSTEM) as session:
        staff.disable(session, "ife@x.example", actor="command line")

    def disable(email: str) -> bool:
        try:
            office.store.transact(SYSTEM, lambda session: staff.disable(session, email, actor="command line"))
        except StateForbids:
            return False
        return True

    with ThreadPoolExecutor(2) as two:
        won = list(two.map(disable, ("ada@x.example", "eze@x.example")))
    assert sorted(won) == [False, True]
    with office.store.reading(SYSTEM) as session:
        assert staff.has_admin(session)


def test_disabling_ends_sessions_and_link_and_enabling_brings_neither_back(office: Office) -> None:
    bola = office.add()
    ticket, token = office.link(bola), office.do(credentials.open_session, bola)
    for _ in range(2):
        office.do(accounts.disable_person, bola, by=office.ada)
    assert (office.row(bola).state, office.row(bola).open_sessions) == ("Disabled", 0)
    with pytest.raises(StateForbids, match="enable it first"):
        office.link(bola)
    office.do(accounts.enable_person, bola, by=office.ada)
    office.confirm(bola)
    office.do(accounts.enable_person, bola, by=office.ada)
    with office.store.reading(SYSTEM) as session:
        assert staff.get_by_token(session, token) is None
        with pytest.raises(Unauthorized):
            accounts.open_invitation(session, ticket)
    actions = [entry.action for entry in office.log()]
    assert [each for each in actions if each in ("staff disabled", "staff enabled")] == [
        "staff disabled",
        "staff enabled",
    ]


@pytest.mark.both_databases
def test_one_session_or_all_of_them_are_ended(office: Office) -> None:
    tokens = [office.do(credentials.open_session, office.eze.id) for _ in range(3)]
    with office.store.reading(SYSTEM) as session:
        latest = credentials.list_latest(session, office.eze.id)
    assert [one.is_open for one in latest] == [True] * 3
    handle = credentials.hash_token(tokens[0])
    assert office.do(accounts.end_sessions, office.eze.id, by=office.ada, handle=handle) == 1
    with office.store.reading(SYSTEM) as session:
        assert [staff.get_by_token(session, token) is None for token in tokens] == [True, False, False]
    assert office.do(accounts.end_sessions, office.eze.id, by=office.ada) == 2
    assert office.do(accounts.end_sessions, office.eze.id, by=office.ada) == 0
    assert office.row(office.eze.id).open_sessions == 0
    assert [entry.after for entry in office.log() if entry.action == "sessions ended"] == [
        {"sessions": 1},
        {"sessions": 2},
    ]


def test_a_link_lasts_a_day_is_replaced_by_a_newer_one_and_survives_a_weak_password(office: Office) -> None:
    bola = office.add()
    first = office.link(bola)
    with clock.freeze(clock.now() + timedelta(seconds=1)):
        second = office.link(bola)
    with pytest.raises(Unauthorized):
        choose(office.store, first, CHOSEN)
    for weak in ("short", "bola@x.example"):
        with pytest.raises(InvalidInput):
            choose(office.store, second, weak)
    with clock.freeze(clock.now() + timedelta(hours=24, minutes=1)), pytest.raises(Unauthorized):
        choose(office.store, second, CHOSEN)
    token = office.do(credentials.open_session, bola)
    choose(office.store, second, CHOSEN)
    with office.store.reading(SYSTEM) as session:
        assert staff.get_by_token(session, token) is None, "whoever was in with the old password is out"


def test_only_an_admin_may_do_any_of_this(office: Office) -> None:
    bola = office.add()
    supervisor = Person(id=bola, email="b@x.example", name="B", roles=("supervisor",), claim_limit_minor=None)
    verbs: list[Callable[[ScopedSession], object]] = [
        lambda session: accounts.add_person(session, ids.new(), BOLA, by=supervisor),
        lambda session: accounts.change_person(session, bola, {}, seen_at=clock.now(), by=supervisor),
        lambda session: accounts.disable_person(session, bola, by=supervisor),
        lambda session: accounts.enable_person(session, bola, by=supervisor),
        lambda session: accounts.end_sessions(session, bola, by=supervisor),
        lambda session: accounts.create_password_link(session, bola, by=supervisor),
    ]
    for verb in verbs:
        with pytest.raises(NotAllowed):
            office.do(verb)
    verbs_by_id = (accounts.disable_person, accounts.enable_person, accounts.create_password_link)
    for verb in verbs_by_id:
        with pytest.raises(NotFound):
            office.do(verb, ids.new(), by=office.ada)


@pytest.mark.both_databases
def test_people_are_found_by_name_role_and_state(office: Office) -> None:
    office.do(accounts.disable_person, office.add(), by=office.ada)

    def found(**wanted: Any) -> list[str]:
        with office.store.reading(SYSTEM) as session:
            page = staff.list_staff(session, StaffFilter(**wanted), Paging(1, 50))
        assert page.total_count == len(page.items)
        return [row.name for row in page.items]

    assert found() == ["ada", "Bola", "eze", "ife"]
    assert found(text="OLA@X") == ["Bola"]
    assert found(text="%") == []
    assert found(role="admin") == ["ada", "eze", "ife"]
    assert found(enabled=False) == ["Bola"]
    assert found(role="admin", enabled=False) == []


@pytest.mark.both_databases
def test_what_waits_is_replaced_taken_back_or_refused_and_the_store_takes_it_from_no_one_hand(office: Office) -> None:
    bola = office.add()

    def ask(*roles: str, by: Person = office.ada) -> None:
        row = office.row(bola)
        details = {"name": row.name, "roles": list(roles), "claim_limit": "250000.50"}
        office.do(accounts.change_person, bola, details, seen_at=row.updated_at, by=by)

    ask("claims", "finance")
    first = _waiting(office, bola)
    ask("claims", "finance")
    assert _waiting(office, bola).id == first.id, "asking again changes nothing"
    ask("claims", "admin", by=office.eze)
    assert (_waiting(office, bola).roles, _waiting(office, bola).proposer) == (("admin", "claims"), "eze")
    with pytest.raises(StateForbids, match="not wait for a decision"):
        office.do(role_grants.confirm, first.id, by=office.ife)
    office.do(role_grants.refuse, _waiting(office, bola).id, by=office.eze)
    ask("claims", "supervisor")
    office.do(role_grants.refuse, _waiting(office, bola).id, by=office.eze)
    assert office.row(bola).roles == ("claims",)
    actions = [entry.action.removeprefix("account change ") for entry in office.log()]
    known = [each for each in actions if each in ("proposed", "taken back", "refused")]
    assert known == ["proposed", "proposed", "proposed", "taken back", "proposed", "refused"]
    # Nor does the person confirm it, even as an admin, nor the store take it from one hand.
    ask("claims", "finance")
    row = _waiting(office, bola)
    own = Person(id=bola, email="bola@x.example", name="Bola", roles=("admin",), claim_limit_minor=None)
    officer = Person(id=ids.new(), email="o@x.example", name="O", roles=("finance",), claim_limit_minor=None)
    with pytest.raises(NotAllowed, match="of your own account"):
        office.do(role_grants.confirm, row.id, by=own)
    for verb in (role_grants.confirm, role_grants.refuse):
        with pytest.raises(NotAllowed, match="Only an admin"):
            office.do(verb, row.id, by=officer)
    for values in (
        {"state": "confirmed", "decided_by": office.ada.id, "decided_at": clock.now()},
        {"state": "confirmed", "decided_by": bola, "decided_at": clock.now()},
        {"roles": ["admin"]},
        {"act": "account"},
        {"claim_limit_minor": 1},
        {"proposed_by": office.eze.id},
    ):
        with pytest.raises(sa.exc.DBAPIError), office.store.writing(SYSTEM) as session:
            session.execute(sa.update(RoleGrant).where(RoleGrant.id == row.id).values(**values))


def _waiting(office: Office, key: UUID) -> role_grants.OpenGrant:
    with office.store.reading(SYSTEM) as session:
        grant = role_grants.get_open(session, key)
    assert grant
    return grant
