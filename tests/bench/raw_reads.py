"""The least that a page of purchases can cost: a bare ASGI route, hand-written SQL, rows made into JSON by orjson.

It sends the same bytes as the API and knows the same short cuts: counts from the daybook, a deep page found by
walking months and days, an e-mail resolved first, the catalogue kept as encoded JSON. It checks nothing, has one
query for each question and believes whatever it is asked.
"""

import asyncio
import os
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import orjson
import psycopg
import sqlalchemy as sa

from core.store.access.sqlite import sqlite

URL = sa.make_url(os.environ["COVERDESK_DATABASE_URL"])
SELLER = os.environ["RAW_SELLERS"]
CONNECTIONS = 16
ON_SQLITE = URL.get_backend_name() == "sqlite"
PURCHASE = (
    *("id", "customer_id", "product_id", "product_category_id", "distributor_id", "provider_id", "batch_id"),
    *("total_minor", "mca_profit_minor", "distributor_profit_minor", "discount_code_id", "payment_option"),
    *("payment_channel", "request_source", "is_live", "created_at", "updated_at", "deleted_at"),
)
CUSTOMER = (
    *("id", "is_live", "distributor_id", "user_id", "wallet_id", "first_name", "last_name", "email"),
    *("phone_number", "country", "gender", "title", "state_of_residence", "city", "address", "date_of_birth"),
    *("identity_verification", "verification_type", "face_image", "is_kyc_complete", "active"),
    *("created_at", "updated_at", "deleted_at"),
)
COLUMNS = ", ".join([*(f"p.{name}" for name in PURCHASE), "y.id", *(f"c.{name}" for name in CUSTOMER)])
AFTER = len(PURCHASE) + 1
MINE = "distributor_id = ? AND is_live = true"
PAGE = f"""
SELECT {COLUMNS} FROM (
  SELECT id FROM purchase WHERE {MINE} AND deleted_at IS NULL %s ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?
) page JOIN purchase p ON p.id = page.id JOIN customer c ON c.id = p.customer_id JOIN policy y ON y.purchase_id = p.id
ORDER BY p.created_at DESC, p.id DESC
"""
BEFORE = PAGE % "AND created_at < ?"
BETWEEN = PAGE % "AND created_at >= ? AND created_at < ? AND provider_id = ?"
OF_CUSTOMER = PAGE % "AND customer_id = ?"
MONTHS = f"""SELECT day, CAST(sum(sold) AS BIGINT) FROM daybook_line WHERE {MINE} AND grain = 'month'
GROUP BY day ORDER BY day DESC"""
DAYS = f"""SELECT day, CAST(sum(sold) AS BIGINT) FROM daybook_line
WHERE {MINE} AND grain = 'day' AND day >= ? AND day < ?
GROUP BY day ORDER BY day DESC"""
SOLD = f"""SELECT CAST(sum(sold) AS BIGINT) FROM daybook_line WHERE {MINE} AND grain = 'day' AND day >= ? AND day <= ?
AND product_id IN (SELECT id FROM product WHERE provider_id = ?)"""
EDGE = f"""SELECT count(*) FROM purchase WHERE {MINE} AND deleted_at IS NULL AND created_at >= ? AND created_at < ?
AND provider_id = ?"""
WHO = f"SELECT id FROM customer WHERE {MINE} AND email_key = ?"
HOW_MANY = f"SELECT count(*) FROM purchase WHERE {MINE} AND customer_id = ? AND deleted_at IS NULL"
HOUR = timedelta(hours=1)
Rows = list[tuple[Any, ...]]


class Sqlite:
    """One connection, used by the loop itself: nothing is waited for."""

    def __init__(self) -> None:
        self._connection = sqlite.connect(f"file:{URL.database}?mode=ro", uri=True, cached_statements=64)
        self._connection.execute("PRAGMA cache_size=-65536")

    async def rows(self, query: str, *values: Any) -> Rows:
        """Every row of a query."""
        return self._connection.execute(query, values).fetchall()


class Postgres:
    """Connections that each ask one thing at a time, with prepared statements."""

    def __init__(self, free: asyncio.Queue[psycopg.AsyncConnection[Any]]) -> None:
        self._free = free

    @classmethod
    async def open(cls) -> "Postgres":
        """Connections that are ready."""
        address = URL.set(drivername="postgresql").render_as_string(hide_password=False)
        free: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()
        for _ in range(CONNECTIONS):
            free.put_nowait(await psycopg.AsyncConnection.connect(address, autocommit=True))
        return cls(free)

    async def rows(self, query: str, *values: Any) -> Rows:
        """Every row of a query."""
        connection = await self._free.get()
        try:
            return await (await connection.execute(_marked(query), values, prepare=True)).fetchall()
        finally:
            self._free.put_nowait(connection)


@cache
def _marked(query: str) -> str:
    return query.replace("%", "%%").replace("?", "%s")


