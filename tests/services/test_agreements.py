"""Agreements hold by their days and are never changed; a bank account takes two admins and rests for two days."""

from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from alembic import command

from core import clock, ids
from core.covers.insurers import insurer_a
from core.desk import closing, resealing
from core.errors import CoverdeskError, InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.catalogue import distributor_terms
from core.services.finance import agreements, bank_accounts
from core.services.finance.parties import Party
from core.services.finance.statements import statements
from core.settings import settings
from core.store.access import Scope
from core.store.schema import migrating
from core.store.schema.tables import Agreement, BankAccount, Provider, Statement
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW
from tests.services.finance_office import LIVE, Finance
from tests.services.races import run_while_open
from tests.services.selling import sell

TERMS = {"number": "AG/1", "starts_on": "2026-01-01", "tin": "12345678-0001", "collects": "platform"}
BANK = {"bank_name": "First Bank", "account_name": "Swift Lenders Ltd", "account_number": "0123456789"}


def test_the_newest_terms_that_have_begun_hold(finance: Finance, party: Party) -> None:
    for number, day in (("AG/1", "2026-01-01"), ("AG/3", "2026-06-01"), ("AG/2", "2026-03-01")):
        finance.agree(party, {**TERMS, "number": number, "starts_on": day})
    for day, number in ((date(2026, 2, 28), "AG/1"), (date(2026, 3, 1), "AG/2"), (date(2027, 1, 1), "AG/3")):
        assert finance.read(agreements.get_in_force, party, day).number == number
    assert finance.read(agreements.get_in_force, party, date(2025, 12, 31)) is None
    assert [row.number for row, _ in finance.read(agreements.list_history, party)] == ["AG/3", "AG/2", "AG/1"]


