"""CSV and XLSX files of other parties as rows of text, refused by row where they cannot be trusted (contract F6)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeVar

from core import money
from core.errors import FieldFault, InvalidInput, TooLarge, raise_faults
from core.services.files import table_reader
from core.services.files.table_reader import Refused
from core.services.finance.reconciling.matching import Entry
from core.services.people.transfers import LONGEST_REFERENCE, find_fault, reference_key
from core.store import policy_numbers

Line = TypeVar("Line")
MAX_ROWS: Final = table_reader.MAX_ROWS
MAX_BYTES: Final = 30 * 1024 * 1024
_MAX_COLUMNS: Final = 100
_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class TableFile:
    """The heading and the rows of a file; each row has its number in the file, as people count them.

    `repeats` are rows that are in it twice: the number of each with that of the first.
    """

    heading: tuple[str, ...]
    rows: Sequence[tuple[int, tuple[str, ...]]]
    repeats: Mapping[int, int] = field(default_factory=dict)

    def find_repeat(self, number: int) -> str | None:
        """Return the fault of a row that is in the file twice."""
        return f"is the same as row {self.repeats[number]}" if number in self.repeats else None


def read(name: str, content: bytes) -> TableFile:
    """Read a file by its ending; InvalidInput names what is wrong and in which rows, TooLarge one beyond the limits."""
    if len(content) > MAX_BYTES:
        raise TooLarge(f"A file has at most {MAX_BYTES // (1 << 20)} MB")
    return _build(_list_rows(name, content))


def refuse(faults: Sequence[FieldFault]) -> None:
    """Raise the faults that were found, the first twenty by name."""
    if not faults:
        return
    more = len(faults) - _NAMED
    rest = [FieldFault("file", f"has {more:,} more such rows")] if more > 0 else []
    raise InvalidInput([*faults[:_NAMED], *rest])


def _build(lines: Iterator[tuple[int, list[str]]]) -> TableFile:
    _, heading = next(lines, (0, []))
    names = tuple(cell.strip() for cell in heading)
    while names and not names[-1]:
        names = names[:-1]
    _check_heading(names)
    rows: list[tuple[int, tuple[str, ...]]] = []
    faults: list[FieldFault] = []
    seen: dict[tuple[str, ...], int] = {}
    repeats: dict[int, int] = {}
    for number, cells in lines:
        row = tuple(cell.strip() for cell in cells)
        if not any(row):
            continue
        if len(rows) == MAX_ROWS:
            raise TooLarge(f"A file has at most {MAX_ROWS:,} rows: divide it by days")
        if (first := seen.setdefault(row, number)) != number:
            repeats[number] = first
        if fault := _row_fault(row, len(names)):
            faults.append(FieldFault(f"row {number}", fault))
        rows.append((number, (*row, *[""] * (len(names) - len(row)))[: len(names)]))
    refuse(faults)
    if not rows:
        raise InvalidInput.for_field("file", "has no rows below its heading")
    return TableFile(names, rows, repeats)


def _check_heading(names: tuple[str, ...]) -> None:
    if not names or not all(names):
        raise InvalidInput.for_field("file", "must begin with a heading that names every column")
    if len(names) > _MAX_COLUMNS:
        raise InvalidInput.for_field("file", f"must have at most {_MAX_COLUMNS} columns")
    if len({name.casefold() for name in names}) < len(names):
        raise InvalidInput.for_field("file", "has two columns of the same name: rename one of them")


def _row_fault(row: tuple[str, ...], columns: int) -> str | None:
    if any(row[columns:]):
        return "has more cells than the heading"
    if any(cell.startswith("=") for cell in row):
        return "has a formula: save the file with values only"
    return None


def _list_rows(name: str, content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file; a workbook is opened by another process, as it may fill the memory of this one."""
    try:
        if table_reader.is_workbook(name, content):
            yield from table_reader.read_apart("figures", name, content)
        else:
            yield from table_reader.read_text(content)
    except Refused as refused:
        raise InvalidInput.for_field(refused.place, str(refused)) from None


