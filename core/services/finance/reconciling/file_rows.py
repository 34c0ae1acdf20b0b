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
from core.services.transfers import reference_key
from core.store import policy_numbers

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
CONFIRMED, RETURNED, PENDING = "confirmed", "returned", "pending"
_STATUSES: Final = {
    **dict.fromkeys(("paid", "success", "successful", "completed", "processed", "settled", "credited"), CONFIRMED),
    **dict.fromkeys((CONFIRMED, "00", "ok", "done"), CONFIRMED),
    **dict.fromkeys((RETURNED, "failed", "rejected", "reversed", "declined"), RETURNED),
    **dict.fromkeys(("unpaid", "not paid", "bounced"), RETURNED),
    **dict.fromkeys((PENDING, "processing", "queued", "in progress", "submitted"), PENDING),
}
_SUM: Final = re.compile(r"control: .*|(grand |sub)?-?totals?:?|sum:?", re.IGNORECASE)
_DAYS: Final = (
    (re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ].*)?"), (1, 2, 3)),
    (re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})"), (3, 2, 1)),
)


def read_entries(file: TableFile, kind: str, columns: Mapping[str, str]) -> list[Entry]:
    """Return the entries of a file; InvalidInput names every column that is missing and every row that is wrong.

    A row without a number is an entry that nothing can be compared with. Rows that add others up, and words below the
    table, are none.
    """
    if kind not in MEANINGS:
        raise InvalidInput.for_field("kind", f"must be {' or '.join(MEANINGS)}")
    places = find_columns(file, MEANINGS[kind], columns)
    entries: list[Entry] = []
    faults: list[FieldFault] = []
    for number, cells in file.rows:
        texts = {meaning: cells[place] for meaning, place in places.items()}
        try:
            entry = _read_row(file, kind, texts, number) if _holds_money(kind, texts) else None
        except RowFault as fault:
            faults.append(FieldFault(f"row {number}", str(fault)))
            continue
        if entry and not _SUM.fullmatch(cells[0]):
            entries.append(entry)
    table_files.refuse(faults)
    return entries[:-1] if _is_total(entries) else entries


def _is_total(entries: Sequence[Entry]) -> bool:
    """True where the last row has no number and adds the others up: it is no money of its own."""
    if len(entries) < 3 or entries[-1].key:
        return False
    return entries[-1].amount_minor == sum(each.amount_minor for each in entries[:-1])


def _holds_money(kind: str, texts: Mapping[str, str]) -> bool:
    """False for a row that has neither a number nor an amount, such as the words below a table."""
    return bool(texts["policy_number" if kind == "insurer" else "reference"] or texts["amount"])


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


def _read_row(file: TableFile, kind: str, texts: Mapping[str, str], number: int) -> Entry:
    """Return the entry of a row; RowFault too where a row with a number is in the file twice."""
    entry = _entry(kind, texts, number)
    # Without a number, equal rows may be several sales of one price.
    if entry.key and (fault := file.find_repeat(number)):
        raise RowFault(fault)
    return entry


