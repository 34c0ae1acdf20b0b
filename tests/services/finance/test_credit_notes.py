"""Credit notes: one for each refund, approved within limits, paid by another person, and aged until then."""

import csv
import io
import shutil
import subprocess
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids, money
from core.covers.insurers import insurer_a
from core.demo.papers import finance as papers
from core.desk.exported_lists import get_kind
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.finance import ageing
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.credit_notes.reading import CreditNoteFilter, CreditNoteRow
from core.services.finance.parties import Party
from core.services.finance.payments import settlement
from core.services.finance.statements import statements
from core.services.lists import exports
from core.services.lists.exports import Tally
from core.services.lists.paging import Paging
from core.services.policies import changes
from core.services.renewals import renewals
from core.store.access import Scope
from core.store.schema.tables import Claim, ClaimEvent, CreditNote, Policy, Refund, Staff
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio
from tests.services.finance_office import ACCOUNT, LIVE, OUTSIDERS, Finance
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(NOW)

PAID = {"bank_reference": "TRF 1/a", "value_on": "2026-11-20"}
RETURNED = {"returned_on": "2026-11-20", "reason": "The account is closed"}


def cancelled(finance: Finance, partner: Partner, plate: str, *, by: str = "oye", days: int = 100) -> UUID:
    """A policy that was renewed and cancelled, so that two terms go back."""
    with clock.freeze(NOW - timedelta(days=320)):
        sale = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number=plate)
    finance.do(renewals.renew, sale.policy_id, partner.seller(is_live=True))
    given = {"reason": "Sold the car", "by_insurer": True, "actor": finance.people[by].actor}
    finance.do(changes.cancel, sale.policy_id, **given, expected_version=2)
    return sale.policy_id


def notes(finance: Finance) -> list[CreditNoteRow]:
    found: list[CreditNoteRow] = finance.read(credit_note_reading.list_notes, CreditNoteFilter(), Paging(1, 50))
    return found


def one(finance: Finance, note_id: UUID) -> CreditNoteRow:
    found: CreditNoteRow = finance.read(credit_note_reading.get_note, note_id)
    return found


@pytest.mark.both_databases
def test_credit_notes_are_sorted_by_time_and_by_amount(finance: Finance, partner: Partner) -> None:
    cancelled(finance, partner, "AAA-111AA")
    cancelled(finance, partner, "BBB-222BB", days=30)
    newest, oldest, largest, smallest = (
        finance.read(credit_note_reading.list_notes, CreditNoteFilter(), Paging(1, 9), order=order)
        for order in credit_note_reading.CREDIT_NOTES.orders
    )
    assert len(newest) > 2
    assert oldest == newest[::-1]
    assert [row.total_minor for row in largest] == sorted((row.total_minor for row in newest), reverse=True)
    assert [row.total_minor for row in smallest] == sorted(row.total_minor for row in newest)


def test_each_term_that_goes_back_has_a_numbered_note_with_its_arithmetic_and_shares(
    finance: Finance, partner: Partner
) -> None:
    cancelled(finance, partner, "AAA-111AA")
    cancelled(finance, partner, "BBB-222BB")
    found = notes(finance)
    assert sorted(row.number for row in found) == ["CN-0001", "CN-0002", "CN-0003", "CN-0004"]
    with finance.reading() as session:
        refunds = {row.id: row for row in session.execute(sa.select(Refund)).scalars()}
        for row in found:
            assert row.total_minor == row.parts.total_minor == refunds[row.id].total_minor > 0
            assert row.explained[-1]["amount"] == money.to_wire(row.total_minor)
            assert row.parts.provider_share_minor > 0
            assert (row.state, row.made_by) == ("Computed", finance.people["oye"].actor)
        assert len({row.term_start_at for row in found}) == 2
        content = b"".join(exports.stream_lines(session, get_kind("credit-notes"), CreditNoteFilter(), Tally()))
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert sum(Decimal(row["total"]) for row in rows) == money.to_naira(sum(row.total_minor for row in found))
    assert {row["id"] for row in rows} == {str(row.id) for row in found}
    assert finance.read(credit_note_reading.count, CreditNoteFilter()) == (4, sum(row.total_minor for row in found))
    assert finance.faults() == []


