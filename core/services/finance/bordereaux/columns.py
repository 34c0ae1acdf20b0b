"""The columns of both bordereaux, and their rows as CSV with a control line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from core import money
from core.services.lists.spreadsheets import (
    DATE,
    ID,
    INSTANT,
    MONEY,
    SIGNED_MONEY,
    TEXT,
    WORD,
    Column,
    csv_field,
    csv_line,
)

_ABOUT: Final = (
    Column("coverholder", TEXT, 24),
    Column("agreement_number", WORD, 18),
    Column("class", TEXT, 18),
)
PREMIUM: Final = (
    *_ABOUT,
    Column("period_start", DATE),
    Column("period_end", DATE),
    Column("type_of_insurance", TEXT, 26),
    Column("certificate_reference", TEXT, 20),
    Column("policy_number", TEXT, 26),
    Column("insured_first_name", TEXT),
    Column("insured_full_name", TEXT, 26),
    Column("state", TEXT),
    Column("country", TEXT),
    Column("new_or_renewal", WORD),
    Column("inception", DATE),
    Column("expiry", DATE),
    Column("transaction_type", WORD),
    Column("transaction_at", INSTANT),
    Column("transaction_on", DATE),
    Column("sum_insured", MONEY),
    Column("gross_premium", SIGNED_MONEY),
    Column("tax", SIGNED_MONEY),
    Column("commission_percent", MONEY),
    *(Column(name, SIGNED_MONEY) for name in ("commission", "brokerage", "net", "final_net")),
    Column("movement_id", ID),
)
CLAIMS: Final = (
    *_ABOUT,
    Column("currency", WORD),
    Column("product", TEXT, 26),
    Column("certificate_reference", TEXT, 20),
    Column("policy_number", TEXT, 26),
    Column("claim_reference", WORD),
    Column("insured", TEXT, 26),
    Column("country", TEXT),
    Column("loss_description", TEXT, 30),
    Column("loss_location", TEXT, 20),
    Column("claimant", TEXT, 26),
    Column("claim_status", WORD, 20),
    *(Column(name, DATE) for name in ("date_of_loss", "date_first_advised", "date_opened", "first_acknowledged")),
    Column("first_reserve", MONEY),
    Column("paid_this_month_indemnity", SIGNED_MONEY),
    Column("paid_this_month_fees", SIGNED_MONEY),
    Column("previously_paid", SIGNED_MONEY),
    Column("reserve", MONEY),
    Column("total_incurred", SIGNED_MONEY),
    Column("claim_id", ID),
)
OF: Final[Mapping[str, Sequence[Column]]] = {"premium": PREMIUM, "claims": CLAIMS}
# What the control line adds up.
SUMMED: Final[Mapping[str, tuple[str, ...]]] = {
    "premium": ("gross_premium", "tax", "commission", "brokerage", "net", "final_net"),
    "claims": ("paid_this_month_indemnity", "paid_this_month_fees", "previously_paid", "reserve", "total_incurred"),
}
# By which of the sums a row is checked in the store.
MAIN: Final[Mapping[str, str]] = {"premium": "gross_premium", "claims": "total_incurred"}


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One row: the id of its movement or claim, its texts by column, and its amounts in kobo by column."""

    subject_id: UUID
    texts: Mapping[str, str]
    amounts: Mapping[str, int]

    def cells(self, kind: str) -> list[str]:
        """Return what is printed in each column."""
        return [
            money.to_wire(self.amounts[column.name]) if column.name in self.amounts else self.texts[column.name]
            for column in OF[kind]
        ]


def csv_chunks(
    kind: str, batches: Iterable[Iterable[Sequence[str]]], *, rows: int, totals: Mapping[str, int]
) -> Iterator[bytes]:
    """Yield the CSV of a bordereau: heading, rows, and the control line with their number and sums."""
    columns = OF[kind]
    plain = [column.column_type in (MONEY, SIGNED_MONEY, DATE, INSTANT, ID) for column in columns]
    yield csv_line(*(column.name for column in columns))
    for batch in batches:
        lines = [
            ",".join(cell if is_plain else csv_field(cell) for cell, is_plain in zip(cells, plain, strict=True))
            for cells in batch
        ]
        if lines:
            yield ("\r\n".join(lines) + "\r\n").encode()
    control = [money.to_wire(totals[column.name]) if column.name in totals else "" for column in columns]
    control[0] = f"Control: {rows} rows"
    yield csv_line(*control)
