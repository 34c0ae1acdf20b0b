"""Payouts: the file that is superseded is not served, and the bank's answer is not the preparer's (contract K16)."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import cast
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.covers.insurers import insurer_a
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.finance import bank_accounts, parties
from core.services.finance.parties import Party
from core.services.finance.payments import bank_answers, payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.bank_answers import AnswerLine
from core.services.finance.statements import statements
from core.services.people import staff, transfers
from core.services.people.transfers import TypedReference
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import AuditEntry, Distributor, PartyPayment, Payment, Provider, Transfer
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import BANK, LIVE, Finance, pay_out, state
from tests.services.races import run_while_open
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(NOW)

# Rules of the check.
OWN_DECISIONS = "Nobody decided on a statement or payment of their own"
RECEIVED = "Each transfer received settles one debt"
OWN_ANSWERS = "The bank's answer to a payment is not its preparer's"

NAME = "Swift Lenders"
PAID = {"bank_reference": "TRF/1", "value_on": "2026-11-20"}
BACK = {"returned_on": "2026-11-20", "reason": "The account is closed"}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


@pytest.fixture
def batch(finance: Finance, partner: Partner) -> UUID:
    """An approved payout of one payment, which Funmi prepared."""
    return pay_out(finance, Party("distributor", partner.id))


@pytest.mark.both_databases
def test_what_the_bank_did_with_a_payout_is_whole_kobo(finance: Finance, batch: UUID) -> None:
    """PostgreSQL adds whole numbers up to a decimal, which no amount is written from."""
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    finance.do(settlement.confirm, row.id, PAID, by="femi")
    (found,) = finance.read(payment_reading.list_batches)
    amounts = [found.paid_minor, found.returned_minor, found.open_minor]
    assert [type(minor) for minor in amounts] == [int, int, int]
    assert [money.format_naira(minor) for minor in amounts] == [money.format_naira(row.net_minor), "₦0.00", "₦0.00"]


def test_the_staff_whose_own_any_of_several_parties_is_are_named(finance: Finance, partner: Partner) -> None:
    with finance.store.writing(Scope.system()) as session:
        insurer = session.execute(sa.select(Provider).order_by(col(Provider.id)).limit(1)).scalar_one()
        insurer.email, insurer.claim_email = "Wale@F.example", "Sade@F.example"
        session.get_one(Distributor, partner.id).email = "oye@f.example"
        ours, theirs = Party("distributor", partner.id), Party("provider", insurer.id)
    finance.do(bank_accounts.propose, theirs, BANK, by="root")
    own = {"phone_number": None, "account_number": BANK["account_number"], "actor": "tests"}
    finance.do(staff.set_own_details, finance.people["chi"].id, **own)
    assert finance.read(parties.list_own_staff, ours) == ["Oye"]
    assert finance.read(parties.list_own_staff, theirs) == ["Chi", "Sade", "Wale"]
    assert finance.read(parties.list_own_staff, ours, theirs) == ["Chi", "Oye", "Sade", "Wale"]
    assert finance.read(parties.list_own_staff) == []


def test_a_payout_of_many_payments_is_judged_in_as_many_statements_as_one_of_a_single_payment(
    finance: Finance, partner: Partner
) -> None:
    with finance.reading() as session:
        insurers = session.execute(sa.select(col(Provider.id)).order_by(col(Provider.id)).limit(3)).scalars().all()
    found = [Party("distributor", partner.id), *(Party("provider", key) for key in insurers)]
    for place, party in enumerate(found):
        terms = {"number": f"AG/{place}", "starts_on": "2026-01-01"}
        finance.agree(party, terms)
        with clock.freeze(NOW - timedelta(days=90)):
            account = finance.do(
                bank_accounts.propose, party, {**BANK, "account_number": f"012345678{place}"}, by="root"
            )
            finance.do(bank_accounts.confirm, account, by="second")
        state(finance, party, finance.read(statements.find_due_month, party), "Approved", "Sent")
    one = finance.do(payouts.prepare, {found[0]: None}, by="funmi")
    alone = count_statements(finance, payouts.find_refusal_to_approve, one, finance.people["femi"])
    finance.do(payouts.withdraw, one, reason="all of them at once", by="funmi")
    payable = finance.read(payouts.list_payable)
    assert len(payable) > 3
    due = [
        count_statements(finance, payouts.find_hindrances, some, finance.people["funmi"])
        for some in (payable[:1], payable)
    ]
    many = finance.do(payouts.prepare, {each.party: None for each in payable}, by="funmi")
    together = count_statements(finance, payouts.find_refusal_to_approve, many, finance.people["femi"])
    # A party of the other kind is read in a statement of its own.
    assert together <= alone + 1
    assert due[1] <= due[0] + 1
    finance.do(payouts.approve, many, by="femi")


def count_statements(finance: Finance, verb: Callable[..., object], *given: object) -> int:
    """Return the number of statements that an answer takes; nothing stands against what is asked."""
    statements: list[str] = []

    def note(_c: object, _x: object, statement: str, *_: object) -> None:
        statements.append(statement)

    with finance.reading() as session:
        connection = session.connection()
        sa.event.listen(connection, "before_cursor_execute", note)
        assert not verb(session, *given)
        sa.event.remove(connection, "before_cursor_execute", note)
    return len(statements)


def test_who_prepared_a_payout_neither_confirms_nor_returns_its_lines(finance: Finance, batch: UUID) -> None:
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    for verb, given in ((settlement.confirm, PAID), (settlement.return_payment, BACK)):
        with pytest.raises(NotAllowed, match="You prepared this payment: somebody else of finance"):
            finance.do(verb, row.id, given, by="funmi")
    assert payment_reading.list_allowed(row, finance.people["funmi"]) == []
    assert payment_reading.list_allowed(row, finance.people["femi"]) == ["confirm", "return"]
    finance.do(settlement.confirm, row.id, PAID, by="femi")
    with pytest.raises(NotAllowed, match="You prepared this payment"):
        finance.do(settlement.return_payment, row.id, BACK, by="funmi")
    finance.do(settlement.return_payment, row.id, BACK, by="wale")
    with finance.store.reading(Scope.system()) as session:
        log = audit.list_history(session, f"payment {row.id}")
    refused = [(entry.actor, entry.action) for entry in log if entry.action.endswith("refused")]
    funmi = "staff funmi@f.example"
    assert refused == [(funmi, f"payment {act} refused") for act in ("confirmation", "return", "return")]


def test_nobody_answers_for_the_bank_in_the_name_of_a_resting_colleague(finance: Finance, batch: UUID) -> None:
    """As a colleague, its preparer or that of the next one would say what the bank did with it."""
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    resting = finance.rest("wale", NOW + timedelta(hours=20))
    for verb, given in ((settlement.confirm, PAID), (settlement.return_payment, BACK)):
        with pytest.raises(NotAllowed, match="you can approve from"):
            finance.do(verb, row.id, given, by=resting)
    finance.do(settlement.confirm, row.id, PAID, by="femi")


def test_the_file_of_a_payout_that_came_back_is_not_served_any_more(finance: Finance, batch: UUID) -> None:
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    finance.do(payouts.open_bank_file, batch, by="wale")
    finance.do(settlement.confirm, row.id, PAID, by="femi")
    finance.do(payouts.open_bank_file, batch, by="wale")
    finance.do(settlement.return_payment, row.id, BACK, by="wale")
    assert "without an answer" not in str(finance.read(payouts.find_superseded, batch))
    with pytest.raises(StateForbids, match="superseded: 1 payment of it came back"):
        finance.do(payouts.open_bank_file, batch, by="wale")
    assert finance.money_faults() == []


@pytest.mark.both_databases
def test_one_transfer_that_was_received_settles_one_debt(
    finance: Finance, partner: Partner, stranger: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of the bank is noted for the party that paid and for a friend, or twice, under another spelling."""
    with clock.freeze(NOW - timedelta(days=90)):
        sell(finance.store, stranger, insurer_a.THIRD_PARTY, is_live=True)
    parties_ = [Party("distributor", owner.id) for owner in (partner, stranger)]
    for party in parties_:
        finance.agree(party, {"number": "AG/1", "starts_on": "2026-01-01", "collects": "distributor"})
        state(finance, party, date(2026, 8, 1), "Approved", "Sent")
    given = {"amount": "1", "bank_reference": "FT/26/17", "value_on": "2026-11-19"}
    first = finance.do(settlement.receive, parties_[0], given, by="funmi")
    words = f"is that of FT/26/17, the same amount of the same day, noted for {NAME} already"
    for typed in ("FT/26/17", "ft-26-17", "FT26 17"):
        with pytest.raises(InvalidInput, match=words):
            finance.do(settlement.receive, parties_[1], {**given, "bank_reference": typed}, by="funmi")
    # Another amount, or another day, is another row.
    for other in ({"amount": "2"}, {"value_on": "2026-11-18", "bank_reference": "FT-26-17"}):
        noted = finance.do(settlement.receive, parties_[1], {**given, **other}, by="funmi")
        finance.do(settlement.approve_receipt, noted, by="femi")
    finance.do(settlement.approve_receipt, first, by="femi")
    with pytest.raises(InvalidInput, match=words):
        finance.do(settlement.receive, parties_[0], {**given, "bank_reference": "FT-26-17"}, by="funmi")
    with monkeypatch.context() as patched:
        # As a version without the rule noted it, or two at one instant.
        patched.setattr(settlement, "_describe_noted", lambda *_, **__: None)
        twice = finance.do(settlement.receive, parties_[0], {**given, "bank_reference": "FT-26-17"}, by="funmi")
    with pytest.raises(StateForbids, match=f"Its reference {words}: give one of the two up"):
        finance.do(settlement.approve_receipt, twice, by="femi")
    assert finance.faults(RECEIVED) == []
    with monkeypatch.context() as patched:
        patched.setattr(settlement, "_describe_noted", lambda *_, **__: None)
        finance.do(settlement.approve_receipt, twice, by="femi")
    (found,) = finance.faults(RECEIVED)
    assert found == f"payment {twice}, ₦1.00: FT-26-17 is one transfer, received of {NAME} and {NAME}"


