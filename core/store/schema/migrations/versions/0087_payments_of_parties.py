"""A payment of a party and its return are rows of what the bank did, as of claims and credit notes.

The columns that a return wrote over go. A receipt keeps what was said of it before it was confirmed, and an order that
the bank refused who noted that, as neither has moved any money.
"""

from typing import Any

import sqlalchemy as sa
import sqlmodel
from alembic import op

from core import ids

revision = "0087"
down_revision = "0086"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_ROW = (
    "id {uuid} NOT NULL, transfer_id {uuid} NOT NULL, amount_minor BIGINT NOT NULL, payee_id {uuid},"
    " value_on DATE NOT NULL, reason VARCHAR(500), paid_by {uuid}, reverses {uuid}, created_at {instant} NOT NULL,"
    " payment_id {uuid} NOT NULL"
)
_ROW_RULES = (
    "CONSTRAINT pk_party_payment PRIMARY KEY (id)",
    "CONSTRAINT uq_party_payment_reverses UNIQUE (reverses)",
    "CONSTRAINT ck_party_payment_amount CHECK (amount_minor <> 0)",
    "CONSTRAINT ck_party_payment_reason CHECK (reverses IS NULL OR reason IS NOT NULL)",
    "CONSTRAINT fk_party_payment_transfer_id FOREIGN KEY(transfer_id) REFERENCES transfer (id)",
    "CONSTRAINT fk_party_payment_paid_by FOREIGN KEY(paid_by) REFERENCES staff (id)",
    "CONSTRAINT fk_party_payment_payment_id FOREIGN KEY(payment_id) REFERENCES payment (id)",
)
_INDEXES = (
    "CREATE UNIQUE INDEX ix_party_payment_once ON party_payment (payment_id) WHERE reverses IS NULL",
    "CREATE INDEX ix_party_payment_transfer_id ON party_payment (transfer_id)",
    "CREATE INDEX ix_party_payment_value_on ON party_payment (value_on)",
)
_PAYMENTS = (
    "INSERT INTO party_payment (id, transfer_id, amount_minor, payee_id, value_on, paid_by, created_at, payment_id)"
    " SELECT id, transfer_id, net_minor, bank_account_id, value_on, confirmed_by, confirmed_at, id FROM payment"
    " WHERE confirmed_at IS NOT NULL"
)
_PARTY = (
    "(account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL)"
    " OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)"
)
# The columns and constraints of an order that stay; SQLite makes the table anew, as it drops no column of a check.
_KEPT = {
    "id": "{uuid} NOT NULL",
    "account": "VARCHAR(11) NOT NULL",
    "distributor_id": "{uuid}",
    "provider_id": "{uuid}",
    "direction": "VARCHAR(3) NOT NULL",
    "statement_id": "{uuid} NOT NULL",
    "batch_id": "{uuid}",
    "bank_account_id": "{uuid}",
    "gross_minor": "BIGINT NOT NULL",
    "vat_minor": "BIGINT NOT NULL",
    "withheld_minor": "BIGINT NOT NULL",
    "net_minor": "BIGINT NOT NULL",
    "state": "VARCHAR(9) NOT NULL",
    "prepared_by": "{uuid} NOT NULL",
    "prepared_at": "{instant} NOT NULL",
    "approved_by": "{uuid}",
    "approved_at": "{instant}",
    "note": "VARCHAR",
}
_KEPT_CHECKS = {
    "one_party": _PARTY,
    "account": "account IN ('distributor', 'provider')",
    "direction": "direction IN ('out', 'in')",
    "state": "state IN ('Prepared', 'Approved', 'Confirmed', 'Returned', 'Withdrawn')",
    "two_people": "approved_by <> prepared_by",
    "approved": "(approved_by IS NULL) = (approved_at IS NULL)",
    "parts": "net_minor = gross_minor + vat_minor - withheld_minor",
    "sign": "net_minor <> 0 AND (direction = 'out') = (net_minor > 0)",
    "payee": "direction = 'in' OR bank_account_id IS NOT NULL",
    "in_two_hands": "state NOT IN ('Approved', 'Confirmed') OR approved_by IS NOT NULL",
}
_KEPT_LINKS = {
    "distributor_id": "distributor",
    "provider_id": "provider",
    "statement_id": "statement",
    "batch_id": "payout_batch",
    "bank_account_id": "bank_account",
    "prepared_by": "staff",
    "approved_by": "staff",
}
_SAID = {"received_reference": "VARCHAR(60)", "received_on": "DATE", "refused_by": "{uuid}", "refused_on": "DATE"}
_SAID_CHECKS = {
    "received": "direction = 'in' OR (received_reference IS NULL AND received_on IS NULL)",
    "refused": "refused_on IS NULL OR state = 'Returned'",
}
_BANK = {
    "bank_reference": "VARCHAR(60)",
    "value_on": "DATE",
    "confirmed_by": "{uuid}",
    "confirmed_at": "{instant}",
    "returned_by": "{uuid}",
    "returned_on": "DATE",
    "transfer_id": "{uuid}",
    "return_id": "{uuid}",
}
_BANK_CHECKS = {
    "confirmed": "state <> 'Confirmed' OR (confirmed_by IS NOT NULL AND bank_reference IS NOT NULL"
    " AND value_on IS NOT NULL)",
    "returned": "(state = 'Returned') = (returned_on IS NOT NULL)",
}
# The new columns by those of before, and these by rows and columns of now.
_AS_SAID = {
    "received_reference": "CASE WHEN direction = 'in' THEN bank_reference END",
    "received_on": "CASE WHEN direction = 'in' THEN value_on END",
    "refused_by": "CASE WHEN confirmed_at IS NULL THEN returned_by END",
    "refused_on": "CASE WHEN confirmed_at IS NULL THEN returned_on END",
    "note": "CASE WHEN confirmed_at IS NULL THEN note END",
}
_OF_ROW = "(SELECT {0} FROM party_payment AS made WHERE made.payment_id = {{order}}.id AND made.reverses IS {1} NULL)"
_OF_TRANSFER = (
    "(SELECT reference FROM party_payment AS made JOIN transfer ON transfer.id = made.transfer_id"
    " WHERE made.payment_id = {order}.id AND made.reverses IS NULL)"
)
_AS_MOVED = {
    "bank_reference": f"COALESCE({_OF_TRANSFER}, received_reference)",
    "value_on": f"COALESCE({_OF_ROW.format('value_on', '')}, received_on)",
    "confirmed_by": _OF_ROW.format("paid_by", ""),
    "confirmed_at": _OF_ROW.format("created_at", ""),
    "returned_by": f"COALESCE({_OF_ROW.format('paid_by', 'NOT')}, refused_by)",
    "returned_on": f"COALESCE({_OF_ROW.format('value_on', 'NOT')}, refused_on)",
    "transfer_id": _OF_ROW.format("transfer_id", ""),
    "return_id": _OF_ROW.format("transfer_id", "NOT"),
    "note": f"COALESCE({_OF_ROW.format('reason', 'NOT')}, note)",
}