def test_one_person_approves_and_another_notes_the_payment_and_its_return(finance: Finance, partner: Partner) -> None:
    cancelled(finance, partner, "AAA-111AA", by="root")
    first, second = notes(finance)
    with pytest.raises(NotAllowed, match="You ended this policy"):
        finance.do(deciding.approve, first.id, ACCOUNT, by="root")
    with pytest.raises(NotAllowed, match="gave you your password"):
        finance.do(deciding.approve, first.id, ACCOUNT, by=finance.rest("wale", NOW + timedelta(hours=1)))
    with pytest.raises(StateForbids, match="Computed cannot become Paid"):
        finance.do(deciding.pay, first.id, PAID, by="funmi")
    finance.do(deciding.approve, first.id, ACCOUNT, by="femi")
    with pytest.raises(NotAllowed, match="You approved it"):
        finance.do(deciding.pay, first.id, PAID, by="femi")
    for wrong, field in (
        ({"payee": "Somebody else"}, "payee"),
        ({"value_on": "2026-11-19"}, "value_on"),
        ({"value_on": "2026-11-21"}, "value_on"),
        ({"bank_reference": " "}, "bank_reference"),
    ):
        with pytest.raises(InvalidInput) as refused:
            finance.do(deciding.pay, first.id, {**PAID, **wrong}, by="funmi")
        assert [fault.field for fault in refused.value.faults] == [field]
    finance.do(deciding.pay, first.id, PAID, by="funmi")
    finance.do(deciding.approve, second.id, ACCOUNT, by="femi")
    with pytest.raises(InvalidInput, match="used for another payment"):
        finance.do(deciding.pay, second.id, {**PAID, "bank_reference": "trf1/A"}, by="funmi")
    finance.do(deciding.return_payment, first.id, RETURNED, by="wale")
    assert (one(finance, first.id).state, one(finance, first.id).note) == ("Returned", RETURNED["reason"])
    verbs = {name: deciding.list_allowed(one(finance, first.id), finance.people[name]) for name in ("funmi", "second")}
    assert verbs == {"funmi": (), "second": ("approve",)}
    finance.do(deciding.approve, first.id, ACCOUNT, by="second")
    finance.do(deciding.pay, first.id, {**PAID, "bank_reference": "TRF 2"}, by="funmi")
    row = one(finance, first.id)
    assert (row.state, row.payer, row.returned_on, row.reference) == ("Paid", "Funmi", None, "TRF 2")
    assert deciding.list_allowed(row, finance.people["funmi"]) == (), "who noted the payment notes no return"
    assert deciding.list_allowed(row, finance.people["second"]) == (), "nor who approved it"
    assert deciding.list_allowed(row, finance.people["wale"]) == ("return",)
    assert finance.faults() == []


def test_nobody_outside_finance_does_any_of_it_and_no_unknown_note_is_approved(
    finance: Finance, partner: Partner
) -> None:
    cancelled(finance, partner, "AAA-111AA")
    for name in OUTSIDERS:
        for verb, given in (
            (deciding.approve, (ACCOUNT,)),
            (deciding.pay, (PAID,)),
            (deciding.return_payment, (RETURNED,)),
        ):
            with pytest.raises(NotAllowed, match="Only finance"):
                finance.do(verb, notes(finance)[0].id, *given, by=name)
    with pytest.raises(NotFound):
        finance.do(deciding.approve, UUID(int=1), ACCOUNT, by="femi")


