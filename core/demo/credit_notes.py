"""Credit notes for refunds that were written in bulk: one each, numbered within their insurer."""

from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core.demo import marker
from core.states.finance import CreditNoteState
from core.store.access import ScopedSession
from core.store.policy_numbers import credit_note_series
from core.store.schema.tables import CreditNote, NumberCounter

# Younger ones are finance's to pay.
_SETTLED_AFTER: Final = timedelta(days=45)
_FILL: Final = """
INSERT INTO credit_note
  (id, refund_id, distributor_id, is_live, provider_id, number, total_minor, created_at, made_by, state)
SELECT refund.id, refund.id, refund.distributor_id, refund.is_live, refund.provider_id,
  COALESCE((
    SELECT MAX(number) FROM credit_note AS held
    WHERE held.provider_id = refund.provider_id AND held.is_live = refund.is_live
  ), 0) + ROW_NUMBER() OVER (
    PARTITION BY refund.provider_id, refund.is_live ORDER BY refund.created_at, refund.id
  ),
  refund.total_minor, refund.created_at, :actor, CASE WHEN refund.created_at < :settled THEN :old ELSE :young END
FROM refund
WHERE refund.total_minor > 0 AND NOT EXISTS (SELECT 1 FROM credit_note AS note WHERE note.refund_id = refund.id)
"""


def fill(session: ScopedSession, until: datetime) -> None:
    """Write the credit notes that are missing; safe to repeat."""
    values = {"actor": marker.ACTOR, "old": CreditNoteState.NOT_RECORDED, "young": CreditNoteState.COMPUTED}
    settled = sa.bindparam("settled", until - _SETTLED_AFTER, type_=UTCDateTime())
    session.connection().execute(sa.text(_FILL).bindparams(settled, **values))
    keys = (col(CreditNote.provider_id), col(CreditNote.is_live))
    last = sa.select(*keys, sa.func.max(col(CreditNote.number))).group_by(*keys)
    for provider_id, is_live, number in session.execute(last).all():
        series = credit_note_series(provider_id, is_live=is_live)
        session.insert_if_absent(NumberCounter(series=series, last=0))
        session.execute(sa.update(NumberCounter).where(col(NumberCounter.series) == series).values(last=number))
