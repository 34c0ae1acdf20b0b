"""The terms with a distributor that a sale, a loan book or a refund goes by; finance keeps them (contract F2).

Apart from `distributors`, which commands load without the tables of finance.
"""

from datetime import date
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import AnySelect
from core.store.schema.tables import Agreement


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
