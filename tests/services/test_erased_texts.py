"""An erasure reaches every text that somebody may have typed about a person, and nothing else can rewrite those."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID

import pytest
import sqlalchemy as sa

from core.services.compliance import erasures, own_records
from core.services.compliance.personal_values import ERASED
from core.store.access import Store
from core.store.schema import tables
from core.store.schema.finance import VIEW

pytestmark = pytest.mark.both_databases

TABLES: Final = [
    table for table in tables.metadata().sorted_tables if not table.info.get(VIEW) and table.name != "erasure_window"
]
NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
# Each kind of column with a value that a decided row may have.
_HELD: Final[tuple[tuple[Any, Callable[[], Any]], ...]] = (
    (sa.Uuid, lambda: UUID(int=7)),
    (sa.JSON, dict),
    (sa.Boolean, lambda: True),
    (sa.DateTime, lambda: NOW),
    (sa.Date, lambda: date(2026, 11, 1)),
    (sa.LargeBinary, lambda: b"x"),
    (sa.String, lambda: "x"),
    (sa.Numeric, lambda: 99),
    (sa.Integer, lambda: 99),
)
# Where a row is kept in some states alone.
_STATES: Final = {
    "difference": {"state": "Adjusted"},
    "loan_book_row": {"outcome": "covered"},
    "payment": {"state": "Returned"},
}


def _hold(column: sa.Column[Any]) -> Any:
    kind = column.type.impl if isinstance(column.type, sa.TypeDecorator) else column.type
    return next(make() for kinds, make in _HELD if isinstance(kind, kinds))


def _row(table: sa.Table) -> dict[str, Any]:
    return {column.name: _hold(column) for column in table.c} | _STATES.get(table.name, {})


@contextmanager
def _a_row_in_every_table(store: Store) -> Iterator[sa.Connection]:
    """Give a connection to a store with a decided row in each table, past what links and checks say; all is undone."""
    fill = _fill_sqlite if store.is_sqlite else _fill_postgres
    with store.writers.connect() as connection:
        try:
            fill(connection)
            yield connection
        finally:
            connection.rollback()
            if store.is_sqlite:
                connection.exec_driver_sql("PRAGMA ignore_check_constraints = OFF")


def _fill(connection: sa.Connection) -> None:
    for table in TABLES:
        connection.execute(sa.insert(table).values(_row(table)))


def _fill_sqlite(connection: sa.Connection) -> None:
    connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
    connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    inserts = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%BEFORE INSERT%'"
    for name in connection.exec_driver_sql(inserts).scalars().all():
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    _fill(connection)


def _fill_postgres(connection: sa.Connection) -> None:
    connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
    checks = "SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0"
    mine = f"{checks} AND connamespace = 'public'::regnamespace"
    for table, name in connection.exec_driver_sql(mine).all():
        connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    _fill(connection)
    connection.exec_driver_sql("SET LOCAL session_replication_role = origin")


def _list_refused(connection: sa.Connection) -> set[str]:
    """List the columns whose change the database refuses: searched ones are written as an erasure would."""
    searched = _list_searched()
    columns = [(table, column) for table in TABLES for column in table.c]
    return {_name(column) for table, column in columns if not _takes(connection, table, column, searched)}


def _takes(connection: sa.Connection, table: sa.Table, column: sa.Column[Any], searched: set[str]) -> bool:
    row = _row(table)
    is_this = [key == row[key.name] for key in table.primary_key]
    value = _erased(column) if _name(column) in searched else column
    try:
        with connection.begin_nested():
            done = connection.execute(sa.update(table).where(*is_this).values({column.name: value}))
            assert done.rowcount == 1, table.name
    except sa.exc.DBAPIError as refused:
        assert re.search("keeps what it holds|payment is confirmed and returned by", str(refused)), refused
        return False
    return True


def _erased(column: sa.Column[Any]) -> Any:
    return {"said": ERASED} if isinstance(column.type, sa.JSON) else ERASED


def _name(column: sa.Column[Any]) -> str:
    return f"{column.table.name}.{column.name}"


def _list_searched() -> set[str]:
    return {_name(each) for table in erasures._searched_tables() for each in own_records.list_searched_columns(table)}


# Texts that the store keeps as they were written, and that an erasure alone rewrites.
KEPT: Final = {
    *("adjustment.reason", "adjustment_proposal.reason", "adjustment_proposal.refusal", "approval_lapse.reason"),
    *("claim_comment.text", "claim_event.note", "claim_override.detail", "claim_override.reason"),
    *("claim_payment.reason", "claim_payment_file.file_name", "claim_referral.note", "claim_reserve.reason"),
    *("credit_note_payment.reason", "difference.policy_number", "endorsement_notice.note", "erasure.reason"),
    *("erasure.refusal", "export_receipt.filters", "loan_book.file_name", "loan_book_row.account"),
    *("loan_book_row.cells", "loan_book_row.facts", "loan_book_row.reason", "month_step.note", "party_payment.reason"),
    *("payment.received_reference", "payment_payee.bank_name", "payment_payee.name"),
    *("payment_payee.reason", "payout_batch.note", "policy_endorsement.changes", "policy_endorsement.reason"),
    *("policy_endorsement.requested_by", "rate_proposal.reason", "reconciliation.columns", "reconciliation.file_name"),
    *("refund.reason", "statement_payment.reference", "statement_step.note", "transfer.reference"),
}
# What an erasure rewrites in a way of its own, by whom a row is about and not by what it says.
REWRITTEN: Final = {
    *("audit_entry.after", "audit_entry.before", "bordereau_line.cells", "loan_book_row.sealed"),
    *("payment_payee.account_key", "payment_payee.hint", "statement_line.customer", "transfer.reference_key"),
}


def test_an_erasure_may_rewrite_whatever_it_searches_and_nothing_else_may(store: Store) -> None:
    with _a_row_in_every_table(store) as connection:
        without = _list_refused(connection)
        connection.exec_driver_sql("INSERT INTO erasure_window (id) VALUES (1)")
        within = _list_refused(connection)
    assert _list_searched() & within == set(), "the database would abort the whole erasure"
    assert without - within == KEPT | REWRITTEN
    assert without & _list_searched() == KEPT
    opened = {name.partition(".")[0] for name in without - within}
    free = {_name(each) for table in TABLES if table.name in opened for each in table.c} - without
    assert free == CHANGEABLE, "of a table that only grows"


# Of tables with kept texts, what the services change in a row that was decided.
CHANGEABLE: Final = {
    *("payment.approved_by", "payment.approved_at", "payment.note"),
    *(f"difference.{name}" for name in ("owner_id", "cause", "note", "adjustment_id", "asked_by", "decided_by")),
    *("difference.changed_at", "payment_payee.sealed", "policy_endorsement.name_key", "policy_endorsement.email_key"),
    *(f"loan_book.{name}" for name in ("created_at", "updated_at", "state", "version", "leased_until", "expires_at")),
    *(f"loan_book.{name}" for name in ("heading", "unknown", "refusal", "rows", "preview", "preview_hash")),
    *(f"loan_book.{name}" for name in ("product_version_id", "done_to", "done_rows", "done_minor", "done_at")),
}


# Texts that are not searched, by the reason for it; codes, numbers and hashes are none by their names.
LEFT: Final[Mapping[str, set[str]]] = {
    "erased as the person's own, and somebody else's where they have the same": {
        *(f"customer.{name}" for name in ("email", "first_name", "last_name", "address")),
        *(f"policy.{name}" for name in ("email", "first_name", "last_name", "phone")),
        *(f"claim.claim_owner_{name}" for name in ("email", "first_name", "last_name")),
        *(f"data_request.{name}" for name in ("name", "email", "phone")),
        *("complaint.name", "complaint.contact"),
    },
    "erased, removed or emptied in a way of its own": {
        *("audit_entry.before", "audit_entry.after", "bordereau_line.cells", "statement_line.customer"),
        "kept_answer.headers",
    },
    "words of ours, of which one is chosen": {
        *("audit_entry.action", "difference.cause", "erasure.record_class", "kept_answer.headers", "role_grant.act"),
        *("event.type", "event.object_type", "sale_draft.cover", "statement_line.account", "webhook_endpoint.events"),
        *(f"purchase.{name}" for name in ("premium_frequency", "payment_option", "payment_channel", "request_source")),
        *(f"renewal.{name}" for name in ("payment_option", "payment_channel", "request_source")),
        *("staff.roles", "role_grant.roles", "compliance_figure.name", "loan_book.benefits"),
    },
    "figures, ids and hashes that are computed": {
        *("approval.parts", "bordereau.totals", "claim_override.duplicates", "difference.detail", "difference.rows"),
        *("difference.subjects", "erasure.customers", "erasure.outcome", "event.origin", "loan_book.preview"),
        *("loan_book_row.also", "month_step.facts", "refund.explained", "audit_entry.subject"),
    },
    "of the business, its partners and its staff": {
        *("staff.email", "staff.name", "credit_note.made_by", "loan_book.uploaded_by", "loan_book.confirmed_by"),
        *("distributor.business_name", "distributor.email", "agreement.contact_email", "agreement.tin"),
        *(f"bank_account.{name}" for name in ("bank_name", "account_name")),
        *("agreement.class_of_business", "api_key.name", "api_key.hint", "bordereau.facts", "statement.facts"),
        *("loan_book.attested_by", "loan_book.attestation_url", "webhook_endpoint.url"),
        *("webhook_endpoint.secret", "webhook_endpoint.old_secret", "webhook_endpoint.signature_header"),
    },
    "laws, templates and products, which are the same for everybody": {
        *("tax_rate.source", "compliance_figure.source", "mail_text.subject", "mail_text.body"),
        *("product_category.name", "product_version.meta", "rate_proposal.meta"),
    },
}


def test_every_text_is_searched_or_left_for_a_reason() -> None:
    searched, known = _list_searched(), set[str]().union(*LEFT.values())
    texts = {
        _name(column)
        for table in TABLES
        if table.name not in {"product", "provider"}
        for column in table.c
        if own_records.is_text(column) and not column.primary_key
        if not (own_records._CODE.search(column.name) or column.name in own_records._list_words(table))
        or isinstance(column.type, sa.JSON)
    }
    assert texts - searched - known == set(), "a new text: search it, and open it to an erasure where it is kept"
    assert known & searched == set()
    assert known <= texts


def test_a_text_is_cut_to_its_column_and_stays_unique() -> None:
    pass
