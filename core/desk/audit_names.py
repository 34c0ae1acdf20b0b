"""Names of what entries of the audit log hold by its id: the record of each entry, and people in its facts."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.audit import search
from core.services.audit.search import Entry
from core.services.compliance import filings
from core.services.finance.bordereaux import bordereaux
from core.services.finance.credit_notes import givers
from core.services.finance.payments import payouts
from core.services.finance.statements import reading as statement_reading
from core.services.lists.records import claim_reference
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import (
    ApiKey,
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
    Filing,
    LoanBook,
    MonthStep,
    Payment,
    PayoutBatch,
    Policy,
    Product,
    Provider,
    Purchase,
    Reconciliation,
    Renewal,
    Staff,
    Statement,
    UploadedFile,
    WebhookEndpoint,
)

_NUMBER, _HOLDER = col(Policy.policy_number), (col(Policy.first_name), col(Policy.last_name))
_INSURER, _SELLER = col(Provider.company_name), col(Distributor.business_name)


def _name_policy(row: Any) -> str:
    return row.policy_number or f"of {row.first_name} {row.last_name}".strip()


def _name_payment(row: Any) -> str:
    return f"of {row.company_name or row.business_name}, {money.format_naira(abs(row.net_minor))}"


def _of(entity: Any, *columns: Any) -> AnySelect:
    return sa.select(col(entity.id).label("key"), *columns)


def _of_sale(entity: Any, is_of: Any) -> AnySelect:
    return _of(entity, _NUMBER, *_HOLDER).join(Policy, is_of)


def _of_payment() -> AnySelect:
    query = _of(Payment, col(Payment.net_minor), _INSURER, _SELLER)
    query = query.outerjoin(Provider, col(Provider.id) == col(Payment.provider_id))
    return query.outerjoin(Distributor, col(Distributor.id) == col(Payment.distributor_id))


# By the kind of record in the log: what is read of it, and its name; other kinds have none.
NAMED: Final[Mapping[str, tuple[AnySelect, Callable[[Any], str]]]] = {
    "policy": (_of(Policy, _NUMBER, *_HOLDER), _name_policy),
    "purchase": (_of_sale(Purchase, col(Policy.purchase_id) == col(Purchase.id)), _name_policy),
    "renewal": (_of_sale(Renewal, col(Policy.id) == col(Renewal.policy_id)), _name_policy),
    "claim": (_of(Claim), lambda row: claim_reference(row.key)),
    "customer": (
        _of(Customer, col(Customer.first_name), col(Customer.last_name)),
        lambda row: f"{row.first_name} {row.last_name}".strip(),
    ),
    "product": (_of(Product, col(Product.name)), lambda row: row.name),
    "distributor": (_of(Distributor, _SELLER), lambda row: row.business_name),
    **dict.fromkeys(("insurer", "provider"), (_of(Provider, _INSURER), lambda row: row.company_name)),
    "staff": (_of(Staff, col(Staff.name)), lambda row: row.name),
    "key": (_of(ApiKey, col(ApiKey.name), col(ApiKey.hint)), lambda row: f"{row.name} {row.hint}"),
    "endpoint": (_of(WebhookEndpoint, col(WebhookEndpoint.url)), lambda row: row.url),
    "file": (sa.select(col(UploadedFile.code).label("key"), col(UploadedFile.file_name)), lambda row: row.file_name),
    "loan_book": (_of(LoanBook, col(LoanBook.file_name)), lambda row: row.file_name),
    "statement": (
        _of(Statement, Statement),
        lambda row: f"{statement_reading.number_of(row.Statement)} of {row.Statement.facts.get('party')}",
    ),
    "payout": (_of(PayoutBatch, PayoutBatch), lambda row: payouts.number_of(row.PayoutBatch)),
    "payment": (_of_payment(), _name_payment),
    "bordereau": (
        _of(Bordereau, col(Bordereau.kind), col(Bordereau.number), _INSURER).join(
            Provider, col(Provider.id) == col(Bordereau.provider_id)
        ),
        lambda row: f"{bordereaux.number_of(row.kind, row.number)} of {row.company_name}",
    ),
    "credit_note": (
        _of(CreditNote, col(CreditNote.number), _INSURER).join(
            Provider, col(Provider.id) == col(CreditNote.provider_id)
        ),
        lambda row: f"{givers.number_of(row.number)} of {row.company_name}",
    ),
    "reconciliation": (
        _of(Reconciliation, col(Reconciliation.file_name), col(Reconciliation.month)),
        lambda row: f"{row.file_name}, {row.month:%B %Y}",
    ),
    "difference": (
        _of(Difference, col(Difference.result), col(Difference.policy_number)),
        lambda row: row.policy_number or row.result,
    ),
    "month": (_of(MonthStep, col(MonthStep.month)), lambda row: f"{row.month:%B %Y}"),
    "data_request": (_of(DataRequest, col(DataRequest.number)), lambda row: row.number),
    "erasure": (_of(Erasure, col(Erasure.number)), lambda row: row.number),
    "breach": (_of(Breach, col(Breach.number)), lambda row: row.number),
    "complaint": (_of(Complaint, col(Complaint.number)), lambda row: row.number),
    "return": (
        _of(Filing, col(Filing.kind), col(Filing.period_ends_on)),
        lambda row: f"{filings.KINDS[row.kind][0]}, to {clock.format_day(row.period_ends_on)}",
    ),
}


def name_records(session: ScopedSession, entries: Sequence[Entry]) -> list[Entry]:
    """Return entries with the name of their record, "" where it has none, and of the people in their facts by id."""
    wanted: dict[str, set[UUID | str]] = defaultdict(set)
    for entry in entries:
        # A file is named by its code.
        wanted[entry.kind].update([entry.record_id] if entry.kind == "file" else _list_ids(entry.record_id))
        wanted["staff"].update(_list_ids([entry.before, entry.after]))
    names = {kind: _load_names(session, kind, keys) for kind, keys in wanted.items()}
    people = names.get("staff", {})
    in_percent = _list_priced_in_percent(session, wanted.get("product", ()))
    return [
        replace(
            entry,
            record=names[entry.kind].get(entry.record_id, ""),
            priced_in_percent=entry.record_id in in_percent,
            people=people,
        )
        for entry in entries
    ]


def _list_priced_in_percent(session: ScopedSession, keys: Collection[UUID | str]) -> set[str]:
    if not keys:
        return set()
    query = sa.select(col(Product.id)).where(col(Product.id).in_(keys), col(Product.is_dynamic_pricing))
    return set(map(str, session.execute(query).scalars()))


def _load_names(session: ScopedSession, kind: str, keys: Iterable[UUID | str]) -> dict[str, str]:
    if kind not in NAMED or not keys:
        return {}
    query, describe = NAMED[kind]
    key = query.selected_columns["key"]
    return {str(row.key): describe(row) for row in session.execute(query.where(key.in_(keys)))}


def _list_ids(value: Any) -> Iterator[UUID]:
    """Yield every id in a value of an entry and in what is within it."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _list_ids(each)
    elif isinstance(value, str) and search.is_id(value):
        yield UUID(value)