def test_above_the_limit_two_people_approve(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled(finance, partner, "AAA-111AA")
    small, large = sorted(notes(finance), key=lambda row: row.total_minor)
    monkeypatch.setattr(deciding, "LIMIT", large.total_minor - 1)
    monkeypatch.setattr(deciding, "ADMIN_LIMIT", large.total_minor)
    assert finance.do(deciding.approve, small.id, ACCOUNT, by="femi") == "Approved"
    assert finance.do(deciding.approve, large.id, ACCOUNT, by="femi") == "Awaits second person"
    with pytest.raises(NotAllowed, match="You approved it first"):
        finance.do(deciding.approve, large.id, ACCOUNT, by="femi")
    with pytest.raises(StateForbids):
        finance.do(deciding.pay, large.id, PAID, by="funmi")
    assert deciding.list_allowed(one(finance, large.id), finance.people["femi"]) == ()
    assert finance.do(deciding.approve, large.id, ACCOUNT, by="wale") == "Approved"
    row = one(finance, large.id)
    assert (row.first, row.approver) == ("Femi", "Wale")
    monkeypatch.setattr(deciding, "ADMIN_LIMIT", 10**9)
    cancelled(finance, partner, "BBB-222BB")
    other = next(row for row in notes(finance) if row.state == "Computed" and row.total_minor == large.total_minor)
    assert finance.do(deciding.approve, other.id, ACCOUNT, by="root") == "Approved", "an admin's limit is another one"


def test_a_claim_that_came_later_holds_it_and_a_paid_one_refuses_it(finance: Finance, partner: Partner) -> None:
    policy_id = cancelled(finance, partner, "AAA-111AA")
    later, earlier = sorted(notes(finance), key=lambda row: row.term_start_at, reverse=True)
    claim_id = _lodge(finance, policy_id, str(clock.to_lagos_day(NOW - timedelta(days=30))))
    for row in (earlier, later):
        with pytest.raises(StateForbids, match="still open"):
            finance.do(deciding.approve, row.id, ACCOUNT, by="femi")
    with finance.store.writing(Scope.system()) as session:
        session.get_one(Claim, claim_id).claim_status = "Paid"
        _event(session, claim_id, "Paid")
    with pytest.raises(StateForbids, match="paid out of this term"):
        finance.do(deciding.approve, earlier.id, ACCOUNT, by="femi")
    with finance.store.writing(Scope.system()) as session:
        for name, roles in (("finance", ["finance"]), ("second.finance", ["finance"]), ("admin", ["admin"])):
            session.add(Staff(email=f"{name}@coverdesk.example", name=name, roles=roles))
    finance.do(papers.give_back)
    assert one(finance, earlier.id).state == "Computed", "the demonstration leaves it alone, and goes on"
    assert finance.do(deciding.approve, later.id, ACCOUNT, by="femi") == "Approved", "the loss was in the other term"


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="SKIPPED LOUDLY: no pdftotext here")
@pytest.mark.parametrize("database", ["sqlite"])
def test_its_pdf_has_everything_and_the_customers_copy_no_commission(
    finance: Finance, partner: Partner, tmp_path: Path
) -> None:
    cancelled(finance, partner, "AAA-111AA")
    note = notes(finance)[0]
    assert "Not approved yet" in printed(note, "customer", tmp_path)
    finance.do(deciding.approve, note.id, ACCOUNT, by="funmi")
    finance.do(deciding.pay, note.id, PAID, by="femi")
    note = one(finance, note.id)
    assert credit_note_reading.render(note, "insurer") == credit_note_reading.render(note, "insurer")
    shares = [note.parts.provider_share_minor, note.parts.mca_profit_minor, note.parts.distributor_profit_minor]
    assert sum(shares) == note.total_minor
    for copy in credit_note_reading.COPIES:
        text = printed(note, copy, tmp_path)
        for shown in (note.number, note.customer, note.provider, note.policy_number, note.product, "TRF 1/a"):
            assert str(shown) in text
        assert money.format_naira(note.total_minor) in text
        assert "Not approved" not in text
        assert f"₦{note.explained[0]['working'].split(' ')[0]} x " in text, "an amount in the working has its sign"
        is_insurers = copy == "insurer"
        assert [money.format_naira(minor) in text for minor in shares[1:]] == [is_insurers, is_insurers]
    assert "Test mode" in printed(replace(note, is_live=False), "customer", tmp_path)
    text = printed(replace(note, created_at=note.created_at.replace(day=9)), "customer", tmp_path)
    assert "09 November 2026" not in text
    assert text.count("9 November 2026") == 2, "its day, and that on which the policy ended"


def printed(note: CreditNoteRow, copy: str, folder: Path) -> str:
    path = folder / "note.pdf"
    path.write_bytes(credit_note_reading.render(note, copy))
    return subprocess.run(["pdftotext", "-layout", path, "-"], check=True, capture_output=True, text=True).stdout


