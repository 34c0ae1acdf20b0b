"""`coverdesk check` proves that claim payments are the same by their rows, in every figure and in every export."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlmodel import col

from core import clock
from core.desk import store_check
from core.services.claims.lists import queue
from core.services.finance.payments import proofs
from core.services.sales import figures
from core.store.access import Scope, Store
from core.store.schema.tables import Claim
from tests.conftest import Partner
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, PAID, Office


@pytest.fixture
def office(store: Store, partner: Partner) -> Iterator[Office]:
    with clock.freeze(NOON):
        yield Office(store, partner)


def faults(office: Office) -> list[str]:
    with office.store.reading(Scope.system()) as session:
        return list(proofs.find_claim_payment_faults(session))


def paid_and_returned(office: Office) -> UUID:
    """Two claims paid on two days, one of which came back and was paid again."""
    first, second = office.lodge(incident_date="2026-11-18"), office.lodge(incident_date="2026-11-18")
    office.walk(first, *PAID)
    with clock.freeze(NOON + timedelta(days=1)):
        office.walk(second, *PAID)
        office.move(second, "Offer accepted", by="root", note="Came back", payment_reference="BACK-1")
    with clock.freeze(NOON + timedelta(days=2)):
        office.approve_anew(second, by="bola")
        office.walk(second, "Paid")
    return second


def test_payments_and_returns_are_one_sum_everywhere(office: Office) -> None:
    paid_and_returned(office)
    assert faults(office) == []
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


def test_payment_that_every_figure_forgets_is_found(office: Office) -> None:
    claim_id = paid_and_returned(office)
    with office.store.writing(DESK) as session:
        session.get_one(Claim, claim_id).deleted_at = clock.now()
    found = faults(office)
    assert any(f"claim {claim_id}, are ₦70,000.00 by their rows and ₦0.00 in the export" in fault for fault in found)
    assert any("in the figures on claims" in fault for fault in found)
    assert any("₦140,000.00 by their rows and ₦70,000.00 in the queue" in fault for fault in found)
    with office.store.reading(Scope.system()) as session:
        assert set(found) <= set(store_check.list_faults(session))


@pytest.mark.parametrize(
    ("owner", "name", "where"),
    [
        (figures, "sum_claims_paid_by_day", "the figures on claims and the dashboard"),
        (queue.CLAIM_PAYMENTS, "rows", "the export of payments"),
        (queue.CLAIMS, "rows", "the export of claims"),
    ],
)
def test_figure_or_export_that_differs_is_named(
    office: Office, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, where: str
) -> None:
    claim_id = paid_and_returned(office)
    honest = getattr(owner, name)
    if name == "rows":
        object.__setattr__(owner, name, lambda *given: honest(*given).where(col(Claim.id) != claim_id))
    else:
        monkeypatch.setattr(owner, name, lambda *given: {day: minor + 1 for day, minor in honest(*given).items()})
    try:
        assert any(fault.endswith(where) for fault in faults(office))
    finally:
        object.__setattr__(owner, name, honest)
