"""The least that a sale can cost: a bare ASGI route and hand-written SQL, with no rule of the business in it.

It checks one constant key and writes the same six rows with the same durability: no validation, no price,
no counted number, no chained hash, no daybook, no guard against a second sale. `tests.bench.sales` starts it.
"""

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import Any, Protocol

import orjson
import psycopg
import sqlalchemy as sa

from core import ids
from core.store.access.sqlite import sqlite

URL = sa.make_url(os.environ["COVERDESK_DATABASE_URL"])
KEY = os.environ["RAW_SALES_KEY"].encode()
DISTRIBUTOR = os.environ["RAW_SALES_DISTRIBUTOR"]
TOGETHER = int(os.environ["RAW_SALES_TOGETHER"])
CONNECTIONS = 32
PRODUCT = """
SELECT p.id, v.id, p.product_category_id, p.provider_id FROM product p JOIN product_version v ON v.product_id = p.id
WHERE p.prefix = 'insurer-f' AND p.route_name = 'buy-personal-accident' ORDER BY v.effective_at DESC LIMIT 1
"""
ON_SQLITE = URL.get_backend_name() == "sqlite"
PLAN_MINOR = 500_000
CHAIN = 1_000 + os.getpid()  # of its own, as it computes none of the hashes
numbers = count(1)
Row = dict[str, Any]
Done = Callable[[], None]


def rows_of(fields: Row, key: str, product: Sequence[Any]) -> tuple[list[tuple[str, Row]], bytes]:
    """The six rows of a sale by their tables, and the body of its answer."""
    product_id, version_id, category_id, provider_id = (as_id(value) for value in product)
    now, number = datetime.now(UTC).replace(tzinfo=None), next(numbers)
    customer_id, purchase_id, policy_id = (as_id(ids.new()) for _ in range(3))
    owner = {"distributor_id": as_id(DISTRIBUTOR), "is_live": True}
    times = {"created_at": str(now), "updated_at": str(now)}
    name = {"first_name": fields["first_name"], "last_name": fields["last_name"], "email": fields["email"]}
    catalogue = {"product_id": product_id, "product_category_id": category_id, "provider_id": provider_id}
    paid = {"payment_option": "wallet", "payment_channel": "api", "request_source": "api"}
    printed = f"RAW/{CHAIN}/{number}"
    record = {"id": policy_id, **owner, **times, **name, **catalogue, **paid, "policy_number": printed, "meta": fields}
    answer = orjson.dumps({"responseCode": 1, "responseText": "Purchase Successful", "data": record})
    customer = {
        "id": customer_id,
        **owner,
        **times,
        **name,
        "email_key": fields["email"].lower(),
        "name_key": f"{fields['first_name']} {fields['last_name']}".lower(),
        "phone_number": fields["phone_number"],
        "gender": fields["gender"],
        "address": fields["address"],
        "state_of_residence": fields["state"],
        "date_of_birth": fields["date_of_birth"],
        "user_id": as_id(ids.new()),
        "is_kyc_complete": False,
        "active": True,
    }
    purchase = {
        "id": purchase_id,
        **owner,
        **times,
        **catalogue,
        **paid,
        "product_version_id": version_id,
        "customer_id": customer_id,
        "batch_id": as_id(ids.new()),
        "total_minor": PLAN_MINOR,
        "mca_profit_minor": 1_000,
        "distributor_profit_minor": 1_000,
    }
    policy = {
        "id": policy_id,
        **owner,
        **times,
        **name,
        **catalogue,
        **paid,
        "purchase_id": purchase_id,
        "customer_id": customer_id,
        "buyer_id": customer_id,
        "phone": fields["phone_number"],
        "dob": fields["date_of_birth"],
        "start_at": str(now),
        "activation_at": str(now),
        "expiration_at": str(now),
        "activated": True,
        "submitted_to_provider": True,
        "policy_number": printed,
        "number_key": printed,
        "certificate_code": ids.new_code(),
        "market_price_minor": PLAN_MINOR,
        "genius_price_minor": PLAN_MINOR,
        "profit_minor": 1_000,
        "submitted": text(fields),
        "payload": text(fields),
        "explained": "[]",
        "version": 1,
    }
    submission = {
        "policy_id": policy_id,
        **owner,
        **times,
        "provider_id": provider_id,
        "state": "delegated",
        "attempts": 0,
        "failures": 0,
    }
    audit = {
        "id": as_id(ids.new()),
        "chain": CHAIN,
        "position": number,
        "actor": "raw",
        "action": "policy sold",
        "subject": f"policy {policy_id}",
        "after": text({"purchase_id": purchase_id}),
        "created_at": str(now),
        "hash": "0" * 64,
    }
    kept = {
        **owner,
        "key": key,
        "fingerprint": "0" * 64,
        "status": 201,
        "body": answer,
        "headers": "{}",
        "created_at": str(now),
    }
    tables = ("customer", "purchase", "policy", "submission", "audit_entry", "kept_answer")
    return list(zip(tables, (customer, purchase, policy, submission, audit, kept), strict=True)), answer


