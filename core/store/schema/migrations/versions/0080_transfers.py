"""Payments of claims, credit notes and parties are of transfers, each with one reference; payees are kept in one table.

Every payment of before is a transfer of its own. Where two had a reference that now names one transfer in its mode, the
later ones have a key that nobody can type; their reference stays as it was written.
"""

from alembic import op

revision = "0080"
down_revision = "0078"
branch_labels = None
depends_on = None

_OWNED = "distributor_id {uuid} NOT NULL, is_live BOOLEAN NOT NULL, id {uuid} NOT NULL"
_PAID = (
    "transfer_id {uuid} NOT NULL, amount_minor BIGINT NOT NULL, payee_id {uuid}, value_on DATE, reason VARCHAR(500),"
    " paid_by {uuid}, reverses {uuid}, created_at {instant} NOT NULL"
)
_AMOUNT = "(reverses IS NULL) = (amount_minor > 0) AND amount_minor <> 0"
_NOTE = (
    f"{_OWNED}, refund_id {{uuid}} NOT NULL, provider_id {{uuid}} NOT NULL, number INTEGER NOT NULL,"
    " total_minor BIGINT NOT NULL, created_at {instant} NOT NULL, made_by VARCHAR(120) NOT NULL,"
    " state VARCHAR(20) NOT NULL, first_by {uuid}, first_at {instant}, approved_by {uuid}, approved_at {instant}"
)
_STATES = "'Computed', 'Awaits second person', 'Approved', 'Paid', 'Returned', 'Not recorded'"
_NOTE_CHECKS = {
    "amount": "total_minor > 0",
    "two_people": "approved_by <> first_by",
    "approved": "state NOT IN ('Approved', 'Paid', 'Returned') OR"
    " (approved_by IS NOT NULL AND approved_at IS NOT NULL)",
    "state": f"state IN ({_STATES})",
}
_NOTE_LINKS = {"refund_id": "refund", "provider_id": "provider", "first_by": "staff", "approved_by": "staff"}
_DECIDED = "OLD.approved_by IS NOT NULL OR (OLD.first_by IS NOT NULL AND NEW.first_by <> OLD.first_by)"
# A lapsed approval is taken off with both people; the approvals themselves are kept elsewhere, for ever.
_TAKEN_OFF = "NEW.state = 'Computed' AND NEW.approved_by IS NULL AND NEW.first_by IS NULL"
_FIGURES = "id, refund_id, provider_id, distributor_id, is_live, number, total_minor, created_at, made_by"
_BEFORE = ("claim_payment", "credit_note_payment", "credit_note", "claim_payee")
_AFTER = ("claim_payment", "credit_note_payment", "credit_note", "payment_payee")
_CLOSED = "NOT EXISTS (SELECT 1 FROM erasure_window)"


