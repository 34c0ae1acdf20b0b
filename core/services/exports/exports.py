"""The lists that can be exported, and their rows as CSV chunks (RFC 4180, UTF-8), counted and hashed as they pass.

Other formats are made of these lines. A list and all that it needs is imported when it is asked for first.
"""

import hashlib
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from core.errors import NotFound
from core.services.exports.arrangement import USUAL, Arrangement
from core.services.lists.column_parts import build_parts
from core.services.lists.columns import Context
from core.services.lists.dimensions import load_choices
from core.services.lists.filters.declaration import F
from core.services.lists.listing import Listing
from core.services.lists.records import format_mode
from core.services.lists.spreadsheets.formula_escaping import csv_field
from core.store.access import AnySelect, ScopedSession, read_batches

# Each with its title, and where it is declared.
_LISTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "purchases": ("Purchases", "sales.table", "PURCHASES"),
    "renewals": ("Renewals", "renewals.records", "RENEWALS"),
    "due": ("Due for renewal", "renewals.due", "DUE"),
    "movements": ("Movements", "finance.movements", "MOVEMENTS"),
    "policies": ("Policies", "policies.policies", "POLICIES"),
    "customers": ("Customers", "customers.table", "CUSTOMERS"),
    "claims": ("Claims", "claims.lists.columns", "CLAIMS"),
    "claim-payments": ("Payments of claims", "claims.lists.columns", "CLAIM_PAYMENTS"),
    "loss-ratios": ("Loss ratios", "exports.loss_ratios", "LOSS_RATIOS"),
    "credit-notes": ("Credit notes", "finance.credit_notes.reading", "CREDIT_NOTES"),
    "audit": ("Audit entries", "audit.search", "AUDIT"),
}
TITLES: Final[Mapping[str, str]] = {name: title for name, (title, _, _) in _LISTS.items()}


def get_kind(name: str) -> Listing[Any]:
    """Return the list of this name; NotFound for any other."""
    if name not in _LISTS:
        raise NotFound(f"There is no export of that name: the exports are {', '.join(_LISTS)}")
    _, module, attribute = _LISTS[name]
    found: Listing[Any] = getattr(import_module(f"core.services.{module}"), attribute)
    return found


def list_kinds() -> list[Listing[Any]]:
    """Return every list, in the order of the menus."""
    return [get_kind(name) for name in _LISTS]


CHUNK = 2_000


@dataclass(slots=True)
class Tally:
    """Running totals of an export: rows, sum in kobo, and hash of the lines; `file` hashes a non-CSV file."""

    rows: int = 0
    sum_minor: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    file: Any = None

    @property
    def sha256(self) -> str:
        """Hash of all CSV lines so far, whatever the file format."""
        found: str = self.digest.hexdigest()
        return found

    @property
    def file_sha256(self) -> str:
        """Hash of the bytes of the file."""
        found: str = (self.file or self.digest).hexdigest()
        return found

    def add(self, chunk: bytes) -> bytes:
        """Add a chunk to the hash and return it."""
        self.digest.update(chunk)
        return chunk


def stream_lines(
    session: ScopedSession, listing: Listing[F], selection: F, tally: Tally, arrangement: Arrangement = USUAL
) -> Generator[bytes]:
    """Yield the rows of a selection as CSV chunks of up to 2,000 lines, heading first.

    The rows come from one statement; memory does not grow with their number. Amounts are naira with two decimals.
    For machines, columns in `_at` are UTC and those in `_on` days in Lagos; for people, times are those of Lagos.
    """
    context = Context(load_choices(session), format_mode(bool(session.scope.is_live)))
    file_columns = arrangement.of(listing)
    parts = list(build_parts(file_columns))
    writers = [part.make_writer(context) for part in parts]
    # An empty field that is alone in its line has to be quoted, or the line would be blank.
    quote = (lambda text: text or '""') if len(file_columns) == 1 else str
    yield tally.add(f"{','.join(csv_field(column.heading) for column in file_columns)}\r\n".encode())
    values = [*(part.value for part in parts), *([] if listing.summed is None else [listing.summed])]
    query = build_query(listing, values, selection, arrangement, context)
    with closing(read_batches(session, query, size=CHUNK)) as batches:
        for rows in batches:
            # Column by column, so that map() and zip() loop in C.
            columns: list[Any] = list(zip(*rows, strict=True))
            tally.rows += len(rows)
            if listing.summed is not None:
                # PostgreSQL adds up to a Decimal what is a sum already.
                tally.sum_minor += int(sum(columns.pop()))
            written = [map(write, column) if write else column for write, column in zip(writers, columns, strict=True)]
            yield tally.add(("\r\n".join(map(quote, map(",".join, zip(*written, strict=True)))) + "\r\n").encode())


def build_query(
    listing: Listing[F], values: Sequence[Any], selection: F, arrangement: Arrangement, context: Context
) -> AnySelect:
    """Build the query of a selection's rows, in the order of the file."""
    query = listing.rows(values, selection, context.names)
    keys = arrangement.keys(listing)
    return query.order_by(*keys) if keys else query
