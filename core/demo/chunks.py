"""The demonstration in pieces: each is made in memory and then written whole, or not at all."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core.demo import audit_log, marker
from core.demo.audit_log import Entry, Log, chain
from core.demo.bulk_rows import Rows, pour
from core.demo.claims import rows as claim_rows
from core.demo.claims.claims import Losses
from core.demo.claims.specimens import Specimens
from core.demo.marker import Mark
from core.demo.market.market import Market, begins_at, instants
from core.demo.market.offers import Offer
from core.demo.market.people import People
from core.demo.market.sellers import Officer, Seller
from core.demo.random_source import dice
from core.demo.rollups import Figures, pour_figures
from core.demo.sales import rows as sale_rows
from core.demo.sales.sales import Counting
from core.states.finance import CreditNoteState
from core.store.access import ScopedSession
from core.store.policy_numbers import credit_note_series
from core.store.rollups import claim_totals
from core.store.schema.claims import Claim
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


_SMALLEST, _LARGEST, _PIECES = 2_500, 20_000, 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The plan of a demonstration: its mark, sellers, offers, and the officers who decide claims."""

    mark: Mark
    sellers: Sequence[Seller]
    offers: Sequence[Offer]
    desk: Sequence[Officer]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The rows of one transaction: after it `upto` purchases are in the store, and all that happened until the last."""

    rows: Rows
    figures: Figures
    entries: list[Entry]
    policy_numbers: dict[str, int]
    upto: int
    until: datetime


def chunks(plan: Plan) -> Generator[Chunk]:
    """Every chunk in the order of time; always cut at the same sales, so that writing can go on after a crash."""
    mark = plan.mark
    until, thrown = mark.until, dice(mark.seed, "sales")
    log, specimens = Log(dice(mark.seed, "log")), Specimens(thrown, begins_at(until))
    people, market = People(thrown, until), Market(thrown, plan.sellers, plan.offers, until)
    counting = Counting(thrown, market, people, until)
    losses = Losses(thrown, plan.desk, purchases=mark.purchases, until=until)
    moments = instants(dice(mark.seed, "days"), purchases=mark.purchases, until=until)
    size, upto = min(_LARGEST, max(_SMALLEST, mark.purchases // _PIECES)), 0
    # The first is small, as nothing is written while it is made.
    while batch := list(islice(moments, size if upto else size // 4)):
        rows, figures = Rows(), Figures()
        for at in batch:
            sale = counting.sell(rows, at)
            sale_rows.file(sale, rows, figures)
            audit_log.add_entries(sale, log)
            if (loss := losses.of(sale)) is not None:
                claim_rows.file(loss, thrown, specimens, rows, log)
        specimens.put()
        upto += len(batch)
        is_last = upto == mark.purchases
        if is_last:
            log.add(until, marker.ACTOR, marker.WRITTEN, marker.SUBJECT, after=mark.facts)
        entries = log.entries_until(until if is_last else batch[-1])
        yield Chunk(rows, figures, entries, dict(counting.policy_numbers), upto, until)


def write_chunk(session: ScopedSession, chunk: Chunk) -> None:
    """Write a chunk in the session's transaction: rows, figures, audit entries, and the counters as they stand."""
    sale_rows.finish(chunk.rows)
    chain(session, chunk.rows, chunk.entries)
    pour(session, chunk.rows)
    pour_figures(session, chunk.figures)
    claim_totals.add_claims(session.connection(), chunk.rows.ids(Claim))
    for series, last in chunk.policy_numbers.items():
        session.insert_if_absent(NumberCounter(series=series, last=0))
        session.execute(sa.update(NumberCounter).where(col(NumberCounter.series) == series).values(last=last))
    fill(session, chunk.until)
