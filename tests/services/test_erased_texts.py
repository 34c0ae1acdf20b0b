"""An erasure reaches every text that somebody may have typed about a person, and nothing else can rewrite those."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col

from core import demo, ids
from core.demo import accounts
from core.demo.papers import finance
from core.desk import store_check
from core.seal import ERASED
from core.services.compliance import erasures, own_records, remembering
from core.services.compliance.personal_values import PersonalValues
from core.store.access import Scope, ScopedSession, Store
from core.store.schema import tables
from core.store.schema.columns import table_of
from core.store.schema.finance import VIEW
from core.store.schema.tables import Staff
from tests.planting import find_faults, planted
from tests.prefilled import prefilled

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
    """Give a connection to a store with a decided row in each table, past links and checks; the rows are undone."""
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
    inserts = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%BEFORE INSERT%'"
    for name in connection.exec_driver_sql(inserts).scalars().all():
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    # Until that is committed, SQLite reads the whole schema anew after each savepoint that is undone.
    connection.commit()
    connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
    connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
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
    # Most tables are kept by no trigger and take all at once.
    kept = [table for table in TABLES if not _takes(connection, table, list(table.c))]
    return {_name(column) for table in kept for column in table.c if not _takes(connection, table, [column])}


def _takes(connection: sa.Connection, table: sa.Table, columns: Sequence[sa.Column[Any]]) -> bool:
    row, searched = _row(table), {_name(column) for column in own_records.list_searched_columns(table)}
    is_this = [key == row[key.name] for key in table.primary_key]
    values = {column.name: _erased(column) if _name(column) in searched else column for column in columns}
    return _carries_out(connection, sa.update(table).where(*is_this).values(values))


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
    *("payment.received_reference", "payment.refused_reference", "payment_payee.bank_name", "payment_payee.name"),
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


def test_a_kept_text_is_not_replaced_by_other_means(store: Store) -> None:
    kept = [table for table in TABLES if any(name.startswith(f"{table.name}.") for name in KEPT)]
    with _a_row_in_every_table(store) as connection:
        passed = [
            f"{table.name}: {means}"
            for table in kept
            for means, statement in _list_means(store, table).items()
            if _carries_out(connection, statement)
        ]
    assert passed == []


def _list_means(store: Store, table: sa.Table) -> dict[str, Any]:
    """Statements that would put another text in the place of one, without an UPDATE of it."""
    texts = {name.partition(".")[2] for name in KEPT if name.startswith(f"{table.name}.")}
    new = {name: _erased(table.c[name]) for name in texts}
    dialect: Any = sqlite if store.is_sqlite else postgresql
    upsert = (
        dialect.insert(table)
        .values(_row(table))
        .on_conflict_do_update(index_elements=list(table.primary_key), set_=new)
    )
    means = {"remove": sa.delete(table), "insert or update": upsert}
    if store.is_sqlite:
        return means | {"replace": sa.insert(table).prefix_with("OR REPLACE").values(_row(table) | new)}
    return means | {"empty": sa.text(f"TRUNCATE {table.name} CASCADE")}


def _carries_out(connection: sa.Connection, statement: Any) -> bool:
    """Return whether the database carries out a statement, and undo it."""
    tried = connection.begin_nested()
    try:
        connection.execute(statement)
    except sa.exc.DBAPIError:
        return False
    finally:
        tried.rollback()
    return True


def test_the_check_names_a_window_that_stands_open_and_texts_that_nothing_keeps(store: Store) -> None:
    opened = "INSERT INTO erasure_window (id) VALUES (1)"
    with planted(store, opened, without={"approval_lapse_texts": "approval_lapse"}) as session:
        found = find_faults(session, "The database keeps the rows that stay")
    assert [each.partition(":")[0] for each in found] == [
        "the window of an erasure stands open",
        "nothing in the database keeps the 0 rows of approval_lapse",
    ]


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
        *(
            "distributor.business_name",
            "distributor.email",
            "agreement.contact_email",
            "agreement.tin",
            "terms_proposal.terms",
        ),
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


def test_what_is_left_of_a_text_fits_its_column_and_no_two_are_alike_that_may_not_be(store: Store) -> None:
    views, long = tables.SavedView, "x" * (60 - len(" AB123"))
    with store.writing(Scope.system()) as session:
        for name in (f"{long} AB123", f"{long} CD456", "AB123", "CD456"):
            session.insert(views(staff_id=UUID(int=7), screen="purchases", name=name))
        found = own_records.search(session, table_of(views), PersonalValues.of(["AB123", "CD456"], ()))
        names = list(session.execute(sa.select(col(views.name))).scalars())
    assert len(found) == len(set(names)) == 4
    assert all(len(name) <= 60 and "123" not in name.split()[0] for name in names), names
    assert sum(name.startswith(f"{ERASED} ") for name in names) == 2


# What migration 0092 opened, where rows hold texts.
OPENED: Final = {
    *("approval_lapse.reason", "claim_payment_file.file_name", "difference.policy_number", "erasure.reason"),
    *("erasure.refusal", "loan_book.file_name", "month_step.note", "party_payment.reason", "payout_batch.note"),
    *("payment.received_reference", "rate_proposal.reason", "reconciliation.file_name", "statement_payment.reference"),
    *("statement_step.note", "transfer.reference"),
}
FREE: Final = re.compile(
    r"(^|_)(note|reason|refusal|text|answer|details?|title|description|file_name|reference|error)$"
)
PHONE, UNTIL = "08099887766", datetime(2026, 11, 22, 12, tzinfo=UTC)
LIVE: Final = Scope.staff(is_live=True)


def _write_months(store: Store) -> None:
    """Closed months with statements, payouts and their steps, by the people of the demonstration."""
    demo.write(store, purchases=12, seed=4, until=UNTIL)
    with store.writing(Scope.system()) as session:
        accounts.add_accounts(session)
    with store.writing(LIVE) as session:
        months = finance.list_closed(session, UNTIL)[:3]
        finance.write_terms(session, months[0])
        for month in months:
            finance.write_month(session, month)
            # Before the month is closed, and the next statements print them.
            _plant_references(session.connection())
            finance.close_month(session, month)
    with store.writing(Scope.system()) as session:
        _add_rest(session)


def _add_rest(session: ScopedSession) -> None:
    """Add a row to the tables that no month fills."""
    by, second = session.execute(sa.select(col(Staff.id)).order_by(col(Staff.email)).limit(2)).scalars()
    product, seller, approval = (
        session.execute(sa.select(col(entity.id)).limit(1)).scalar_one()
        for entity in (tables.Product, tables.Distributor, tables.Approval)
    )
    paid, reconciled = session.execute(sa.select(tables.Payment).limit(1)).scalar_one(), ids.new()
    refused = {"proposed_by": by, "state": "refused", "decided_by": second, "decided_at": UNTIL}
    nothing = dict.fromkeys(("ours_minor", "theirs_minor", "difference_minor"), 0)
    party = {name: getattr(paid, name) for name in ("account", "distributor_id", "provider_id", "statement_id")}
    amounts = {"gross_minor": -1, "net_minor": -1, "vat_minor": 0, "withheld_minor": 0}
    for entity, given in (
        (tables.ApprovalLapse, {"approval_id": approval}),
        (tables.ClaimPaymentFile, {"paid_by": by, "payments": 0, "amount_minor": 0}),
        (tables.Erasure, {"prepared_by": by, "sha256": None, **refused}),
        (tables.RateProposal, {"product_id": product, **refused}),
        (tables.Reconciliation, {"id": reconciled, "kind": "bank", "columns": {"amount": PHONE}, "made_by": by}),
        (tables.Difference, {"reconciliation_id": reconciled, "result": "timing", "state": "Open", **nothing}),
        (tables.LoanBook, {"distributor_id": seller, "product_id": product, "kind": "exits", "state": "refused"}),
        (tables.Payment, {"direction": "in", "state": "Withdrawn", "prepared_by": by, **party, **amounts}),
    ):
        more = {"date_order": "YYYY-MM-DD", "received_reference": "", "received_on": UNTIL.date()} | given
        _add(session.connection(), table_of(entity), more)


def _add(connection: sa.Connection, table: sa.Table, given: Mapping[str, Any]) -> None:
    row = {column.name: _hold(column) for column in table.c if not column.nullable}
    row |= {name: value for name, value in given.items() if name in table.c}
    connection.execute(sa.insert(table).values(row))


def _plant_references(connection: sa.Connection) -> None:
    values = {name: TRANSFER.c[name] + f"{blank}{PHONE}" for name, blank in (("reference", " "), ("reference_key", ""))}
    connection.exec_driver_sql("INSERT INTO erasure_window (id) VALUES (1)")
    connection.execute(sa.update(TRANSFER).where(TRANSFER.c.reference.not_like(f"%{PHONE}")).values(values))
    connection.exec_driver_sql("DELETE FROM erasure_window")


def _plant(connection: sa.Connection) -> set[str]:
    """Write the phone behind every text that somebody may have typed; returns the columns with rows."""
    columns = [
        column
        for table in erasures._searched_tables()
        for column in own_records.list_searched_columns(table)
        if not isinstance(column.type, sa.JSON) and (FREE.search(column.name) or _name(column) in OPENED)
    ]
    connection.exec_driver_sql("INSERT INTO erasure_window (id) VALUES (1)")
    planted = {_name(column) for column in columns if _write_behind(connection, column)}
    connection.exec_driver_sql("DELETE FROM erasure_window")
    return planted


TRANSFER: Final = table_of(tables.Transfer)


def _write_behind(connection: sa.Connection, column: sa.Column[Any]) -> int:
    if _name(column) in {"transfer.reference", "statement_payment.reference"}:
        query = sa.select(sa.func.count()).where(column.like(f"%{PHONE}"))
        return connection.execute(query).scalar_one()
    text, longest = sa.func.coalesce(column, ""), getattr(column.type, "length", None)
    begin = sa.func.substr(text, 1, longest - len(PHONE) - 1) if longest else text
    update = sa.update(column.table).values({column.name: begin + f" {PHONE}"})
    # Only what came in was said to come.
    is_said = column.is_not(None) if column.name in {"received_reference", "refused_reference"} else sa.true()
    return connection.execute(update.where(is_said)).rowcount


def _read_all(store: Store) -> dict[str, str]:
    with store.engine.connect() as connection:
        rows = {table.name: connection.execute(sa.select(table).order_by(*table.primary_key)).all() for table in TABLES}
    return {name: str([tuple(row) for row in found]) for name, found in rows.items()}


def _list_faults(store: Store) -> list[str]:
    with store.reading(Scope.system()) as session:
        return store_check.list_faults(session)


def _prepare(store: Store) -> dict[str, Any]:
    """Give a customer the phone that stands in every text; returns an erasure of them that is remembered."""
    prefilled(store, "months with papers", _write_months)
    with store.writing(Scope.system()) as session:
        person = session.execute(sa.select(col(tables.Policy.customer_id)).limit(1)).scalar_one()
        session.change(tables.Customer, col(tables.Customer.id) == person, phone_number=f"+234{PHONE[1:]}")
    entry = {"id": str(ids.new()), "number": "ER-2", "record_class": "person", "customers": [str(person)]}
    return entry | {"decided_at": "2026-11-22T10:00:00.000Z", "sha256": "a" * 64}


@pytest.mark.frozen_at(UNTIL)
def test_a_phone_in_any_text_is_gone_after_an_erasure_and_the_check_holds(store: Store) -> None:
    entry = _prepare(store)
    with store.writing(Scope.system()) as session:
        planted = _plant(session.connection())
    assert planted >= OPENED, OPENED - planted
    before = _list_faults(store)
    assert not [fault for fault in before if "hash" in fault or "journal" in fault or "reference" in fault]
    count, files = _apply(store, entry)
    erasures.remove_files(files)
    assert count == 1
    texts = _read_all(store)
    assert [name for name, text in texts.items() if PHONE[1:] in text] == []
    assert _list_faults(store) == before
    assert _apply(store, entry) == (0, [])
    assert _read_all(store) == texts


@pytest.mark.frozen_at(UNTIL)
@pytest.mark.parametrize("database", ["sqlite"])
def test_an_erasure_makes_no_journal_good_that_was_changed_before_it(store: Store) -> None:
    entry = _prepare(store)
    of_closed = sa.select(col(tables.PartyPayment.transfer_id)).order_by(col(tables.PartyPayment.value_on)).limit(1)
    with store.writing(Scope.system()) as session:
        connection = session.connection()
        connection.exec_driver_sql("INSERT INTO erasure_window (id) VALUES (1)")
        changed = TRANSFER.c.id == session.execute(of_closed).scalar_one()
        connection.execute(sa.update(TRANSFER).where(changed).values(reference=f"ANOTHER {PHONE}"))
        connection.exec_driver_sql("DELETE FROM erasure_window")
    (broken,) = [fault for fault in _list_faults(store) if "journal" in fault]
    _apply(store, entry)
    assert [fault for fault in _list_faults(store) if "journal" in fault] == [broken]


def _apply(store: Store, entry: dict[str, Any]) -> tuple[int, list[str]]:
    with store.writing(Scope.system()) as session:
        return remembering.apply_again(session, [entry])
