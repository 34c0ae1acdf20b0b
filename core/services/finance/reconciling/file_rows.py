"""The rows of another party's file as entries: mapped columns, parsed amounts, days and rates (contract F6)."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Final

from core import money
from core.errors import FieldFault, InvalidInput
from core.services.finance.reconciling import table_files
from core.services.finance.reconciling.matching import Entry
from core.services.finance.reconciling.table_files import TableFile
from core.services.policies import numbering
from core.services.transfers import reference_key

# What a column can mean, and whether it has to be there.
MEANINGS: Final[Mapping[str, Mapping[str, bool]]] = {
    "insurer": {"policy_number": True, "amount": True, "transaction": False, "date": False, "rate": False},
    "bank": {"reference": True, "amount": True, "date": False},
}
TRANSACTIONS: Final = ("new", "renewal", "cancellation", "decline", "adjustment")
_WORDS: Final = {
    **{word: word for word in TRANSACTIONS},
    **dict.fromkeys(("new business", "purchase", "inception", "nb"), "new"),
    **dict.fromkeys(("renew", "renewed", "rn"), "renewal"),
    **dict.fromkeys(("cancelled", "canceled", "refund", "cn"), "cancellation"),
    **dict.fromkeys(("declined", "rejected"), "decline"),
    **dict.fromkeys(("adj", "correction"), "adjustment"),
}
_DAYS: Final = (
    (re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ].*)?"), (1, 2, 3)),
    (re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})"), (3, 2, 1)),
)


def read_entries(file: TableFile, kind: str, columns: Mapping[str, str]) -> list[Entry]:
    """Return the entries of a file; InvalidInput names every column that is missing and every row that is wrong."""
    if kind not in MEANINGS:
        raise InvalidInput.for_field("kind", f"must be {' or '.join(MEANINGS)}")
    places = find_columns(file, MEANINGS[kind], columns)
    entries: list[Entry] = []
    faults: list[FieldFault] = []
    for number, cells in file.rows:
        texts = {meaning: cells[place] for meaning, place in places.items()}
        try:
            entries.append(_entry(kind, texts, number))
        except RowFault as fault:
            faults.append(FieldFault(f"row {number}", str(fault)))
    table_files.refuse(faults)
    return entries


class RowFault(Exception):
    """A fault of a row, described without its value."""


def find_columns(file: TableFile, meanings: Mapping[str, bool], columns: Mapping[str, str]) -> dict[str, int]:
    """Return the place of each meaning that is mapped to a column; InvalidInput names each that is wrong."""
    known = {name.casefold(): place for place, name in enumerate(file.heading)}
    faults, places = [], {}
    for meaning, is_needed in meanings.items():
        name = columns.get(meaning, "").strip()
        if not name and is_needed:
            faults.append(FieldFault(meaning, "must be mapped to a column"))
        elif name and name.casefold() not in known:
            faults.append(FieldFault(meaning, "is mapped to a column that the file does not have"))
        elif name:
            places[meaning] = known[name.casefold()]
    if len(set(places.values())) < len(places):
        faults.append(FieldFault("file", "has one column mapped to two meanings"))
    if faults:
        raise InvalidInput(faults)
    return places


def _entry(kind: str, texts: Mapping[str, str], number: int) -> Entry:
    label = texts["policy_number" if kind == "insurer" else "reference"]
    key: Callable[[str], str] = numbering.key if kind == "insurer" else reference_key
    if not key(label):
        raise RowFault("has no policy number" if kind == "insurer" else "has no reference")
    if len(label) > 120:
        raise RowFault("has a number that is too long")
    return Entry(
        key=key(label),
        label=label,
        transaction=_transaction(texts["transaction"]) if "transaction" in texts else "",
        amount_minor=read_amount(texts["amount"]),
        on=read_day(texts["date"]) if texts.get("date") else None,
        rate_bp=_rate(texts["rate"]) if texts.get("rate") else None,
        subject=str(number),
    )


def _transaction(text: str) -> str:
    found = _WORDS.get(" ".join(text.casefold().split()))
    if found is None:
        raise RowFault(f"has a transaction that is not one of {', '.join(TRANSACTIONS)}")
    return found


def read_amount(text: str) -> int:
    """Return an amount in kobo; RowFault where the text is none."""
    bare = re.sub(r"[\s₦]|NGN", "", text, flags=re.IGNORECASE).replace("−", "-")
    if bare.startswith("(") and bare.endswith(")"):
        bare = f"-{bare[1:-1]}"
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", bare):
        bare = bare.replace(",", "")
    try:
        amount = Decimal(bare)
        if not re.fullmatch(r"-?\d+(\.\d+)?", bare) or abs(amount) > money.MAX_AMOUNT:
            raise InvalidOperation
        return money.to_minor(amount)
    except (InvalidOperation, ValueError):
        raise RowFault("has no amount with at most two decimals, such as -1,250.50") from None


def read_day(text: str) -> date:
    """Return a day; RowFault where the text is none."""
    for pattern, places in _DAYS:
        if found := pattern.fullmatch(text):
            try:
                return date(*(int(found[place]) for place in places))
            except ValueError:
                break
    raise RowFault("has no date as YYYY-MM-DD or DD/MM/YYYY")


def _rate(text: str) -> int:
    try:
        basis_points = Decimal(text.replace("%", "").strip()) * 100
        if basis_points != basis_points.to_integral_value() or not 0 <= basis_points <= 10_000:
            raise InvalidOperation
    except InvalidOperation:
        raise RowFault("has no rate in percent with at most two decimals") from None
    return int(basis_points)


def guess(heading: Sequence[str], meanings: Iterable[str]) -> dict[str, str]:
    """Return the columns whose names say what they mean, for a party whose mapping is not known yet."""
    signs = {
        "claim": ("claim",),
        "account": ("account",),
        "policy_number": ("policy",),
        "reference": ("reference", "narration"),
        "amount": ("net", "amount", "premium"),
        "transaction": ("transaction", "type"),
        "date": ("date",),
        "rate": ("rate", "commission %"),
    }
    found: dict[str, str] = {}
    for meaning in meanings:
        names = [name for name in heading if name not in found.values()]
        hit = next((name for sign in signs[meaning] for name in names if sign in name.casefold()), None)
        if hit:
            found[meaning] = hit
    return found