def as_id(value: Any) -> str:
    """An id as the database keeps it."""
    return str(value).replace("-", "") if ON_SQLITE else str(value)


def text(data: Any) -> str:
    """JSON as the database is given it."""
    return orjson.dumps(data).decode()


class Writer(Protocol):
    """Writes the rows of one sale and returns when they are on the disk."""

    product: Sequence[Any]

    async def write(self, rows: list[tuple[str, Row]]) -> None:
        """Write the rows of one sale; returns after the commit."""


class SqliteWriter:
    """One thread that writes; as many sales a transaction as are waiting, `TOGETHER` at most."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[tuple[list[tuple[str, Row]], Done]] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        with sqlite3.connect(str(URL.database)) as connection:
            self.product = connection.execute(PRODUCT).fetchone()
        threading.Thread(target=self._run, daemon=True).start()

    async def write(self, rows: list[tuple[str, Row]]) -> None:
        written = self._loop.create_future()
        self._waiting.put((rows, partial(written.set_result, None)))
        await written

    def _run(self) -> None:
        connection = sqlite.connect(str(URL.database), isolation_level=None, timeout=10)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536"):
            connection.execute(f"PRAGMA {pragma}")
        statements: dict[str, str] = {}
        while True:
            group = [self._waiting.get()]
            while len(group) < TOGETHER and not self._waiting.empty():
                group.append(self._waiting.get())
            connection.execute("BEGIN IMMEDIATE")
            for rows, _ in group:
                for table, row in rows:
                    statement = statements.setdefault(table, insert(table, row, "?"))
                    connection.execute(statement, tuple(row.values()))
            connection.execute("COMMIT")
            for _, done in group:
                self._loop.call_soon_threadsafe(done)


class PostgresWriter:
    """Connections that each write one sale at a time, all its statements in one round trip."""

    def __init__(self, product: Sequence[Any], connections: asyncio.Queue[psycopg.AsyncConnection[Any]]) -> None:
        self.product, self._free = product, connections

    @classmethod
    async def open(cls) -> "PostgresWriter":
        """Connections that are ready to write."""
        address = URL.set(drivername="postgresql").render_as_string(hide_password=False)
        free: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()
        for _ in range(CONNECTIONS):
            free.put_nowait(await psycopg.AsyncConnection.connect(address))
        connection = await free.get()
        product = await (await connection.execute(PRODUCT)).fetchone()
        await connection.commit()
        free.put_nowait(connection)
        return cls(product or (), free)

    async def write(self, rows: list[tuple[str, Row]]) -> None:
        connection = await self._free.get()
        try:
            async with connection.pipeline(), connection.transaction():
                for table, row in rows:
                    await connection.execute(insert(table, row, "%s"), tuple(row.values()), prepare=True)
        finally:
            self._free.put_nowait(connection)


def insert(table: str, row: Row, mark: str) -> str:
    """An INSERT of the columns that a row has."""
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join([mark] * len(row))})"


writers: list[Writer] = []
opening = asyncio.Lock()


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The whole application: whatever is asked is a sale."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    given = dict(scope["headers"])
    if given.get(b"authorization") != b"Bearer " + KEY:
        raise PermissionError
    async with opening:
        if not writers:
            writers.append(SqliteWriter() if ON_SQLITE else await PostgresWriter.open())
    rows, answer = rows_of(orjson.loads(body), given[b"idempotency-key"].decode(), writers[0].product)
    await writers[0].write(rows)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 201, "headers": headers})
    await send({"type": "http.response.body", "body": answer})
