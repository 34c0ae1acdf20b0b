"""Accounts that move money are changed by two admins, always (contract K4)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.desk import store_check
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import share_changes
from core.services.finance import bank_accounts
from core.services.finance.parties import Party
from core.services.people import accounts, credentials, role_grants, staff
from core.services.people.role_grants import OpenGrant
from core.services.people.staff import Person, StaffRow
from core.settings import settings
from core.store.access import Scope, Store
from core.store.schema.tables import Staff
from tests.conftest import Partner
from tests.services.sign_in_links import PASSWORD, choose, ticket_of

SYSTEM = Scope.system()
DAY = timedelta(hours=24)
PUPPET = {"email": "puppet@x.example", "name": "Puppet", "roles": ["claims"], "claim_limit": "250000"}


class Admins:
    """Ada and Eze, admins for long, and what they do."""

    def __init__(self, store: Store, *names: str) -> None:
        self.store = store
        with store.writing(SYSTEM) as session:
            for name in names:
                more: dict[str, Any] = {"roles": ["admin"], "password": PASSWORD, "actor": "tests"}
                staff.add_or_update(session, email=f"{name}@x.example", name=name.title(), **more)
            session.execute(sa.update(Staff).values(confirms_from=None))

    def person(self, name: str) -> Person:
        with self.store.reading(SYSTEM) as session:
            return staff.get_by_email(session, f"{name}@x.example")

    def do(self, verb: Any, *given: Any, by: str, **more: Any) -> Any:
        with self.store.writing(SYSTEM) as session:
            return verb(session, *given, by=self.person(by), **more)

    def add(self, *, by: str = "ada", **changed: Any) -> UUID:
        key = ids.new()
        self.do(accounts.add_person, key, {**PUPPET, **changed}, by=by)
        return key

    def row(self, key: UUID) -> StaffRow:
        with self.store.reading(SYSTEM) as session:
            return staff.get_staff(session, key)

    def waiting(self, key: UUID) -> OpenGrant:
        with self.store.reading(SYSTEM) as session:
            grant = role_grants.get_open(session, key)
        assert grant
        return grant

    def confirm(self, key: UUID, *, by: str = "eze") -> str | None:
        link: str | None = self.do(accounts.confirm_change, self.waiting(key).id, by=by)
        return link

    def change(self, key: UUID, *, by: str = "ada", **changed: Any) -> None:
        row = self.row(key)
        limit = None if row.claim_limit_minor is None else str(row.claim_limit_minor / 100)
        given = {"name": row.name, "roles": list(row.roles), "claim_limit": limit, **changed}
        self.do(accounts.change_person, key, given, seen_at=row.updated_at, by=by)

    def faults(self) -> list[str]:
        with self.store.reading(SYSTEM) as session:
            return store_check.list_faults(session)


@pytest.fixture
def admins(store: Store) -> Admins:
    return Admins(store, "ada", "eze")


def test_a_puppet_that_one_admin_adds_has_no_role_no_limit_and_no_link(admins: Admins) -> None:
    puppet = admins.add()
    assert (admins.row(puppet).roles, admins.row(puppet).claim_limit_minor) == ((), None)
    assert admins.do(accounts.create_password_link, puppet, by="ada") is None
    assert admins.row(puppet).state == "No password"
    with pytest.raises(NotAllowed, match="You proposed this change of an account"):
        admins.confirm(puppet, by="ada")
    link = admins.confirm(puppet)
    assert link is not None
    with admins.store.writing(SYSTEM) as session, pytest.raises(InvalidInput, match="that Ada, an admin, tells you"):
        accounts.choose_password(session, ticket_of(link), "known to eze alone")
    with admins.store.reading(SYSTEM) as session:
        assert accounts.find_link_code(session, puppet, by=admins.person("eze")) is None
    assert choose(admins.store, link, "a password of my own") == puppet
    assert not admins.person("puppet").may_approve, "whoever confirmed the account had its link"
    with clock.freeze(clock.now() + DAY):
        assert admins.person("puppet").may_approve
    assert (admins.row(puppet).roles, admins.row(puppet).claim_limit_minor) == (("claims",), 25_000_000)
    assert admins.do(accounts.create_password_link, puppet, by="ada") is None, "a new password takes two as well"
    assert admins.waiting(puppet).act == "link"
    assert admins.faults() == []


def test_the_second_admin_is_not_disabled_or_demoted_and_a_puppet_does_not_confirm(admins: Admins) -> None:
    eze = admins.person("eze").id
    for act in (
        lambda: admins.do(accounts.disable_person, eze, by="ada"),
        lambda: admins.change(eze, roles=["operations"]),
    ):
        with pytest.raises(NotAllowed, match=r"No other admin can confirm it now.*`coverdesk staff`"):
            act()
    assert (admins.row(eze).roles, admins.row(eze).disabled_at) == (("admin",), None)
    puppet = admins.add(roles=["admin"], claim_limit=None)
    link = admins.confirm(puppet)
    assert link
    choose(admins.store, link, "a password of my own")
    another = admins.add(email="another@x.example")
    for wait, why in ((timedelta(0), "gave you your password"), (DAY, "made an admin by who proposed this")):
        with clock.freeze(clock.now() + wait), pytest.raises(NotAllowed, match=why):
            admins.confirm(another, by="puppet")
    with clock.freeze(clock.now() + DAY), pytest.raises(NotAllowed, match="No other admin can confirm it now"):
        admins.do(accounts.disable_person, admins.person("ada").id, by="eze")  # who has the puppet's link
    assert admins.faults() == []


def test_an_admin_who_has_the_password_of_another_is_not_two_of_them(store: Store) -> None:
    """One who believes it proposes a link of the second; the third confirms it, opens it, and waits for a day."""
    admins = Admins(store, "ada", "eze", "ope")
    eze = admins.person("eze").id

    def open_link(link: str | None) -> None:
        choose(admins.store, str(link), "known to ope alone")

    admins.do(accounts.create_password_link, eze, by="ada")
    open_link(admins.confirm(eze, by="ope"))
    one = "has a password by a link that the other made: somebody else confirms it"
    with clock.freeze(clock.now() + DAY):
        puppets = {by: admins.add(by=by, email=f"of.{by}@x.example") for by in ("ope", "eze")}
        for proposer, confirmer in (("ope", "eze"), ("eze", "ope")):
            with pytest.raises(NotAllowed, match=f"One of you and {proposer.title()}, .* {one}"):
                admins.confirm(puppets[proposer], by=confirmer)
        # A link of one's own is made by whoever has the password.
        open_link(admins.do(accounts.create_password_link, eze, by="eze"))
    with clock.freeze(clock.now() + DAY * 2):
        for proposer, confirmer in (("ope", "eze"), ("eze", "ope")):
            with pytest.raises(NotAllowed, match=one):
                admins.confirm(puppets[proposer], by=confirmer)
        admins.confirm(puppets["ope"], by="ada")
        with store.writing(SYSTEM) as session:
            staff.disable(session, "ada@x.example", actor="command line, eve at desk-1")
        way_out = "no link between you and them.*a password by `coverdesk staff add`, which counts as nobody else's"
        with pytest.raises(NotAllowed, match=way_out):
            admins.add(by="ope", email="third@x.example")
        with store.writing(SYSTEM) as session:
            more: dict[str, Any] = {"roles": ["admin"], "password": "a password of my own", "actor": "command line"}
            staff.add_or_update(session, email="eze@x.example", name="Eze", **more)
    with clock.freeze(clock.now() + DAY * 3):
        admins.confirm(admins.add(by="ope", email="third@x.example"), by="eze")
        admins.confirm(admins.add(by="eze", email="fourth@x.example"), by="ope")
    assert admins.faults() == []


def test_a_colleague_of_old_who_was_made_an_admin_does_not_confirm_for_who_proposed_it(store: Store) -> None:
    admins = Admins(store, "ada", "eze", "ope")
    with store.writing(SYSTEM) as session:
        more: dict[str, Any] = {"password": PASSWORD, "actor": "tests"}
        staff.add_or_update(session, email="uche@x.example", name="Uche", roles=["operations"], **more)
    uche, ope = admins.person("uche").id, admins.person("ope").id
    admins.change(uche, roles=["admin", "operations"])
    admins.confirm(uche)
    # Another role makes nobody an admin who is one.
    admins.change(ope, roles=["admin", "operations"])
    admins.confirm(ope)
    puppet = admins.add()
    with clock.freeze(clock.now() + DAY):
        with pytest.raises(NotAllowed, match="made an admin by who proposed this"):
            admins.confirm(puppet, by="uche")
        admins.confirm(puppet, by="ope")
        admins.add(by="eze", email="other@x.example")
    other = admins.person("other").id
    with clock.freeze(clock.now() + DAY):
        admins.confirm(other, by="uche")
        # The server's command makes an admin whom no other one made: two of whom one made the other are not stuck.
        with store.writing(SYSTEM) as session:
            staff.add_or_update(session, email="uche@x.example", name="Uche", roles=["admin"], **more)
    with clock.freeze(clock.now() + DAY * 2):
        admins.confirm(admins.add(email="third@x.example"), by="uche")
    assert admins.faults() == []


def test_an_admin_of_less_than_a_day_or_without_a_password_confirms_nothing(admins: Admins) -> None:
    puppet = admins.add()
    with admins.store.writing(SYSTEM) as session:
        row = session.get_one(Staff, admins.person("eze").id)
        row.confirms_from = clock.now() + timedelta(hours=3)
    with pytest.raises(NotAllowed, match="with a password of your own for less than 24 hours"):
        admins.confirm(puppet)
    with admins.store.writing(SYSTEM) as session:
        row = session.get_one(Staff, admins.person("eze").id)
        row.confirms_from, row.password_hash = None, None
    with pytest.raises(NotAllowed, match="You have no password of your own yet"):
        admins.confirm(puppet)
    assert admins.row(puppet).roles == ()


def test_a_raised_limit_counts_in_a_day_and_a_lowered_one_at_once(admins: Admins) -> None:
    officer = admins.add(claim_limit="50000")
    admins.confirm(officer)
    counted = lambda: admins.person("puppet").claim_limit_minor  # noqa: E731 - asked at several moments
    assert counted() == 5_000_000
    admins.change(officer, claim_limit="1000000")
    assert counted() == 5_000_000, "it is proposed"
    admins.confirm(officer)
    assert (counted(), admins.row(officer).claim_limit_minor) == (5_000_000, 100_000_000)
    with clock.freeze(clock.now() + DAY):
        assert counted() == 100_000_000
        admins.change(officer, claim_limit="20000")
        admins.confirm(officer)
        assert counted() == 2_000_000
        admins.change(officer, claim_limit="30000", roles=["claims", "operations"])
        admins.confirm(officer)
        assert counted() == 2_000_000
    with admins.store.reading(SYSTEM) as session:
        log = [entry.action for entry in audit.list_history(session, f"staff {officer}")]
    assert log.count("account change confirmed") == 3


def test_with_one_admin_nothing_is_done_on_the_screens_unless_the_firm_says_that_it_has_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    admins = Admins(store, "ada")
    with pytest.raises(NotAllowed, match="No other admin can confirm it now"):
        admins.add()
    with store.reading(SYSTEM) as session:
        entry = session.execute(sa.text("SELECT action FROM audit_entry WHERE action LIKE '%refused'")).scalar_one()
        assert entry == "staff account refused"
    operations: dict[str, Any] = {**PUPPET, "roles": ["operations"]}
    with pytest.raises(NotAllowed, match="No other admin can confirm it now"):
        admins.do(accounts.add_person, ids.new(), operations, by="ada")  # it could confirm loan books
    assert admins.do(accounts.add_person, ids.new(), {**operations, "claim_limit": None}, by="ada") is None
    monkeypatch.setenv("COVERDESK_ONE_ADMIN", "true")
    settings.cache_clear()
    key = admins.add(email="other@x.example")
    assert admins.row(key).roles == ("claims",)
    with store.reading(SYSTEM) as session:
        (notice,) = role_grants.list_unconfirmed(session, since=clock.now() - DAY)
    assert notice.startswith("other@x.example: account confirmed by ada@x.example, one admin alone on")
    assert admins.do(accounts.create_password_link, key, by="ada")
    assert admins.faults() == []


def test_the_setting_of_one_admin_frees_nobody_while_there_is_another(
    admins: Admins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVERDESK_ONE_ADMIN", "true")
    settings.cache_clear()
    puppet = admins.add()
    assert admins.row(puppet).roles == ()
    with admins.store.writing(SYSTEM) as session:
        session.get_one(Staff, admins.person("eze").id).confirms_from = clock.now() + DAY
    with pytest.raises(NotAllowed, match="No other admin can confirm it now"):
        admins.add(email="other@x.example")


def test_the_servers_command_does_it_and_system_names_it(store: Store) -> None:
    with store.writing(SYSTEM) as session:
        given: dict[str, Any] = {"roles": ["finance"], "password": PASSWORD, "actor": "command line"}
        staff.add_or_update(session, email="funmi@x.example", name="Funmi", **given)
    with store.reading(SYSTEM) as session:
        (notice,) = role_grants.list_unconfirmed(session, since=clock.now() - DAY)
    assert notice.startswith("funmi@x.example: staff saved by the command line on")
    for limit, counts in (("50000", 5_000_000), ("1000000", 5_000_000), ("20000", 2_000_000)):
        # Raised, used within a day and lowered again: a raised one counts in a day, whoever raised it.
        with store.writing(SYSTEM) as session:
            given |= {"roles": ["claims"], "claim_limit": limit}
            staff.add_or_update(session, email="ada@x.example", name="Ada", **given)
            assert staff.get_by_email(session, "ada@x.example").claim_limit_minor == counts, limit


def test_the_check_names_an_account_that_was_changed_past_the_desk(admins: Admins) -> None:
    officer = admins.add(claim_limit="50000")
    admins.confirm(officer)
    assert admins.faults() == []
    with admins.store.writing(SYSTEM) as session:
        session.execute(sa.update(Staff).where(Staff.id == officer).values(claim_limit_minor=100_000_000_000))
    (found,) = admins.faults()
    assert found == (
        "puppet@x.example is claims with ₦1,000,000,000.00, and by the log claims with 50000.00:"
        " it was changed past the desk"
    )


def test_an_account_of_operations_that_confirms_loan_books_is_opened_by_two_admins(admins: Admins) -> None:
    """A limit alone lets it confirm them: an admin with its password would upload a book and confirm it."""
    key = admins.add(roles=["operations"])
    assert admins.confirm(key) is not None
    assert admins.do(accounts.create_password_link, key, by="ada") is None
    assert admins.waiting(key).act == "link"
    admins.do(accounts.disable_person, key, by="ada")
    admins.do(accounts.enable_person, key, by="ada")
    assert (admins.waiting(key).act, admins.row(key).state) == ("enable", "Disabled")


@pytest.mark.parametrize("proposer", ["ada", "eze", "ope"])
def test_an_admin_who_opened_an_account_does_not_hold_its_password_once_it_moves_money(
    store: Store, proposer: str
) -> None:
    """The link of an account of operations takes one admin: it was made, opened, and the roles proposed after it."""
    admins = Admins(store, "ada", "eze", "ope")
    key = admins.add(roles=["operations"], claim_limit=None)
    link = admins.do(accounts.create_password_link, key, by="ada")
    with admins.store.writing(SYSTEM) as session:
        accounts.choose_password(session, ticket_of(link), "known to ada alone")
        token = credentials.open_session(session, key)
    admins.change(key, by=proposer, roles=["finance"])
    confirmer = "ada" if proposer == "eze" else "eze"
    another = admins.confirm(key, by=confirmer)
    with admins.store.reading(SYSTEM) as session:
        is_in = staff.get_by_token(session, token) is not None
    assert another is not None
    assert (is_in, admins.row(key).has_password, admins.row(key).roles) == (False, False, ("finance",))
    choose(admins.store, another, "a password of my own")
    assert not admins.person("puppet").may_approve
    admins.change(key, by=proposer, roles=["finance", "operations"])
    assert admins.confirm(key, by=confirmer) is None, "it moved money before"
    assert admins.faults() == []


def test_a_supervisor_who_becomes_an_officer_has_no_authority_until_a_limit_is_set(admins: Admins) -> None:
    """The supervisor was above every limit, kept none, and decided on any amount as an officer."""
    key = admins.add(roles=["claims", "supervisor"], claim_limit=None)
    admins.confirm(key)
    assert admins.row(key).claim_limit_minor is None
    admins.change(key, roles=["claims"])
    assert "up to ₦0.00" in admins.waiting(key).text
    admins.confirm(key)
    assert (admins.row(key).roles, admins.row(key).claim_limit_minor) == (("claims",), 0)


@pytest.mark.parametrize(
    ("fact", "why"),
    [("made_by", "You were made an admin by who proposed this"), ("confirms_from", "for less than 24 hours")],
)
def test_an_admin_of_the_proposers_making_or_of_less_than_a_day_confirms_no_account_and_no_share(
    admins: Admins, partner: Partner, fact: str, why: str
) -> None:
    """One admin and a puppet of theirs named the account of a friend as that of a distributor."""
    party, by, puppet = Party("distributor", partner.id), admins.person("ada"), admins.person("eze")
    bank = {"bank_name": "First Bank", "account_name": "A Friend", "account_number": "0123456789"}
    share = {"commission": "1", "starts_on": str(clock.add_days(clock.today(), 1))}
    account = admins.do(bank_accounts.propose, party, bank, by="ada")
    agreed = admins.do(share_changes.propose, partner.id, share, by="ada")
    value = by.id if fact == "made_by" else clock.now() + DAY
    with admins.store.writing(SYSTEM) as session:
        session.change(Staff, col(Staff.id) == puppet.id, **{fact: value})
    for confirm, waiting in ((bank_accounts.confirm, account), (share_changes.confirm, agreed)):
        with pytest.raises(NotAllowed, match=why):
            admins.do(confirm, waiting, by="eze")
    assert "No other admin can confirm it now" in admins.do(role_grants.describe_no_second, by="ada")
    with admins.store.writing(SYSTEM) as session:
        session.change(Staff, col(Staff.id) == puppet.id, **{fact: None})
    assert admins.do(role_grants.describe_no_second, by="ada") is None
    admins.do(bank_accounts.confirm, account, by="eze")
    admins.do(share_changes.confirm, agreed, by="eze")


def test_whom_the_servers_command_adds_confirms_what_the_one_admin_of_a_firm_proposed_a_day_later(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A firm that says that it has one admin still has a party's account and share of two people."""
    monkeypatch.setenv("COVERDESK_ONE_ADMIN", "true")
    settings.cache_clear()
    admins, party = Admins(store, "ada"), Party("distributor", partner.id)
    bank = {"bank_name": "First Bank", "account_name": "The firm", "account_number": "0123456789"}
    share = {"commission": "1", "starts_on": str(clock.add_days(clock.today(), 3))}
    account = admins.do(bank_accounts.propose, party, bank, by="ada")
    agreed = admins.do(share_changes.propose, partner.id, share, by="ada")
    waiting = ((bank_accounts.confirm, account), (share_changes.confirm, agreed))
    assert "the server can add one, or give one of you" in admins.do(role_grants.describe_no_second, by="ada")
    with store.writing(SYSTEM) as session:
        more: dict[str, Any] = {"roles": ["admin"], "password": PASSWORD, "actor": "command line"}
        staff.add_or_update(session, email="eze@x.example", name="Eze", **more)
    for confirm, row in waiting:
        with pytest.raises(NotAllowed, match="for less than 24 hours"):
            admins.do(confirm, row, by="eze")
    with clock.freeze(clock.now() + DAY):
        assert admins.do(role_grants.describe_no_second, by="ada") is None
        for confirm, row in waiting:
            admins.do(confirm, row, by="eze")


