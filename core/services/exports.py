"""Exports: purchases as CSV in chunks, counted and hashed as they pass."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services import purchases
from core.services.choices import choices
from core.services.defusing import cell
from core.services.filters import SalesFilter
from core.services.records import mode
from core.store.daybook import ONCE
from core.store.expressions import lagos_day, printed_id, printed_moment, printed_naira
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import Policy, Purchase

COLUMNS = (
    *("id", "created_at", "created_on", "policy_number"),
    *("total", "provider_share", "mca_profit", "distributor_profit"),
    *("distributor", "provider", "product", "category"),
    *("customer_name", "customer_email", "customer_phone"),
    *("mode", "request_source", "payment_option", "payment_channel", "premium_frequency"),
)
CHUNK = 2_000
# Parts what the database joins and is taken apart again; no text of ours may hold it (contract E6).
_GLUE = "\x1f"


@dataclass(slots=True)
class Tally:
    """What has passed so far: rows, their total in kobo, and the hash of the bytes."""

    rows: int = 0
    sum_minor: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    @property
    def sha256(self) -> str:
        """The hash of everything that has passed."""
        found: str = self.digest.hexdigest()
        return found

    def passed(self, chunk: bytes) -> bytes:
        """The chunk, once it is in the hash."""
        self.digest.update(chunk)
        return chunk


def lines(session: ScopedSession, wanted: SalesFilter, tally: Tally) -> Iterator[bytes]:
    """The purchases of a filter as CSV (RFC 4180, UTF-8), newest first, in chunks of some thousand lines.

    One statement, hence one consistent look at the store; amounts are naira with two places, `created_at`
    is UTC, `created_on` the day in Lagos. Memory does not grow with the number of rows.
    """
    catalogue, mode_word = choices(session), mode(bool(session.scope.is_live))
    places: dict[str, str] = {}
    endings: dict[str, str] = {}
    yield tally.passed(f"{','.join(COLUMNS)}\r\n".encode())
    for rows in session.execute(_rows(wanted), execution_options={"yield_per": CHUNK}).partitions():
        written = []
        for head, number, amounts, sold_by, name, email, phone, end, total_minor in rows:
            tally.sum_minor += total_minor
            if (place := places.get(sold_by)) is None:
                product, distributor = map(UUID, sold_by.split(_GLUE))
                place = places[sold_by] = ",".join(map(cell, catalogue.of_sale(product, distributor)))
            if (ending := endings.get(end)) is None:
                ending = endings[end] = ",".join([mode_word, *map(cell, end.split(_GLUE))])
            person = f"{cell(name)},{cell(email)},{cell(phone)}"
            written.append(f"{head},{cell(number)},{amounts},{place},{person},{ending}\r\n")
        tally.rows += len(rows)
        yield tally.passed("".join(written).encode())


def _rows(wanted: SalesFilter) -> AnySelect:
    sale = Purchase
    share = col(sale.total_minor) - col(sale.mca_profit_minor) - col(sale.distributor_profit_minor)
    naira = (col(sale.total_minor), share, col(sale.mca_profit_minor), col(sale.distributor_profit_minor))
    words = (col(sale.request_source), col(sale.payment_option), col(sale.payment_channel))
    return (
        sa.select(
            _joined(
                ",", printed_id(col(sale.id)), printed_moment(col(sale.created_at)), lagos_day(col(sale.created_at))
            ),
            col(Policy.policy_number),
            _joined(",", *map(printed_naira, naira)),
            _joined(_GLUE, *(sa.cast(key, sa.String) for key in (col(sale.product_id), col(sale.distributor_id)))),
            _joined(" ", col(Policy.first_name), col(Policy.last_name)),
            col(Policy.email),
            col(Policy.phone),
            _joined(
                _GLUE, *(sa.func.coalesce(w, "") for w in words), sa.func.coalesce(col(sale.premium_frequency), ONCE)
            ),
            col(sale.total_minor),
        )
        .join(Policy, col(Policy.purchase_id) == col(sale.id))
        .where(*purchases.conditions_of(wanted))
        .order_by(col(sale.created_at).desc(), col(sale.id).desc())
    )


def _joined(between: str, *parts: Any) -> Any:
    """Several pieces as one text: the database is faster at it, and fewer values cross over."""
    glue: Any = sa.literal_column(f"'{between}'")
    return reduce(lambda done, part: done.op("||")(glue).op("||")(part), parts)
