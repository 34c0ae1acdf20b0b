"""Bodies, values and texts that no honest client sends, and what every answer to them must be."""

import gzip
from dataclasses import dataclass

import httpx
import sqlalchemy as sa
from sqlmodel import SQLModel

from core.store.access import Store
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.hostile.routes import Operation

JSON = "application/json"


FORM = "multipart/form-data; boundary=x"


PART = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'


DEEP = 2000
# Operations that answer with a file.
FILES = (".xlsx", ".csv", ".pdf")


@dataclass(frozen=True)
class Case:
    """One thing sent to one operation; `certain` when it can only be refused."""

    operation: Operation
    what: str
    content: bytes = b""
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    query: str = ""
    certain: bool = True


# Bodies that are wrong as a whole: (what, bytes, content type, more headers).
BODIES: tuple[tuple[str, bytes, str, dict[str, str]], ...] = (
    ("nothing", b"", JSON, {}),
    ("null", b"null", JSON, {}),
    ("a list", b"[]", JSON, {}),
    ("a text", b'"text"', JSON, {}),
    ("a number", b"1", JSON, {}),
    ("an open brace", b"{", JSON, {}),
    ("two documents", b"{} {}", JSON, {}),
    ("a trailing comma", b'{"a": 1,}', JSON, {}),
    ("single quotes", b"{'a': 1}", JSON, {}),
    ("a comment", b"{/* x */}", JSON, {}),
    ("NaN", b'{"a": NaN}', JSON, {}),
    ("Infinity", b'{"a": -Infinity}', JSON, {}),
    ("an exponent beyond decimals", b'{"a": 1e99999999999999999999}', JSON, {}),
    ("5,000 digits", b'{"a": ' + b"9" * 5000 + b"}", JSON, {}),
    ("the same name twice", b'{"product_id": 1, "product_id": 2}', JSON, {}),
    ("the same name twice, spelt otherwise", b'{"a": 1, "\\u0061": 2}', JSON, {}),
    ("a list in a list in a list", b"[" * DEEP + b"]" * DEEP, JSON, {}),
    ("an object in an object", b'{"a":' * DEEP + b"1" + b"}" * DEEP, JSON, {}),
    ("half of a deep list", b"[" * 200_000, JSON, {}),
    ("a byte order mark", b"\xef\xbb\xbf{}", JSON, {}),
    ("UTF-16", "{}".encode("utf-16"), JSON + "; charset=utf-16", {}),
    ("Latin-1", '{"first_name": "Zoë"}'.encode("latin-1"), JSON, {}),
    ("an overlong encoding", b'{"a": "\xc0\xaf"}', JSON, {}),
    ("NUL", b"\0", JSON, {}),
    ("too much", b'{"a": "' + b"x" * 1024 * 1024 + b'"}', JSON, {}),
    ("a name of half a mebibyte", b'{"' + b"x" * 500_000 + b'": 1}', JSON, {}),
    ("plain text", b"{}", "text/plain", {}),
    ("a form of a page", b"a=1", "application/x-www-form-urlencoded", {}),
    ("XML", b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "application/xml", {}),
    ("no type", b"{}", "", {}),
    ("two types", b"{}", JSON + ", text/plain", {}),
    ("gzip", gzip.compress(b"{}"), JSON, {"Content-Encoding": "gzip"}),
    ("a bomb", gzip.compress(b"0" * 50_000_000), JSON, {"Content-Encoding": "gzip"}),
    ("another coding", b"{}", JSON, {"Content-Encoding": "br"}),
    ("a form without a boundary", b"--x--", "multipart/form-data", {}),
    ("a form without parts", b"--x--\r\n", FORM, {}),
    ("a form that stops", b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n%PDF', FORM, {}),
    ("a form with a part twice", PART % (b"file", b"", b"1") + PART % (b"file", b"", b"2") + b"--x--\r\n", FORM, {}),
    ("a form with 1,000 parts", b"".join(PART % (b"a%d" % n, b"", b"1") for n in range(1000)) + b"--x--\r\n", FORM, {}),
    ("a form with a long name", PART % (b"n" * 100_000, b"", b"1") + b"--x--\r\n", FORM, {}),
    ("a form with long headers", b"--x\r\nX: " + b"y" * 100_000 + b"\r\n\r\n1\r\n--x--\r\n", FORM, {}),
    ("a form with NUL", PART % (b"\0", b'; filename="\0"', b"\0") + b"--x--\r\n", FORM, {}),
    ("a form in Latin-1", PART % (b"policy_number", b"", "Zoë".encode("latin-1")) + b"--x--\r\n", FORM, {}),
    ("a page as a file", PART % (b"file", b'; filename="a.pdf"', b"<html><script>") + b"--x--\r\n", FORM, {}),
    ("a boundary of its own kind", b"--\r\n", "multipart/form-data; boundary=", {}),
    ("a key that is no key", b"{}", JSON, {"Idempotency-Key": "x" * 201}),
    ("a key with a space", b"{}", JSON, {"Idempotency-Key": "a b"}),
)
# Values as they stand in a body.
VALUES = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e-999", "1e99999999999999999999"),
    *("1e-99999999999999999999", "9" * 5000, "9" * 4000, "0." + "9" * 4000, "-0.0", "-1", "0", "1e5"),
    *("1.0000000000000000000000001", "1e13", "1e14", '"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"a\\u0000b"'),
    *('"\\u202e\\u2066x"', '"\\r\\nSet-Cookie: a=b"', '"\\ufeff"', '"\\u0661\\u0662"', '"１２"', '"1_000"', '"0x10"'),
    *('" "', '""', '"' + "x" * 100_000 + '"', '"2026-02-30"', '"9999-12-31"', '"0001-01-01"'),
    *('"2026-11-20T00:00:00+99:99"', '"2026-11-20T24:00:00Z"', '"-1"', '"1e5"', '"null"', "[" * 500 + "]" * 500),
    *('{"a":' * 500 + "1" + "}" * 500, "[]", "{}", "[[]]", "[null]", "[{}]", "true", "false", "null"),
    *("[" + "1," * 5000 + "1]", '{"$ne": null}', '{"__proto__": {"a": 1}}', '"{{7*7}}"', "\"' OR 1=1 --\""),
    *('"../../etc/passwd"', '"javascript:alert(1)"', '"http://[::1"', '"http://169.254.169.254/latest/meta-data"'),
    '"file:///etc/passwd"',
)  # fmt: skip


