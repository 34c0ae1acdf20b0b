"""Notes, reasons, names of files and references in tables that only grow are opened to an erasure, and to nothing else.

An erasure could not take a person out of them: the store refused every change.
"""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa
from alembic import op

revision = "0092"
down_revision = "0091"
branch_labels = None
depends_on = None


class _Guard(NamedTuple):
    """A trigger that keeps the texts of its table too: its columns (none is all of them), and when it refuses."""

    table: str
    name: str
    columns: Sequence[str]
    texts: Sequence[str]
    only: str = ""
    opened: str = "texts"


def _split(names: str) -> Sequence[str]:
    return tuple(names.split())


_GUARDS = (
    _Guard("approval_lapse", "update", (), ("reason",)),
    _Guard("claim_payment_file", "update", (), ("file_name",)),
    _Guard("month_step", "update", (), ("note",)),
    _Guard("party_payment", "update", (), ("reason",)),
    _Guard("reconciliation", "update", (), ("file_name", "columns")),
    _Guard("statement_step", "update", (), ("note",)),
    _Guard("payout_batch", "decided", (), ("note",), "OLD.state <> 'Prepared'"),
    _Guard("rate_proposal", "decision", (), ("reason",), "OLD.state <> 'open'"),
    _Guard(
        "difference",
        "figures",
        _split(
            "id reconciliation_id result policy_number kind ours_minor theirs_minor difference_minor detail rows"
            " subjects"
        ),
        ("policy_number",),
    ),
    _Guard(
        "erasure",
        "figures",
        _split(
            "id number record_class request_id customers before_at reason is_early is_restored prepared_by prepared_at"
        ),
        ("reason",),
    ),
    _Guard(
        "erasure",
        "decision",
        _split("state decided_by decided_at refusal outcome sha256"),
        ("refusal",),
        "OLD.state <> 'open'",
        opened="refusal",
    ),
    _Guard(
        "loan_book",
        "said",
        _split(
            "id kind product_id month date_order benefits free_cover_minor attested_by attested_on attestation_url"
            " file_name sha256 size batch_id uploaded_by uploader_id distributor_id is_live"
        ),
        ("file_name",),
    ),
    _Guard(
        "payment",
        "said",
        _split("received_reference received_on refused_by refused_on"),
        ("received_reference",),
        "OLD.received_on IS NOT NULL OR OLD.refused_on IS NOT NULL",
    ),
    _Guard(
        "statement_payment",
        "printed",
        _split("statement_id position payment_id entry amount_minor value_on reference"),
        ("reference",),
    ),
)
# Tables with such texts that PostgreSQL still emptied.
_EMPTIED = ("endorsement_notice", "erasure", "loan_book", "loan_book_row", "policy_endorsement")
_SHUT = "NOT EXISTS (SELECT 1 FROM erasure_window)"


def upgrade() -> None:
    for guard in _GUARDS:
        kept = [name for name in guard.columns or _list_columns(guard.table) if name not in guard.texts]
        _drop(guard.table, guard.name)
        _keep(guard, guard.name, kept, "keeps_what_it_holds", guard.only)
        if _is_sqlite():
            only = f"({guard.only}) AND {_SHUT}" if guard.only else _SHUT
            _keep(guard, guard.opened, guard.texts, "", only)
        else:
            # The function asks for the window: a condition of PostgreSQL has no subquery.
            _keep(guard, guard.opened, guard.texts, "keeps_unless_erasing", guard.only)
    for table in () if _is_sqlite() else _EMPTIED:
        head = f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
        op.execute(f"{head} FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()")


def downgrade() -> None:
    for table in () if _is_sqlite() else _EMPTIED:
        _drop(table, "truncate")
    for guard in _GUARDS:
        _drop(guard.table, guard.opened)
        _drop(guard.table, guard.name)
        _keep(guard, guard.name, guard.columns, "keeps_what_it_holds", guard.only)


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _list_columns(table: str) -> list[str]:
    return [column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)]


def _drop(table: str, name: str) -> None:
    op.execute(f"DROP TRIGGER {table}_{name}" + ("" if _is_sqlite() else f" ON {table}"))


def _keep(guard: _Guard, name: str, columns: Sequence[str], function: str, only: str) -> None:
    """Refuse to change columns, or any where none is named."""
    event = "UPDATE OF " + ", ".join(f'"{column}"' for column in columns) if columns else "UPDATE"
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER {guard.table}_{name} BEFORE {event} ON {guard.table} FOR EACH ROW{when}"
    if _is_sqlite():
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{guard.table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION {function}()")
