"""The terms with a distributor that a sale, a loan book or a refund goes by; finance keeps them (contract F2).

Apart from `distributors`, which commands load without the tables of finance.
"""

from datetime import date
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import StateForbids
from core.settings import settings
from core.store.access import AnySelect, Owner, ScopedSession
from core.store.schema.tables import Agreement, Distributor


def refuse_barred(session: ScopedSession, owner: Owner, source: str) -> None:
    """StateForbids for a sale of a distributor that is switched off, or a live sale of one whose licence is over.

    The keys of a distributor that is switched off are refused before this; terms without a last day block nothing.
    """
    if source != "api":
        query = sa.select(col(Distributor.active)).where(col(Distributor.id) == owner.distributor_id)
        if not session.execute(query).scalar_one():
            raise StateForbids("This distributor is switched off: it sells again once an admin has switched it on")
    if not (owner.is_live and settings().licence_blocks_sales):
        return
    licence = select_agreement(owner.distributor_id, clock.today()).with_only_columns(col(Agreement.licence_expires_on))
    last_on = session.execute(licence).scalar()
    if last_on is not None and last_on < clock.today():
        raise StateForbids(f"The licence of this distributor ended on {last_on}: it sells again once it is renewed")


def select_agreement(distributor_id: UUID, on: date) -> AnySelect:
    """Return the query of the agreement with a distributor that holds on a day: the newest that had begun by then."""
    return (
        sa.select(Agreement)
        .where(col(Agreement.distributor_id) == distributor_id, col(Agreement.starts_on) <= on)
        .order_by(col(Agreement.starts_on).desc(), col(Agreement.created_at).desc(), col(Agreement.id).desc())
        .limit(1)
    )


def has_ended(terms: Agreement, on: date) -> bool:
    """Return True after the last day of an agreement, by which what is sold still goes until another begins."""
    return terms.ends_on is not None and terms.ends_on < on
