"""A policy of credit life, and claims lodged on it."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request as requests
from core.covers.credit_life import CREDIT_LIFE
from core.services.claims.intake import lodging, submitted
from core.services.claims.intake.new_claims import CreditLifeClaimRequest
from core.services.claims.lists.records import ClaimRecord
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.store.access import Owner, Scope, Store
from core.store.schema.tables import Claim, Policy
from tests import papers
from tests.conftest import Partner
from tests.services.selling import sell

TODAY = date(2026, 11, 20)


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Desk:
    """One policy, sold 90 days ago for a year, and claims on it."""

    def __init__(self, store: Store, partner: Partner, *, is_live: bool = False, **changed: Any) -> None:
        self.store, self.owner = store, Owner(distributor_id=partner.id, is_live=is_live)
        self.scope = partner.scope(is_live=is_live)
        started = TODAY - timedelta(days=90)
        loan = {"loan_start_date": started.isoformat(), "loan_tenure": 12, **changed}
        with clock.freeze(NOON - timedelta(days=90)):
            self.sale = sell(store, partner, CREDIT_LIFE, is_live=is_live, **loan)

    def lodge(
        self, *, text: str = "", at: datetime = NOON, scope: Scope | None = None, actor: str = "tests", **changed: Any
    ) -> tuple[ClaimRecord, list[str]]:
        """A claim with the papers that it needs, and the flags that it raised."""
        fields = {
            "policy_number": self.sale.policy["meta"]["policy_number"],
            "incident_type": "Burglary",
            "accidental": "false",
            "loan_offer_date": "2026-08-22",
            "loan_repayment_date": "2027-08-22",
            "loan_amount": "100000",
            "pending_repayment_amount": "75000",
            **changed,
        }
        needed = submitted.list_required_of_incident(fields["incident_type"], accidental=fields["accidental"] == "true")
        arriving = [
            ReceivedFile(field=name, file_name="a.pdf", content=papers.pdf(text=text or ids.new_code()))
            for name in needed
            if name not in fields
        ]
        request = requests.validate(CreditLifeClaimRequest, {**fields, **{file.field: file.url for file in arriving}})
        with (
            clock.freeze(at),
            files.store_files(arriving) as kept,
            self.store.writing(scope or self.scope) as session,
        ):
            record = lodging.lodge_claim(session, request, kept, owner=self.owner, actor=actor)
            flags = session.execute(sa.select(col(Claim.flags)).where(col(Claim.id) == ids.parse(record["id"])))
            return record, flags.scalar_one()

    def change_policy(self, **values: Any) -> None:
        with self.store.writing(self.scope) as session:
            session.execute(sa.update(Policy).where(col(Policy.id) == self.sale.policy_id).values(**values))