def test_nothing_is_confirmed_of_an_account_that_was_disabled_meanwhile(admins: Admins) -> None:
    officer = admins.add(claim_limit="50000")
    admins.confirm(officer)
    admins.change(officer, claim_limit="1000000")
    admins.do(accounts.disable_person, officer, by="eze")
    with pytest.raises(StateForbids, match="This account is disabled: enable it first"):
        admins.confirm(officer)
    assert admins.row(officer).claim_limit_minor == 5_000_000


def test_other_roles_with_the_same_limit_do_not_begin_the_day_of_a_raised_one_again(admins: Admins) -> None:
    officer = admins.add(claim_limit="50000")
    admins.confirm(officer)
    admins.change(officer, claim_limit="1000000")
    admins.confirm(officer)
    with clock.freeze(clock.now() + timedelta(hours=20)):
        admins.change(officer, roles=["claims", "operations"])
        admins.confirm(officer)
    with clock.freeze(clock.now() + DAY):
        assert admins.person("puppet").claim_limit_minor == 100_000_000


def test_a_password_rests_that_another_reset_whatever_the_roles_and_none_that_its_owner_did(admins: Admins) -> None:
    """Somebody of operations may come to approve within the day; an admin makes their own link alone."""
    key = admins.add(roles=["operations"], claim_limit=None)
    for chosen, may_approve in (("a password of my own", True), ("another one of mine", False)):
        link = admins.do(accounts.create_password_link, key, by="ada")
        choose(admins.store, link, chosen)
        assert admins.person("puppet").may_approve is may_approve
    link = admins.do(accounts.create_password_link, admins.person("ada").id, by="ada")
    choose(admins.store, link, "another one of mine")
    assert admins.person("ada").may_approve
