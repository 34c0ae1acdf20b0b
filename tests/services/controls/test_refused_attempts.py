"""Every rule of the part on controls keeps a refused attempt in the audit log: who, on what, and the reason."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import partial
from itertools import chain
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers import insurer_a
from core.errors import CoverdeskError
from core.services.catalogue import share_changes
from core.services.claims.workflow import assignment
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow.assignment import ChosenClaim
from core.services.finance import adjustments, agreements, bank_accounts
from core.services.finance.credit_notes import deciding
from core.services.finance.parties import Party
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments import settlement
from core.services.finance.reconciling import reconciliations
from core.services.people import accounts
from core.services.policies import changes
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, CreditNote, Movement
from tests.conftest import Partner
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office
from tests.services.finance_office import ACCOUNT, BANK, Finance, pay_out
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(NOON)

KNOWN = {"incident_date": "2026-11-10"}
# The rule, who tries it, what is tried, and words of the reason.
Attempt = tuple[str, str, Callable[[], object], str]


def on_approvals(office: Office) -> Iterator[Attempt]:
    claim_id = office.lodge(**KNOWN)
    estimate = {"amount": "450000", "note": "By the shop", "estimate_document": "loan_offer_letter"}
    office.move(claim_id, "Viewed", by="bola")
    by_bola = partial(office.move, claim_id, "Repair estimate submitted", by="bola", **estimate)
    yield "K6", "staff bola@x.example", by_bola, "claimed"
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    payee = {"name": "Another", "bank_name": "A Bank", "account_number": "0123456788", "reason": "By telephone"}
    office.do(claim_corrections.set_payee, claim_id, by="root", version=office.claim(claim_id).version, **payee)
    by_ada = partial(office.move, claim_id, "Paid", by="ada", payment_reference="ONE")
    yield "K3", "staff ada@x.example", by_ada, "the payee .* changed"
    second = office.lodge_again(incident_type="Permanent disability", **KNOWN)
    office.approve_anew(claim_id, by="bola")
    by_root = partial(office.move, second, "Approved", by="root", amount="75000")
    yield "K5", "staff root@x.example", by_root, "still owed"
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved")
    office.desk.change_policy(start_at=NOON - timedelta(days=5))
    yield "K7", "staff bola@x.example", partial(office.move, claim_id, "Offer sent", by="bola"), "failed now: In force"

    def settle() -> None:
        # What is refused in a list stops nothing else of it, so that nothing is raised.
        chosen = [ChosenClaim(id=claim_id, reference="C-1", version=office.claim(claim_id).version, assigned_to=None)]
        with office.store.writing(DESK) as session:
            found = assignment.settle_claims(session, chosen, person=office.people["bola"])
        raise CoverdeskError(found.refusals[0].partition(": ")[2])

    yield "C19", "staff bola@x.example", settle, "cannot become Settled"


def on_own_claims(office: Office) -> Iterator[Attempt]:
    claim_id = office.lodge(**KNOWN)
    raised = {"amounts": {"pending_repayment_amount": "90000"}, "reason": "By the letter", "version": 1}
    raising = partial(office.do, claim_corrections.correct_amounts, claim_id, by="bola", **raised)
    yield "C12", "staff bola@x.example", raising, "Raising what is owed needs a supervisor"
    by_command = {"to": "Approved", "version": 1, "amount": "75000", "terminal": "command line, eve at desk-1"}
    commanded = partial(office.do, claim_moves.move_by_command, claim_id, by="sade", **by_command)
    yield "K11", "command line, eve at desk-1", commanded, "The command line makes no claim Approved"
    office.put(claim_id, claim_owner_email="sade@x.example")
    by_sade = partial(office.move, claim_id, "Approved", by="sade", amount="75000")
    yield "K12", "staff sade@x.example", by_sade, "your e-mail, phone or"
    office.move(claim_id, "Declined", by="root", reason="exclusion", note="Excluded by the wording")
    appeal = partial(office.move, claim_id, "Reviewing", by="root")
    yield "K13", "staff root@x.example", appeal, "somebody other than who declined it"
    claims = [office.lodge(text="one letter", **KNOWN) for _ in range(2)]
    again = partial(office.move, claims[1], "Approved", by="bola", amount="75000")
    yield "K14", "staff bola@x.example", again, "No other claim for this"
    started = (NOON - timedelta(days=120)).date().isoformat()
    loan = {"loan_start_date": started, "loan_tenure": 12, "email": "late@x.example", "phone_number": "08035550042"}
    office.desk.sale = sell(office.store, office.partner, CREDIT_LIFE, **loan)
    late = ids.parse(office.desk.lodge(incident_type="Loss of job", incident_date="2026-10-30")[0]["id"])
    backdated = partial(office.move, late, "Approved", by="bola", amount="75000")
    yield "K1", "staff bola@x.example", backdated, "Bought before the loss"


def on_refunds(finance: Finance, partner: Partner) -> Iterator[Attempt]:
    with clock.freeze(NOON - timedelta(days=90)):
        policy = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True).policy_id
    (row,) = finance.rows(kind="purchase")
    correction = {"premium": money.to_wire(9 * row.total_minor), "reason": "The insurer charged another rate"}
    correction |= {"platform_commission": "0", "distributor_commission": "0"}
    too_much = partial(finance.do, adjustments.propose, row.id, correction, by="funmi")
    yield "K10", "staff funmi@f.example", too_much, "by more than itself"
    with finance.reading() as session:
        insurer = session.execute(sa.select(col(Movement.provider_id))).scalar_one()
    typed = {"kind": "insurer", "month": str(date(2026, 8, 1)), "file_name": "a.csv", "tolerance": "10000000"}
    typed |= {"columns": {"policy_number": "Policy No", "amount": "Net"}}
    wide = partial(finance.do, reconciliations.run, typed, b"Policy No,Net\r\nA/1,1.00", provider_id=insurer)
    yield "K8", "staff funmi@f.example", partial(wide, by="funmi"), "must be at most"
    by_hand: dict[str, Any] = {"reason": "Sold the car", "by_insurer": True, "actor": "tests", "expected_version": 1}
    finance.do(changes.cancel, policy, **by_hand)
    with finance.reading() as session:
        note = session.execute(sa.select(col(CreditNote.id))).scalar_one()
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    answer = {"bank_reference": "TRF/1", "value_on": "2026-11-20"}
    yield "K2", "staff femi@f.example", partial(finance.do, deciding.pay, note, answer, by="femi"), "You approved it"
    odd = partial(finance.do, deciding.pay, note, {**answer, "bank_reference": "R\u20111"}, by="wale")
    yield "K9", "staff wale@f.example", odd, r"U\+2011"


def on_second_people(finance: Finance, partner: Partner) -> Iterator[Attempt]:
    party = Party("distributor", partner.id)
    batch = pay_out(finance, party)
    (payment,) = finance.read(payment_reading.list_of_batch, batch)
    answer = {"bank_reference": "TRF/1", "value_on": "2026-11-20"}
    own = partial(finance.do, settlement.confirm, payment.id, answer, by="funmi")
    yield "K16", "staff funmi@f.example", own, "You prepared this payment"
    account = finance.do(bank_accounts.propose, party, BANK, by="root")
    share = finance.do(share_changes.propose, partner.id, {"commission": "7.50", "starts_on": "2026-11-21"}, by="root")
    puppet = {"email": "puppet@x.example", "name": "Puppet", "roles": ["claims"], "claim_limit": "250000"}
    puppet_by_root = partial(finance.do, accounts.add_person, ids.new(), puppet, by="root")
    terms = {"number": "AG/9", "starts_on": "2026-11-21", "charges_vat": "true"}
    agreed = finance.do(agreements.add, party, terms, by="root")
    # Who has no password confirms no account.
    finance.change_person("second", password_hash=None)
    yield "K4", "staff root@f.example", puppet_by_root, "No other admin can confirm it now"
    for service, made in ((bank_accounts, account), (share_changes, share), (agreements, agreed)):
        alone = partial(finance.do, service.confirm, made, by="root")
        yield "F2", "staff root@f.example", alone, "You proposed this"


def newest(store: Store) -> AuditEntry:
    with store.reading(Scope.system()) as session:
        query = sa.select(AuditEntry).order_by(col(AuditEntry.id).desc()).limit(1)
        entry: AuditEntry = session.execute(query).scalar_one()
        session.expunge(entry)
    return entry


def test_each_refused_attempt_is_in_the_log_with_the_rule_in_words_and_who(store: Store, partner: Partner) -> None:
    """Rows that only grow (K15) are refused by the database, which knows of nobody."""
    tried, office, finance = set(), Office(store, partner), Finance(store)
    found = (
        on_approvals(office),
        on_own_claims(office),
        on_refunds(finance, partner),
        on_second_people(finance, partner),
    )
    for rule, actor, attempt, words in chain(*found):
        before = newest(store).id
        with pytest.raises(CoverdeskError, match=words) as refused:
            attempt()
        entry = newest(store)
        assert entry.id != before, f"{rule}: nothing was kept"
        assert (entry.actor, entry.action.endswith(" refused")) == (actor, True), rule
        assert (entry.after or {})["refused"] == str(refused.value), rule
        tried.add(rule)
    assert tried >= {f"K{number}" for number in range(1, 17)} - {"K15"}
