"""The reference under which the bank refused an order has a place of its own: it stood at the end of the note."""

import re

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0093"
down_revision = "0092"
branch_labels = None
depends_on = None

_SAID = ("received_on", "refused_by", "refused_on")
_REFERENCES = ("received_reference", "refused_reference")
_ONLY = "OLD.received_on IS NOT NULL OR OLD.refused_on IS NOT NULL"
_SHUT = "NOT EXISTS (SELECT 1 FROM erasure_window)"
_NAMED = re.compile(r"(.*) \(reference of the bank: (.{1,60})\)", re.DOTALL)


def upgrade() -> None:
    op.add_column("payment", sa.Column("refused_reference", sqlmodel.sql.sqltypes.AutoString(length=60), nullable=True))
    payment = _get_table()
    for row in op.get_bind().execute(sa.select(payment).where(payment.c.refused_on.is_not(None))).all():
        if match := _NAMED.fullmatch(row.note or ""):
            values = {"note": match[1], "refused_reference": match[2]}
            op.execute(sa.update(payment).where(payment.c.id == row.id).values(values))
    _keep(_REFERENCES)


def downgrade() -> None:
    payment = _get_table()
    for row in op.get_bind().execute(sa.select(payment).where(payment.c.refused_reference.is_not(None))).all():
        note = f"{row.note} (reference of the bank: {row.refused_reference})"
        op.execute(sa.update(payment).where(payment.c.id == row.id).values(note=note))
    _keep(_REFERENCES[:1])
    op.drop_column("payment", "refused_reference")


def _get_table() -> sa.TableClause:
    return sa.table(
        "payment",
        sa.column("id", sa.Uuid()),
        sa.column("refused_on", sa.Date()),
        sa.column("note", sa.String()),
        sa.column("refused_reference", sa.String()),
    )


def _keep(references: tuple[str, ...]) -> None:
    """Keep what the bank said of a payment; its references are opened to an erasure, and to nothing else."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name, columns in (("said", _SAID), ("texts", references)):
        op.execute(f"DROP TRIGGER payment_{name}" + ("" if is_sqlite else " ON payment"))
        only = f"({_ONLY}) AND {_SHUT}" if is_sqlite and name == "texts" else _ONLY
        event = f"BEFORE UPDATE OF {', '.join(columns)} ON payment FOR EACH ROW WHEN ({only})"
        function = "keeps_unless_erasing" if name == "texts" else "keeps_what_it_holds"
        refusal = "BEGIN SELECT RAISE(ABORT, 'payment keeps what it holds'); END"
        op.execute(
            f"CREATE TRIGGER payment_{name} {event} {refusal if is_sqlite else f'EXECUTE FUNCTION {function}()'}"
        )