def _lodge(finance: Finance, policy_id: UUID, happened_on: str) -> UUID:
    with finance.store.writing(LIVE) as session:
        policy = session.get_one(Policy, policy_id)
        shared = ("distributor_id", "is_live", "customer_id", "product_id", "provider_id")
        values: dict[str, Any] = {name: getattr(policy, name) for name in shared}
        texts = ("claim_type", "claim_owner", "claim_description")
        owner = [f"claim_owner_{name}" for name in ("first_name", "last_name", "email")]
        amounts = [name for name in Claim.model_fields if name.endswith("_minor")]
        claim = Claim(
            policy_id=policy_id,
            claim_status="Pending",
            incident_date=happened_on,
            **values,
            **dict.fromkeys((*texts, *owner), "x"),
            **dict.fromkeys(amounts, 0),
        )
        session.insert(claim)
        return claim.id


def _event(session: Any, claim_id: UUID, status: str) -> None:
    claim = session.get_one(Claim, claim_id)
    owner = {"distributor_id": claim.distributor_id, "is_live": claim.is_live, "created_at": clock.now()}
    session.insert(ClaimEvent(id=ids.new(), claim_id=claim_id, status=status, **owner))


@pytest.mark.both_databases
def test_the_store_keeps_figures_and_people_and_the_check_finds_what_is_planted(
    finance: Finance, partner: Partner
) -> None:
    cancelled(finance, partner, "AAA-111AA")
    first, second = notes(finance)
    finance.do(deciding.approve, first.id, ACCOUNT, by="femi")
    femi, wale = finance.people["femi"].id, finance.people["wale"].id
    approval = {"approved_by": femi, "approved_at": NOW}
    for note_id, values in (
        (first.id, {"total_minor": 1}),
        (first.id, {"number": 9}),
        (first.id, {"approved_by": wale}),
        (first.id, {"state": "Paid", "payee_id": None}),
        (second.id, {"state": "Approved"}),
        (second.id, {"state": "Approved", "first_by": femi, **approval}),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(sa.update(CreditNote).where(CreditNote.id == note_id).values(**values))
    with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
        session.execute(sa.delete(CreditNote))
    on = "" if finance.store.is_sqlite else " ON credit_note"
    for planted, fault_text in (
        ("UPDATE credit_note SET number = number + 5 WHERE number = 2", "have a gap"),
        ("DELETE FROM credit_note WHERE payee_id IS NULL", "without a credit note"),
    ):
        with finance.store.writers.begin() as connection:
            for trigger in ("figures", "delete"):
                connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS credit_note_{trigger}{on}")
            connection.exec_driver_sql(planted)
        assert any(
            fault_text in fault for fault in finance.faults("Every refund has its credit note, in numbers without gaps")
        )


@every_case(("days", "place"), [(0, 0), (30, 0), (31, 1), (60, 1), (61, 2), (90, 2), (91, 3), (900, 3)])
def test_an_age_has_one_bucket(days: int, place: int) -> None:
    assert ageing.bucket_of(days) == place


def test_ages_are_the_balances_and_what_waits_for_customers(finance: Finance, partner: Partner) -> None:
    Portfolio(seed=21, size=60, sellers=(partner.id,)).write(finance.store)
    party = Party("distributor", partner.id)
    for month in (date(2026, 8, 1), date(2026, 9, 1)):
        made = finance.do(statements.prepare, party, month, by="funmi", without_withholding=True)
        for state in ("Approved", "Sent"):
            finance.do(statements.move, made, state, by="femi")
    balance = finance.read(settlement.get_balance, party)
    unpaid = finance.read(credit_note_reading.list_unpaid, clock.now())
    assert unpaid
    rows = finance.read(ageing.list_aged)
    (mine,) = [row for row in rows if row.kind == "distributor"]
    # August ended 80 days ago, September 50.
    assert mine.minors == (0, balance.dues[1].net_minor, balance.dues[0].net_minor, 0)
    assert mine.total_minor == balance.amount_minor
    assert sum(row.total_minor for row in rows if row.kind == "refunds") == sum(row.total_minor for row in unpaid)
    content = b"".join(ageing.csv_chunks(rows)).decode()
    *lines, whole = csv.DictReader(io.StringIO(content))
    for name in ("days_0_30", "days_31_60", "days_61_90", "days_over_90", "total"):
        assert Decimal(whole[name]) == sum(Decimal(line[name]) for line in lines)
    assert [Decimal(whole["total"])] == [money.to_naira(sum(ageing.total(rows)))]
