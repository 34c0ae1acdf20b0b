"""The licence of a distributor to sell: where the setting says so, none is sold after its last day (contract F2)."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import StateForbids
from core.settings import settings
from core.store.access import ScopedSession
from core.store.schema.tables import Agreement


def refuse_ended(session: ScopedSession, distributor_id: UUID, *, is_live: bool) -> None:
    """StateForbids for a live sale of a distributor whose licence is over; terms without a last day block nothing."""
    if not (is_live and settings().licence_blocks_sales):
        return
    query = (
        sa.select(col(Agreement.licence_expires_on))
        .where(col(Agreement.distributor_id) == distributor_id, col(Agreement.starts_on) <= clock.today())
        .order_by(col(Agreement.starts_on).desc(), col(Agreement.created_at).desc(), col(Agreement.id).desc())
        .limit(1)
    )
    last_on = session.execute(query).scalar()
    if last_on is not None and last_on < clock.today():
        raise StateForbids(f"The licence of this distributor ended on {last_on}: it sells again once it is renewed")