def upgrade() -> None:
    op.execute(_spell(f"CREATE TABLE party_payment ({', '.join((_ROW, *_ROW_RULES))})"))
    op.execute(_PAYMENTS)
    _write_returns()
    for index in _INDEXES:
        op.execute(index)
    _drop_trigger("payment_transfer")
    _change(_SAID, _SAID_CHECKS, _AS_SAID, links={"refused_by": "staff"}, gone=_BANK, gone_checks=_BANK_CHECKS)
    _keep(
        "payment", "said", f"UPDATE OF {', '.join(_SAID)}", "OLD.received_on IS NOT NULL OR OLD.refused_on IS NOT NULL"
    )
    _keep("party_payment", "update", "UPDATE")
    _keep("party_payment", "delete", "DELETE")
    if not _is_sqlite():
        op.execute(
            "CREATE TRIGGER party_payment_truncate BEFORE TRUNCATE ON party_payment"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
    for name, (table, event, odd, words) in _RULES.items():
        _refuse(name, table, event, odd, words)


def downgrade() -> None:
    for name in ("payment_said", "payment_moved"):
        _drop_trigger(name)
    links = {"confirmed_by": "staff", "returned_by": "staff"}
    _change(_BANK, _BANK_CHECKS, _AS_MOVED, links=links, gone=_SAID, gone_checks=_SAID_CHECKS)
    op.execute("DROP TABLE party_payment")
    if not _is_sqlite():
        for name in _RULES:
            op.execute(f"DROP FUNCTION {name}()")
    _keep(
        "payment",
        "transfer",
        "UPDATE OF transfer_id, return_id, bank_reference, value_on, confirmed_by, confirmed_at",
        "OLD.return_id IS NOT NULL OR (OLD.transfer_id IS NOT NULL AND NEW.state = OLD.state)",
    )


# Of each trigger the table, the event, when it refuses, and in which words.
_RULES = {
    "party_payment_order": (
        "party_payment",
        "INSERT",
        "NOT EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment_id AND prepared_by <> NEW.paid_by AND net_minor ="
        " CASE WHEN NEW.reverses IS NULL THEN NEW.amount_minor ELSE -NEW.amount_minor END)",
        "party_payment is not of the amount of its payment, or of who prepared it",
    ),
    "payment_moved": (
        "payment",
        "UPDATE OF state",
        "(NEW.state = 'Confirmed' OR (NEW.state = 'Returned' AND NEW.refused_on IS NULL)) AND NOT EXISTS (SELECT 1 FROM"
        " party_payment WHERE payment_id = NEW.id AND (reverses IS NULL) = (NEW.state = 'Confirmed'))",
        "payment is confirmed and returned by what the bank moved",
    ),
}


def _write_returns() -> None:
    """Write the returns of payments; the log has the instant at which each was noted."""
    names = ("id", "transfer_id", "return_id", "bank_account_id", "returned_by")
    order = sa.table(
        "payment",
        *(sa.column(name, sa.Uuid()) for name in names),
        *map(sa.column, ("state", "net_minor", "note")),
        sa.column("returned_on", sa.Date()),
        sa.column("confirmed_at", _INSTANT()),
    )
    entry = sa.table("audit_entry", *map(sa.column, ("subject", "action")), sa.column("created_at", _INSTANT()))
    bind = op.get_bind()
    log = sa.select(entry.c.subject, entry.c.created_at).where(entry.c.action == "payment returned")
    noted = {row.subject: row.created_at for row in bind.execute(log)}
    returned = sa.select(order).where(order.c.confirmed_at.is_not(None), order.c.state == "Returned")
    if rows := [_build_return(row, noted.get(f"payment {row.id}")) for row in bind.execute(returned)]:
        op.bulk_insert(_TABLE, rows)


_TABLE = sa.table(
    "party_payment",
    *(sa.column(name, sa.Uuid()) for name in ("id", "transfer_id", "payee_id", "paid_by", "reverses", "payment_id")),
    *map(sa.column, ("amount_minor", "reason")),
    sa.column("value_on", sa.Date()),
    sa.column("created_at", _INSTANT()),
)


def _build_return(row: Any, at: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"id": ids.new(), "payment_id": row.id, "reverses": row.id, "amount_minor": -row.net_minor}
    # A return of before there were transfers was noted under the reference of its payment.
    values |= {"transfer_id": row.return_id or row.transfer_id, "payee_id": row.bank_account_id}
    values |= {"value_on": row.returned_on, "reason": (row.note or "Returned")[:500], "paid_by": row.returned_by}
    return values | {"created_at": at or row.confirmed_at}


def _change(
    columns: dict[str, str],
    checks: dict[str, str],
    values: dict[str, str],
    *,
    links: dict[str, str],
    gone: dict[str, str],
    gone_checks: dict[str, str],
) -> None:
    """Give `payment` other columns with their checks and values, and take those that are `gone`."""
    if _is_sqlite():
        _rebuild(columns, checks, values, links)
        return
    for name, kind in columns.items():
        op.execute(_spell(f"ALTER TABLE payment ADD COLUMN {name} {kind}"))
    for name in gone_checks:
        op.execute(f"ALTER TABLE payment DROP CONSTRAINT ck_payment_{name}")
    assignments = ", ".join(f"{name} = {value.format(order='payment')}" for name, value in values.items())
    op.execute(f"UPDATE payment SET {assignments}")
    for name in gone:
        op.execute(f"ALTER TABLE payment DROP COLUMN {name}")
    for rule in _list_rules(checks, links):
        op.execute(f"ALTER TABLE payment ADD {rule}")


def _rebuild(columns: dict[str, str], checks: dict[str, str], values: dict[str, str], links: dict[str, str]) -> None:
    """Make the table anew with its rows, indexes and triggers; what refers to it is checked at the end again."""
    bind = op.get_bind()
    kept = bind.exec_driver_sql(
        "SELECT sql FROM sqlite_master WHERE tbl_name = 'payment' AND type IN ('index', 'trigger') AND sql IS NOT NULL"
    )
    made = [row[0] for row in kept]
    bind.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    bind.exec_driver_sql("CREATE TABLE payment_before AS SELECT * FROM payment")
    bind.exec_driver_sql("DROP TABLE payment")
    all_columns = _KEPT | columns
    rules = ["CONSTRAINT pk_payment PRIMARY KEY (id)", *_list_rules(_KEPT_CHECKS | checks, _KEPT_LINKS | links)]
    text = ", ".join([*(f"{name} {kind}" for name, kind in all_columns.items()), *rules])
    bind.exec_driver_sql(_spell(f"CREATE TABLE payment ({text})"))
    carried = ", ".join(values.get(name, name).format(order="payment_before") for name in all_columns)
    bind.exec_driver_sql(f"INSERT INTO payment ({', '.join(all_columns)}) SELECT {carried} FROM payment_before")
    for statement in [*made, "DROP TABLE payment_before"]:
        bind.exec_driver_sql(statement)


def _list_rules(checks: dict[str, str], links: dict[str, str]) -> list[str]:
    return [
        *(f"CONSTRAINT ck_payment_{name} CHECK ({text})" for name, text in checks.items()),
        *(f"CONSTRAINT fk_payment_{name} FOREIGN KEY({name}) REFERENCES {to} (id)" for name, to in links.items()),
    ]


def _is_sqlite() -> bool:
    return bool(op.get_bind().dialect.name == "sqlite")


def _spell(text: str) -> str:
    kinds = ("CHAR(32)", "DATETIME") if _is_sqlite() else ("UUID", "TIMESTAMP WITH TIME ZONE")
    return text.format(uuid=kinds[0], instant=kinds[1])


def _drop_trigger(name: str) -> None:
    op.execute(f"DROP TRIGGER {name}" + ("" if _is_sqlite() else " ON payment"))


def _keep(table: str, name: str, event: str, only: str = "") -> None:
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{when}"
    if _is_sqlite():
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def _refuse(name: str, table: str, event: str, odd: str, words: str) -> None:
    """Refuse rows that other tables do not bear out, also past the services."""
    head = f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW"
    if _is_sqlite():
        op.execute(f"{head} WHEN {odd} BEGIN SELECT RAISE(ABORT, '{words}'); END")
        return
    refusal = f"RAISE EXCEPTION '{words}' USING ERRCODE = 'check_violation'"
    body = f"BEGIN IF {odd} THEN {refusal}; END IF; RETURN NEW; END"
    op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
    op.execute(f"{head} EXECUTE FUNCTION {name}()")