def upgrade() -> None:
    _create(
        "transfer",
        "id {uuid} NOT NULL, is_live BOOLEAN NOT NULL, reference VARCHAR(60) NOT NULL,"
        " reference_key VARCHAR(120) NOT NULL, amount_minor BIGINT NOT NULL, lines INTEGER NOT NULL,"
        " made_by {uuid}, created_at {instant} NOT NULL",
        checks={"amount": "amount_minor <> 0 AND lines > 0"},
        links={"made_by": "staff"},
        unique=("reference_key, is_live",),
    )
    op.execute(_TRANSFERS)
    _set_aside(_BEFORE)
    _create(
        "credit_note",
        f"{_NOTE}, payee_id {{uuid}}",
        checks=_NOTE_CHECKS | {"payee": "state NOT IN ('Approved', 'Paid', 'Returned') OR payee_id IS NOT NULL"},
        links=_NOTE_LINKS | {"distributor_id": "distributor"},
        unique=("refund_id", "provider_id, is_live, number"),
    )
    _create(
        "payment_payee",
        f"{_OWNED}, claim_id {{uuid}}, credit_note_id {{uuid}}, name VARCHAR(200) NOT NULL, bank_name VARCHAR(200),"
        " hint VARCHAR(4), sealed VARCHAR, account_key VARCHAR(64), reason VARCHAR(500) NOT NULL, staff_id {uuid},"
        " created_at {instant} NOT NULL",
        checks={"of_one": "(claim_id IS NULL) <> (credit_note_id IS NULL)"},
        links={"distributor_id": "distributor", "claim_id": "claim", "credit_note_id": "credit_note"}
        | {"staff_id": "staff"},
    )
    of_payment = {"distributor_id": "distributor", "transfer_id": "transfer", "paid_by": "staff"}
    _create(
        "claim_payment",
        f"{_OWNED}, {_PAID}, claim_id {{uuid}} NOT NULL, provider_id {{uuid}} NOT NULL, method VARCHAR(20),"
        " file_id {uuid}",
        checks={"amount": _AMOUNT},
        links=of_payment | {"claim_id": "claim", "provider_id": "provider"},
        unique=("reverses",),
    )
    _create(
        "credit_note_payment",
        f"{_OWNED}, {_PAID}, credit_note_id {{uuid}} NOT NULL",
        checks={"amount": _AMOUNT, "reason": "reverses IS NULL OR reason IS NOT NULL"},
        links=of_payment | {"credit_note_id": "credit_note"},
        unique=("reverses",),
    )
    for statement in (*_CARRIED, *_INDEXES, *(f"DROP TABLE {name}_before" for name in _BEFORE)):
        op.execute(statement)
    _change_payouts()
    for table in ("claim_payment", "credit_note_payment"):
        links = "claim_id, provider_id, method, file_id" if table == "claim_payment" else "credit_note_id"
        kept = "distributor_id, is_live, id, transfer_id, amount_minor, payee_id, value_on, paid_by, reverses"
        _keep_rows(table, f"{kept}, created_at, {links}", "reason")
    _keep_rows("payment_payee", "distributor_id, is_live, id, claim_id, credit_note_id, staff_id, created_at", _NAMES)
    _keep_rows("transfer", "id, is_live, amount_minor, lines, made_by, created_at", "reference, reference_key")
    _keep_note()
    _keep("credit_note", "payee", "UPDATE OF payee_id", "NEW.state = OLD.state")
    _refuse_approvers()


