"""`python -m tests.bench.screens`: server time of one rerun of every screen, on the store that the settings name.

Each screen runs in process as its person would see it, with the page's own work and none of the network's. With
addresses of screens, only those are measured; their median, slowest and processor time are printed as JSON.
"""

import json
import logging
import sys
import time
import warnings
from collections.abc import Mapping
from statistics import median
from uuid import UUID

import sqlalchemy as sa
from rich.console import Console
from rich.table import Table
from sqlmodel import SQLModel, col
from streamlit.testing.v1 import AppTest

from core import ids
from core.services.people.staff import Person
from core.settings import ROOT
from core.store.access import Scope, reading
from core.store.schema.tables import (
    ApiKey,
    AuditEntry,
    Bordereau,
    Breach,
    Claim,
    Complaint,
    CreditNote,
    Customer,
    DataRequest,
    Difference,
    Distributor,
    Erasure,
    ExportReceipt,
    LoanBook,
    Movement,
    PartyPayment,
    PayoutBatch,
    Policy,
    Product,
    Provider,
    Purchase,
    Reconciliation,
    Staff,
    Statement,
    WebhookDelivery,
    WebhookEndpoint,
)
from core.ui.frame import frame, menu
from tests.pages import turn_to

ROUNDS = 15
# The screens of one record: the record that their address names.
RECORDS: Mapping[str, type[SQLModel]] = {
    "purchase": Purchase,
    "policy": Policy,
    "customer": Customer,
    "claim": Claim,
    "person": Staff,
    "key": ApiKey,
    "product": Product,
    "rates": Product,
    "distributor": Distributor,
    "insurer": Provider,
    "audit_entry": AuditEntry,
    "loan_book": LoanBook,
    "movement": Movement,
    "statement": Statement,
    "payment": PartyPayment,
    "payout": PayoutBatch,
    "credit_note": CreditNote,
    "bordereau": Bordereau,
    "reconciliation": Reconciliation,
    "difference": Difference,
    "export": ExportReceipt,
    "request": DataRequest,
    "erasure": Erasure,
    "breach": Breach,
    "complaint": Complaint,
    "webhook": WebhookEndpoint,
    "delivery": WebhookDelivery,
    "agreement": Distributor,
}
# A return of the calendar is found by its kind and day, and has no row before somebody prepares it.
HIDDEN: frozenset[str] = frozenset(screen.address for screen in menu.SCREENS if screen.hidden)
NARROWED: tuple[tuple[str, dict[str, str]], ...] = (
    ("dashboard", {"period": "1y"}),
    ("purchases", {"period": "1y", "order": "largest"}),
    ("purchases", {"page": "3000"}),
    ("renewals", {"order": "largest"}),
    ("due", {"bucket": "quarter"}),
    ("customers", {"q": "ngozi"}),
    ("search", {"find": "ngozi"}),
    ("queue", {"view": "all"}),
    ("performance", {"period": "1y"}),
    ("audit_log", {"q": "policy"}),
)


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    person = Person(
        id=ids.new(), email="bench@coverdesk.example", name="Bench", roles=("admin",), claim_limit_minor=None
    )
    frame.current = lambda: person
    pages = {screen.address: screen.path for screen in menu.SCREENS}
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps({address: _measured(pages[address], {}) for address in sys.argv[1:]}))
        return
    table = Table("screen", "median ms", "slowest ms", "CPU ms", title="One rerun of each screen, in process")
    for address, query in [*((address, _of_record(address)) for address in pages), *NARROWED]:
        if address in HIDDEN - RECORDS.keys() or query.get("id") == "None":
            table.add_row(f"{address}: no record", "", "", "")
            continue
        wall, slowest, cpu = _measured(pages[address], query)
        shown = "" if address in RECORDS else " ".join(f"{name}={value}" for name, value in query.items())
        table.add_row(f"{address} {shown}", f"{wall:.0f}", f"{slowest:.0f}", f"{cpu:.0f}")
    Console().print(table)


def _of_record(address: str) -> dict[str, str]:
    entity = RECORDS.get(address)
    if entity is None:
        return {}
    query = sa.select(col(entity.id))  # type: ignore[attr-defined]
    if hasattr(entity, "is_live"):
        query = query.where(col(entity.is_live))
    with reading(Scope.system()) as session:
        found: UUID | None = session.execute(query.limit(1)).scalar()
    return {"id": str(found)}


def _measured(path: str, query: Mapping[str, str]) -> tuple[float, float, float]:
    at = AppTest.from_file(str(ROOT / "pages" / "_main.py"), default_timeout=60)
    at.run()
    turn_to(at, path)
    at.query_params.clear()
    at.query_params.update(query)
    at.run().run()
    runs = []
    for _ in range(ROUNDS):
        began, worked = time.perf_counter(), time.process_time()
        at.run()
        runs.append((1000 * (time.perf_counter() - began), 1000 * (time.process_time() - worked)))
    if at.exception or not at.title:
        raise SystemExit(f"{path} was not drawn: {[each.value for each in (*at.exception, *at.error)]}")
    walls = [wall for wall, _ in runs]
    return median(walls), max(walls), median(cpu for _, cpu in runs)


if __name__ == "__main__":
    main()