def test_nobody_works_on_a_statement_or_payout_of_their_own(finance: Finance, batch: UUID, partner: Partner) -> None:
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    stated = finance.do(statements.prepare, Party("distributor", partner.id), date(2026, 9, 1), by="funmi")
    own = {"phone_number": None, "account_number": BANK["account_number"], "actor": "tests"}
    finance.do(staff.set_own_details, finance.people["femi"].id, **own)
    femi = finance.person("femi")
    for verb, *given in (
        (settlement.confirm, row.id, PAID),
        (settlement.return_payment, row.id, BACK),
        (statements.move, stated, "Approved"),
    ):
        with pytest.raises(NotAllowed, match="your own e-mail, phone or account: somebody else works on it"):
            finance.do(verb, *given, by=femi)
    finance.do(settlement.confirm, row.id, PAID, by="wale")
    # Femi had approved both before anybody knew whose account it is.
    found = [each for each in finance.faults(OWN_DECISIONS) if "decided on by Femi, whose own they are" in each]
    assert [each.partition(" of ")[0] for each in found] == ["1 statements", "1 payments"]
    assert all(money.format_naira(row.net_minor) in each for each in found[1:])


def test_an_answer_of_the_bank_that_its_preparer_noted_is_found(finance: Finance, batch: UUID) -> None:
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    finance.do(settlement.confirm, row.id, PAID, by="wale")
    assert not [each for each in finance.faults(OWN_ANSWERS) if "noted what the bank said" in each]
    with finance.store.writing(Scope.system()) as session:
        on = "" if finance.store.is_sqlite else " ON payment"
        session.connection().exec_driver_sql(f"DROP TRIGGER payment_figures{on}")
        session.execute(sa.update(Payment).values(prepared_by=finance.people["wale"].id))
    (found,) = [each for each in finance.faults(OWN_ANSWERS) if "noted what the bank said" in each]
    assert f"{money.format_naira(row.net_minor)}: Wale prepared it" in found