_NAMES = "name, bank_name, hint, account_key, reason"
_BARE = "CASE WHEN {0} LIKE 'return:%' THEN substr({0}, 8) ELSE {0} END"
_OF_ROWS = """
SELECT made.id, made.is_live, made.reference, {key} AS bare, made.amount_minor, made.paid_by AS made_by, made.created_at
FROM {table} AS made LEFT JOIN {table} AS paid ON paid.id = made.reverses
WHERE paid.id IS NULL OR {key} <> paid.reference_key
"""
_PARTY = "replace(CAST(COALESCE(distributor_id, provider_id) AS VARCHAR(36)), '-', '')"
# A return under the reference of its payment is of that one's transfer.
_TRANSFERS = f"""
INSERT INTO transfer (id, is_live, reference, reference_key, amount_minor, lines, made_by, created_at)
SELECT id, is_live, reference, CASE WHEN place = 1 THEN bare ELSE bare || '~' || place END, amount_minor, 1, made_by,
  created_at
FROM (
  SELECT found.*, ROW_NUMBER() OVER (PARTITION BY bare, is_live ORDER BY created_at, id) AS place FROM (
    {_OF_ROWS.format(table="claim_payment", key=_BARE.format("made.reference_key"))}
    UNION ALL {_OF_ROWS.format(table="credit_note_payment", key=_BARE.format("made.reference_key"))}
    UNION ALL
    SELECT id, TRUE, bank_reference,
      CASE WHEN direction = 'in' THEN 'received:' || {_PARTY} || ':' || reference_key ELSE reference_key END,
      net_minor, confirmed_by, COALESCE(confirmed_at, prepared_at)
    FROM payment WHERE state IN ('Confirmed', 'Returned') AND reference_key IS NOT NULL AND confirmed_by IS NOT NULL
  ) AS found
) AS placed
"""
_MINE = f"CASE WHEN {_BARE.format('made.reference_key')} = paid.reference_key THEN paid.id ELSE made.id END"
_CARRIED = (
    "INSERT INTO credit_note (distributor_id, is_live, id, refund_id, provider_id, number, total_minor, created_at,"
    " made_by, state, first_by, first_at, approved_by, approved_at, payee_id) SELECT distributor_id, is_live, id,"
    " refund_id, provider_id, number, total_minor, created_at, made_by, state, first_by, first_at, approved_by,"
    " approved_at, CASE WHEN payee IS NOT NULL OR approved_by IS NOT NULL THEN id END FROM credit_note_before",
    "INSERT INTO payment_payee (distributor_id, is_live, id, claim_id, name, bank_name, hint, sealed, reason, staff_id,"
    " created_at) SELECT distributor_id, is_live, id, claim_id, name, bank_name, hint, sealed, reason, staff_id,"
    " created_at FROM claim_payee_before",
    "INSERT INTO payment_payee (distributor_id, is_live, id, credit_note_id, name, reason, staff_id, created_at) SELECT"
    " note.distributor_id, note.is_live, note.id, note.id, COALESCE(note.payee, policy.first_name || ' ' ||"
    " policy.last_name), 'As approved', COALESCE(note.first_by, note.approved_by), COALESCE(note.first_at,"
    " note.approved_at, note.created_at) FROM credit_note_before AS note JOIN refund ON refund.id = note.refund_id"
    " JOIN policy ON policy.id = refund.policy_id WHERE note.payee IS NOT NULL OR note.approved_by IS NOT NULL",
    "INSERT INTO payment_payee (distributor_id, is_live, id, credit_note_id, name, reason, created_at) SELECT"
    " made.distributor_id, made.is_live, made.id, made.credit_note_id, made.payee, 'As paid', made.created_at"
    " FROM credit_note_payment_before AS made JOIN credit_note_before AS note ON note.id = made.credit_note_id"
    " WHERE made.payee <> COALESCE(note.payee, '')",
    "INSERT INTO claim_payment (distributor_id, is_live, id, transfer_id, amount_minor, payee_id, value_on, paid_by,"
    " reverses, created_at, claim_id, provider_id, method, file_id) SELECT made.distributor_id, made.is_live, made.id,"
    f" {_MINE}, made.amount_minor, made.payee_id, made.value_on, made.paid_by, made.reverses, made.created_at,"
    " made.claim_id, made.provider_id, made.method, made.file_id FROM claim_payment_before AS made"
    " LEFT JOIN claim_payment_before AS paid ON paid.id = made.reverses",
    "INSERT INTO credit_note_payment (distributor_id, is_live, id, transfer_id, amount_minor, payee_id, value_on,"
    " reason, paid_by, reverses, created_at, credit_note_id) SELECT made.distributor_id, made.is_live, made.id,"
    f" {_MINE}, made.amount_minor, CASE WHEN made.payee <> COALESCE(note.payee, '') THEN made.id ELSE note.id END,"
    " made.value_on, made.reason, made.paid_by, made.reverses, made.created_at, made.credit_note_id"
    " FROM credit_note_payment_before AS made JOIN credit_note_before AS note ON note.id = made.credit_note_id"
    " LEFT JOIN credit_note_payment_before AS paid ON paid.id = made.reverses",
)
_NOTE_INDEXES = (
    "CREATE INDEX ix_credit_note_is_live_created_at_id ON credit_note (is_live, created_at, id)",
    "CREATE INDEX ix_credit_note_is_live_state_created_at ON credit_note (is_live, state, created_at)",
)
_INDEXES = (
    *_NOTE_INDEXES,
    "CREATE INDEX ix_payment_payee_claim_id ON payment_payee (claim_id)",
    "CREATE INDEX ix_payment_payee_credit_note_id ON payment_payee (credit_note_id)",
    "CREATE INDEX ix_claim_payment_claim_id ON claim_payment (claim_id)",
    "CREATE INDEX ix_claim_payment_transfer_id ON claim_payment (transfer_id)",
    "CREATE INDEX ix_claim_payment_is_live_created_at_claim_id ON claim_payment (is_live, created_at, claim_id)",
    "CREATE UNIQUE INDEX ix_claim_payment_once ON claim_payment (transfer_id, claim_id) WHERE reverses IS NULL",
    "CREATE INDEX ix_credit_note_payment_credit_note_id ON credit_note_payment (credit_note_id)",
    "CREATE INDEX ix_credit_note_payment_transfer_id ON credit_note_payment (transfer_id)",
)


_IS_APPROVER = (
    "NEW.reverses IS NULL AND EXISTS (SELECT 1 FROM credit_note WHERE id = NEW.credit_note_id"
    " AND NEW.paid_by IN (first_by, approved_by))"
)


