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
    SheetColumn,
    csv_field,
    csv_line,
)

_ABOUT: Final = (
    SheetColumn("coverholder", TEXT, 24),
    SheetColumn("agreement_number", WORD, 18),
    SheetColumn("class", TEXT, 18),
)
PREMIUM: Final = (
    *_ABOUT,
    SheetColumn("period_start", DATE),
    SheetColumn("period_end", DATE),
    SheetColumn("type_of_insurance", TEXT, 26),
    SheetColumn("certificate_reference", TEXT, 20),
    SheetColumn("policy_number", TEXT, 26),
    SheetColumn("insured_first_name", TEXT),
    SheetColumn("insured_full_name", TEXT, 26),
    SheetColumn("state", TEXT),
    SheetColumn("country", TEXT),
    SheetColumn("new_or_renewal", WORD),
    SheetColumn("inception", DATE),
    SheetColumn("expiry", DATE),
    SheetColumn("transaction_type", WORD),
    SheetColumn("transaction_at", INSTANT),
    SheetColumn("transaction_on", DATE),
    SheetColumn("sum_insured", MONEY),
    SheetColumn("gross_premium", SIGNED_MONEY),
    SheetColumn("tax", SIGNED_MONEY),
    SheetColumn("commission_percent", MONEY),
    *(SheetColumn(name, SIGNED_MONEY) for name in ("commission", "brokerage", "net", "final_net")),
    SheetColumn("movement_id", ID),
)
CLAIMS: Final = (
    *_ABOUT,
    SheetColumn("currency", WORD),
    SheetColumn("product", TEXT, 26),
    SheetColumn("certificate_reference", TEXT, 20),
    SheetColumn("policy_number", TEXT, 26),
    SheetColumn("claim_reference", WORD),
    SheetColumn("insured", TEXT, 26),
    SheetColumn("country", TEXT),
    SheetColumn("loss_description", TEXT, 30),
    SheetColumn("loss_location", TEXT, 20),
    SheetColumn("claimant", TEXT, 26),
    SheetColumn("claim_status", WORD, 20),
    *(SheetColumn(name, DATE) for name in ("date_of_loss", "date_first_advised", "date_opened", "first_acknowledged")),
    SheetColumn("first_reserve", MONEY),
    SheetColumn("paid_this_month_indemnity", SIGNED_MONEY),
    SheetColumn("paid_this_month_fees", SIGNED_MONEY),
    SheetColumn("previously_paid", SIGNED_MONEY),
    SheetColumn("reserve", MONEY),
    SheetColumn("total_incurred", SIGNED_MONEY),
    SheetColumn("claim_id", ID),
)
OF: Final[Mapping[str, Sequence[SheetColumn]]] = {"premium": PREMIUM, "claims": CLAIMS}
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
