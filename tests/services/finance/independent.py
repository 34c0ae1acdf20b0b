"""The books once more, from the rows of a store in plain SQL and plain arithmetic; no code of the services is used.

`python -m tests.services.finance.independent URL` prints the months of a store and what is wrong with its papers.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa

LAGOS = timedelta(hours=1)
_SOURCES = {
    "purchase": "purchase WHERE deleted_at IS NULL",
    "renewal": "renewal WHERE deleted_at IS NULL AND status",
    "refund": "refund WHERE 1 = 1",
    "adjustment": "adjustment WHERE 1 = 1",
}
_COLUMNS = (
    "id, created_at, distributor_id, provider_id, total_minor, mca_profit_minor, distributor_profit_minor, policy_id"
)
_VALID = "state <> 'Void' AND reverses_id IS NULL"


class Entry(NamedTuple):
    """One row of money with its sign."""

    id: UUID
    kind: str
    on: date
    distributor: UUID
    provider: UUID
    premium: int
    platform: int
    seller: int

    @property
    def insurer(self) -> int:
        return self.premium - self.platform - self.seller


class Sums(NamedTuple):
    """The sums of some entries, in kobo."""

    rows: int
    premium: int
    insurer: int
    platform: int
    seller: int


def read_entries(connection: sa.Connection) -> list[Entry]:
    """Every live row of money."""
    found = []
    for kind, source in _SOURCES.items():
        columns = _COLUMNS.replace("policy_id", "id") if kind == "purchase" else _COLUMNS
        for row in _rows(connection, f"SELECT {columns} FROM {source} AND is_live"):
            sign = -1 if kind == "refund" else 1
            amounts = (sign * int(row[place]) for place in (4, 5, 6))
            found.append(Entry(_id(row[0]), kind, lagos_day(row[1]), _id(row[2]), _id(row[3]), *amounts))
    return found


def add_up(entries: list[Entry]) -> Sums:
    return Sums(
        len(entries),
        sum(each.premium for each in entries),
        sum(each.insurer for each in entries),
        sum(each.platform for each in entries),
        sum(each.seller for each in entries),
    )


def of_month(entries: list[Entry], month: date) -> list[Entry]:
    return [each for each in entries if (each.on.year, each.on.month) == (month.year, month.month)]


def lagos_day(value: Any) -> date:
    return (_moment(value).astimezone(UTC) + LAGOS).date()


def find_faults(connection: sa.Connection) -> list[str]:
    """List the differences between the rows and the daybook, statements, bordereaux and payments made of them."""
    entries = {each.id: each for each in read_entries(connection)}
    return [
        *_commission_faults(connection),
        *_daybook_faults(connection, list(entries.values())),
        *_statement_faults(connection, entries),
        *_bordereau_faults(connection, entries),
        *_payment_faults(connection),
    ]


def journal(connection: sa.Connection, month: date) -> dict[str, int]:
    """The balance of each account in a month: debits less credits."""
    accounts: dict[str, int] = defaultdict(int)
    holders = _holders(connection, month)
    for each in of_month(read_entries(connection), month):
        held = each.distributor in holders
        accounts["Receivable from distributors" if held else "Premium wallet"] += each.premium
        accounts["Payable to insurers"] -= each.insurer
        accounts["Commission payable"] -= each.seller
        accounts["Commission income"] -= each.platform
    payments = (
        "SELECT account, direction, amount_minor, value_on FROM party_payment"
        " JOIN payment ON payment.id = party_payment.payment_id"
    )
    for account, direction, minor, on in _rows(connection, payments):
        if _month(on) == month:
            paid = "Commission payable" if direction == "out" else "Receivable from distributors"
            accounts["Payable to insurers" if account == "provider" else paid] += minor
            accounts["Bank"] -= minor
    taxes = f"SELECT month, vat_minor, withheld_minor FROM statement WHERE account = 'distributor' AND {_VALID}"
    for stated, vat, withheld in _rows(connection, taxes):
        if _month(stated) == month:
            accounts["Input VAT"] += vat
            accounts["Withholding tax payable"] -= withheld
            accounts["Commission payable"] += withheld - vat
    return {name: minor for name, minor in accounts.items() if minor}


def _daybook_faults(connection: sa.Connection, entries: list[Entry]) -> Iterator[str]:
    verbs = ("sold", "renewed", "adjusted")
    net = [
        " + ".join(f"{verb}{part}_minor" for verb in verbs) + f" - refunded{part}_minor"
        for part in ("", "_mca", "_distributor")
    ]
    number = "sold + renewed + refunds + adjustments"
    query = (
        f"SELECT day, distributor_id, SUM({number}), {', '.join(f'SUM({each})' for each in net)} FROM daybook_line"
        " WHERE is_live AND grain = 'day' GROUP BY day, distributor_id"
    )
    kept = {(_day(row[0]), _id(row[1])): tuple(int(value) for value in row[2:]) for row in _rows(connection, query)}
    days: dict[tuple[date, UUID], list[Entry]] = defaultdict(list)
    for each in entries:
        days[each.on, each.distributor].append(each)
    for key in kept.keys() | days.keys():
        sums = add_up(days.get(key, []))
        if kept.get(key, (0, 0, 0, 0)) != (sums.rows, sums.premium, sums.platform, sums.seller):
            yield f"the daybook of {key[0]} is not its rows"


def _commission_faults(connection: sa.Connection) -> Iterator[str]:
    """Sales whose distributor's part is not that of the share which it had agreed then, or of the product."""
    agreed: dict[UUID, list[tuple[UUID | None, datetime, datetime, int | None]]] = defaultdict(list)
    columns = "distributor_id, product_id, effective_at, decided_at, commission_bp"
    for row in _rows(connection, f"SELECT {columns} FROM commission_share WHERE state = 'confirmed'"):
        agreed[_id(row[0])].append((_id(row[1]) if row[1] else None, _moment(row[2]), _moment(row[3]), row[4]))
    sales = (
        "SELECT p.distributor_id, p.product_id, p.created_at, p.total_minor, p.mca_profit_minor,"
        " p.distributor_profit_minor, b.mca_commission_bp, b.distributor_commission_bp"
        " FROM purchase p JOIN product_version v ON v.id = p.product_version_id"
        " JOIN product_version b ON b.id = COALESCE(v.base_id, v.id)"
    )
    for row in _rows(connection, sales):
        own = _own_share(agreed[_id(row[0])], _id(row[1]), _moment(row[2]))
        seller = row[7] if own is None else own
        if row[4:6] != tuple((row[3] * bp + 5_000) // 10_000 for bp in (row[6] + row[7] - seller, seller)):
            yield "a purchase is not divided by the share that its distributor had"


def _own_share(agreed: list[Any], product: UUID, at: datetime) -> int | None:
    for owner in (product, None):
        begun = [each[1:] for each in agreed if each[0] == owner and each[1] <= at]
        if begun and max(begun)[2] is not None:
            return int(max(begun)[2])
    return None


def _moment(value: Any) -> datetime:
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def _statement_faults(connection: sa.Connection, entries: dict[UUID, Entry]) -> Iterator[str]:
    query = (
        "SELECT id, account, distributor_id, provider_id, month, opening_minor, closing_minor, vat_minor,"
        f" withheld_minor, lines FROM statement WHERE {_VALID} ORDER BY account, month"
    )
    closing: dict[tuple[str, UUID], int] = defaultdict(int)
    stated: dict[tuple[str, UUID], set[UUID]] = defaultdict(set)
    until: dict[tuple[str, UUID], date] = {}
    for row in _rows(connection, query):
        key, month = (row[1], _id(row[2] or row[3])), _month(row[4])
        of_statement = f" WHERE statement_id = '{_raw(connection, row[0])}' AND released_by IS NULL"
        lines = _rows(connection, f"SELECT movement_id, premium_minor, net_minor FROM statement_line{of_statement}")
        mine = [entries[_id(line[0])] for line in lines]
        paid = sum(
            int(line[0]) for line in _rows(connection, f"SELECT amount_minor FROM statement_payment{of_statement}")
        )
        name = f"the statement of {key[0]} {month:%Y-%m}"
        if len(mine) != row[9] or stated[key] & {each.id for each in mine}:
            yield f"{name} does not hold each movement once"
        stated[key] |= {each.id for each in mine}
        until[key] = month
        if sum(int(line[1]) for line in lines) != sum(each.premium for each in mine):
            yield f"{name} has another premium than its rows"
        vat, withheld = _taxes(connection, key, month, sum(each.seller for each in mine))
        owed = _owed(connection, key, month, mine) + vat - withheld
        if (row[7], row[8]) != (vat, withheld):
            yield f"{name} has other taxes than its rates make"
        if row[5] != closing[key] or row[6] != closing[key] + owed - paid:
            yield f"{name} does not go from its opening to its closing balance"
        closing[key] = row[6]
    # Rows of the last month may still be on their way to the next statement.
    for key, month in until.items():
        mine = {
            each.id
            for each in entries.values()
            if (each.distributor if key[0] == "distributor" else each.provider) == key[1] and each.on < month
        }
        if mine - stated[key]:
            yield f"{len(mine - stated[key])} rows are on no statement of {key[0]}"


def _owed(connection: sa.Connection, key: tuple[str, UUID], month: date, mine: list[Entry]) -> int:
    if key[0] == "provider":
        return sum(each.insurer for each in mine)
    held = sum(each.premium for each in mine) if key[1] in _holders(connection, month) else 0
    return sum(each.seller for each in mine) - held


def _taxes(connection: sa.Connection, key: tuple[str, UUID], month: date, commission: int) -> tuple[int, int]:
    if key[0] == "provider":
        return 0, 0
    terms = _terms(connection, key[1], month)
    vat = _rate(connection, "vat", month)["resident_bp"] if terms.get("charges_vat") else 0
    rate = _rate(connection, "withholding", month)
    is_free = terms.get("tin") and terms.get("is_small") and commission <= (rate["small_limit_minor"] or 0)
    if commission <= 0 or is_free:
        bp = 0
    else:
        bp = rate["resident_bp"] if terms.get("is_resident", True) else rate["non_resident_bp"]
        bp *= 1 if terms.get("tin") else rate["without_tin_factor"]
    return (commission * vat + 5_000) // 10_000, (commission * bp + 5_000) // 10_000


def _terms(connection: sa.Connection, distributor: UUID, month: date) -> dict[str, Any]:
    names = ("collects", "charges_vat", "tin", "is_small", "is_resident")
    found = [
        (_day(row[0]), str(row[1]), row)
        for row in _rows(
            connection,
            f"SELECT starts_on, created_at, {', '.join(names)} FROM agreement"
            f" WHERE distributor_id = '{_raw(connection, distributor)}'",
        )
        if _day(row[0]) < _next(month)
    ]
    return dict(zip(names, max(found)[2][2:], strict=True)) if found else {}


def _holders(connection: sa.Connection, month: date) -> set[UUID]:
    sellers = {_id(row[0]) for row in _rows(connection, "SELECT id FROM distributor")}
    return {each for each in sellers if _terms(connection, each, month).get("collects") == "distributor"}


def _rate(connection: sa.Connection, kind: str, month: date) -> dict[str, Any]:
    names = ("resident_bp", "non_resident_bp", "without_tin_factor", "small_limit_minor")
    rows = _rows(
        connection,
        f"SELECT effective_on, {', '.join(names)} FROM tax_rate WHERE kind = '{kind}' AND state = 'confirmed'"
        " ORDER BY decided_at IS NOT NULL, decided_at",
    )
    held = [(_day(row[0]), place) for place, row in enumerate(rows) if _day(row[0]) <= month]
    newest = rows[max(held)[1]]
    return dict(zip(names, newest[1:], strict=True))


def _bordereau_faults(connection: sa.Connection, entries: dict[UUID, Entry]) -> Iterator[str]:
    reported: set[UUID] = set()
    until: dict[UUID, date] = {}
    for row in _rows(
        connection, "SELECT id, provider_id, month, rows, totals FROM bordereau WHERE kind = 'premium' ORDER BY month"
    ):
        lines = _rows(
            connection,
            f"SELECT subject_id, amount_minor FROM bordereau_line WHERE bordereau_id = '{_raw(connection, row[0])}'",
        )
        mine, month = [entries[_id(line[0])] for line in lines], _month(row[2])
        totals = json.loads(row[4]) if isinstance(row[4], str) else row[4]
        sums = add_up(mine)
        name = f"the bordereau of {month:%Y-%m}"
        if sums.rows != row[3] or reported & {each.id for each in mine}:
            yield f"{name} does not hold each movement once"
        found = (totals["gross_premium"], totals["commission"], totals["brokerage"], totals["final_net"])
        if found != (sums.premium, sums.platform, sums.seller, sums.insurer):
            yield f"{name} has other totals than its rows"
        reported |= {each.id for each in mine}
        until[_id(row[1])] = max(month, until.get(_id(row[1]), month))
    for provider, month in until.items():
        mine_ids = {each.id for each in entries.values() if each.provider == provider and each.on < month}
        if mine_ids - reported:
            yield f"{len(mine_ids - reported)} rows are in no bordereau"


def _payment_faults(connection: sa.Connection) -> Iterator[str]:
    query = (
        "SELECT p.id, p.net_minor, SUM(s.net_minor), p.gross_minor + p.vat_minor - p.withheld_minor FROM payment p"
        " JOIN payment_settlement s ON s.payment_id = p.id"
        " GROUP BY p.id, p.net_minor, p.gross_minor, p.vat_minor, p.withheld_minor"
    )
    for row in _rows(connection, query):
        if not row[1] == int(row[2]) == row[3]:
            yield "a payment is not what it settles"


def _rows(connection: sa.Connection, query: str) -> list[Any]:
    return list(connection.execute(sa.text(query)).all())


def _raw(connection: sa.Connection, value: Any) -> str:
    """An id as the database writes it."""
    return str(_id(value)) if connection.dialect.name == "postgresql" else _id(value).hex


def _id(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(str(value))


def _day(value: Any) -> date:
    return date.fromisoformat(value[:10]) if isinstance(value, str) else value


def _month(value: Any) -> date:
    return _day(value).replace(day=1)


def _next(month: date) -> date:
    return (month.replace(day=1) + timedelta(days=32)).replace(day=1)


def main(url: str) -> int:
    """Print every month and every fault of a store."""
    with sa.create_engine(url).connect() as connection:
        entries = read_entries(connection)
        for month in sorted({each.on.replace(day=1) for each in entries}):
            sums = add_up(of_month(entries, month))
            amounts = "  ".join(f"{name} {value / 100:,.2f}" for name, value in list(sums._asdict().items())[1:])
            sys.stdout.write(f"{month:%Y-%m}  {sums.rows:>7,} rows  {amounts}\n")
        faults = find_faults(connection)
    sys.stdout.write("\n".join([*faults, f"{len(faults)} faults"]) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
