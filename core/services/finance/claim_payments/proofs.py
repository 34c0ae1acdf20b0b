"""Files of claim payments as `coverdesk check` proves them: each is the payments that were made from it."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import ScopedSession
from core.store.schema.tables import ClaimPayment, ClaimPaymentFile


def find_file_faults(session: ScopedSession) -> Iterator[str]:
    """Files whose number and sum are not those of the payments made from them, and payments of no file."""
    number, total = sa.func.count(col(ClaimPayment.id)), sa.func.sum(col(ClaimPayment.amount_minor))
    query = (
        sa.select(col(ClaimPaymentFile.id))
        .outerjoin(ClaimPayment, col(ClaimPayment.file_id) == col(ClaimPaymentFile.id))
        .group_by(col(ClaimPaymentFile.id))
        .having(
            sa.or_(
                number != col(ClaimPaymentFile.payments),
                sa.func.coalesce(total, 0) != col(ClaimPaymentFile.amount_minor),
            )
        )
    )
    for file_id in session.execute(query).scalars():
        yield f"the payments made from file {file_id} are not those that it was kept with"
    files = sa.select(col(ClaimPaymentFile.id))
    strays = sa.select(col(ClaimPayment.id)).where(
        col(ClaimPayment.file_id).is_not(None), col(ClaimPayment.file_id).not_in(files)
    )
    for payment_id in session.execute(strays).scalars():
        yield f"claim payment {payment_id} names a file that was never kept"