TEXTS = (
    *("NaN", "Infinity", "1e999", "1e20", "-1", "0", "1.5", "0x10", "1_000", "+1", "%201", "%D9%A1", "%EF%BC%91"),
    *("9" * 5000, "%00", "a%00b", "%ED%A0%80", "%FF%FE", "%EF%BB%BF1", "%0D%0ASet-Cookie:a=b", "%E2%80%AE", "%25"),
    *("%5C", "_", "%27", "", "null", "true", "[" * DEEP, "{" * DEEP, "x" * 60_000, "2026-02-30", "9999-12-31"),
    *("0001-01-01", "2026-11-20T99:00Z", "2026-11-20T00:00:00+99:99", "9999-12-31T23:59:59.999999Z"),
    *("0001-01-01T00:00:00%2B14:00", "%F0%9F%98%80", "%C0%AF"),
)  # fmt: skip


def rows(store: Store) -> int:
    """Return the number of rows in all tables together."""
    counts = (f"(SELECT count(*) FROM {name})" for name in SQLModel.metadata.tables)
    with store.engine.connect() as connection:
        return int(connection.execute(sa.text(f"SELECT {' + '.join(counts)}")).scalar_one())


def ask(client: Client, partner: Partner, case: Case) -> httpx.Response:
    path = case.operation.path
    for name in case.operation.in_path:
        path = path.replace(f"{{{name}}}", "01900000-0000-7000-8000-0000000000ff")
    headers = dict(case.headers)
    if case.operation.writes and case.content_type:
        headers["Content-Type"] = case.content_type
    address = f"{path}?{case.query}" if case.query else path
    return client.request(case.operation.method, address, key=partner.test_key, content=case.content, headers=headers)


def enveloped(case: Case, answer: httpx.Response) -> None:
    """The answer is an envelope of the documented shape, and says nothing of what was sent or of our insides."""
    context = f"{case.operation.name} with {case.what}: {answer.status_code} {answer.text[:300]}"
    assert answer.status_code < 500, context
    if answer.status_code == 200 and case.operation.path.endswith(FILES):
        assert answer.headers["content-disposition"].startswith("attachment"), context
        return
    assert answer.headers["content-type"] == "application/json", context
    body = answer.json()
    assert (body["responseCode"] == 1) is (answer.status_code < 300), context
    if answer.status_code < 300:
        assert set(body) == {"responseCode", "responseText", "data"}, context
        return
    assert set(body) == {"responseCode", "responseText", "data", "errorData"}, context
    assert body["data"] == {}, context
    assert body["responseText"], context
    assert answer.status_code in {400, 401, 404, 405, 409, 413, 415}, context
    assert len(answer.content) < 20_000, context
    for inside in ("Traceback", "sqlalchemy", "psycopg", "pydantic", "/core/", "SELECT ", "/etc/passwd", "x" * 300):
        assert inside not in answer.text, context
