"""Bodies and queries that no honest client sends: always an envelope, never a 5xx, never a row (contract E1-E6).

Every operation that takes a body by every body of the list, every field of every body by every value, and every
parameter of every list by every text; the ordinary suite tries a part, drawn anew each day, and
`COVERDESK_CORPUS_TRIES=1000000` everything.
"""

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel

from core import clock
from core.store.access import Store
from tests import papers
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.hostile.routes import Operation, lists, operations, posts

TRIES = int(os.environ.get("COVERDESK_CORPUS_TRIES", "400"))
STORES = 2
JSON = "application/json"
FORM = "multipart/form-data; boundary=x"
PART = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
DEEP = 2000


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


STRAYS = (
    *("../../evil.pdf", "..\\evil.pdf", "/etc/passwd", "a\r\nX-Evil: 1.pdf", "CON.pdf", "x" * 5000, "%00.pdf"),
    "\u202efdp.exe",
)


def whole_bodies() -> Iterator[Case]:
    for operation in (each for each in posts() if each.media):
        for what, content, content_type, headers in BODIES:
            yield Case(operation, what, content, content_type, tuple(headers.items()))


def single_values() -> Iterator[Case]:
    for operation in posts():
        if not operation.takes_json:
            continue
        for name in (*operation.fields, "nobody_asked"):
            for value in VALUES:
                rest = {other: given for other, given in operation.body().items() if other != name}
                body = json.dumps(rest)[:-1] + f", {json.dumps(name)}: {value}}}"
                yield Case(operation, f"{name}={value[:40]}", body.encode(), certain=False)


def queries() -> Iterator[Case]:
    for operation in operations():
        for name in operation.in_query:
            for text in TEXTS:
                yield Case(operation, f"{name}={text[:40]}", query=f"{name}={text}", certain=False)
                yield Case(operation, f"{name}={text[:40]} twice", query=f"{name}={text}&{name}=1", certain=False)


def drawn(cases: list[Case], share: int, dice: Random) -> list[Case]:
    return cases if len(cases) <= share else dice.sample(cases, share)


def rows(store: Store) -> int:
    """How many rows there are in all tables together."""
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
    said = f"{case.operation.name} with {case.what}: {answer.status_code} {answer.text[:300]}"
    assert answer.status_code < 500, said
    assert answer.headers["content-type"] == "application/json", said
    body = answer.json()
    assert (body["responseCode"] == 1) is (answer.status_code < 300), said
    if answer.status_code < 300:
        assert set(body) == {"responseCode", "responseText", "data"}, said
        return
    assert set(body) == {"responseCode", "responseText", "data", "errorData"}, said
    assert body["data"] == {}, said
    assert body["responseText"], said
    assert answer.status_code in {400, 401, 404, 405, 409, 413, 415}, said
    assert len(answer.content) < 20_000, said
    for inside in ("Traceback", "sqlalchemy", "psycopg", "pydantic", "/core/", "SELECT ", "/etc/passwd", "x" * 300):
        assert inside not in answer.text, said


def test_whatever_is_sent_the_answer_is_an_envelope_and_nothing_is_kept(
    store: Store, client: Client, partner: Partner
) -> None:
    seed = clock.today().toordinal()
    dice, share = Random(seed), TRIES // STORES
    refusals = drawn(list(whole_bodies()), share // 3, dice)
    before, sold = rows(store), 0
    for case in refusals:
        answer = ask(client, partner, case)
        enveloped(case, answer)
        assert answer.status_code in {400, 413, 415}, f"{case.operation.name} took {case.what}"
    assert rows(store) == before, "a body that was refused left a row"
    others = drawn([*single_values(), *queries()], share - len(refusals), dice)
    for case in others:
        answer = ask(client, partner, case)
        enveloped(case, answer)
        took = answer.status_code == 201
        sold += took
        assert took or rows(store) == before, f"{case.operation.name} kept a row for {case.what}, which it refused"
        before = rows(store) if took else before
    print(f"corpus: {len(refusals) + len(others)} requests, {sold} taken, 0 answers of 5xx, seed {seed}")


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_impossible_pages_are_refused_by_every_list(store: Store, client: Client, partner: Partner) -> None:
    for operation in lists():
        for name in ("page", "limit"):
            for text in ("1e20", "-1", "0", "NaN", "1.0", "9" * 13, "9" * 5000, "0x1", "%D9%A1", "1%00", "%EF%BC%91"):
                answer = ask(client, partner, Case(operation, name, query=f"{name}={text}"))
                assert answer.status_code == 400, f"{operation.path}?{name}={text[:20]}"
                assert {fault["field"] for fault in answer.json()["errorData"]} == {name}


def test_unknown_fields_cost_little_and_write_no_header(store: Store, client: Client, partner: Partner) -> None:
    (operation,) = (each for each in posts() if each.path.endswith("buy-comprehensive-auto"))
    extras = {f"vehicle_maek{number}": 1 for number in range(30_000)} | {"a\r\nX-Evil: 1": 1}
    began = clock.now()
    answer = client.post(operation.path, key=partner.test_key, json={**operation.body(), **extras})
    assert answer.status_code in {201, 400}
    assert (clock.now() - began).total_seconds() < 10
    assert len(answer.content) < 40_000
    assert "x-evil" not in answer.headers
    assert len(answer.headers.get("x-ignored-fields", "")) < 4000


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_texts_with_surrogates_are_refused_in_every_field_and_stored_nowhere(
    store: Store, client: Client, partner: Partner
) -> None:
    """A text that is no Unicode would be kept by one database and refused by the other."""
    for operation in posts():
        if not operation.takes_json or "lodge" in operation.path:
            continue
        for name, value in operation.body().items():
            if not isinstance(value, str):
                continue
            body = json.dumps(operation.body(**{name: f"{value}\ud800"}))
            answer = ask(client, partner, Case(operation, name, body.encode()))
            assert answer.status_code == 400, f"{operation.path} took a surrogate as {name}"
            assert name in [fault["field"] for fault in answer.json()["errorData"]]


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_names_of_files_never_leave_their_place(store: Store, client: Client, partner: Partner) -> None:
    for name in (
        "../../evil.pdf",
        "..\\evil.pdf",
        "/etc/passwd",
        "a\r\nX-Evil: 1.pdf",
        "CON.pdf",
        "x" * 5000,
        "%00.pdf",
        "\u202efdp.exe",
    ):
        part = PART % (b"file", b'; filename="' + quote(name, safe="./\\\u202e").encode() + b'"', papers.pdf())
        answer = client.post(
            "/v1/upload-file", key=partner.test_key, content=part + b"--x--\r\n", headers={"Content-Type": FORM}
        )
        assert answer.status_code in {201, 400}, answer.text
        if answer.status_code == 201:
            shown = answer.json()["data"]["file_name"]
            assert not set(shown) & set('/\\\r\n\0"\u202e'), shown
            assert len(shown) <= 160
            served: Any = client.get(
                answer.json()["data"]["file_url"].removeprefix("http://127.0.0.1:8501"), key=partner.test_key
            )
            assert "x-evil" not in served.headers
    assert all(path.name.isalnum() for path in papers.on_disk())