def test_terms_that_decide_money_take_two_admins(
    finance: Finance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other terms hold at once; the month close lists what changed, by whom."""
    held, day = (lambda: finance.read(agreements.get_in_force, party, date(2026, 11, 30))), iter(range(1, 30))
    books = {"charges_vat": True, "book_premium": "1000000"}

    def add(by: str, **changed: Any) -> UUID:
        made: UUID = finance.do(agreements.add, party, {**TERMS, "number": f"AG/{next(day)}", **changed}, by=by)
        return made

    first = add("root")
    assert held() is None
    with pytest.raises(StateForbids, match="wait for a second admin"):
        add("second", charges_vat=True)
    with pytest.raises(NotAllowed, match="You proposed this set of terms"):
        finance.do(agreements.confirm, first, by="root")
    finance.do(agreements.confirm, first, by="second")
    assert held().tin == TERMS["tin"]
    add("root", contact_email="new@lender.example")
    assert held().contact_email, "an address takes one admin"
    later = add("root", starts_on="2027-01-01")
    assert finance.read(agreements.get_in_force, party, date(2027, 1, 1)).number == "AG/3", "one alone would end others"
    finance.do(agreements.confirm, later, by="second")
    for decide, by in ((agreements.refuse, "second"), (agreements.take_back, "root"), (agreements.confirm, "second")):
        waits = add("root", **books)
        waiting = finance.read(agreements.find_waiting, party)
        assert (waiting.changes["charges_vat"], waiting.followed_by) == ((False, True), (date(2027, 1, 1), "AG/4"))
        assert not held().charges_vat
        finance.do(decide, waits, by=by)
    assert held().charges_vat
    finance.change_person("second", confirms_from=clock.now() + timedelta(hours=1))
    with pytest.raises(NotAllowed, match="No other admin can confirm it now"):
        add("root")
    monkeypatch.setenv("COVERDESK_ONE_ADMIN", "true")
    _add_alone_and_list(finance, lambda: add("root", **books, is_small=True))


def _add_alone_and_list(finance: Finance, add: Any) -> None:
    """A firm with one admin adds terms, and looks at the checks of the month."""
    finance.change_person("second", roles=["finance"])
    settings.cache_clear()
    add()
    checks = {check.key: check for check in finance.read(closing.run, date(2026, 11, 1))}
    assert [row.partition(", ")[2] for row in checks["terms"].rows] == [
        "tax number by agreement AG/1 from 1 Jan 2026: Root, confirmed by Second",
        "VAT, premium of loan books that its key confirms by agreement AG/7 from 1 Jan 2026: Root, confirmed by Second",
        "size by agreement AG/9 from 1 Jan 2026: Root alone",
    ]
    assert not checks["terms"].is_blocking
    (alone,) = checks["accounts"].rows
    assert "agreement added by root@f.example, one admin alone" in alone
    assert not finance.faults("Terms are what two admins confirmed")


@pytest.mark.both_databases
def test_terms_that_are_confirmed_while_their_month_is_stated_are_of_one_mind_with_it(
    finance: Finance, partner: Partner, party: Party
) -> None:
    """Whichever is first: a statement is by them, or they begin after its month."""
    with clock.freeze(NOW - timedelta(days=90)):
        sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True)

    def run(month: date, *, is_stated_first: bool, **changed: Any) -> CoverdeskError | None:
        terms = {**TERMS, "number": f"AG/{month}", "starts_on": str(month), **changed}
        made, how = finance.do(agreements.add, party, terms, by="root"), {"without_withholding": True}
        funmi, second = finance.people["funmi"], finance.people["second"]
        works: list[Any] = [
            lambda session: agreements.confirm(session, made, by=second),
            lambda session: statements.prepare(session, party, month, by=funmi, **how),
        ]
        first, other = works[::-1] if is_stated_first else works
        return run_while_open(finance.store, LIVE, first, lambda: finance.do(other))

    assert run(date(2026, 8, 1), is_stated_first=False, charges_vat=True) is None
    with finance.reading() as session:
        assert session.execute(sa.select(Statement.vat_minor)).scalar_one() > 0
    refusal = run(date(2026, 9, 1), is_stated_first=True)
    assert "must be 2026-10-01 or later: a statement of the distributor" in str(refusal)
    assert not finance.money_faults()


@pytest.mark.both_databases
def test_the_check_names_terms_that_nobody_confirmed_but_for_those_of_before(finance: Finance, party: Party) -> None:
    rule = "Terms are what two admins confirmed"

    def insert(number: str) -> None:
        with finance.store.writing(Scope.system()) as session:
            given = {"number": number, "starts_on": date(2026, 1, 1), "charges_vat": number == "AG/1"}
            made = {"made_by": finance.people["root"].id, "created_at": clock.now()}
            session.insert(Agreement(id=ids.new(), **party.columns, **given, **made))

    with finance.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0098")
    insert("AG/1")
    with finance.store.writers.begin() as connection:
        command.upgrade(migrating._config(connection), "head")
    assert finance.faults(rule) == []
    with clock.freeze(NOW + timedelta(seconds=1)):
        insert("AG/2")
    (found,) = finance.faults(rule)
    assert found.startswith("agreement AG/2 with Swift Lenders from 1 Jan 2026: it was not given on this desk")


def test_terms_of_an_insurer_are_its_own(finance: Finance, party: Party) -> None:
    with finance.reading() as session:
        insurer = Party("provider", session.execute(sa.select(Provider.id)).scalars().first())
    finance.do(
        agreements.add,
        insurer,
        {"number": "CH/7", "starts_on": "2026-01-01", "remittance_days": 45, "class_of_business": "Motor"},
        by="root",
    )
    held = finance.read(agreements.get_in_force, insurer, date(2026, 2, 1))
    assert (held.remittance_days, held.bordereau_due_day, held.class_of_business) == (45, 10, "Motor")
    assert finance.read(agreements.get_in_force, party, date(2026, 2, 1)) is None


@every_case(
    ("changed", "field"),
    [
        ({"ends_on": "2025-12-31"}, "ends_on"),
        ({"number": ""}, "number"),
        ({"starts_on": "soon"}, "starts_on"),
        ({"collects": "nobody"}, "collects"),
        ({"contact_email": "nobody"}, "contact_email"),
    ],
)
def test_wrong_terms_are_refused_by_name(finance: Finance, party: Party, changed: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        finance.agree(party, {**TERMS, **changed})
    assert [fault.field for fault in refused.value.faults] == [field]
    assert "_on" not in refused.value.faults[0].message, "an admin reads no names of code"


@pytest.fixture
def waiting(finance: Finance, party: Party) -> UUID:
    """An account that one admin has proposed."""
    made: UUID = finance.do(bank_accounts.propose, party, BANK, by="root")
    return made


@every_case("name", ["funmi", "oye", "chi", "sade"])
def test_only_an_admin_makes_terms_and_accounts(finance: Finance, party: Party, waiting: UUID, name: str) -> None:
    with pytest.raises(NotAllowed):
        finance.do(agreements.add, party, TERMS, by=name)
    with pytest.raises(NotAllowed):
        finance.do(bank_accounts.propose, party, BANK, by=name)
    for verb in (bank_accounts.confirm, bank_accounts.refuse, bank_accounts.take_back):
        with pytest.raises(NotAllowed):
            finance.do(verb, waiting, by=name)


def test_a_licence_is_spoken_of_60_30_and_7_days_before_it_ends(finance: Finance, party: Party) -> None:
    with clock.freeze(NOW):
        for left, bound in ((61, None), (60, 60), (31, 60), (30, 30), (8, 30), (7, 7), (0, 7), (-1, 0)):
            ends = clock.add_days(clock.today(), left)
            finance.agree(party, {**TERMS, "licence_expires_on": str(ends)})
            warned = {each[0]: each for each in finance.read(agreements.list_expiring)}
            assert (party.id in warned) == (bound is not None)
            assert agreements.warned_at(left) == bound


def test_an_account_takes_two_admins_and_is_paid_to_after_two_days(finance: Finance, party: Party) -> None:
    with clock.freeze(NOW):
        account = finance.do(bank_accounts.propose, party, BANK, by="root")
        with pytest.raises(StateForbids, match="waits for a second"):
            finance.do(bank_accounts.propose, party, BANK, by="second")
        for verb in (bank_accounts.confirm, bank_accounts.refuse):
            with pytest.raises(NotAllowed, match="You proposed"):
                finance.do(verb, account, by="root")
        resting = finance.rest("second", NOW + timedelta(hours=3))
        with pytest.raises(NotAllowed, match="gave you your password"):
            finance.do(bank_accounts.confirm, account, by=resting)
    with clock.freeze(NOW + timedelta(hours=4)):
        finance.do(bank_accounts.confirm, account, by=finance.person("second"))
        assert party not in finance.read(bank_accounts.load_usable)
    with clock.freeze(NOW + timedelta(hours=51)):
        assert party not in finance.read(bank_accounts.load_usable)
    with clock.freeze(NOW + timedelta(hours=52)):
        assert finance.read(bank_accounts.load_usable)[party].hint == "6789"
        finance.do(bank_accounts.propose, party, {**BANK, "account_number": "9876543210"}, by="second")
        assert finance.read(bank_accounts.load_usable)[party].hint == "6789", "the one before is paid meanwhile"


def test_the_number_is_sealed_and_sealed_anew(finance: Finance, party: Party) -> None:
    finance.do(bank_accounts.propose, party, BANK, by="root")
    with finance.store.reading(Scope.system()) as session:
        row = session.execute(sa.select(BankAccount)).scalar_one()
        assert BANK["account_number"] not in "".join(str(value) for value in row.model_dump().values())
        before = row.sealed
    with finance.store.writing(Scope.system()) as session:
        resealing.reseal(session, BankAccount, after=None)
    with finance.store.reading(Scope.system()) as session:
        assert session.execute(sa.select(BankAccount.sealed)).scalar_one() != before


@every_case("number", ["123456789", "12345678901", "12345x7890", "٠١٢٣٤٥٦٧٨٩"])
def test_an_account_number_has_ten_digits(finance: Finance, party: Party, number: str) -> None:
    with pytest.raises(InvalidInput, match="account_number must be the 10 digits"):
        finance.do(bank_accounts.propose, party, {**BANK, "account_number": number}, by="root")


def test_a_party_that_does_not_exist_is_not_found(finance: Finance, party: Party) -> None:
    with pytest.raises(NotFound):
        finance.agree(Party("provider", party.id), TERMS)


def test_the_store_itself_refuses_one_person_in_both_roles_and_any_change(finance: Finance, party: Party) -> None:
    finance.agree(party, TERMS)
    account = finance.do(bank_accounts.propose, party, BANK, by="root")
    maker, now = finance.people["root"].id, clock.now()
    finance.do(bank_accounts.confirm, account, by="second")
    finance.do(bank_accounts.propose, party, BANK, by="root")
    is_open = BankAccount.state == "open"
    for attempt in (
        sa.update(Agreement).values(collects="distributor"),
        sa.delete(Agreement),
        sa.update(BankAccount)
        .where(is_open)
        .values(state="confirmed", decided_by=maker, decided_at=now, usable_from=now),
        sa.update(BankAccount).where(is_open).values(hint="0000"),
        sa.update(BankAccount).where(~is_open).values(usable_from=now),
        sa.delete(BankAccount),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)


def test_after_its_licence_a_distributor_sells_nothing_where_the_setting_says_so(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    party, today = Party("distributor", partner.id), clock.today()
    terms = {"number": "AG/1", "starts_on": "2026-01-01", "licence_number": "L/1"}
    finance.agree(party, {**terms, "licence_expires_on": str(today)})
    plates = iter(f"LIC-{number}AA" for number in range(100, 200))

    def sold(*, is_live: bool = True) -> object:
        return sell(
            finance.store, partner, insurer_a.THIRD_PARTY, is_live=is_live, registration_number=next(plates)
        ).policy_id

    for switched_on in (False, True):
        monkeypatch.setattr(
            distributor_terms,
            "settings",
            lambda: SimpleNamespace(licence_blocks_sales=switched_on),  # noqa: B023 - asked at once
        )
        assert sold(), "its last day is a day of it"
        with clock.freeze(clock.now() + timedelta(days=1)):
            assert sold(is_live=False)
            if switched_on:
                with pytest.raises(StateForbids, match="licence of this distributor ended on"):
                    sold()
                new = str(clock.add_days(today, 365))
                finance.agree(party, {**terms, "licence_expires_on": new})
            assert sold(), "renewed, or not asked for"