# A statement of the bank has one column of amounts, or these two.
IN_AND_OUT: Final = ("money_in", "money_out")
# What a column can mean, and whether it has to be there.
MEANINGS: Final[Mapping[str, Mapping[str, bool]]] = {
    "insurer": {"policy_number": True, "amount": True, "transaction": False, "date": False, "rate": False},
    "bank": {"reference": True, "amount": False, **dict.fromkeys(IN_AND_OUT, False), "date": False},
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
REPEATED_REFERENCE: Final = "has the reference of another row: each payment has its own"
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
    places = _find_places(file, kind, columns)
    entries: list[Entry] = []
    faults: list[FieldFault] = []
    named_by = "policy_number" if kind == "insurer" else "reference"
    needed = [meaning for meaning in (named_by, "amount", *IN_AND_OUT) if meaning in places]
    for number, cells in file.rows:
        texts = {meaning: cells[place] for meaning, place in places.items()}
        # Words below the table have neither a number nor an amount.
        if _SUM.fullmatch(cells[0]) or not any(texts[meaning] for meaning in needed):
            continue
        try:
            entries.append(_read_row(file, kind, texts, number))
        except RowFault as fault:
            faults.append(FieldFault(f"row {number}", str(fault)))
    refuse(faults)
    return entries[:-1] if _is_total(entries) else entries


def _is_total(entries: Sequence[Entry]) -> bool:
    """True where the last row has no number and adds the others up: it is no money of its own."""
    if len(entries) < 3 or entries[-1].key:
        return False
    return entries[-1].amount_minor == sum(each.amount_minor for each in entries[:-1])


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
    raise_faults(faults)
    return places


def _find_places(file: TableFile, kind: str, columns: Mapping[str, str]) -> dict[str, int]:
    """Return the place of each meaning; InvalidInput too where the bank's amounts are in no column, or in too many."""
    places = find_columns(file, MEANINGS[kind], columns)
    mapped = [name for name in IN_AND_OUT if name in places]
    if "amount" in places and mapped:
        raise InvalidInput.for_field(mapped[0], "must not be mapped beside the amount: it is one column or two")
    if "amount" not in places and len(mapped) < len(IN_AND_OUT):
        raise InvalidInput.for_field("amount", "must be mapped to a column, or money in and money out both")
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
        amount_minor=read_amount(texts["amount"]) if "amount" in texts else _read_in_and_out(texts),
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


def _read_in_and_out(texts: Mapping[str, str]) -> int:
    """Return what came in less what went out, in kobo; RowFault for a row with both, none, or a sign."""
    came_in, went_out = (read_amount(texts[name]) if texts[name] else 0 for name in IN_AND_OUT)
    if came_in < 0 or went_out < 0:
        raise RowFault("has an amount below 0 in a column of money in or out")
    if bool(came_in) == bool(went_out):
        raise RowFault(f"has {'both' if came_in else 'neither'} money in {'and' if came_in else 'nor'} money out")
    return came_in - went_out


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


def read_reference(text: str) -> str:
    """Return the reference of a payment; RowFault where the text cannot be one. None is no fault."""
    if len(text) > LONGEST_REFERENCE:
        raise RowFault("has a reference that is too long")
    if text and (found := find_fault(text)):
        raise RowFault(f"is refused: its reference {found}")
    return text


def refuse_repeated(lines: Sequence[Line], key_of: Callable[[Line], object], why: str) -> list[Line]:
    """Refuse every one of several lines with the same key: which of them is meant is not for us to choose.

    A line is a dataclass with a `refusal`, of which the first stays; one without a key is not compared.
    """
    counts = Counter(map(key_of, lines))

    def judge(line: Any) -> Any:
        is_repeated = key_of(line) and counts[key_of(line)] > 1
        return replace(line, refusal=line.refusal or why) if is_repeated else line

    return [judge(line) for line in lines]


def _narration(text: str) -> str:
    """Return the narration of one of our orders; RowFault for other texts."""
    if not re.search(r"PB-\d+\s*/\s*\d+", text, re.IGNORECASE):
        raise RowFault("names no order of ours")
    return text


def guess(
    heading: Sequence[str], meanings: Iterable[str], rows: Sequence[Sequence[str]] = (), *, amount_is: str = "net"
) -> dict[str, str]:
    """Return the column of each meaning, by its heading and by what is in it: what cannot be an amount is none.

    `rows` are the cells of some rows; without them the heading alone decides. One column has one meaning. An amount is
    in one column, or in one of money in and one of money out.
    """
    wanted = list(meanings)
    divided = [meaning for meaning in wanted if meaning != "amount"]
    found = _guess_each(heading, divided, rows, amount_is)
    if "amount" not in wanted or all(meaning in found for meaning in IN_AND_OUT):
        return found
    return _guess_each(heading, [meaning for meaning in wanted if meaning not in IN_AND_OUT], rows, amount_is)


def _guess_each(
    heading: Sequence[str], meanings: Iterable[str], rows: Sequence[Sequence[str]], amount_is: str
) -> dict[str, str]:
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


def find_measure(heading: str) -> str | None:
    """Return what a column of amounts says that it holds: "gross" or "net"; None where its heading does not say it."""
    words = set(_bare(heading).split())
    named = [measure for measure in ("gross", "net") if measure in words]
    return named[0] if len(named) == 1 else None


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


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row as it was understood: its number in the file, the cells of its meanings, and its entry or its fault."""

    number: int
    texts: Mapping[str, str]
    found: Entry | str


def read_first(file: TableFile, kind: str, columns: Mapping[str, str]) -> list[ReadRow]:
    """Return the first rows as they are understood."""
    places = _find_places(file, kind, columns)
    rows: list[ReadRow] = []
    for number, cells in file.rows[:SHOWN]:
        texts = {meaning: cells[place] for meaning, place in places.items()}
        try:
            rows.append(ReadRow(number, texts, _read_row(file, kind, texts, number)))
        except RowFault as fault:
            rows.append(ReadRow(number, texts, str(fault)))
    return rows


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
_BY_CONTENT: Final = ("policy_number", "reference", "amount", "transaction", "date", "narration", "status")
_GROSS: Final = ("gross premium", "gross", "premium")
_SIGNS: Final[Mapping[str, tuple[str, ...]]] = {
    "claim": ("claim",),
    "account": ("account number", "account no", "nuban", "account"),
    "narration": ("narration", "our reference", "description", "remark", "details"),
    "status": ("status", "result", "outcome", "response"),
    "reason": ("reason", "message", "comment", "remark"),
    "policy_number": ("policy number", "policy no", "policy", "certificate"),
    "reference": ("reference", "session id", "narration", "description"),
    "amount": ("final net", "net premium", "net amount", "net", "amount", "premium", "paid"),
    "money_in": ("money in", "credit", "deposit", "paid in", "inflow"),
    "money_out": ("money out", "debit", "withdrawal", "paid out", "outflow"),
    "transaction": ("transaction type", "transaction", "type"),
    "date": ("transaction on", "transaction date", "value date", "date"),
    "rate": ("rate", "commission %"),
}
_READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "policy_number": _code,
    **dict.fromkeys(("amount", *IN_AND_OUT), read_amount),
    "transaction": _transaction,
    "date": read_day,
    "rate": _rate,
    "narration": _narration,
    "status": read_status,
}