def _entry(kind: str, texts: Mapping[str, str], number: int) -> Entry:
    label = texts["policy_number" if kind == "insurer" else "reference"]
    key: Callable[[str], str] = policy_numbers.key if kind == "insurer" else reference_key
    transaction_text = texts.get("transaction", "")
    if len(label) > 120:
        raise RowFault("has a number that is too long")
    return Entry(
        key=key(label),
        label=label,
        # A row without a number may do without: nothing is compared with it.
        transaction=_transaction(transaction_text)
        if transaction_text or (key(label) and "transaction" in texts)
        else "",
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


def read_status(text: str) -> str:
    """Return what a bank says of an order: CONFIRMED, RETURNED or PENDING; RowFault for words that say neither."""
    found = _STATUSES.get(" ".join(re.sub(r"[_\-]", " ", text.casefold()).split()))
    if found is None:
        raise RowFault("has a status that says neither paid nor returned")
    return found


def _narration(text: str) -> str:
    """Return the narration of one of our orders; RowFault for other texts."""
    if not re.search(r"PB-\d+\s*/\s*\d+", text, re.IGNORECASE):
        raise RowFault("names no order of ours")
    return text


def guess(
    heading: Sequence[str], meanings: Iterable[str], rows: Sequence[Sequence[str]] = (), *, amount_is: str = "net"
) -> dict[str, str]:
    """Return the column of each meaning, by its heading and by what is in it: what cannot be an amount is none.

    `rows` are the cells of some rows; without them the heading alone decides. One column has one meaning.
    """
    found: dict[str, str] = {}
    for meaning in meanings:
        free = [(place, name) for place, name in enumerate(heading) if name not in found.values()]
        # Some rows that will be refused do not take a column from its heading.
        fitting = [(place, name) for place, name in free if _fits(meaning, [row[place] for row in rows])]
        signs = [*(_GROSS if meaning == "amount" and amount_is == "gross" else ()), *_SIGNS[meaning]]
        hit = next((name for sign in signs for _, name in fitting if sign in _bare(name)), None)
        # Without a telling heading a column is chosen where it alone can be what is needed.
        if hit is None and meaning in _BY_CONTENT and rows:
            sure = [name for place, name in fitting if _fits(meaning, [row[place] for row in rows], least=0.9)]
            hit = sure[0] if len(sure) == 1 else None
        if hit:
            found[meaning] = hit
    return found


def suits(file: TableFile, columns: Mapping[str, str]) -> bool:
    """Return True for a mapping whose columns the file has, and whose content can be what the mapping says.

    A column that is empty in this file may be any.
    """
    places = {name: place for place, name in enumerate(file.heading)}
    mapped = {meaning: name for meaning, name in columns.items() if name}
    some = [cells for _, cells in file.rows[:_LOOKED_AT]]
    if not all(name in places for name in mapped.values()):
        return False
    held = {meaning: [cells[places[name]] for cells in some] for meaning, name in mapped.items()}
    return all(_fits(meaning, cells) for meaning, cells in held.items() if any(cells))


def read_first(file: TableFile, kind: str, columns: Mapping[str, str]) -> list[tuple[int, Entry | str]]:
    """Return the first rows as they are understood: each with its number in the file, and an entry or its fault."""
    places = find_columns(file, MEANINGS[kind], columns)
    found: list[tuple[int, Entry | str]] = []
    for number, cells in file.rows[:SHOWN]:
        try:
            texts = {meaning: cells[place] for meaning, place in places.items()}
            found.append((number, _read_row(file, kind, texts, number)))
        except RowFault as fault:
            found.append((number, str(fault)))
    return found


def _bare(name: str) -> str:
    return " ".join(re.sub(r"[_.\-/]", " ", name.casefold()).split())


def _fits(meaning: str, cells: Sequence[str], *, least: float = 0.5) -> bool:
    """True where at least a share of the cells that hold something can be read as a meaning."""
    held = [cell for cell in cells if cell]
    read = _READERS.get(meaning)
    if not held or read is None:
        return bool(held) or not cells
    return sum(_can_read(read, cell) for cell in held) >= least * len(held)


def _can_read(read: Callable[[str], object], cell: str) -> bool:
    try:
        read(cell)
    except RowFault:
        return False
    return True


def _code(text: str) -> str:
    """Return a number of a policy or payment; RowFault for what is rather a day, an amount or words."""
    is_amount = "." in text and _can_read(read_amount, text)
    if is_amount or _can_read(read_day, text) or not any(each.isdigit() for each in text):
        raise RowFault("has no number")
    return text


SHOWN: Final = 10
_LOOKED_AT: Final = 200
# What may be found without a telling heading, where one column alone can be it.
_BY_CONTENT: Final = ("policy_number", "reference", "amount", "date", "narration", "status")
_GROSS: Final = ("gross premium", "gross", "premium")
_SIGNS: Final[Mapping[str, tuple[str, ...]]] = {
    "claim": ("claim",),
    "account": ("account number", "account no", "nuban", "account"),
    "narration": ("narration", "our reference", "description", "remark", "details"),
    "status": ("status", "result", "outcome", "response"),
    "reason": ("reason", "message", "comment"),
    "policy_number": ("policy number", "policy no", "policy", "certificate"),
    "reference": ("reference", "narration", "description"),
    "amount": ("final net", "net premium", "net amount", "net", "amount", "premium", "paid"),
    "transaction": ("transaction type", "transaction", "type"),
    "date": ("transaction on", "transaction date", "value date", "date"),
    "rate": ("rate", "commission %"),
}
_READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "policy_number": _code,
    "amount": read_amount,
    "transaction": _transaction,
    "date": read_day,
    "rate": _rate,
    "narration": _narration,
    "status": read_status,
}
