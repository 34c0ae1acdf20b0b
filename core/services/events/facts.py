"""The owner and the data of an event's object, read by batches: ids and figures that do not change once written."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.finance.statements import reading as statement_reading
from core.settings import settings
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import (
    Claim,
    Customer,
    Distributor,
    ExportReceipt,
    LoanBook,
    Policy,
    Product,
    Statement,
    WebhookEndpoint,
)

Owner = tuple[UUID, bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """Subject of an audit entry: the distributor that is told, and the data common to all events of its kind."""

    owners: tuple[Owner, ...]
    data: Mapping[str, Any]


def load(session: ScopedSession, kind: str, ids: Iterable[UUID]) -> dict[UUID, Subject]:
    """Load the subjects of one kind; those that nobody outside is told of are left out."""
    query = _QUERIES.get(kind)
    if query is None:
        return {}
    rows = session.execute(query().where(col(_ENTITIES[kind].id).in_(list(ids)))).all()
    if kind == "product":
        owners = _list_sellers(session)
        return {row.id: Subject(owners=owners, data=_product(row)) for row in rows}
    if kind == "export":
        found = ((row, parse_only_distributor(row.filters)) for row in rows)
        return {row.id: Subject(owners=((only, row.is_live),), data=_export(row)) for row, only in found if only}
    return {row.id: Subject(owners=((row.distributor_id, row.is_live),), data=_DATA[kind](row)) for row in rows}


def _policies() -> AnySelect:
    # Not the whole row: what was submitted is wide, and nobody's business outside.
    columns = (
        *(Policy.id, Policy.distributor_id, Policy.is_live, Policy.purchase_id, Policy.customer_id, Policy.product_id),
        *(Policy.provider_id, Policy.policy_number, Policy.start_at, Policy.expiration_at, Policy.certificate_code),
        *(Policy.genius_price_minor, Policy.submitted_to_provider),
    )
    return sa.select(*(col(each) for each in columns))


def _claims() -> AnySelect:
    columns = (
        *(Claim.id, Claim.distributor_id, Claim.is_live, Claim.policy_id, Claim.customer_id, Claim.product_id),
        *(Claim.provider_id, Claim.claim_status, Claim.version),
    )
    return sa.select(*(col(each) for each in columns))


def _products() -> AnySelect:
    return sa.select(col(Product.id), col(Product.provider_id))


def _customers() -> AnySelect:
    return sa.select(col(Customer.id), col(Customer.distributor_id), col(Customer.is_live))


def _exports() -> AnySelect:
    columns = (ExportReceipt.id, ExportReceipt.kind, ExportReceipt.format, ExportReceipt.filters, ExportReceipt.is_live)
    return sa.select(*(col(each) for each in columns))


def parse_only_distributor(filters: Mapping[str, Any]) -> UUID | None:
    """Return the one distributor that an export was narrowed to; None where it holds records of several."""
    chosen = filters.get("distributor", [])
    return UUID(chosen[0]) if len(chosen) == 1 else None


def _endpoints() -> AnySelect:
    return sa.select(col(WebhookEndpoint.id), col(WebhookEndpoint.distributor_id), col(WebhookEndpoint.is_live))


def _statements() -> AnySelect:
    # What an insurer is owed is no business of a distributor.
    return sa.select(
        *(col(each) for each in (Statement.id, Statement.distributor_id, Statement.account, Statement.number)),
        *(col(each) for each in (Statement.month, Statement.closing_minor)),
        sa.true().label("is_live"),
    ).where(col(Statement.distributor_id).is_not(None))


def _list_sellers(session: ScopedSession) -> tuple[Owner, ...]:
    query = sa.select(col(Distributor.id)).where(col(Distributor.active), col(Distributor.deleted_at).is_(None))
    return tuple((each, live) for each in session.execute(query).scalars() for live in (False, True))


def certificate_url(code: str | None) -> str | None:
    """Return the address of a certificate."""
    return code and f"{settings().base_url}/certificates/{code}.pdf"


def _policy(row: Any) -> dict[str, Any]:
    return {
        "policy_id": str(row.id),
        **{name: str(getattr(row, name)) for name in ("purchase_id", "customer_id", "product_id", "provider_id")},
        "policy_number": row.policy_number,
        "start_date": clock.to_wire(row.start_at),
        "expiration_date": clock.to_wire(row.expiration_at),
        "certificate_url": certificate_url(row.certificate_code),
        "total": money.to_wire(row.genius_price_minor),
        "submitted_to_provider": row.submitted_to_provider,
    }


def _claim(row: Any) -> dict[str, Any]:
    return {
        "claim_id": str(row.id),
        **{name: str(getattr(row, name)) for name in ("policy_id", "customer_id", "product_id", "provider_id")},
        "claim_status": row.claim_status,
        "version": row.version,
    }


def _loan_books() -> AnySelect:
    return sa.select(col(LoanBook.id), col(LoanBook.distributor_id), col(LoanBook.is_live))


def _statement(row: Any) -> dict[str, Any]:
    return {
        "statement_id": str(row.id),
        "number": statement_reading.number_of(row),
        "month": f"{row.month:%Y-%m}",
        "closing_balance": money.to_wire(row.closing_minor),
    }


def _export(row: Any) -> dict[str, Any]:
    return {"export_id": str(row.id), "kind": row.kind, "format": row.format}


def _product(row: Any) -> dict[str, Any]:
    return {"product_id": str(row.id), "provider_id": str(row.provider_id)}


_ENTITIES: Final[Mapping[str, Any]] = {
    "policy": Policy,
    "customer": Customer,
    "claim": Claim,
    "export": ExportReceipt,
    "product": Product,
    "statement": Statement,
    "loan_book": LoanBook,
    "endpoint": WebhookEndpoint,
}
_QUERIES: Final[Mapping[str, Callable[[], AnySelect]]] = {
    "policy": _policies,
    "customer": _customers,
    "claim": _claims,
    "export": _exports,
    "product": _products,
    "statement": _statements,
    "loan_book": _loan_books,
    "endpoint": _endpoints,
}
_DATA: Final[Mapping[str, Callable[[Any], dict[str, Any]]]] = {
    "policy": _policy,
    "claim": _claim,
    "statement": _statement,
    "loan_book": lambda row: {"loan_book_id": str(row.id)},
    "customer": lambda row: {"customer_id": str(row.id)},
    "endpoint": lambda row: {"endpoint_id": str(row.id)},
}