def _refuse_approvers() -> None:
    """Whoever approved a credit note does not pay it, also past the services."""
    name, words = "credit_note_payment_people", "credit_note_payment is of who approved it"
    head = f"CREATE TRIGGER {name} BEFORE INSERT ON credit_note_payment FOR EACH ROW"
    if _is_sqlite():
        op.execute(f"{head} WHEN {_IS_APPROVER} BEGIN SELECT RAISE(ABORT, '{words}'); END")
        return
    refusal = f"RAISE EXCEPTION '{words}' USING ERRCODE = 'check_violation'"
    body = f"BEGIN IF {_IS_APPROVER} THEN {refusal}; END IF; RETURN NEW; END"
    op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
    op.execute(f"{head} EXECUTE FUNCTION {name}()")


def _change_payouts() -> None:
    for party in ("distributor", "provider"):
        op.execute(f"DROP INDEX ix_payment_reference_of_{party}")
    op.execute("ALTER TABLE payment DROP COLUMN reference_key")
    for name in ("transfer_id", "return_id"):
        op.execute(_spell(f"ALTER TABLE payment ADD COLUMN {name} {{uuid}}"))
    op.execute("UPDATE payment SET transfer_id = id WHERE id IN (SELECT id FROM transfer)")
    _keep(
        "payment",
        "transfer",
        "UPDATE OF transfer_id, return_id, bank_reference, value_on, confirmed_by, confirmed_at",
        "OLD.return_id IS NOT NULL OR (OLD.transfer_id IS NOT NULL AND NEW.state = OLD.state)",
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER payment_transfer" + ("" if _is_sqlite() else " ON payment"))
    op.execute("ALTER TABLE payment ADD COLUMN reference_key VARCHAR(60)")
    op.execute(
        "UPDATE payment SET reference_key = lower(replace(bank_reference, ' ', '')) WHERE bank_reference IS NOT NULL"
    )
    for party in ("distributor", "provider"):
        op.execute(
            f"CREATE UNIQUE INDEX ix_payment_reference_of_{party} ON payment ({party}_id, direction, reference_key)"
            f" WHERE {party}_id IS NOT NULL AND reference_key IS NOT NULL AND state <> 'Withdrawn'"
        )
    _set_aside(_AFTER)
    bank = "paid_by {uuid}, paid_at {instant}, returned_by {uuid}, payee VARCHAR(200), reference VARCHAR(60),"
    _create(
        "credit_note",
        f"{_NOTE}, {bank} reference_key VARCHAR(60), value_on DATE, returned_on DATE, note VARCHAR",
        checks=_NOTE_CHECKS
        | {
            "paid_by_another": "paid_by <> approved_by",
            "paid": "state NOT IN ('Paid', 'Returned') OR (paid_by IS NOT NULL AND payee IS NOT NULL"
            " AND reference_key IS NOT NULL AND value_on IS NOT NULL)",
            "returned": "(state = 'Returned') = (returned_on IS NOT NULL)",
        },
        links=_NOTE_LINKS | {"distributor_id": "distributor", "paid_by": "staff", "returned_by": "staff"},
        unique=("refund_id", "provider_id, is_live, number", "is_live, reference_key"),
    )
    _create(
        "claim_payee",
        f"{_OWNED}, claim_id {{uuid}} NOT NULL, name VARCHAR(200) NOT NULL, bank_name VARCHAR(200), hint VARCHAR(4),"
        " sealed VARCHAR, reason VARCHAR(500) NOT NULL, staff_id {uuid}, created_at {instant} NOT NULL",
        links={"distributor_id": "distributor", "claim_id": "claim", "staff_id": "staff"},
    )
    columns = "amount_minor BIGINT NOT NULL, reference VARCHAR(60) NOT NULL, reference_key VARCHAR{0} NOT NULL,"
    _create(
        "claim_payment",
        f"{_OWNED}, claim_id {{uuid}} NOT NULL, provider_id {{uuid}} NOT NULL, {columns.format('')} paid_by {{uuid}},"
        " created_at {instant} NOT NULL, reverses {uuid}, payee_id {uuid}, method VARCHAR(20), value_on DATE,"
        " file_id {uuid}",
        checks={"amount": _AMOUNT},
        links={"distributor_id": "distributor", "claim_id": "claim", "provider_id": "provider", "paid_by": "staff"},
        unique=("provider_id, is_live, reference_key", "reverses"),
    )
    _create(
        "credit_note_payment",
        f"{_OWNED}, credit_note_id {{uuid}} NOT NULL, payee VARCHAR(200) NOT NULL, {columns.format('(80)')}"
        " value_on DATE NOT NULL, reason VARCHAR(500), paid_by {uuid}, reverses {uuid}, created_at {instant} NOT NULL",
        checks={"amount": _AMOUNT, "reason": "reverses IS NULL OR reason IS NOT NULL"},
        links={"distributor_id": "distributor", "credit_note_id": "credit_note", "paid_by": "staff"},
        unique=("is_live, reference_key", "reverses"),
    )
    for statement in (*_TAKEN_BACK, *(f"DROP TABLE {name}_before" for name in _AFTER)):
        op.execute(statement)
    if not _is_sqlite():
        op.execute("DROP FUNCTION credit_note_payment_people")
    for name in ("return_id", "transfer_id"):
        op.execute(f"ALTER TABLE payment DROP COLUMN {name}")
    op.execute("DROP TABLE transfer")
    kept = "distributor_id, is_live, id, claim_id, staff_id, created_at"
    _keep_rows("claim_payee", kept, "name, bank_name, hint, reason")
    kept = "distributor_id, is_live, id, claim_id, provider_id, amount_minor, paid_by, created_at, reverses, payee_id"
    _keep_rows("claim_payment", f"{kept}, method, value_on, file_id", "reference, reference_key")
    kept = "distributor_id, is_live, id, credit_note_id, amount_minor, reference, reference_key, value_on, paid_by"
    _keep_rows("credit_note_payment", f"{kept}, reverses, created_at", "payee, reason")
    _keep_note()
    payment = "reference, reference_key, value_on, paid_by, paid_at, returned_by, returned_on"
    _keep("credit_note", "payment", f"UPDATE OF {payment}", "NEW.state = OLD.state")
    _keep_texts("credit_note", "payee, note", "NEW.state = OLD.state")


_KEY = "transfer.reference_key || CASE WHEN transfer.lines > 1 THEN '~' || made.id ELSE '' END"
_KEY = f"CASE WHEN made.reverses IS NULL THEN '' ELSE 'return:' END || {_KEY}"
_LAST = (
    "(SELECT {0} FROM credit_note_payment_before AS made JOIN transfer ON transfer.id = made.transfer_id"
    " WHERE made.credit_note_id = note.id AND (made.reverses IS NULL) = {1} ORDER BY made.created_at DESC, made.id DESC"
    " LIMIT 1)"
)
_PAID_LAST = ", ".join(
    _LAST.format(f"{name}", "TRUE")
    for name in ("made.paid_by", "made.created_at", "transfer.reference", "transfer.reference_key", "made.value_on")
)
_BACK_LAST = ", ".join(
    f"CASE WHEN note.state = 'Returned' THEN {_LAST.format(name, 'FALSE')} END"
    for name in ("made.paid_by", "made.value_on", "made.reason")
)
_TAKEN_BACK = (
    "INSERT INTO credit_note (distributor_id, is_live, id, refund_id, provider_id, number, total_minor, created_at,"
    " made_by, state, first_by, first_at, approved_by, approved_at, payee, paid_by, paid_at, reference, reference_key,"
    " value_on, returned_by, returned_on, note) SELECT note.distributor_id, note.is_live, note.id, refund_id,"
    " provider_id, number, total_minor, note.created_at, made_by, state, first_by, first_at, approved_by, approved_at,"
    f" payee.name, {_PAID_LAST}, {_BACK_LAST} FROM credit_note_before AS note"
    " LEFT JOIN payment_payee_before AS payee ON payee.id = note.payee_id",
    "INSERT INTO claim_payee (distributor_id, is_live, id, claim_id, name, bank_name, hint, sealed, reason, staff_id,"
    " created_at) SELECT distributor_id, is_live, id, claim_id, name, bank_name, hint, sealed, reason, staff_id,"
    " created_at FROM payment_payee_before WHERE claim_id IS NOT NULL",
    "INSERT INTO claim_payment (distributor_id, is_live, id, claim_id, provider_id, amount_minor, reference,"
    " reference_key, paid_by, created_at, reverses, payee_id, method, value_on, file_id) SELECT made.distributor_id,"
    f" made.is_live, made.id, claim_id, provider_id, made.amount_minor, transfer.reference, {_KEY}, made.paid_by,"
    " made.created_at, reverses, payee_id, method, value_on, file_id FROM claim_payment_before AS made"
    " JOIN transfer ON transfer.id = made.transfer_id",
    "INSERT INTO credit_note_payment (distributor_id, is_live, id, credit_note_id, payee, amount_minor, reference,"
    " reference_key, value_on, reason, paid_by, reverses, created_at) SELECT made.distributor_id, made.is_live,"
    f" made.id, made.credit_note_id, payee.name, made.amount_minor, transfer.reference, {_KEY}, made.value_on,"
    " made.reason, made.paid_by, reverses, made.created_at FROM credit_note_payment_before AS made"
    " JOIN transfer ON transfer.id = made.transfer_id JOIN payment_payee_before AS payee ON payee.id = made.payee_id",
    *_NOTE_INDEXES,
    "CREATE INDEX ix_claim_payee_claim_id ON claim_payee (claim_id)",
    "CREATE INDEX ix_claim_payment_claim_id ON claim_payment (claim_id)",
    "CREATE INDEX ix_claim_payment_reference_key ON claim_payment (reference_key)",
    "CREATE INDEX ix_claim_payment_is_live_created_at_claim_id ON claim_payment (is_live, created_at, claim_id)",
    "CREATE INDEX ix_credit_note_payment_credit_note_id ON credit_note_payment (credit_note_id)",
)


def _is_sqlite() -> bool:
    return bool(op.get_bind().dialect.name == "sqlite")


def _spell(text: str) -> str:
    kinds = ("CHAR(32)", "DATETIME") if _is_sqlite() else ("UUID", "TIMESTAMP WITH TIME ZONE")
    return text.format(uuid=kinds[0], instant=kinds[1])


def _create(
    table: str,
    columns: str,
    *,
    checks: dict[str, str] | None = None,
    links: dict[str, str],
    unique: tuple[str, ...] = (),
) -> None:
    parts = [_spell(columns), f"CONSTRAINT pk_{table} PRIMARY KEY (id)"]
    parts += [f"CONSTRAINT ck_{table}_{name} CHECK ({text})" for name, text in (checks or {}).items()]
    parts += [
        f"CONSTRAINT fk_{table}_{column} FOREIGN KEY({column}) REFERENCES {to} (id)" for column, to in links.items()
    ]
    parts += [f"CONSTRAINT uq_{table}_{names.replace(', ', '_')} UNIQUE ({names})" for names in unique]
    op.execute(f"CREATE TABLE {table} ({', '.join(parts)})")


def _set_aside(tables: tuple[str, ...]) -> None:
    """Copy tables and drop them: their shapes change, with constraints that SQLite cannot alter."""
    for table in tables:
        op.execute(f"CREATE TABLE {table}_before AS SELECT * FROM {table}")
    # The others point to credit notes, which go last.
    for table in sorted(tables, key="credit_note".__eq__):
        op.execute(f"DROP TABLE {table}")


def _keep_rows(table: str, kept: str, texts: str) -> None:
    _keep(table, "update", f"UPDATE OF {kept}")
    _keep(table, "delete", "DELETE")
    _keep_texts(table, texts)
    if not _is_sqlite():
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )


def _keep_note() -> None:
    decision = f"({_DECIDED}) AND NOT ({_TAKEN_OFF})"
    _keep("credit_note", "decision", "UPDATE OF first_by, approved_by, approved_at", decision)
    _keep("credit_note", "figures", f"UPDATE OF {_FIGURES}")
    _keep("credit_note", "delete", "DELETE")


def _keep(table: str, name: str, event: str, only: str = "") -> None:
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{when}"
    if _is_sqlite():
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def _keep_texts(table: str, columns: str, only: str = "") -> None:
    """Refuse to change texts outside an erasure; PostgreSQL asks for the window in the function."""
    if _is_sqlite():
        _keep(table, "texts", f"UPDATE OF {columns}", f"{only} AND {_CLOSED}" if only else _CLOSED)
        return
    when = f" WHEN ({only})" if only else ""
    op.execute(
        f"CREATE TRIGGER {table}_texts BEFORE UPDATE OF {columns} ON {table} FOR EACH ROW{when}"
        " EXECUTE FUNCTION keeps_unless_erasing()"
    )