def test_a_reference_names_one_transfer_whatever_it_paid_and_a_return_has_its_own_or_that(
    finance: Finance, batch: UUID
) -> None:
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    paid = TypedReference("trf / 1", "bank_reference")
    finance.do(settlement.confirm, row.id, PAID, by="femi")
    with pytest.raises(InvalidInput, match="was used for another payment already"):
        finance.do(_register, paid)
    of_this = (
        sa.select(Transfer).where(col(Transfer.reference).in_(("TRF/1", "RET/1"))).order_by(col(Transfer.reference))
    )
    with finance.reading() as session:
        again = session.execute(of_this).scalar_one().model_dump() | {"id": ids.new()}
    with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
        session.execute(sa.insert(Transfer).values(**again))
    with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
        session.execute(sa.update(PartyPayment).values(transfer_id=ids.new()))
    finance.do(settlement.return_payment, row.id, {**BACK, "bank_reference": "RET/1"}, by="wale")
    with finance.store.reading(Scope.system()) as session:
        found = session.execute(of_this).scalars().all()
    assert [(each.reference, each.amount_minor) for each in found] == [
        ("RET/1", -row.net_minor),
        ("TRF/1", row.net_minor),
    ]
    assert finance.money_faults() == []
    with finance.store.writing(Scope.system()) as session:
        session.execute(sa.insert(Transfer).values(**{**found[0].model_dump(), "id": ids.new(), "reference_key": "x"}))
    amount = money.format_naira(-row.net_minor)
    assert f"transfer RET/1 of {amount} has 0 payments of ₦0.00" in finance.faults(
        "Every transfer is the payments that it made"
    )


