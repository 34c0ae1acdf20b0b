"""The daybook: what was written on each day, summed as it is written, so that figures need not count rows."""

from datetime import date
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.store.columns import Owned, among, minor_field

KEYS = ("is_live", "grain", "day", "product_id", "distributor_id", "premium_frequency")
GRAINS = ("day", "month")
MEASURES = (
    "sold",
    "sold_minor",
    "sold_mca_minor",
    "sold_distributor_minor",
    "renewed",
    "renewed_minor",
    "renewed_mca_minor",
    "renewed_distributor_minor",
    "refunds",
    "refunded_minor",
)


class DaybookLine(Owned, table=True):
    """Sales, renewals and refunds of one Lagos day or month, distributor, product and instalment.

    Each is entered twice, on its day and on the first day of its month, so that a year is twelve lines.
    A sum of the rows themselves: `store.daybook` keeps it in step in the transaction that writes a row.
    Insurer and category are the product's, which keeps them for life. A line may be written in several parts,
    so that sales of the same product at the same time need not wait for each other; whoever reads sums them.
    """

    __tablename__ = "daybook_line"
    # Grain and day lead the key, so that a window is one stretch of the table.
    __table_args__ = (
        sa.PrimaryKeyConstraint(*KEYS, "part"),
        # With `sold`, so that a distributor's purchases are counted by month, and walked by day, in this index alone.
        sa.Index("ix_daybook_line_of_distributor", "distributor_id", "is_live", "grain", "day", "sold"),
        among("grain", GRAINS, "grain"),
        {"sqlite_with_rowid": False},
    )
    part: int = 0
    grain: str = Field(max_length=5)
    day: date
    product_id: UUID = Field(foreign_key="product.id")
    premium_frequency: str = Field(max_length=20)
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
