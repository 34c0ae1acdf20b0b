"""The store's contents compared with what was acknowledged to clients."""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.desk import store_check
from core.store.access import Scope, ScopedSession, Store
from core.store.operations import blob_storage
from core.store.schema.tables import (
    AuditEntry,
    Certificate,
    Customer,
    KeptAnswer,
    Policy,
    Purchase,
    Submission,
    UploadedFile,
)
from tests.crash.selling import BUY, Answered, Crowd

_AT_ONCE = 400


def count_of_purchases(store: Store) -> int:
    with store.reading(Scope.system()) as session:
        return int(session.execute(sa.select(sa.func.count()).select_from(Purchase)).scalar_one())


def faults(store: Store, crowd: Crowd, *, before: int) -> list[str]:
    """All that is lost, doubled, half written or otherwise wrong; empty when the books are right."""
    found = faults_of_crowd(store, crowd, before=before)
    with store.reading(Scope.system()) as session:
        return found + store_check.list_faults(session)


def faults_of_crowd(store: Store, crowd: Crowd, *, before: int) -> list[str]:
    """Like `faults`, but of what these clients were told alone: the cost grows with them and not with the store."""
    found = [] if count_of_purchases(store) == before + len(crowd.sold) else ["purchases that nobody was told of"]
    with store.reading(Scope.system()) as session:
        found += _sales(session, crowd.sold)
        found += _files(session, crowd.uploaded)
    return found + crowd.troubles


def _sales(session: ScopedSession, sold: Mapping[str, Answered]) -> Iterator[str]:
    """Sales of which anything is missing, doubled, or other than it was told."""
    if len({sale.data["id"] for sale in sold.values()}) != len(sold):
        yield "two keys were answered with one policy"
    numbers = {sale.number for sale in sold.values()}
    if len(numbers) != len(sold) or None in numbers:
        yield "a policy number was given twice"
    for part in _parts(list(sold.values())):
        kept, whole, written = _kept(session, part), _whole(session, part), _written_down(session, part)
        for sale in part:
            row = whole.get(sale.data["id"])
            if kept.get(sale.key) != (201, sale.content):
                yield f"{sale.key}: another answer was kept than was sent"
            elif row is None or written.get(f"policy {sale.data['id']}") != 1:
                yield f"{sale.key}: its sale is lost, or a part of it"
            elif row != (sale.sent["email"], sale.number, row[2], row[2]):
                yield f"{sale.key}: its rows differ from its answer"


def _kept(session: ScopedSession, sales: Sequence[Answered]) -> dict[str, tuple[int, bytes]]:
    columns = (col(KeptAnswer.key), col(KeptAnswer.status), col(KeptAnswer.body))
    query = sa.select(*columns).where(col(KeptAnswer.key).in_([sale.key for sale in sales]))
    return {row.key: (row.status, bytes(row.body)) for row in session.execute(query)}


def _whole(session: ScopedSession, sales: Sequence[Answered]) -> dict[str, tuple[Any, ...]]:
    """The sales whose every row is there, each with what its answer said: what is missing anywhere is missing here."""
    query = (
        sa.select(
            col(Policy.id),
            col(Customer.email),
            col(Policy.policy_number),
            col(Policy.genius_price_minor),
            col(Purchase.total_minor),
        )
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .join(Customer, col(Customer.id) == col(Purchase.customer_id))
        .join(Certificate, col(Certificate.code) == col(Policy.certificate_code))
        .join(Submission, col(Submission.policy_id) == col(Policy.id))
        .where(col(Policy.id).in_([UUID(sale.data["id"]) for sale in sales]))
    )
    return {str(row.id): tuple(row)[1:] for row in session.execute(query)}


def _written_down(session: ScopedSession, sales: Sequence[Answered]) -> dict[str, int]:
    """Return the number of audit entries for the sale of each policy."""
    query = (
        sa.select(col(AuditEntry.subject), sa.func.count().label("times"))
        .where(
            col(AuditEntry.subject).in_([f"policy {sale.data['id']}" for sale in sales]),
            col(AuditEntry.action) == "policy sold",
        )
        .group_by(col(AuditEntry.subject))
    )
    return {row.subject: row.times for row in session.execute(query)}


def _files(session: ScopedSession, uploaded: Mapping[str, Answered]) -> Iterator[str]:
    """Files that were acknowledged and are not there as they were sent, or have no row."""
    if not uploaded:
        return
    rows = {
        row.code: row.sent_sha256
        for row in session.execute(sa.select(col(UploadedFile.code), col(UploadedFile.sent_sha256)))
    }
    for one in uploaded.values():
        code = one.data["file_url"].rsplit("/", 1)[-1]
        if rows.get(code) != one.sent["sha256"]:
            yield f"{one.key}: its file has no row"
        elif hashlib.sha256(blob_storage.path_of(code).read_bytes()).hexdigest() != one.data["sha256"]:
            yield f"{one.key}: its file is another one"


def _parts(sales: list[Answered]) -> Iterator[list[Answered]]:
    for start in range(0, len(sales), _AT_ONCE):
        yield sales[start : start + _AT_ONCE]


def replays(crowd: Crowd, most: int) -> list[str]:
    """Acknowledged requests, sent once more: those whose answer is not, byte for byte, the first one."""
    again = list(crowd.sold.values())[-most:]
    with crowd.connection() as http, ThreadPoolExecutor(8) as pool:

        def differs(sale: Answered) -> bool:
            answer = http.post(BUY, headers={"Idempotency-Key": sale.key}, json=sale.sent)
            return (answer.content, answer.headers.get("idempotent-replayed")) != (sale.content, "true")

        return [sale.key for sale, wrong in zip(again, pool.map(differs, again), strict=True) if wrong]


def list_unanswered(store: Store, crowd: Crowd) -> set[str]:
    """Return the keys of what was done without its client being told; a client may take a moment to read."""
    with store.reading(Scope.system()) as session:
        done = set(
            session.execute(sa.select(col(KeptAnswer.key)).where(col(KeptAnswer.key).like(f"{crowd.name}-%"))).scalars()
        )
    until = time.monotonic() + 5
    while (missing := done - crowd.sold.keys() - crowd.uploaded.keys()) and time.monotonic() < until:
        time.sleep(0.02)
    return missing
