"""A claims office for tests: one policy, officers with and without authority, and claims to work on."""

from copy import copy
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import ids, seal
from core.covers.credit_life import CREDIT_LIFE
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.review.coverage_checks import CHECK_KEYS
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow.changes import ClaimChange
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, Claim, ClaimEvent, Staff
from tests.conftest import Partner
from tests.services.claim_desk import NOON, Desk
from tests.services.selling import sell

DESK = Scope.staff(is_live=False)
REFERENCE = "TRF-0001"
# Another claimant than the customer.
KIN = {
    "claimant": "Next of kin",
    "claimant_relation": "Wife",
    "claimant_first_name": "Bisi",
    "claimant_last_name": "Okafor",
    "claimant_phone_number": "08027654321",
}
# Ada may decide up to 100,000.00; Bola has no limit; Sade is their supervisor; Funmi works in finance.
PEOPLE: dict[str, tuple[list[str], int | None]] = {
    "ada": (["claims"], 10_000_000),
    "bola": (["claims"], None),
    "sade": (["supervisor"], None),
    "root": (["admin"], None),
    "funmi": (["finance", "operations"], None),
}
INPUTS: dict[str, dict[str, Any]] = {
    "Repair estimate submitted": {"amount": "60000", "estimate_document": "loan_offer_letter"},
    "Approved": {"amount": "75000"},
    "Offer sent": {"amount": "70000", "note": "As agreed by phone"},
    "Declined": {"reason": "exclusion", "note": "Excluded by the wording"},
    "Paid": {"payment_reference": REFERENCE},
}
# Who approved does not pay, and who declined does not take up the appeal.
WHO = {"Paid": "ada", "Declined": "bola"}
PAID = ("Approved", "Offer sent", "Offer accepted", "Paid")