def _register(session: ScopedSession, typed: TypedReference) -> UUID:
    return transfers.register(session, typed, is_live=True, amount_minor=5, by=None, at=NOW)


@pytest.mark.both_databases
@pytest.mark.parametrize("to", ["void", "disputed"])
@pytest.mark.parametrize("is_paid_first", [True, False], ids=["paid first", "moved first"])
def test_a_statement_is_not_paid_and_taken_off_at_one_instant(
    finance: Finance, partner: Partner, to: str, *, is_paid_first: bool
) -> None:
    """A payout of a statement that is void by then would not count for the one that is stated anew."""
    party = Party("distributor", partner.id)
    finance.agree(party, {"number": "AG/1", "starts_on": "2026-01-01"})
    with clock.freeze(NOW - timedelta(days=90)):
        finance.do(bank_accounts.confirm, finance.do(bank_accounts.propose, party, BANK, by="root"), by="second")
    stated = state(finance, party, date(2026, 8, 1), "Approved", "Sent")
    moved, step, more = stated, "Disputed", {"note": "Another figure"}
    if to == "void":
        moved, step, more = finance.do(statements.reverse, stated, reason="Wrong terms", by="wale"), "Approved", {}
    people = finance.people

    def pay(session: ScopedSession) -> object:
        return payouts.prepare(session, {party: None}, by=people["funmi"])

    def take_off(session: ScopedSession) -> object:
        return statements.move(session, moved, step, by=people["femi"], **more)

    first, second = (pay, take_off) if is_paid_first else (take_off, pay)
    refusal = run_while_open(finance.store, LIVE, first, lambda: finance.do(second))
    assert isinstance(refusal, StateForbids), refusal
    assert len(finance.read(payment_reading.list_batches)) == int(is_paid_first)
    assert finance.money_faults() == []


def list_refusals(finance: Finance) -> list[str]:
    """Reasons of refused acts on payments, by the audit log, oldest first."""
    query = sa.select(col(AuditEntry.after)).where(col(AuditEntry.action).like("payment % refused"))
    with finance.reading() as session:
        return [after["refused"] for after in session.execute(query.order_by(col(AuditEntry.id))).scalars()]


def test_one_line_of_the_bank_answers_one_payout(finance: Finance, batch: UUID, partner: Partner) -> None:
    """A payment by account and amount comes back, is paid again, and the rows of the first answer are read anew."""
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    columns = dict(zip(("account", "amount", "status", "reference"), "abcd", strict=True))
    amount, hint = money.to_wire(row.net_minor), (row.bank or "")[-4:]

    def answers(batch_id: UUID, text: str) -> AnswerLine:
        file = bank_answers.read("answer.csv", f"a,b,c,d\n{hint},{amount},{text}".encode())
        of = finance.read(payment_reading.get_batch, batch_id)
        (line,) = finance.read(bank_answers.match, file, columns, of)
        return cast("AnswerLine", line)

    paid, back = "Paid,NIP/77", "Failed,RET/78"
    for text in (paid, back):
        finance.do(bank_answers.note, answers(batch, text), file_name="answer.csv", by="femi")
    with clock.freeze(NOW + timedelta(days=1)):
        second = finance.do(payouts.prepare, {Party("distributor", partner.id): None}, by="wale")
        with pytest.raises(NotAllowed, match="You noted that a payment of this came back"):
            finance.do(payouts.approve, second, by="femi")
        # Nor who proposed the account.
        finance.do(payouts.approve, second, by="second")
        for text in (paid, back):
            with pytest.raises(StateForbids, match="its reference was used for another payment already"):
                finance.do(bank_answers.note, answers(second, text), file_name="answer.csv", by="funmi")
            assert list_refusals(finance)[-1].startswith("bank_reference was used for another payment already")
        (row,) = finance.read(payment_reading.list_of_batch, second)
        with pytest.raises(InvalidInput, match="returned_on must not be before the day of the approval"):
            finance.do(settlement.return_payment, row.id, BACK, by="funmi")
        assert row.state == "Approved"
    assert finance.money_faults() == []
