"""The daybook: what was written on each day, summed as it is written, so that figures need not count rows."""

from datetime import date
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.store.schema.columns import Owned, Row, minor_field, one_of

KEYS = ("is_live", "grain", "day", "product_id", "distributor_id", "premium_frequency")
GRAINS = ("day", "month")
# What a day did to cover: its change of policies in force, terms of renewable products that ran out, those renewed.
COVER = ("in_force_change", "terms_ended", "terms_renewed")
CLAIM_KEYS = ("is_live", "claim_status", "assigned_to", "clock_day")
CLAIM_MEASURES = ("claims", "claimed_minor", "offered_minor", "paid_minor", "payments", "outstanding_minor")
NOBODY, NOT_RUNNING = UUID(int=0), date.max


class Measured(Row):
    """The measures: numbers of sales, renewals, refunds and adjustments, and their amounts in kobo."""

    sold: int = minor_field()
    sold_minor: int = minor_field()
    sold_mca_minor: int = minor_field()
    sold_distributor_minor: int = minor_field()
    renewed: int = minor_field()
    renewed_minor: int = minor_field()
    renewed_mca_minor: int = minor_field()
    renewed_distributor_minor: int = minor_field()
    refunds: int = minor_field()
    refunded_minor: int = minor_field()
    refunded_mca_minor: int = minor_field()
    refunded_distributor_minor: int = minor_field()
    adjustments: int = minor_field()
    adjusted_minor: int = minor_field()
    adjusted_mca_minor: int = minor_field()
    adjusted_distributor_minor: int = minor_field()


MEASURES = tuple(Measured.model_fields)


class DaybookLine(Owned, Measured, table=True):
    """Sales, renewals and refunds of one Lagos day or month, distributor, product and instalment.

    Each is entered twice, on its day and on the first day of its month, so that a year is twelve lines.
    A sum of the rows themselves: `rollups.daily_rollup` keeps it in step in the transaction that writes a row.
    Insurer and category are the product's, which keeps them for life. A line may be written in several parts,
    so that sales of the same product at the same time need not wait for each other; whoever reads sums them.
    """

    # Grain and day lead the key, so that a window is one stretch of the table.
    __table_args__ = (
        sa.PrimaryKeyConstraint(*KEYS, "part"),
        # With `sold`, so that a distributor's purchases are counted by month, and walked by day, in this index alone.
        sa.Index("ix_daybook_line_of_distributor", "distributor_id", "is_live", "grain", "day", "sold"),
        one_of("grain", GRAINS, "grain"),
        {"sqlite_with_rowid": False},
    )
    part: int = 0
    grain: str = Field(max_length=5)
    day: date
    product_id: UUID = Field(foreign_key="product.id")
    premium_frequency: str = Field(max_length=20)


class DayTotal(Measured, table=True):
    """One Lagos day of a mode, everything together: what was written on it, and what it did to cover.

    `in_force_change` adds up, from the first day on, to the policies in force at the end of a day (contract S11).
    `terms_ended` are last terms of renewable products that ran to their end, `terms_renewed` those that did not end
    because they were renewed; both stand at the day of the end. Terms of running policies stand at days to come.
    `rollups.day_totals` keeps it in step. It belongs to no distributor: only the desk reads it. In parts, as above.
    """

    __table_args__ = (sa.PrimaryKeyConstraint("is_live", "day", "part"), {"sqlite_with_rowid": False})
    is_live: bool
    day: date
    part: int = 0
    in_force_change: int = minor_field()
    terms_ended: int = minor_field()
    terms_renewed: int = minor_field()


class ClaimTotal(Row, table=True):
    """Claims of one mode that no view of the queue tells apart: their number, and their money in kobo.

    `assigned_to` is NOBODY for claims that nobody has. `clock_day` is the UTC day from which a running clock counts,
    NOT_RUNNING while it stands still or once the claim is decided. A line without claims is deleted.
    `store.rollups.claim_totals` keeps it in step. It belongs to no distributor: only the desk reads it. In parts, as
    above.
    """

    __table_args__ = (sa.PrimaryKeyConstraint(*CLAIM_KEYS, "part"), {"sqlite_with_rowid": False})
    is_live: bool
    claim_status: str = Field(max_length=30)
    assigned_to: UUID
    clock_day: date
    part: int = 0
    claims: int = minor_field()
    claimed_minor: int = minor_field()
    offered_minor: int = minor_field()
    paid_minor: int = minor_field()
    payments: int = minor_field()
    outstanding_minor: int = minor_field()