class Desk:
    """Answers pages of purchases."""

    def __init__(self, database: Any) -> None:
        self.database = database
        self.products: dict[Any, tuple[orjson.Fragment, ...]] = {}

    async def stock(self) -> None:
        """Take the catalogue as the API embeds it, once."""
        from core.services.catalogue import products
        from core.store.access import Scope, reading

        with reading(Scope.system()) as session:
            for (product_id, is_live), record in products.load_records(session).items():
                if is_live:
                    parts = (record, record["productCategory"], record["provider"])
                    self.products[_key(product_id)] = tuple(orjson.Fragment(orjson.dumps(part)) for part in parts)

    async def newest(self, seller: Any, page: int) -> tuple[Rows, int]:
        """A page of everything."""
        months = await self.database.rows(MONTHS, seller)
        total, offset, until = sum(row[1] for row in months), (page - 1) * 10, datetime(2200, 1, 1, tzinfo=UTC)
        if offset:
            month, offset = _reached(months, offset)
            days = await self.database.rows(DAYS, seller, str(month), str(month + timedelta(days=31)))
            day, offset = _reached(days, offset)
            until = datetime.fromisoformat(f"{day}T00:00:00+00:00") + 23 * HOUR
        return await self.database.rows(BEFORE, seller, _instant(until), 10, offset), total

    async def between(self, seller: Any, first: str, last: str, provider: Any) -> tuple[Rows, int]:
        """The first page of some UTC days and one insurer."""
        sold = (await self.database.rows(SOLD, seller, first, last, provider))[0][0] or 0
        start, end = (datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in (first, last))
        end += 24 * HOUR
        for sign, edge in ((-1, start), (1, end)):
            rows = await self.database.rows(EDGE, seller, _instant(edge - HOUR), _instant(edge), provider)
            sold += sign * rows[0][0]
        return await self.database.rows(BETWEEN, seller, _instant(start), _instant(end), provider, 10, 0), sold

    async def of(self, seller: Any, email: str) -> tuple[Rows, int]:
        """The first page of one customer."""
        (customer,) = (await self.database.rows(WHO, seller, email))[0]
        sold = (await self.database.rows(HOW_MANY, seller, customer))[0][0]
        return await self.database.rows(OF_CUSTOMER, seller, customer, 10, 0), sold

    def body(self, rows: Rows, total: int) -> bytes:
        """The answer, as the API words it."""
        counts = {"total_count": total, "total": total, "total_result": total}
        data = {"purchases": [self._record(row) for row in rows], **counts}
        return orjson.dumps({"responseCode": 1, "responseText": "Purchases retrieved", "data": data})

    def _record(self, row: tuple[Any, ...]) -> dict[str, Any]:
        (key, customer_id, product_id, category_id, seller_id, provider_id, batch_id) = row[:7]
        product, category, provider = self.products[product_id]
        return {
            "id": _id(key),
            "customer_id": _id(customer_id),
            "product_id": _id(product_id),
            "product_category_id": _id(category_id),
            "distributor_id": _id(seller_id),
            "provider_id": _id(provider_id),
            "batch_id": _id(batch_id),
            "total": _naira(row[7]),
            "mca_profit": _naira(row[8]),
            "distributor_profit": _naira(row[9]),
            "discount_code_id": _id(row[10]),
            "payment_option": row[11],
            "payment_channel": row[12],
            "request_source": row[13],
            "policy_id": _id(row[AFTER - 1]),
            "is_live": bool(row[14]),
            "created_at": _moment(row[15]),
            "updated_at": _moment(row[16]),
            "deleted_at": _moment(row[17]),
            "customer": _customer(row[AFTER:]),
            "product": product,
            "productCategory": category,
            "provider": provider,
        }


def _customer(row: tuple[Any, ...]) -> dict[str, Any]:
    return {
        "id": _id(row[0]),
        "app_mode": "live" if row[1] else "test",
        "business_id": _id(row[2]),
        "user_id": _id(row[3]),
        "wallet_id": _id(row[4]),
        "is_live": bool(row[1]),
        "first_name": row[5],
        "last_name": row[6],
        "email": row[7],
        "phone_number": row[8],
        "country": row[9],
        "gender": row[10],
        "title": row[11],
        "state_of_residence": row[12],
        "city": row[13],
        "address": row[14],
        "date_of_birth": row[15],
        "identity_verification": row[16],
        "verification_type": row[17],
        "face_image": row[18],
        "is_kyc_complete": bool(row[19]),
        "active": bool(row[20]),
        "created_at": _moment(row[21]),
        "updated_at": _moment(row[22]),
        "deleted_at": _moment(row[23]),
    }


def _reached(stretches: Rows, offset: int) -> tuple[date, int]:
    """The first day of the stretch that holds the row after so many, and how many of its own come before that."""
    for day, sold in stretches:
        if offset < sold:
            return date.fromisoformat(str(day)), offset
        offset -= sold
    raise LookupError


def _key(value: Any) -> Any:
    return value.hex if ON_SQLITE else value


def _instant(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}.000000{'' if ON_SQLITE else '+00:00'}"


def _id(value: Any) -> str | None:
    if value is None or not ON_SQLITE:
        return value and str(value)
    return f"{value[:8]}-{value[8:12]}-{value[12:16]}-{value[16:20]}-{value[20:]}"


def _moment(value: Any) -> str | None:
    if value is None:
        return None
    text = value if ON_SQLITE else value.strftime("%Y-%m-%d %H:%M:%S.%f")
    return f"{text[:10]}T{text[11:23]}Z"


def _naira(minor: int) -> str:
    return f"{minor // 100}.{minor % 100:02d}"


desks: list[Desk] = []


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The whole application."""
    if scope["type"] != "http":
        return
    if not desks:
        desk = Desk(Sqlite() if ON_SQLITE else await Postgres.open())
        await desk.stock()
        desks.append(desk)
    parameters = dict(parse_qsl(scope["query_string"].decode()))
    sellers = dict(part.split("=") for part in SELLER.split(","))
    key = next(value for name, value in scope["headers"] if name == b"authorization").decode()
    seller = sellers[key.removeprefix("Bearer ")]
    desk = desks[0]
    if "customer_email" in parameters:
        found = await desk.of(seller, parameters["customer_email"])
    elif "start_date" in parameters:
        provider = parameters["provider_id"].replace("-", "") if ON_SQLITE else parameters["provider_id"]
        found = await desk.between(seller, parameters["start_date"], parameters["end_date"], provider)
    else:
        found = await desk.newest(seller, int(parameters.get("page", 1)))
    body = desk.body(*found)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