class Office:
    """Everything that a test of working claims needs."""

    def __init__(self, store: Store, partner: Partner) -> None:
        self.store, self.partner, self.desk = store, partner, Desk(store, partner)
        self.payments = self.lodged = 0
        with store.writing(Scope.system()) as session:
            for name, (roles, limit) in PEOPLE.items():
                session.add(Staff(email=f"{name}@x.example", name=name, roles=roles, claim_limit_minor=limit))
        self.people = {name: self.person(name) for name in PEOPLE}

    def copied(self, store: Store) -> "Office":
        """Return this office on another store, which holds the same rows."""
        other = copy(self)
        other.store, other.people, other.desk = store, dict(self.people), copy(self.desk)
        other.desk.store = store
        return other

    def person(self, name: str) -> Person:
        with self.store.reading(Scope.system()) as session:
            return staff.get_by_email(session, f"{name}@x.example")

    def hire(self, name: str, *roles: str) -> str:
        """Add somebody, and return the name."""
        with self.store.writing(Scope.system()) as session:
            session.add(Staff(email=f"{name}@x.example", name=name, roles=list(roles)))
        self.people[name] = self.person(name)
        return name

    def lodge(self, **changed: Any) -> UUID:
        """A claim of a borrower who lost the job and owes 75,000 of 100,000, on a policy of its own."""
        if self.lodged:
            self.desk = Desk(
                self.store,
                self.partner,
                email=f"borrower{self.lodged}@x.example",
                phone_number=f"0803{self.lodged:07d}",
            )
        return self.lodge_again(**changed)

    def lodge_again(self, **changed: Any) -> UUID:
        """Another claim on the policy of the last one."""
        self.lodged += 1
        return ids.parse(self.desk.lodge(**{"incident_type": "Loss of job", **changed})[0]["id"])

    def lodge_on_cover_bought_after(self) -> UUID:
        """A claim for a loss of three weeks ago on a cover that is sold now, with a start 120 days back."""
        started = (NOON - timedelta(days=120)).date().isoformat()
        loan = {
            "loan_start_date": started,
            "loan_tenure": 12,
            "email": "late@x.example",
            "phone_number": "08035550042",
        }
        self.desk.sale = sell(self.store, self.partner, CREDIT_LIFE, **loan)
        return self.lodge_again(incident_date="2026-10-30")

    def name_account(self, claim_id: UUID, number: str = "0123456789") -> None:
        """Put the account that is paid to into what was submitted, past the services."""
        claim = self.claim(claim_id)
        column = submitted.get_column(claim)
        meta = {**submitted.get_meta(claim), "bank_name": "First Bank", "account_number": seal.mask(number)}
        sealed = seal.seal({**seal.unseal(claim.sealed), f"{column}.account_number": number})
        self.put(claim_id, **{column: meta}, sealed=sealed)

    def claim(self, claim_id: UUID) -> Claim:
        with self.store.reading(DESK) as session:
            claim = session.get_one(Claim, claim_id)
            session.expunge(claim)
            return claim

    def put(self, claim_id: UUID, **values: Any) -> None:
        """Change a claim past the services."""
        with self.store.writing(DESK) as session:
            claim = session.execute(sa.select(Claim).where(col(Claim.id) == claim_id)).scalar_one()
            for name, value in values.items():
                setattr(claim, name, value)

    def move(
        self, claim_id: UUID, to: str, *, by: str = "bola", version: int | None = None, **inputs: Any
    ) -> ClaimChange:
        """One move with the version of now, unless another is given."""
        seen = self.claim(claim_id).version if version is None else version
        if to == "Approved":
            inputs.setdefault("reasons", dict.fromkeys(CHECK_KEYS, "Seen, and accepted"))
        if to == "Offer accepted":
            inputs.setdefault("note", "Accepted on the phone")
        with self.store.writing(DESK) as session:
            return claim_moves.move_claim(session, claim_id, to=to, person=self.people[by], version=seen, **inputs)

    def walk(self, claim_id: UUID, *statuses: str) -> None:
        """Moves with what each needs; who approved does not pay, and every payment has a reference of its own."""
        for status in statuses:
            inputs = dict(INPUTS.get(status, {}))
            if status == "Paid":
                self.payments += 1
                inputs["payment_reference"] = f"TRF-{self.payments:04d}"
            self.move(claim_id, status, by=WHO.get(status, "sade"), **inputs)

    def certify(self, claim_id: UUID) -> None:
        """Give the approval that stands on a claim which was put into its state past the services."""
        with self.store.writing(DESK) as session:
            claim = session.get_one(Claim, claim_id)
            approver = staff.find_by_id(session, claim.approved_by) if claim.approved_by else None
            assert approver is not None
            judgement, at = claim_judgement.judge(session, claim), claim_changes.next_instant(claim)
            claim_changes.record_approval(session, claim, person=approver, at=at)
            events = sa.select(col(ClaimEvent.id)).where(col(ClaimEvent.claim_id) == claim_id)
            latest = events.order_by(col(ClaimEvent.id).desc()).limit(1)
            event_id, reasons = session.execute(latest).scalar_one(), dict.fromkeys(CHECK_KEYS, "Seen, and accepted")
            claim_judgement.record_overrides(
                session, claim, judgement, reasons, event_id=event_id, person=approver, at=at
            )

    def approve_anew(self, claim_id: UUID, *, by: str = "bola") -> None:
        """Give an approval again that lapsed."""
        reasons = dict.fromkeys(CHECK_KEYS, "Seen, and accepted")
        self.do(claim_moves.approve_anew, claim_id, by=by, version=self.claim(claim_id).version, reasons=reasons)

    def do(self, verb: Any, claim_id: UUID, *, by: str = "bola", **options: Any) -> Any:
        """Any other service on a claim."""
        with self.store.writing(DESK) as session:
            return verb(session, claim_id, person=self.people[by], **options)

    def events(self, claim_id: UUID) -> list[ClaimEvent]:
        with self.store.reading(DESK) as session:
            query = sa.select(ClaimEvent).where(col(ClaimEvent.claim_id) == claim_id)
            rows = list(session.execute(query.order_by(col(ClaimEvent.created_at), col(ClaimEvent.id))).scalars())
            session.expunge_all()
            return rows

    def log(self, claim_id: UUID) -> list[AuditEntry]:
        with self.store.reading(Scope.system()) as session:
            entries = audit.list_history(session, f"claim {claim_id}")
            session.expunge_all()
            return entries
